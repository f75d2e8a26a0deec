//! The environment variable `SEALWRIGHT_ISA`.

use sealwright::Isa;

use crate::error::{CommandError, printable};

/// Refuses a level that does not exist: it would lower nothing, and nobody would notice.
pub(crate) fn check() -> Result<(), CommandError> {
    match std::env::var("SEALWRIGHT_ISA") {
        Ok(name) if !name.is_empty() && !Isa::NAMES.contains(&name.as_str()) => {
            let names = Isa::NAMES.join(", ");
            Err(CommandError::usage(format_args!("SEALWRIGHT_ISA={}: not one of {names}", printable(&name))))
        }
        _ => Ok(()),
    }
}
