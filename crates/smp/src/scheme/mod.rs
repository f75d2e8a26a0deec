//! The schemes that protect transfers. Each has a file of its own, which registers it with its parameters.
//!
//! To add a scheme, write a file with its parameters, its state and its registration, and add the file to the list
//! below. A scheme is one state machine: it determines when a line may enter the bus and when it may be used. If lines
//! are really encrypted, it uses for that the same counters, masks and epochs as for the timing.

mod chain;
mod commands;
mod exchange;
mod ide;
mod masks;
mod nonce;
mod priorities;
mod registration;
mod stream;
mod tagged;
mod unit;

use std::fmt;

pub use exchange::Exchange;
pub(crate) use exchange::derive;
pub use nonce::{Collision, NonceAudit};
pub use registration::{Parameter, Registration, Variant};
use serde::{Deserialize, Serialize};
pub use unit::{Crossing, Hub, Occupied, PerLink, Scheme, SchemeCounters, THESIS_LATENCY};
pub(crate) use unit::{Links, Platform};

use crate::error::ConfigError;

/// Declares the schemes' modules and the registry.
macro_rules! schemes {
    ($($file:ident),+) => {
        $(mod $file;)+

        /// All schemes, `clear` first.
        pub static REGISTRY: &[Registration] = &[$($file::REGISTRATION),+];
    };
}

schemes!(clear, gcm, cbc, senss, i2sems, cxl_ide, pcie_ide);

/// The name of a scheme that exists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SchemeName(&'static str);

impl SchemeName {
    /// The baseline without encryption.
    pub const CLEAR: SchemeName = SchemeName("clear");

    /// The scheme of that name.
    pub fn find(name: &str) -> Option<SchemeName> {
        REGISTRY.iter().find(|scheme| scheme.name == name).map(|scheme| SchemeName(scheme.name))
    }

    /// All schemes, `clear` first.
    pub fn all() -> impl Iterator<Item = SchemeName> {
        REGISTRY.iter().map(|scheme| SchemeName(scheme.name))
    }

    /// The name.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// Its registration.
    pub fn registration(self) -> &'static Registration {
        let found = REGISTRY.iter().find(|scheme| scheme.name == self.0);
        found.expect("names are made from the registry")
    }
}

impl fmt::Display for SchemeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

impl fmt::Debug for SchemeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The most pads, masks or keystreams of all pairs of units together.
const MOST_AHEAD: u64 = 1 << 22;

/// The scheme that protects the bus, and a table of parameters for every scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "toml::Table", into = "toml::Table")]
pub struct SchemeConfig {
    /// The scheme.
    pub name: SchemeName,
    /// Whether lines are really encrypted, in addition to the simulation of their timing.
    pub functional: bool,
    tables: Vec<(SchemeName, toml::Table)>,
}

impl Default for SchemeConfig {
    fn default() -> Self {
        let tables = SchemeName::all().map(|name| (name, (name.registration().defaults)())).collect();
        SchemeConfig { name: SchemeName::CLEAR, functional: true, tables }
    }
}

impl SchemeConfig {
    /// The scheme that is chosen, for a machine.
    pub(crate) fn build(&self, platform: &Platform) -> Box<dyn Scheme> {
        (self.name.registration().build)(platform, self.table(self.name))
    }

    /// Rejects numbers of pads, masks or keystreams that are too large for `units` units and `processes` processes.
    pub(crate) fn check(&self, units: usize, processes: usize) -> Result<(), ConfigError> {
        let name = self.name;
        let number = |key: &str| self.table(name).get(key).and_then(toml::Value::as_integer).map(i64::unsigned_abs);
        let (pairs, stored) = ((units * units) as u64, number("stored").unwrap_or(1).min(processes as u64));
        for key in ["pads", "masks", "window"] {
            let ahead = number(key).unwrap_or(0);
            if ahead.saturating_mul(pairs).saturating_mul(stored) > MOST_AHEAD {
                let what = format!("scheme.{name}.{key} is {ahead} for {pairs} pairs of units and {stored} at once");
                return Err(ConfigError(format!("{what}, together more than {MOST_AHEAD}")));
            }
        }
        Ok(())
    }

