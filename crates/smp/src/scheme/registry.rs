//! The registry of schemes: each has a name, a summary, parameters with defaults and descriptions, and a constructor.

use std::{fmt, ops::RangeInclusive};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Platform, REGISTRY, Scheme};
use crate::config::ConfigError;

/// A scheme that exists.
#[derive(Clone, Copy)]
pub struct Registration {
    /// Its name in settings and on command lines.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Its parameters: the table `scheme.NAME` of the settings.
    pub parameters: &'static [Parameter],
    pub(super) defaults: fn() -> toml::Table,
    pub(super) check: fn(&toml::Table) -> Result<(), ConfigError>,
    pub(super) build: fn(&Platform, &toml::Table) -> Box<dyn Scheme>,
}

/// A parameter of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub description: &'static str,
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Registration {
    /// A parameter's default, as settings write it; `None` where it follows from other parameters.
    pub fn default(&self, parameter: &str) -> Option<String> {
        match (self.defaults)().get(parameter)? {
            toml::Value::String(word) => Some(word.clone()),
            toml::Value::Integer(number) => Some(number.to_string()),
            toml::Value::Boolean(flag) => Some(flag.to_string()),
            _ => None,
        }
    }
}

/// The parameters of a scheme, as [`parameters!`] declares them.
pub(super) trait Parameters: Default + Serialize + DeserializeOwned {
    const ALL: &'static [Parameter];

    /// Looks for values out of range.
    fn check(&self) -> Result<(), String>;

    /// These parameters as a table.
    fn table() -> toml::Table {
        toml::Table::try_from(Self::default()).unwrap_or_default()
    }

    /// Those of a table of the scheme `name`.
    fn parse(name: &str, table: &toml::Table) -> Result<Self, ConfigError> {
        let wrong = |why: &str| ConfigError(format!("scheme.{name}: {why}"));
        let parameters: Self = table.clone().try_into().map_err(|error: toml::de::Error| wrong(error.message()))?;
        parameters.check().map_err(|why| wrong(&why))?;
        Ok(parameters)
    }
}

/// The values that a parameter may have.
pub(super) trait Domain<T: PartialOrd + fmt::Display> {
    fn holds(&self, value: &T) -> bool;
    fn words(&self) -> String;

    fn check(&self, name: &str, value: &T) -> Result<(), String> {
        if self.holds(value) { Ok(()) } else { Err(format!("{name} is {value}, not {}", self.words())) }
    }
}

impl<T: PartialOrd + fmt::Display> Domain<T> for RangeInclusive<T> {
    fn holds(&self, value: &T) -> bool {
        self.contains(value)
    }
    fn words(&self) -> String {
        format!("{} to {}", self.start(), self.end())
    }
}

impl<T: PartialOrd + fmt::Display, const N: usize> Domain<T> for [T; N] {
    fn holds(&self, value: &T) -> bool {
        self.contains(value)
    }
    fn words(&self) -> String {
        self.iter().map(T::to_string).collect::<Vec<_>>().join(" or ")
    }
}

/// Declares the parameters of a scheme: description, name, type, default and, where not all are allowed, its values.
macro_rules! parameters {
    ($name:ident { $($(#[doc = $doc:literal])+ $field:ident: $kind:ty = $default:expr $(, in $range:expr)?;)* }) => {
        /// The scheme's parameters.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        struct $name {
            $($(#[doc = $doc])+ $field: $kind,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }

        impl $crate::scheme::registry::Parameters for $name {
            const ALL: &'static [$crate::scheme::Parameter] = &[
                $($crate::scheme::Parameter { name: stringify!($field), description: concat!($($doc),+).trim_ascii() },)*
            ];

            fn check(&self) -> Result<(), String> {
                $($(
                    $crate::scheme::registry::Domain::check(&$range, stringify!($field), &self.$field)?;
                )?)*
                Ok(())
            }
        }
    };
}

/// Registers a scheme: name, summary, parameters, constructor.
macro_rules! register {
    ($name:literal, $summary:literal, $parameters:ty, $build:expr) => {
        /// How the registry knows this scheme.
        pub(super) const REGISTRATION: $crate::scheme::Registration = $crate::scheme::Registration {
            name: $name,
            summary: $summary,
            parameters: <$parameters as $crate::scheme::registry::Parameters>::ALL,
            defaults: <$parameters as $crate::scheme::registry::Parameters>::table,
            check: |table| <$parameters as $crate::scheme::registry::Parameters>::parse($name, table).map(drop),
            build: |platform, table| {
                let parameters = <$parameters as $crate::scheme::registry::Parameters>::parse($name, table);
                Box::new($build(platform, parameters.expect("settings are checked before")))
            },
        };
    };
}

pub(super) use parameters;
pub(super) use register;

/// The most that counts of masks, pads, lines and cycles may be.
pub(super) const MOST: u64 = 1 << 16;

/// The name of a scheme that exists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SchemeName(&'static str);

impl SchemeName {
    /// The base: nothing is encrypted.
    pub const CLEAR: SchemeName = SchemeName("clear");

    /// The scheme of that name.
    pub fn find(name: &str) -> Option<SchemeName> {
        REGISTRY.iter().find(|scheme| scheme.name == name).map(|scheme| SchemeName(scheme.name))
    }

    /// Every scheme, the base first.
    pub fn all() -> impl Iterator<Item = SchemeName> {
        REGISTRY.iter().map(|scheme| SchemeName(scheme.name))
    }

    /// The name.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// What the registry knows of it.
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

/// Which scheme protects the bus, and a table of parameters for each scheme that exists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "toml::Table", into = "toml::Table")]
pub struct SchemeConfig {
    /// The scheme.
    pub name: SchemeName,
    /// Whether lines are really encrypted, beside their timing.
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
                ("name", _) => return Err(ConfigError("scheme.name is a word".into())),
                ("functional", _) => return Err(ConfigError("scheme.functional is true or false".into())),
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
