//! The tables: the paper's figures with ours.

use sealwright_measure::{Cell, Column, Interval, Table};

use super::{
    grid::{Direction, Grid, Mode, Point, SIZES, every},
    measured::{Measured, TOOLS},
    printed::PAPER,
    process::Used,
    programs::Program,
    ticks,
};
use crate::{corpus::Content, figure::cell};

pub(super) fn tables(measured: &Measured<'_>) -> Vec<Table> {
    let mut tables = vec![ratios(measured), processes(measured, Mode::Cbc), processes(measured, Mode::Gcm)];
    tables.extend([speeds(measured), tools(measured), ticks::table(&PAPER).0]);
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn or_empty(figure: Option<Interval>, why: &str) -> Cell {
    figure.map_or_else(|| Cell::empty(why), cell)
}

/// Time of GCM divided by time of CBC at every point.
fn ratios(measured: &Measured<'_>) -> Table {
    let mut grids: Vec<&Grid> = vec![&measured.no_instructions, &measured.enc, &measured.seal];
    grids.extend(measured.best());
    grids.extend(measured.portable());
    grids.retain(|grid| !grid.is_empty());
    let mut columns = vec![Column::text("file"), Column::text("direction"), Column::number("paper")];
    columns.extend(grids.iter().map(|grid| Column::number(&grid.scope)));
    let mut table = Table::new("Time of GCM : time of CBC", columns).with_note(
        "Above 1, CBC is faster. Each pair was measured side by side; brackets are 95 % intervals of medians.",
    );
    for (kind, size, direction) in every(&Content::ALL) {
        let point = Point { kind, size, mode: Mode::Cbc, direction };
        if grids.iter().all(|grid| grid.gcm_to_cbc(point).is_none()) {
            continue;
        }
        let printed = measured.printed.gcm_to_cbc(point).map(|ratio| Cell::number(ratio.median, 2));
        let mut row = vec![Cell::text(format!("{size} {kind}")), Cell::text(direction.to_string())];
        row.push(printed.unwrap_or_else(|| Cell::empty("none")));
        row.extend(grids.iter().map(|grid| or_empty(grid.gcm_to_cbc(point), "text only")));
        table.row(row);
    }
    table
}

/// Times of whole processes in one mode.
fn processes(measured: &Measured<'_>, mode: Mode) -> Table {
    let ours = Program::Enc(mode);
    let other = if mode == Mode::Cbc { Program::OpensslEnc } else { Program::Seal };
    let columns = [
        Column::text("file"),
        Column::text("direction"),
        Column::number("paper").unit("ms"),
        Column::number(ours.name()).unit("ms"),
        Column::number("its user time, mean").unit("ms"),
        Column::number(other.name()).unit("ms"),
        Column::number("paper : ours"),
    ];
    let title = format!(
        "AES-256-{mode}, whole processes: the paper's {}",
        if mode == Mode::Cbc { "table 1" } else { "table 2" }
    );
    let note = "Ours is user plus system time, which the kernel measures exactly; the paper's is user time only.";
    let mut table = Table::new(title, columns).with_note(note);
    for (kind, size, direction) in every(&Content::ALL) {
        let used = |program| measured.trials.used.get(&(program, kind, size, direction)).copied();
        let (first, second): (Option<Used>, Option<Used>) = (used(ours), used(other));
        if first.is_none() && second.is_none() {
            continue;
        }
        let printed = measured.printed.time(Point { kind, size, mode, direction }).map(|time| time.median);
        let faster = first.zip(printed).map(|(used, printed)| used.cpu.map(|ours| printed / ours));
        table.row([
            Cell::text(format!("{size} {kind}")),
            Cell::text(direction.to_string()),
            printed.map_or_else(|| Cell::empty("none"), |printed| Cell::number(printed, 2)),
            or_empty(first.map(|used| used.cpu), "not there"),
            or_empty(first.map(|used| Interval::exact(used.user_mean)), "not there"),
            or_empty(second.map(|used| used.cpu), "not there"),
            or_empty(faster, ""),
        ]);
    }
    table
}

/// Speeds of the library at each level.
fn speeds(measured: &Measured<'_>) -> Table {
    let mut columns = vec![Column::text("level"), Column::text("mode"), Column::text("direction")];
    columns.extend(SIZES.map(|size| Column::number(size.to_string()).unit("GB/s")));
    let mut table = Table::new("The library alone, text, in memory", columns);
    for (isa, grid) in &measured.library {
        for mode in Mode::ALL {
            for direction in Direction::ALL {
                let speed = |size| speed(grid, Point { kind: Content::Text, size, mode, direction });
                let mut row =
                    vec![Cell::text(isa.name()), Cell::text(mode.to_string()), Cell::text(direction.to_string())];
                row.extend(SIZES.map(|size| or_empty(speed(size), "not measured")));
                table.row(row);
            }
        }
    }
    table
}

/// The speed at a point in GB/s.
pub(super) fn speed(grid: &Grid, point: Point) -> Option<Interval> {
    grid.time(point).map(|ms| ms.scale(1e-3).gigabytes_per_second(point.size.0))
}

/// Tools that authenticate files, and one that only encrypts.
fn tools(measured: &Measured<'_>) -> Table {
    let columns = [
        Column::text("file"),
        Column::text("program"),
        Column::number("encrypt, CPU").unit("ms"),
        Column::number("decrypt, CPU").unit("ms"),
        Column::number("encrypt, wall").unit("ms"),
        Column::number("decrypt, wall").unit("ms"),
        Column::number("bytes added"),
    ];
    let note = "openssl enc only encrypts: changes to the file are not detected. gpg runs without compression and \
        with the least passphrase stretching it allows; age encrypts to a recipient's key.";
    let mut table = Table::new("Tools that seal a text file", columns).with_note(note);
    for size in SIZES {
        for program in TOOLS {
            let used = |direction| measured.trials.used.get(&(program, Content::Text, size, direction)).copied();
            let (Some(encrypt), Some(decrypt)) = (used(Direction::Encrypt), used(Direction::Decrypt)) else { continue };
            let added = measured.trials.overhead.get(&(program, size));
            table.row([
                Cell::text(size.to_string()),
                Cell::text(program.name()),
                cell(encrypt.cpu),
                cell(decrypt.cpu),
                cell(encrypt.wall),
                cell(decrypt.wall),
                added.map_or_else(|| Cell::empty(""), |&added| Cell::number(added as f64, 0)),
            ]);
        }
    }
    table
}
