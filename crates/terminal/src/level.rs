//! The environment variable `SEALWRIGHT_ISA`.

use std::env::{self, VarError};

use sealwright::Isa;

use crate::error::{CommandError, printable};

/// Refuses a level that does not exist or belongs to another processor architecture: it would silently have no effect.
pub(crate) fn check() -> Result<(), CommandError> {
    let name = match env::var("SEALWRIGHT_ISA") {
        Ok(name) => name,
        Err(VarError::NotPresent) => return Ok(()),
        Err(VarError::NotUnicode(name)) => name.to_string_lossy().into_owned(),
    };
    let names: Vec<&str> = Isa::names().collect();
    if name.is_empty() || names.contains(&name.as_str()) {
        return Ok(());
    }
    let (name, names) = (printable(&name), names.join(", "));
    Err(CommandError::usage(format_args!("SEALWRIGHT_ISA={name}: not one of {names}")))
}
