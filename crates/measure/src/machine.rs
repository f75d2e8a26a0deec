//! The machine that a figure belongs to; no result is stored without it.

use std::{fmt, fs, path::Path, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};
use time::{UtcDateTime, format_description::well_known::Rfc3339};

use crate::state::{State, Ticks};

/// Where and when a result was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// The processor's name, as it reports it.
    pub cpu: String,
    /// Number of logical processors that this process may use.
    pub cores: usize,
    /// Instruction-set levels, as the caller names them, slowest first.
    pub levels: Vec<String>,
    /// Caches of the first core, such as `L1 Data 48K`; empty if the system does not report them.
    pub caches: Vec<String>,
    /// Memory in bytes.
    pub memory: u64,
    /// Operating system and kernel.
    pub kernel: String,
    /// The compiler that built the measuring program.
    pub rustc: String,
    /// The optimisation level of that build, such as `3`; empty if it is unknown.
    #[serde(default)]
    pub opt_level: String,
    /// Load averages over 1, 5 and 15 minutes at that time.
    pub load: [f64; 3],
    /// Time of this description: UTC, RFC 3339, in seconds.
    pub date: String,
    /// Other state on which figures depend.
    #[serde(default)]
    pub state: State,
}

impl Machine {
    /// This machine now, with the instruction-set `levels` that the measured code knows.
    pub fn here<S: Into<String>>(levels: impl IntoIterator<Item = S>) -> Machine {
        let kinds = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        let system = System::new_with_specifics(kinds);
        let cpu = system.cpus().first().map(|cpu| cpu.brand().trim()).filter(|name| !name.is_empty());
        let load = System::load_average();
        Machine {
            cpu: cpu.unwrap_or(std::env::consts::ARCH).to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            levels: levels.into_iter().map(Into::into).collect(),
            caches: caches(Path::new("/sys/devices/system/cpu/cpu0/cache")),
            memory: system.total_memory(),
            kernel: [System::name(), System::kernel_version()].into_iter().flatten().collect::<Vec<_>>().join(" "),
            rustc: env!("SEALWRIGHT_RUSTC").to_owned(),
            opt_level: env!("SEALWRIGHT_OPT_LEVEL").to_owned(),
            load: [load.one, load.five, load.fifteen],
            date: now(),
            state: State::here(None),
        }
    }

    /// The same machine, with the state of the time from `since` until now.
    #[must_use]
    pub fn since(self, since: Option<&Ticks>) -> Machine {
        Machine { state: State::here(since), ..self }
    }

    /// Text that is equal for two descriptions if their figures count as coming from the same machine. It includes the
    /// processor's family because virtual machines hide the name: Zen 4 and Zen 5 are both called `AMD EPYC`.
    pub fn identity(&self) -> String {
        let family = self.state.family.as_deref().unwrap_or("unknown");
        // The memory that the system reserves differs from boot to boot, by far less than 2 GiB
        let (levels, memory) = (self.levels.join(" "), 2 * self.memory.div_ceil(2 << 30));
        format!("{}, family {family}, {} cores, {levels}, {memory} GiB, {}", self.cpu, self.cores, self.kernel)
    }

    /// Whether the program was built at a lower optimisation level than measurements need.
    pub fn unoptimised(&self) -> bool {
        !matches!(&self.opt_level[..], "3" | "")
    }
}

impl fmt::Display for Machine {
    /// One line for the head of a table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (memory, load) = (self.memory as f64 / (1u64 << 30) as f64, self.load[0]);
        write!(f, "{}, {} cores, {memory:.1} GiB, {}, {}", self.cpu, self.cores, self.kernel, self.rustc)?;
        if !self.opt_level.is_empty() {
            write!(f, ", opt-level {}", self.opt_level)?;
        }
        write!(f, ", load {load:.2}, {}", self.date)
    }
}

/// The current time: UTC, RFC 3339, to the second.
pub fn now() -> String {
    UtcDateTime::now().truncate_to_second().format(&Rfc3339).unwrap_or_default()
}

