//! All settings of a machine, with the thesis's values as defaults; read from TOML, changed by `a.b=c`.

mod tables;

use serde::{Deserialize, Serialize};
pub use tables::{Arbiter, Bus, BusMode, Interconnect, Level, Machine, Memory, Processes, Protect, SecondLevel};

use crate::{
    engine::{Clock, Engines},
    error::{ConfigError, toml_message},
    scheme::{Links, Platform, SchemeConfig},
    topology::{Topology, TopologyKind},
};

/// Maximum number of processors.
pub const MOST_PROCESSORS: usize = 64;

/// Maximum number of outstanding line requests per processor.
pub const MOST_MSHRS: usize = 64;

/// The most banks of memory.
const MOST_BANKS: usize = 1 << 12;

/// Maximum number of processes.
pub const MOST_PROCESSES: usize = 16;

/// Bits of an address of a program.
pub(crate) const ADDRESS_BITS: u32 = 48;

/// Where a process's addresses begin: its number, from this bit on.
pub(crate) const PROCESS_BIT: u32 = ADDRESS_BITS;

/// The largest cache, in bytes.
const LARGEST_CACHE: usize = 64 << 20;

/// The most cached counter blocks: each access to protected memory searches them linearly.
const MOST_COUNTERS: usize = 1 << 14;

/// The largest whole number in a settings file.
const LARGEST_WHOLE: u64 = i64::MAX as u64;

/// The most cycles of any setting, so that no sum overflows.
const LONGEST_TIME: u64 = 1_000_000_000;

/// The most cycles that an engine may take.
const LONGEST_ENGINE: u64 = 1 << 16;

/// A whole machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Processors and chips.
    pub machine: Machine,
    /// Processes that share it.
    pub processes: Processes,
    /// First-level caches: one for instructions and one for data, of this size each.
    pub l1: Level,
    /// Second-level cache, for instructions and data.
    pub l2: SecondLevel,
    /// The bus.
    pub bus: Bus,
    /// The ring or mesh, if nodes are not connected by a bus.
    pub interconnect: Interconnect,
    /// Memory behind it.
    pub memory: Memory,
    /// The engines of a node's security unit.
    pub engines: Engines,
    /// The scheme that protects the bus, with the parameters of every scheme.
    pub scheme: SchemeConfig,
}

/// The presets: names, and settings files.
const PRESET_FILES: [(&str, &str); 4] = [
    ("thesis", include_str!("../../presets/thesis.toml")),
    ("thesis-128", include_str!("../../presets/thesis-128.toml")),
    ("modern-server", include_str!("../../presets/modern-server.toml")),
    ("mesh-server", include_str!("../../presets/mesh-server.toml")),
];

/// Names of the presets.
pub const PRESETS: [&str; 4] = [PRESET_FILES[0].0, PRESET_FILES[1].0, PRESET_FILES[2].0, PRESET_FILES[3].0];

impl Config {
    /// The preset called `name`: the machines of the thesis's tables 4.1 (64-byte lines) and 4.2 (128-byte lines,
    /// caches twice as large), a current server, or one with 64 processors on a mesh.
    pub fn preset(name: &str) -> Option<Config> {
        let (_, text) = PRESET_FILES.iter().find(|(preset, _)| *preset == name)?;
        Some(Config::default().merge(text).expect("a preset is settings"))
    }

    /// The preset for a line size.
    pub fn for_line(line: usize) -> Config {
        let preset = Config::preset(if line == 128 { "thesis-128" } else { "thesis" });
        let mut config = preset.unwrap_or_default();
        config.machine.line = line;
        config
    }

    /// These settings, overridden by those in `text` (TOML).
    ///
    /// # Errors
    /// Where the text is no TOML, or names what does not exist.
    pub fn merge(&self, text: &str) -> Result<Config, ConfigError> {
        self.merge_table(parse(text)?)
    }

    /// These settings, overridden by those of a table.
    pub(crate) fn merge_table(&self, change: toml::Table) -> Result<Config, ConfigError> {
        let mut base = toml::Table::try_from(self).map_err(|error| ConfigError(error.to_string()))?;
        override_table(&mut base, change);
        base.try_into().map_err(|error: toml::de::Error| ConfigError(toml_message(&error)))
    }

    /// These settings, with one changed by `a.b=c`; if `c` is not a TOML value, it is taken as a string.
    ///
    /// # Errors
    /// As [`merge`](Self::merge).
    pub fn set(&self, setting: &str) -> Result<Config, ConfigError> {
        let changed = assigned(setting).and_then(|change| self.merge_table(change));
        changed.map_err(|error| ConfigError(format!("{setting}: {error}")))
    }

