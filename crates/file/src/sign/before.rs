//! Verifying a signature before any text is written to a stream.

use super::span_hashes::SpanHashes;
use crate::{Error, Input, Opening, Output, output::To};

impl Opening<'_> {
    /// Verifies the signature of an input file whose text will be written to a stream, and returns the hashes of its
    /// spans. The second pass accepts only a text with these hashes: the tags of the chunks do not suffice, because
    /// recipients know the file key, and could replace chunks between the two passes. Both passes read the same open
    /// file, even if its name is given to another one.
    pub(crate) fn verify_before(&self, input: &Input, output: &Output) -> Result<Option<SpanHashes>, Error> {
        if self.signers.is_empty() || matches!(output.to, To::File { .. }) {
            return Ok(None);
        }
        let Some(file) = input.again()? else { return Ok(None) };
        let hashes = SpanHashes::default();
        Opening { hashes: Some(&hashes), ..self.clone() }.verify(file)?;
        input.is_unchanged().map(|()| Some(hashes))
    }
}
