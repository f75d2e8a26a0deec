//! Verifying a signature before any text is written to a stream.

use crate::{Commitment, Error, Input, Opening, Output, output::To};

impl Opening<'_> {
    /// Verifies the signature of an input file whose text will be written to a stream, and returns its commitment. The
    /// second pass accepts only a file with that commitment, so that a change of the file between the two passes is
    /// detected. Both passes read the same open file, even if its name is given to another one.
    pub(crate) fn verify_before(&self, input: &Input, output: &Output) -> Result<Option<Commitment>, Error> {
        if self.signers.is_empty() || matches!(output.to, To::File { .. }) {
            return Ok(None);
        }
        let Some(file) = input.again()? else { return Ok(None) };
        let seen = self.verify(file)?;
        input.is_unchanged().map(|()| Some(seen.commitment))
    }
}
