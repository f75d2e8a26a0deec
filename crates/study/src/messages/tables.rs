//! The tables: the paper's table 1 repeated, all ratios, where they cross 1, the cost of the parts of RKC.

use sealwright_measure::{Cell, Column, Interval, Table};

use super::{
    crossing::{self, words},
    grid::{Grid, SIZES},
    measured::Measured,
    printed::PAPER,
};
use crate::figure::cell;

pub(super) fn tables(measured: &Measured) -> Vec<Table> {
    let mut tables = vec![table_1(measured), ratios(measured), crossings(measured), parts(measured), plain(measured)];
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn or_empty(figure: Option<Interval>) -> Cell {
    figure.map_or_else(|| Cell::empty("not measured"), cell)
}

fn table_1(measured: &Measured) -> Table {
    let mut columns = vec![
        Column::text("message"),
        Column::number("paper: RKC").unit("ms"),
        Column::number("GCM").unit("ms"),
        Column::number("RKC - GCM").unit("ms"),
    ];
    let both: Vec<&Grid> = measured.best().into_iter().chain(measured.portable()).map(|(_, grid)| grid).collect();
    for grid in &both {
        columns.push(Column::number(format!("{}: RKC", grid.scope)).unit("µs"));
        columns.push(Column::number(format!("{}: GCM", grid.scope)).unit("µs"));
        columns.push(Column::number(format!("{}: RKC - GCM", grid.scope)).unit("µs"));
    }
    let note = "The paper in milliseconds, this machine in microseconds. Sealing in place, AES-256, 96-bit IV. The \
        time includes the setup of RKC's seed, but not that of GCM's key.";
    let mut table = Table::new("Table 1 anew: time to encrypt and authenticate", columns).with_note(note);
    for size in SIZES {
        let mut row = vec![Cell::text(size.to_string())];
        let printed = |column| PAPER.table("times").and_then(|table| table.value(&size.to_string(), column));
        row.extend(
            [0, 1, 2].map(|column| printed(column).map_or_else(|| Cell::empty("none"), |ms| Cell::number(ms, 2))),
        );
        for grid in &both {
            let at = grid.at(size);
            let less = at.map(|at| Interval::exact(at.rkc.median - at.gcm.median));
            row.extend([at.map(|at| at.rkc), at.map(|at| at.gcm), less].map(or_empty));
        }
        table.row(row);
    }
    table
}

fn ratios(measured: &Measured) -> Table {
    let grids: Vec<&Grid> = measured.grids().collect();
    let mut columns = vec![Column::text("message")];
    columns.extend(grids.iter().map(|grid| Column::number(&grid.scope)));
    let note = "Below 1, RKC is faster. Each pair was measured in the same rounds; brackets are 95 % intervals of \
        the median, and for the paper's figures one millisecond either way.";
    let mut table = Table::new("Time of RKC : time of GCM", columns).with_note(note);
    for size in SIZES {
        let ratios = grids.iter().map(|grid| grid.ratio(size).map_or_else(|| Cell::empty("none"), cell));
        table.row([Cell::text(size.to_string())].into_iter().chain(ratios.collect::<Vec<_>>()));
    }
    table
}

fn crossings(measured: &Measured) -> Table {
    let columns = [Column::text("circumstance"), Column::text("crossing")];
    let mut table = Table::new("Where RKC and GCM cross", columns);
    for grid in measured.grids() {
        table.row([Cell::text(&grid.scope), Cell::text(words(crossing::of(grid)))]);
    }
    table
}

fn parts(measured: &Measured) -> Table {
    let heads = ["DRBG", "tag", "key schedule", "cipher", "RKC, all", "GCM, all"];
    let mut columns = vec![Column::text("level"), Column::text("message")];
    columns.extend(heads.map(|head| Column::number(head).unit("cycles/byte")));
    let note = "The cost of a part is the time saved by omitting it: sealing; with the offsets precomputed; also \
        without the tag; encryption under one key only. Work that overlaps with another part counts for the part \
        that is omitted first. Cycles of the core's own clock, measured in the same rounds with a chain of \
        one-cycle instructions.";
    let mut table = Table::new("What a byte of RKC costs", columns).with_note(note);
    for one in &measured.parts {
        let figures = [one.drbg, one.tag, one.schedule, one.cipher, one.total, one.gcm].map(cell);
        table.row([Cell::text(one.isa.name()), Cell::text(one.size.to_string())].into_iter().chain(figures));
    }
    table
}

/// Comparison with a composition of crates.
fn plain(measured: &Measured) -> Table {
    let columns = [
        Column::text("message"),
        Column::number("crates : ours"),
        Column::number("crates : ours, offsets made beforehand"),
    ];
    let note = "For every block, the composition computes a key schedule and a Generate of three hashes with the \
        crates aes and sha2, which use the processor's instructions for both, where it has them.";
    let mut table = Table::new("RKC composed of the crates aes and sha2, time over ours", columns).with_note(note);
    for (size, ratios) in &measured.plain {
        table.row([Cell::text(size.to_string())].into_iter().chain(ratios.map(cell)));
    }
    table
}
