//! Whether a sealed file has the content that is wanted.

use crate::{error::Error, input::Input, layout::Content, open::Opening};

impl Opening<'_> {
    /// Refuses what `wanted` refuses, but only once the commitment, which covers the preamble, was checked: otherwise the
    /// error would repeat as a fact what somebody may have changed.
    pub(crate) fn refuse_content(
        &self,
        input: &mut Input,
        wanted: impl Fn(Content) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let preamble = input.preamble()?.clone();
        wanted(preamble.layout.content).or_else(|other| self.body_of(input, &preamble).and(Err(other)))
    }
}
