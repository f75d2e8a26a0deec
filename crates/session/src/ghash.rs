//! The ways to compute GHASH for one packet.

#[cfg(feature = "research")]
use sealwright::ghash::{Bitwise, Ghash, Serial, Table4k_vartime, Table8k_vartime, Table64k_vartime, Table256_vartime};
use sealwright::{Block, Isa};

use crate::spec::Strategy;

/// A table of multiples of h. Without the feature `research` there is none.
#[derive(Clone, Debug)]
pub(crate) enum Table {
    #[cfg(feature = "research")]
    T256(Table256_vartime),
    #[cfg(feature = "research")]
    T4k(Table4k_vartime),
    #[cfg(feature = "research")]
    T8k(Table8k_vartime),
    #[cfg(feature = "research")]
    T64k(Table64k_vartime),
}

impl Table {
    /// The table of `h`, if the strategy has one.
    #[cfg(feature = "research")]
    pub(crate) fn new(isa: Isa, strategy: Strategy, h: &Block) -> Option<Self> {
        match strategy {
            Strategy::Zero | Strategy::Clmul => None,
            Strategy::T256 => Some(Table::T256(Ghash::new(isa, h))),
            Strategy::T4k => Some(Table::T4k(Ghash::new(isa, h))),
            Strategy::T8k => Some(Table::T8k(Ghash::new(isa, h))),
            Strategy::T64k => Some(Table::T64k(Ghash::new(isa, h))),
        }
    }

    #[cfg(not(feature = "research"))]
    pub(crate) fn new(_: Isa, _: Strategy, _: &Block) -> Option<Self> {
        None
    }

    #[cfg(feature = "research")]
    fn hash(&self, ad: &[u8], text: &[u8]) -> Block {
        match self {
            Table::T256(table) => table.hash(ad, text),
            Table::T4k(table) => table.hash(ad, text),
            Table::T8k(table) => table.hash(ad, text),
            Table::T64k(table) => table.hash(ad, text),
        }
    }
}

/// How one packet is hashed. It has no `Debug`, because it contains keys.
#[derive(Clone, Copy)]
pub(crate) enum Hash<'a> {
    /// By carry-less multiplication, where h is the cipher's encryption of the zero block.
    Own,
    /// By carry-less multiplication, with this h.
    WithKey(&'a Block),
    /// Bit by bit.
    #[cfg(feature = "research")]
    Bitwise(&'a Block),
    /// By table.
    #[cfg(feature = "research")]
    Table(&'a Table),
}

impl<'a> Hash<'a> {
    /// The strategy for a stored `h` and its table.
    #[cfg(feature = "research")]
    pub(crate) fn of(strategy: Strategy, h: &'a Block, table: Option<&'a Table>) -> Self {
        match (strategy, table) {
            (Strategy::Zero, _) => Hash::Bitwise(h),
            (_, Some(table)) => Hash::Table(table),
            (_, None) => Hash::WithKey(h),
        }
    }

    #[cfg(not(feature = "research"))]
    pub(crate) fn of(_: Strategy, h: &'a Block, _: Option<&'a Table>) -> Self {
        Hash::WithKey(h)
    }

    /// Whether GHASH is computed separately from the cipher rather than in GCM's kernel.
    #[cfg(feature = "research")]
    pub(crate) fn is_separate(&self) -> bool {
        matches!(self, Hash::Bitwise(_) | Hash::Table(_))
    }

    /// GHASH of `ad` and `text`, separately from the cipher.
    #[cfg(feature = "research")]
    pub(crate) fn separately(&self, isa: Isa, ad: &[u8], text: &[u8]) -> Block {
        match self {
            Hash::Own | Hash::WithKey(_) => unreachable!("GCM's kernel computes this"),
            Hash::Bitwise(h) => Bitwise::new(isa, h).hash(ad, text),
            Hash::Table(table) => table.hash(ad, text),
        }
    }
}
