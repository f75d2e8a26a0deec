//! The parameters of a message of RKC, and the possible readings of what the paper leaves open.

use crate::drbg::SEED_BYTES;

/// S: public, and different for every message under a key.
pub type Seed = [u8; SEED_BYTES];

/// The most blocks in a message.
pub const MAX_BLOCKS: u64 = (1 << 32) - 1;

/// Blocks whose keys are computed together.
pub(super) const BATCH: usize = 16;

/// A reading of what the paper leaves open. The default is RKC-R. C_1 does not depend on `draw`: one block cannot
/// distinguish between the draws.
///
/// ```
/// use sealwright::mode::rkc::{Draw, Reading, SeedUse};
///
/// assert_eq!(Reading::default(), Reading { seed: SeedUse::V, draw: Draw::Block });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reading {
    /// How S is used.
    pub seed: SeedUse,
    /// How the R_i are drawn.
    pub draw: Draw,
}

/// How the seed S enters Hash_DRBG.
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
    /// One Generate for all blocks; after 2^19 bits, the most that a request may return, the next one.
    All,
}