    /// The parameters of a scheme.
    pub(crate) fn table(&self, name: SchemeName) -> &toml::Table {
        let found = self.tables.iter().find(|(other, _)| *other == name);
        &found.expect("there is a table for each scheme").1
    }
}

impl From<SchemeConfig> for toml::Table {
    fn from(config: SchemeConfig) -> toml::Table {
        let mut table = toml::Table::new();
        table.insert("name".to_owned(), config.name.as_str().into());
        table.insert("functional".to_owned(), config.functional.into());
        let tables = config.tables.into_iter().filter(|(_, parameters)| !parameters.is_empty());
        table.extend(tables.map(|(name, parameters)| (name.as_str().to_owned(), parameters.into())));
        table
    }
}

impl TryFrom<toml::Table> for SchemeConfig {
    type Error = ConfigError;

    fn try_from(table: toml::Table) -> Result<SchemeConfig, ConfigError> {
        let known = || SchemeName::all().map(SchemeName::as_str).collect::<Vec<_>>().join(", ");
        let mut config = SchemeConfig::default();
        for (key, value) in table {
            match (key.as_str(), value) {
                ("name", toml::Value::String(name)) => {
                    let unknown = || ConfigError(format!("there is no scheme {name:?}: {}", known()));
                    config.name = SchemeName::find(&name).ok_or_else(unknown)?;
                }
                ("functional", toml::Value::Boolean(functional)) => config.functional = functional,
                ("name", _) => return Err(ConfigError("scheme.name must be a string".into())),
                ("functional", _) => return Err(ConfigError("scheme.functional must be true or false".into())),
                (key, toml::Value::Table(changes)) if SchemeName::find(key).is_some() => {
                    for (name, parameters) in config.tables.iter_mut().filter(|(name, _)| name.as_str() == key) {
                        parameters.extend(changes.clone());
                        (name.registration().check)(parameters)?;
                    }
                }
                (key, _) => {
                    let why =
                        format!("unknown field `{key}`, expected `name`, `functional`, or the table of: {}", known());
                    return Err(ConfigError(why));
                }
            }
        }
        Ok(config)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn every_scheme_is_found_by_its_name_and_describes_its_parameters() {
        for scheme in REGISTRY {
            assert_eq!(SchemeName::find(scheme.name).unwrap().registration().name, scheme.name);
            assert!(!scheme.summary.is_empty());
            for column in scheme.columns {
                for setting in column.settings {
                    Config::default().set(setting).unwrap().check().unwrap();
                }
            }
            for (name, _) in (scheme.defaults)() {
                let parameter = scheme.parameters.iter().find(|parameter| parameter.name == name);
                assert!(parameter.is_some_and(|parameter| parameter.description.len() > 5), "{} {name}", scheme.name);
            }
        }
        assert_eq!(SchemeName::find("nothing"), None);
        assert_eq!(SchemeName::CLEAR, SchemeName::all().next().unwrap());
    }

    #[test]
    fn tables_keep_their_scheme_and_say_what_is_wrong() {
        let config = Config::default().merge("[scheme]\nname = \"gcm\"\n[scheme.senss]\nmasks = 3\n").unwrap();
        assert_eq!(config.scheme.name.as_str(), "gcm");
        let senss = SchemeName::find("senss").unwrap();
        assert_eq!(config.scheme.table(senss).get("masks").and_then(toml::Value::as_integer), Some(3));
        let back: Config = toml::Table::try_from(&config).unwrap().try_into().unwrap();
        assert_eq!(back, config);
        for (setting, why) in [
            ("scheme.name=rot13", "there is no scheme \"rot13\""),
            ("scheme.gcm.pads=70000", "pads is 70000, not 0 to 65536"),
            ("scheme.gcm.maks=1", "unknown field `maks`"),
            ("scheme.rot13.pads=1", "unknown field `rot13`"),
            ("scheme.functional=7", "true or false"),
        ] {
            let error = Config::default().set(setting).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
