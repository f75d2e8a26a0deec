//! GHASH by table, one key's.

use sealwright::{
    Block, Isa,
    ghash::{Bitwise, Ghash, Serial, Table4k_vartime, Table8k_vartime, Table64k_vartime, Table256_vartime},
};

use crate::spec::Strategy;

/// A table of multiples of h.
#[derive(Clone, Debug)]
pub(crate) enum Table {
    T256(Table256_vartime),
    T4k(Table4k_vartime),
    T8k(Table8k_vartime),
    T64k(Table64k_vartime),
}

impl Table {
    /// The table of `h`, if the strategy has any.
    pub(crate) fn new(isa: Isa, strategy: Strategy, h: &Block) -> Option<Self> {
        match strategy {
            Strategy::Zero | Strategy::Clmul => None,
            Strategy::T256 => Some(Table::T256(Ghash::new(isa, h))),
            Strategy::T4k => Some(Table::T4k(Ghash::new(isa, h))),
            Strategy::T8k => Some(Table::T8k(Ghash::new(isa, h))),
            Strategy::T64k => Some(Table::T64k(Ghash::new(isa, h))),
        }
    }

    pub(crate) fn hash(&self, ad: &[u8], text: &[u8]) -> Block {
        match self {
            Table::T256(table) => table.hash(ad, text),
            Table::T4k(table) => table.hash(ad, text),
            Table::T8k(table) => table.hash(ad, text),
            Table::T64k(table) => table.hash(ad, text),
        }
    }
}

/// How one packet is hashed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hash<'a> {
    /// By carry-less multiplication, h being the cipher's encryption of zero.
    Own,
    /// By carry-less multiplication, h being kept.
    Kept(&'a Block),
    /// Bit by bit.
    Bitwise(&'a Block),
    /// By table.
    Table(&'a Table),
}

impl<'a> Hash<'a> {
    /// The strategy for a kept `h` and its table.
    pub(crate) fn of(strategy: Strategy, h: &'a Block, table: Option<&'a Table>) -> Self {
        match (strategy, table) {
            (Strategy::Zero, _) => Hash::Bitwise(h),
            (_, Some(table)) => Hash::Table(table),
            (_, None) => Hash::Kept(h),
        }
    }

    /// The hash, if it is not GCM's fused kernel that computes it.
    pub(crate) fn plain(&self, isa: Isa, ad: &[u8], text: &[u8]) -> Option<Block> {
        match self {
            Hash::Own | Hash::Kept(_) => None,
            Hash::Bitwise(h) => Some(Bitwise::new(isa, h).hash(ad, text)),
            Hash::Table(table) => Some(table.hash(ad, text)),
        }
    }
}
