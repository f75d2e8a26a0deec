//! Signatures that are verified before a stream gets any text.

use crate::{Error, Input, Opening, Output, output::To};

impl Opening<'_> {
    /// Verifies a file that goes to a stream. The same open file is read again, whatever its name then stands for.
    pub(crate) fn verify_before(&self, input: &Input, output: &Output) -> Result<(), Error> {
        if self.signers.is_empty() || matches!(output.to, To::File { .. }) {
            return Ok(());
        }
        let Some(file) = input.again()? else { return Ok(()) };
        self.verify(file)?;
        input.is_unchanged()
    }
}
