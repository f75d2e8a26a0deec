//! Signatures that are verified before a stream gets any text.

use crate::{Commitment, Error, Input, Opening, Output, output::To};

impl Opening<'_> {
    /// Verifies a file that goes to a stream, and returns what it commits to: who writes another one into it before it is read again is
    /// refused. The same open file is read, whatever its name then stands for.
    pub(crate) fn verify_before(&self, input: &Input, output: &Output) -> Result<Option<Commitment>, Error> {
        if self.signers.is_empty() || matches!(output.to, To::File { .. }) {
            return Ok(None);
        }
        let Some(file) = input.again()? else { return Ok(None) };
        let seen = self.verify(file)?;
        input.is_unchanged().map(|()| Some(seen.commitment))
    }
}