/// Time since `date`, which has the format of [`now`]; `None` if it cannot be parsed or lies in the future.
pub fn age(date: &str) -> Option<Duration> {
    let then = UtcDateTime::parse(date, &Rfc3339).ok()?;
    Duration::try_from(UtcDateTime::now() - then).ok()
}

/// The caches that Linux lists under `folder`, in its order.
fn caches(folder: &Path) -> Vec<String> {
    let tell = |index: usize, what: &str| {
        let text = fs::read_to_string(folder.join(format!("index{index}")).join(what)).ok()?;
        Some(text.trim().to_owned())
    };
    (0..)
        .map_while(|index| {
            Some(format!("L{} {} {}", tell(index, "level")?, tell(index, "type")?, tell(index, "size")?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn describes_this_machine() {
        let machine = Machine::here(["portable", "sse"]);
        assert_eq!(machine.levels, ["portable", "sse"]);
        assert!(!machine.cpu.is_empty() && !machine.kernel.is_empty());
        assert!(machine.cores >= 1 && machine.memory > 64 << 20);
        assert!(machine.rustc.starts_with("rustc 1."), "{}", machine.rustc);
        assert!(machine.load.iter().all(|load| *load >= 0.0));
        assert!(!machine.to_string().contains('\n'));
        assert!(machine.to_string().contains(&format!(", opt-level {},", machine.opt_level)), "{machine}");
    }

    #[test]
    fn machines_that_differ_in_anything_that_lasts_are_two() {
        let this = Machine::here(["portable"]);
        let later = Machine { load: [9.0; 3], date: "2020-01-01T00:00:00Z".into(), ..this.clone() };
        assert_eq!(later.identity(), this.identity());
        let mut family = this.clone();
        family.state.family = Some("26, 2, 99".into());
        let memory = Machine { memory: this.memory + (8 << 30), ..this.clone() };
        let kernel = Machine { kernel: "another".into(), ..this.clone() };
        for other in [family, memory, kernel, Machine::here(["portable", "sse"])] {
            assert_ne!(other.identity(), this.identity());
        }
    }

    #[test]
    fn a_build_below_level_three_is_known_as_one() {
        let built = |opt_level: &str| Machine { opt_level: opt_level.into(), ..Machine::here(["portable"]) };
        assert!(["0", "1", "2", "s", "z"].into_iter().all(|level| built(level).unoptimised()));
        // Results that were stored before levels were recorded may come from any build, so they do not count as
        // unoptimised
        assert!(!built("3").unoptimised() && !built("").unoptimised());
    }

    #[test]
    fn the_date_is_utc_to_the_second() {
        let date = now();
        let shape: String = date.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        assert_eq!(shape, "0000-00-00T00:00:00Z");
        let parsed = UtcDateTime::parse(&date, &Rfc3339).unwrap();
        assert!(UtcDateTime::now().unix_timestamp() - parsed.unix_timestamp() <= 2);
    }

    #[test]
    fn a_date_has_an_age() {
        assert!(age(&now()).unwrap() < Duration::from_secs(3));
        assert!(age("2020-01-01T00:00:00Z").unwrap() > Duration::from_secs(5 * 365 * 24 * 3600));
        assert_eq!(age("3020-01-01T00:00:00Z"), None);
        assert_eq!(age("yesterday"), None);
    }

    #[test]
    fn survives_json() {
        let machine = Machine::here(["avx2"]);
        assert_eq!(serde_json::from_str::<Machine>(&serde_json::to_string(&machine).unwrap()).unwrap(), machine);
    }

    #[test]
    fn reads_caches_as_linux_lists_them() {
        let folder = tempfile::tempdir().unwrap();
        for (index, level, kind, size) in [(0, "1", "Data", "48K"), (1, "2", "Unified", "1024K")] {
            let one = folder.path().join(format!("index{index}"));
            fs::create_dir(&one).unwrap();
            for (name, value) in [("level", level), ("type", kind), ("size", size)] {
                fs::write(one.join(name), format!("{value}\n")).unwrap();
            }
        }
        assert_eq!(caches(folder.path()), ["L1 Data 48K", "L2 Unified 1024K"]);
        assert!(caches(&folder.path().join("missing")).is_empty());
    }
}
