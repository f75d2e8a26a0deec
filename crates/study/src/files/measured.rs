//! The data of this study, and the names of its circumstances.

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
/// The circumstance closest to the paper's machine.
pub(super) const NO_INSTRUCTIONS: &str = "OpenSSL without AES instructions";
/// The circumstance closest to the paper's method: the same tool for both modes. It decrypts CBC piece by piece, and
/// holds a text of GCM until its tag is verified.
pub(super) const ENC: &str = "whole processes, sealwright enc (holds the text in memory to decrypt GCM)";
/// The circumstance of a user today: `seal` for GCM and `enc` for CBC.
pub(super) const SEAL: &str = "whole processes, seal for GCM";

/// The programs that are measured with text only, in the order of their rows.
pub(super) const TOOLS: [Program; 4] = [Program::OpensslEnc, Program::Seal, Program::Age, Program::Gpg];

/// All measurements.
pub(super) struct Measured<'a> {
    pub(super) trials: Trials<'a>,
    pub(super) printed: Grid,
    pub(super) no_instructions: Grid,
    pub(super) enc: Grid,
    pub(super) seal: Grid,
    /// The library by level, slowest level first.
    pub(super) library: Vec<(Isa, Grid)>,
    /// Time to encrypt a text with CBC at the best level divided by its time at the level with one block per register.
    pub(super) wider: BTreeMap<Size, Interval>,
    /// The programs that were not measured, and why.
    pub(super) missing: Vec<(Program, String)>,
}

impl Measured<'_> {
    pub(super) fn best(&self) -> Option<&Grid> {
        self.library.last().map(|(_, grid)| grid)
    }

    /// The library without special instructions.
    pub(super) fn portable(&self) -> Option<&Grid> {
        self.library.first().map(|(_, grid)| grid).filter(|_| self.library.len() > 1)
    }
}
