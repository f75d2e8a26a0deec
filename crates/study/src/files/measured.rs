//! Everything that this study measures, and what its circumstances are called.

use std::collections::BTreeMap;

use sealwright::Isa;
use sealwright_measure::Interval;

use super::{
    grid::{Grid, Size},
    process::Trials,
    programs::Program,
};

/// The circumstance of the paper's own figures.
pub(super) const PRINTED: &str = "the paper's own tables";
/// The circumstance that is nearest to the paper's machine.
pub(super) const NO_INSTRUCTIONS: &str = "OpenSSL without AES instructions";
/// The circumstance that is most like the paper's: one tool for both modes.
pub(super) const ENC: &str = "whole processes, sealwright enc";
/// The circumstance of today's user: `seal` for GCM, `enc` for CBC.
pub(super) const SEAL: &str = "whole processes, seal for GCM";

/// The programs that only text is given to, in the order of their rows.
pub(super) const TOOLS: [Program; 4] = [Program::OpensslEnc, Program::Seal, Program::Age, Program::Gpg];

/// Everything measured.
pub(super) struct Measured<'a> {
    pub(super) trials: Trials<'a>,
    pub(super) printed: Grid,
    pub(super) no_instructions: Grid,
    pub(super) enc: Grid,
    pub(super) seal: Grid,
    /// The library by level, slowest first.
    pub(super) library: Vec<(Isa, Grid)>,
    /// Time of CBC to encrypt a text at the best level over its time at the level with registers of one block.
    pub(super) wider: BTreeMap<Size, Interval>,
    pub(super) missing: Vec<Program>,
}

impl Measured<'_> {
    pub(super) fn best(&self) -> Option<&Grid> {
        self.library.last().map(|(_, grid)| grid)
    }

    /// The library's level without any special instruction.
    pub(super) fn portable(&self) -> Option<&Grid> {
        self.library.first().map(|(_, grid)| grid).filter(|_| self.library.len() > 1)
    }
}
