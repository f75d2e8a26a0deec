//! The state of a machine during a measurement that affects figures and is not part of the machine's name.

use std::fs;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state, as far as Linux reports it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// Family, model and stepping of the processor, such as `25, 17, 1`. Virtual machines often hide the processor's
    /// name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// The version of its microcode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub microcode: Option<String>,
    /// The frequency governor of the first core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// Steal time: the share of the cores' time that the host of this virtual machine did not give it during the
    /// measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal: Option<f64>,
    /// The cores that this process may use, such as `0-1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<String>,
}

impl State {
    /// The state now; steal is counted from `since` on.
    pub fn here(since: Option<&Ticks>) -> State {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let (cpuinfo, status) = (read("/proc/cpuinfo"), read("/proc/self/status"));
        let numbers = ["cpu family", "model", "stepping"].map(|name| field(&cpuinfo, name));
        let family: Option<Vec<&str>> = numbers.into_iter().collect();
        let governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
        State {
            family: family.map(|numbers| numbers.join(", ")),
            microcode: field(&cpuinfo, "microcode").map(str::to_owned),
            governor: Some(governor.trim().to_owned()).filter(|name| !name.is_empty()),
            steal: since.zip(Ticks::now()).and_then(|(since, now)| since.stolen_until(&now)),
            pinned: field(&status, "Cpus_allowed_list").map(str::to_owned),
        }
    }
}

/// The value of a line `name : value`.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find_map(|line| line.split_once(':').filter(|(key, _)| key.trim() == name))?;
    Some(line.1.trim()).filter(|value| !value.is_empty())
}

/// The cumulative times of the cores since boot, in clock ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticks {
    all: u64,
    stolen: u64,
}

impl Ticks {
    /// The current values; `None` if the system does not provide them.
    pub fn now() -> Option<Ticks> {
        Ticks::read(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// The first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal, ...
    fn read(text: &str) -> Option<Ticks> {
        let numbers = text.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
        let numbers: Vec<u64> = numbers.map(str::parse).collect::<Result<_, _>>().ok()?;
        Some(Ticks { all: numbers.iter().take(8).sum(), stolen: *numbers.get(7)? })
    }

    /// Steal time as a share of all time between `self` and `now`.
    fn stolen_until(&self, now: &Ticks) -> Option<f64> {
        let all = now.all.checked_sub(self.all).filter(|all| *all > 0)?;
        Some(now.stolen.saturating_sub(self.stolen) as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn steal_is_a_share_of_the_time_between() {
        let before = Ticks::read("cpu  100 0 50 800 0 0 0 50 0 0\ncpu0 1").unwrap();
        let after = Ticks::read("cpu  200 0 50 1600 0 0 0 150 0 0\n").unwrap();
        assert!((before.stolen_until(&after).unwrap() - 0.1).abs() < 1e-12);
        assert_eq!(before.stolen_until(&before), None, "no time has passed");
        assert_eq!(Ticks::read("intr 5"), None);
    }

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "model\t\t: 17\nmodel name\t: AMD EPYC\nmicrocode :\n";
        assert_eq!(field(text, "model"), Some("17"));
        assert_eq!((field(text, "microcode"), field(text, "family")), (None, None));
    }

    #[test]
    fn this_machine_has_a_state() {
        let state = State::here(Ticks::now().as_ref());
        assert!(cfg!(not(target_os = "linux")) || state.pinned.is_some(), "{state:?}");
        let json = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<State>(&json).unwrap(), state);
    }
}
