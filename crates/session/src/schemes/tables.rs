//! Tables of the clients' GHASH keys, stored outside the records.

use sealwright::{Block, Isa};

use crate::{
    ghash::{Hash, Table},
    record::End,
    spec::Strategy,
};

/// For receiving and for sending.
type Pair = Box<[Table; 2]>;

pub(crate) struct Tables {
    isa: Isa,
    strategy: Strategy,
    /// Indexed by slot; empty for a strategy without tables.
    pairs: Vec<Option<Pair>>,
    held: u64,
}

impl Tables {
    pub(crate) fn new(isa: Isa, strategy: Strategy, slots: u32) -> Self {
        let slots = if strategy.table_bytes() > 0 { slots as usize } else { 0 };
        Tables { isa, strategy, pairs: vec![None; slots], held: 0 }
    }

    pub(crate) fn strategy(&self) -> Strategy {
        self.strategy
    }

    pub(crate) fn keep(&mut self, slot: u32, h: &[Block; 2]) {
        self.remove(slot);
        let [Some(received), Some(sent)] = h.each_ref().map(|h| Table::new(self.isa, self.strategy, h)) else {
            return;
        };
        self.pairs[slot as usize] = Some(Box::new([received, sent]));
        self.held += 1;
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        if self.pairs.get_mut(slot as usize).and_then(Option::take).is_some() {
            self.held -= 1;
        }
    }

    pub(crate) fn hash<'a>(&'a self, slot: u32, h: &'a Block, end: End) -> Hash<'a> {
        let pair = self.pairs.get(slot as usize).and_then(Option::as_ref);
        Hash::of(self.strategy, h, pair.map(|pair| &pair[end as usize]))
    }

    pub(crate) fn heap_bytes(&self) -> u64 {
        let pair = size_of::<[Table; 2]>() + 2 * self.strategy.table_bytes();
        (self.pairs.len() * size_of::<Option<Pair>>()) as u64 + self.held * pair as u64
    }
}