    /// Checks that the settings describe a machine.
    ///
    /// # Errors
    /// The first one found.
    pub fn check(&self) -> Result<(), ConfigError> {
        let wrong = |what: String| Err(ConfigError(what));
        let Machine { processors, chips, mshrs, line, sync, .. } = self.machine;
        if !(2..=MOST_PROCESSORS).contains(&processors) {
            return wrong(format!("machine.processors is {processors}, not 2 to {MOST_PROCESSORS}"));
        }
        if chips > 0 && !processors.is_multiple_of(chips) {
            return wrong(format!("machine.chips: {processors} processors cannot be divided evenly among {chips}"));
        }
        if !(1..=MOST_MSHRS).contains(&mshrs) {
            return wrong(format!("machine.mshrs is {mshrs}, not 1 to {MOST_MSHRS}"));
        }
        for (name, number) in [("seed", self.machine.seed), ("warm_up", self.machine.warm_up)] {
            if number > LARGEST_WHOLE {
                return wrong(format!(
                    "machine.{name} is {number}, not 0 to {LARGEST_WHOLE}, the most in a settings file"
                ));
            }
        }
        let Processes { count, quantum, switch } = self.processes;
        if !(1..=MOST_PROCESSES).contains(&count) {
            return wrong(format!("processes.count is {count}, not 1 to {MOST_PROCESSES}"));
        }
        if quantum > LONGEST_TIME || switch > LONGEST_TIME {
            return wrong(format!("processes.quantum and processes.switch must be at most {LONGEST_TIME}"));
        }
        if ![64, 128].contains(&line) {
            return wrong(format!("machine.line is {line}, not 64 or 128"));
        }
        let levels = [("l1", self.l1.bytes, self.l1.ways), ("l2", self.l2.bytes, self.l2.ways)];
        for (name, bytes, ways) in levels {
            if !ways.is_power_of_two() || ways > 32 {
                return wrong(format!("{name}.ways is {ways}, not a power of two up to 32"));
            }
            let set = ways * line;
            if bytes < set || bytes > LARGEST_CACHE || !bytes.is_multiple_of(set) || !(bytes / set).is_power_of_two() {
                return wrong(format!("{name}.bytes is {bytes}, not {set} bytes (one set) times a power of two"));
            }
        }
        let Bus { issue, arbitration, address, width, header, flight, response, retry, timeout, skew, .. } = self.bus;
        let Memory { latency, jitter, .. } = self.memory;
        let hits = [self.l1.hit, self.l2.hit, sync, latency, jitter, self.engines.xor, self.engines.ghash];
        let buses = [issue, arbitration, address, width, header, flight, response, retry, timeout, skew];
        if let Some(long) = hits.into_iter().chain(buses).find(|cycles| *cycles > LONGEST_TIME) {
            return wrong(format!("{long} exceeds the limit for times and widths, {LONGEST_TIME}"));
        }
        let Memory { banks, row, row_hit, row_miss, .. } = self.memory;
        if banks > MOST_BANKS || row < line as u64 || !row.is_power_of_two() {
            return wrong(format!(
                "memory.banks must be 0 to {MOST_BANKS}, memory.row a power of two of at least one line"
            ));
        }
        if row_hit > row_miss || row_miss > LONGEST_TIME {
            return wrong(format!(
                "memory.row_hit is {row_hit} and memory.row_miss {row_miss}: a hit takes no longer than a miss"
            ));
        }
        let blocks = self.memory.counter_cache;
        if blocks > MOST_COUNTERS {
            return wrong(format!("memory.counter_cache is {blocks} blocks, not 0 to {MOST_COUNTERS}"));
        }
        if processors * (2 * self.l1.bytes + self.l2.bytes) > 16 * LARGEST_CACHE {
            return wrong(format!("the caches of {processors} processors exceed 1 GiB in total"));
        }
        // Before the check below builds the scheme
        self.scheme.check(self.units(), count)?;
        if self.interconnect.kind != TopologyKind::Bus {
            self.check_links()?;
        }
        if self.bus.issue + self.bus.arbitration == 0 {
            return wrong("bus.issue and bus.arbitration are both 0: a request takes at least a cycle".into());
        }
        if sync < self.bus.issue + self.bus.arbitration {
            return wrong("machine.sync is less than bus.issue + bus.arbitration".into());
        }
        if [self.bus.width, self.bus.address, self.bus.retry, self.l1.hit].contains(&0) {
            return wrong("bus.width, bus.address, bus.retry and l1.hit must be at least 1".into());
        }
        if self.bus.mode == BusMode::Atomic && self.bus.skew > 0 {
            return wrong("bus.skew needs a split bus".into());
        }
        if self.bus.protocol.has_exclusive() && self.bus.skew > 0 {
            // With snoop skew, a node cannot know whether others have a copy
            return wrong(format!("bus.skew needs bus.protocol=mosi, not {}", self.bus.protocol.name()));
        }
        let engines = [("latency", self.engines.latency), ("interval", self.engines.interval)];
        for (name, cycles) in engines {
            if let Some(cycles) = cycles.filter(|cycles| *cycles > LONGEST_ENGINE) {
                return wrong(format!("engines.{name} is {cycles}, not 0 to {LONGEST_ENGINE}"));
            }
        }
        Ok(())
    }

