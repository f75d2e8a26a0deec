//! DRAM banks: each has at most one row open, and serves one request at a time.

use crate::{config, engine::Cycle};

/// What the banks counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RowCounters {
    pub(super) hits: u64,
    pub(super) misses: u64,
    /// Cycles that requests waited for their bank.
    pub(super) waited: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bank {
    free: Cycle,
    open: Option<u64>,
}

/// The banks. Rows are interleaved over them: neighbouring lines are in one row, neighbouring rows in different banks.
#[derive(Debug)]
pub(super) struct Banks {
    banks: Vec<Bank>,
    row: u64,
    hit: u64,
    miss: u64,
    pub(super) counters: RowCounters,
}

impl Banks {
    /// The banks of a memory, if it has any.
    pub(super) fn new(config: &config::Memory) -> Option<Banks> {
        let config::Memory { banks, row, row_hit, row_miss, .. } = *config;
        let counters = RowCounters::default();
        (banks > 0).then(|| Banks { banks: vec![Bank::default(); banks], row, hit: row_hit, miss: row_miss, counters })
    }

    /// When a request for `address` that comes at `now` is served.
    pub(super) fn serve(&mut self, address: u64, now: Cycle) -> Cycle {
        let row = address / self.row;
        let place = (row % self.banks.len() as u64) as usize;
        let bank = &mut self.banks[place];
        let start = now.max(bank.free);
        let hits = bank.open == Some(row);
        let at = start + if hits { self.hit } else { self.miss };
        *bank = Bank { free: at, open: Some(row) };
        let counters = &mut self.counters;
        counters.hits += u64::from(hits);
        counters.misses += u64::from(!hits);
        counters.waited += start - now;
        at
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn rows_stay_open_and_banks_work_side_by_side() {
        let config = config::Memory { banks: 2, row: 1024, row_hit: 40, row_miss: 100, ..config::Memory::default() };
        let mut banks = Banks::new(&config).unwrap();
        assert_eq!(banks.serve(0, 1000), 1100, "no row is open");
        assert_eq!(banks.serve(64, 1200), 1240, "the same row");
        assert_eq!(banks.serve(1024, 1200), 1300, "the other bank");
        assert_eq!(banks.serve(2048, 1210), 1340, "the first bank is busy until 1240, and another row is open");
        assert_eq!(banks.counters, RowCounters { hits: 1, misses: 3, waited: 30 });
        assert!(Banks::new(&config::Memory::default()).is_none());
    }
}
