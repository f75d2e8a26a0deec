//! What a message of RKC is made with, and how the paper is read where it leaves something open.

use crate::drbg::SEED_BYTES;

/// S: public, and another for every message under a key.
pub type Seed = [u8; SEED_BYTES];

/// The most blocks in a message.
pub const MAX_BLOCKS: u64 = (1 << 32) - 1;

/// Blocks whose keys are made together.
pub(super) const BATCH: usize = 16;

/// A reading of what the paper leaves open. The default is RKC-R; C_1 does not depend on `draw`, so that one block tells
/// no two draws apart.
///
/// ```
/// use sealwright::mode::rkc::{Draw, Reading, SeedUse};
///
/// assert_eq!(Reading::default(), Reading { seed: SeedUse::V, draw: Draw::Block });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reading {
    /// What S becomes.
    pub seed: SeedUse,
    /// How the R_i are drawn.
    pub draw: Draw,
}

/// What the seed S becomes in Hash_DRBG.
///
/// ```
/// use sealwright::mode::rkc::{Draw, Reading, SeedUse};
///
/// let other = Reading { seed: SeedUse::Df, ..Reading::default() };
/// assert_ne!(other, Reading { draw: Draw::All, ..other });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SeedUse {
    /// S is V: it has V's length.
    #[default]
    V,
    /// S is the seed material of Instantiate, and V its Hash_df.
    Df,
}

/// How the R_i are drawn from Hash_DRBG.
///
/// ```
/// use sealwright::mode::rkc::{Draw, Reading, SeedUse};
///
/// let other = Reading { draw: Draw::All, ..Reading::default() };
/// assert_ne!(other, Reading { seed: SeedUse::Df, ..other });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Draw {
    /// One Generate of 256 bits for each block.
    #[default]
    Block,
    /// One Generate for all blocks, as many bits as a request may have (2^19), then another.
    All,
}
