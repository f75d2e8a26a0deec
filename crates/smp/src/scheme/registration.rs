//! How a scheme registers itself: name, summary, parameters with defaults and descriptions, and a constructor.

use std::{fmt, ops::RangeInclusive};

use serde::{Serialize, de::DeserializeOwned};

use super::unit::{Platform, Scheme};
use crate::error::{ConfigError, toml_message};

/// A scheme that exists.
#[derive(Clone, Copy)]
pub struct Registration {
    /// Its name in settings and on command lines.
    pub name: &'static str,
    /// A summary in one line.
    pub summary: &'static str,
    /// Its parameters: the table `scheme.NAME` of the settings.
    pub parameters: &'static [Parameter],
    /// Its columns in the matrix of attacks.
    pub columns: &'static [Variant],
    pub(super) defaults: fn() -> toml::Table,
    pub(super) check: fn(&toml::Table) -> Result<(), ConfigError>,
    pub(super) build: fn(&Platform, &toml::Table) -> Box<dyn Scheme>,
}

/// A scheme with some of its parameters changed: a column in the matrix of attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name.
    pub name: &'static str,
    /// The settings that tell it from the scheme's other columns, with its own values. Those of a scheme's first column
    /// are the defaults.
    pub settings: &'static [&'static str],
}

/// A parameter of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its description.
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

    /// Rejects values out of range.
    fn check(&self) -> Result<(), String>;

    /// The default parameters as a table.
    fn table() -> toml::Table {
        toml::Table::try_from(Self::default()).unwrap_or_default()
    }

    /// Parses and checks the table of the scheme `name`.
    fn parse(name: &str, table: &toml::Table) -> Result<Self, ConfigError> {
        let wrong = |why: &str| ConfigError(format!("scheme.{name}: {why}"));
        let parameters: Self =
            table.clone().try_into().map_err(|error: toml::de::Error| wrong(&toml_message(&error)))?;
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

        impl $crate::scheme::registration::Parameters for $name {
            const ALL: &'static [$crate::scheme::registration::Parameter] = &[
                $($crate::scheme::registration::Parameter { name: stringify!($field), description: concat!($($doc),+).trim_ascii() },)*
            ];

            fn check(&self) -> Result<(), String> {
                $($(
                    $crate::scheme::registration::Domain::check(&$range, stringify!($field), &self.$field)?;
                )?)*
                Ok(())
            }
        }
    };
}

/// Registers a scheme: name, summary, parameters, constructor; then, if it has other columns in the matrix of attacks
/// than one of its own name, their names and settings.
macro_rules! register {
    ($name:literal, $summary:literal, $parameters:ty, $build:expr) => {
        register!($name, $summary, $parameters, $build, [$name: []]);
    };
    ($name:literal, $summary:literal, $parameters:ty, $build:expr, [$($column:literal: [$($setting:literal),*]),+]) => {
        /// How the registry knows this scheme.
        pub(super) const REGISTRATION: $crate::scheme::registration::Registration =
            $crate::scheme::registration::Registration {
                name: $name,
                summary: $summary,
                parameters: <$parameters as $crate::scheme::registration::Parameters>::ALL,
                columns: &[
                    $($crate::scheme::registration::Variant { name: $column, settings: &[$($setting),*] }),+
                ],
                defaults: <$parameters as $crate::scheme::registration::Parameters>::table,
                check: |table| <$parameters as $crate::scheme::registration::Parameters>::parse($name, table).map(drop),
                build: |platform, table| {
                    let parameters = <$parameters as $crate::scheme::registration::Parameters>::parse($name, table);
                    Box::new($build(platform, parameters.expect("settings are checked before")))
                },
            };
    };
}

pub(super) use parameters;
pub(super) use register;

/// The most that counts of masks, pads, lines and cycles may be.
pub(super) const MOST: u64 = 1 << 16;
