//! The resolution of the paper's clock. On its machine `time` counted user time in ticks, which the printed means
//! reveal.

use sealwright_measure::{Cell, Column, Table};

use crate::paper::Paper;

/// The length of a tick: 1/250 s.
pub(super) const TICK_MS: f64 = 4.0;

/// Number of trials per mean in the paper.
const TRIALS: f64 = 3.0;

/// Number of ticks in the sum of the trials of a printed mean, if that is a whole number.
fn ticks(mean: f64) -> Option<u64> {
    let ticks = mean * TRIALS / TICK_MS;
    // Means have two decimals, so the sum of three trials is known to 0.015 ms
    ((ticks - ticks.round()).abs() * TICK_MS <= 0.015 + 1e-9).then(|| ticks.round() as u64)
}

/// Every printed mean with its ticks; how many means are whole numbers of ticks, and how many means there are.
pub(super) fn table(paper: &Paper) -> (Table, usize, usize) {
    let columns = [
        Column::text("table and file"),
        Column::number("encryption, printed").unit("ms"),
        Column::number("three trials together").unit("ms"),
        Column::number("ticks of 4 ms"),
        Column::number("decryption, printed").unit("ms"),
        Column::number("three trials together").unit("ms"),
        Column::number("ticks of 4 ms"),
    ];
    let mut table = Table::new("The paper's means, taken apart", columns)
        .with_note("If times are counted in ticks of 4 ms, a mean of three ends in .00, .33 or .67. All of them do.");
    let (mut whole, mut all) = (0, 0);
    for printed in &paper.tables {
        for row in &printed.rows {
            let mut cells = vec![Cell::text(format!("{}, {}", printed.caption, row.label))];
            for &mean in &row.values {
                let found = ticks(mean);
                all += 1;
                whole += usize::from(found.is_some());
                cells.push(Cell::number(mean, 2));
                cells.push(Cell::number((mean * TRIALS).round(), 0));
                cells.push(found.map_or(Cell::empty("no whole number"), Cell::count));
            }
            table.row(cells);
        }
    }
    if whole < all {
        table.note = None;
    }
    (table, whole, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_ticks_are_told_from_others() {
        assert_eq!(ticks(5.33), Some(4));
        assert_eq!(ticks(8.0), Some(6));
        assert_eq!(ticks(214.67), Some(161));
        assert_eq!(ticks(5.40), None);
        assert_eq!(ticks(7.0), None);
    }
}