    /// Checks the settings of a ring or mesh.
    fn check_links(&self) -> Result<(), ConfigError> {
        let wrong = |what: String| Err(ConfigError(what));
        let Interconnect { kind, columns, width, command, header, latency, directory, occupancy } = self.interconnect;
        let kind = kind.name();
        let units = self.units();
        if units < 2 {
            return wrong(format!("interconnect.kind is {kind}, which connects at least 2 chips, not {units}"));
        }
        if columns > 0 && !units.is_multiple_of(columns) {
            return wrong(format!("interconnect.columns: {units} nodes cannot be arranged in rows of {columns}"));
        }
        if width == 0 || command == 0 {
            return wrong("interconnect.width and interconnect.command must be at least 1".into());
        }
        if let Some(long) =
            [width, command, header, latency, directory, occupancy].into_iter().find(|n| *n > LONGEST_TIME)
        {
            return wrong(format!("interconnect: {long} exceeds the limit for times and widths, {LONGEST_TIME}"));
        }
        if self.bus.mode == BusMode::Atomic || self.bus.skew > 0 {
            return wrong(format!("bus.mode=atomic and bus.skew need interconnect.kind=bus, not {kind}"));
        }
        let scheme = self.scheme.build(&Platform { functional: false, ..self.platform() });
        match scheme.needs_bus() {
            Some(why) => wrong(format!("scheme {} needs interconnect.kind=bus, not {kind}: {why}", self.scheme.name)),
            None => Ok(()),
        }
    }

    /// Cycles after a write during which a node may still read the old value: 0 if all nodes see commands at the same
    /// time, otherwise the largest possible difference between two nodes.
    pub(crate) fn stale(&self) -> u64 {
        let Bus { skew, address, arbitration, .. } = self.bus;
        // Commands that queue up at one node may add to the skew of the first
        if skew == 0 { 0 } else { (skew + address + arbitration) * (self.machine.processors as u64 + 1) }
    }

    /// Number of security units: one for each chip, or for each processor.
    pub fn units(&self) -> usize {
        if self.machine.chips == 0 { self.machine.processors } else { self.machine.chips }
    }

    /// The nodes and links of a ring or mesh; `None` for a bus.
    pub(crate) fn topology(&self) -> Option<Topology> {
        let Interconnect { kind, columns, .. } = self.interconnect;
        (kind != TopologyKind::Bus).then(|| Topology::new(kind, self.units(), columns))
    }

    /// The machine as its scheme sees it.
    pub(crate) fn platform(&self) -> Platform {
        let topology = self.topology();
        let links = |topology: &Topology| Links { numbers: topology.numbers(), ports: topology.ports() as u64 };
        Platform {
            units: self.units(),
            line: self.machine.line,
            links: topology.as_ref().map(links),
            width: if topology.is_some() { self.interconnect.width } else { self.bus.width },
            bus: self.bus.clone(),
            process: self.machine.process,
            processes: self.processes.count,
            seed: self.machine.seed,
            functional: self.scheme.functional,
            engines: self.engines.clone(),
            clock: Clock::default(),
        }
    }

    /// Bits of storage in one security unit.
    pub fn storage_bits(&self) -> u64 {
        self.scheme.build(&self.platform()).storage_bits()
    }

    /// The security unit of a node.
    pub fn unit(&self, node: usize) -> usize {
        node * self.units() / self.machine.processors
    }
}

/// Parses TOML; the error names the line.
pub(crate) fn parse(text: &str) -> Result<toml::Table, ConfigError> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let line =
            error.span().map_or(1, |span| text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1);
        ConfigError(format!("line {line}: {}", toml_message(&error)))
    })
}

/// The table that `a.b=c` stands for; if `c` is not a TOML value, it is taken as a string.
pub(crate) fn assigned(setting: &str) -> Result<toml::Table, ConfigError> {
    let (name, value) = setting.split_once('=').unwrap_or_default();
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    if name.is_empty() || !plain || value.contains(['\n', '"']) {
        return Err(ConfigError("a setting has the form a.b=c".into()));
    }
    let value = value.trim();
    if value.len() > 1 && value.parse::<i64>().is_err() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ConfigError(format!("{value} exceeds the largest whole number of a setting, {LARGEST_WHOLE}")));
    }
    let as_is = toml::from_str::<toml::Table>(&format!("v = {value}")).is_ok();
    parse(&if as_is { format!("{name} = {value}") } else { format!("{name} = \"{value}\"") })
}

/// Overrides a table of settings. The model of an engine is its interval under another name: of a preset's interval and
/// a model, the one that is set later counts. (In one table, the interval does.)
pub(crate) fn override_table(base: &mut toml::Table, change: toml::Table) {
    let sets_model = |engines: &toml::Table| engines.contains_key("model") && !engines.contains_key("interval");
    if change.get("engines").and_then(toml::Value::as_table).is_some_and(sets_model)
        && let Some(engines) = base.get_mut("engines").and_then(toml::Value::as_table_mut)
    {
        engines.remove("interval");
    }
    overlay(base, change);
}

pub(crate) fn overlay(base: &mut toml::Table, change: toml::Table) {
    for (name, value) in change {
        match (base.get_mut(&name), value) {
            (Some(toml::Value::Table(old)), toml::Value::Table(new)) => overlay(old, new),
            (_, value) => {
                base.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests;
