//! The named figures that the paper's claims are judged by.

use sealwright_measure::Interval;

use super::{
    grid::{Direction, Grid, Mode, Point, SIZES},
    measured::Measured,
};
use crate::{
    corpus::Content,
    quantity::{Quantities, Quantity, QuantityKind},
};

/// The figures of the paper's own tables, which are the same on every machine.
pub(super) fn printed(grid: &Grid) -> Vec<Quantity> {
    let mut all = Vec::new();
    of(grid, &mut Quantities::new(&mut all, &grid.scope, QuantityKind::Arithmetic));
    all
}

pub(super) fn quantities(measured: &Measured<'_>) -> Vec<Quantity> {
    let mut all = printed(&measured.printed);
    let usual = [&measured.no_instructions, &measured.enc, &measured.seal].into_iter();
    for grid in usual.chain(measured.best()).chain(measured.portable()) {
        of(grid, &mut Quantities::new(&mut all, &grid.scope, QuantityKind::Measured));
    }
    if let Some(best) = measured.best() {
        let mut add = Quantities::new(&mut all, &best.scope, QuantityKind::Measured);
        for point in largest(best).filter(|point| point.direction == Direction::Encrypt) {
            let name = format!("CBC : GCM at the best level/encrypt/{}/{}", kind(point.kind), point.size);
            add.add(name, best.ratio(point, point.mode(Mode::Gcm)));
        }
        for (size, ratio) in &measured.wider {
            add.add(format!("CBC encrypt, best level : sse/{size}"), *ratio);
        }
    }
    for grid in [&measured.no_instructions].into_iter().chain(measured.portable()) {
        let mut add = Quantities::new(&mut all, &grid.scope, QuantityKind::Measured);
        for point in largest(grid) {
            let Point { kind: content, size, direction, .. } = point;
            let name = format!("GCM : CBC without AES instructions/{direction}/{}/{size}", kind(content));
            add.add(name, grid.gcm_to_cbc(point));
        }
    }
    all
}

/// The paper's name for this kind of file.
fn kind(content: Content) -> &'static str {
    match content {
        Content::Text => "text",
        Content::Png => "image",
        Content::Ppm => "uncompressed image",
    }
}

fn text(size: super::grid::Size, direction: Direction) -> Point {
    Point { kind: Content::Text, size, mode: Mode::Cbc, direction }
}

/// The largest files in both directions: the points for claims that compare the two modes.
fn largest(grid: &Grid) -> impl Iterator<Item = Point> {
    grid.points().filter(|point| point.mode == Mode::Cbc && point.size == SIZES[2])
}

/// The figures of one circumstance.
fn of(grid: &Grid, add: &mut Quantities<'_>) {
    for point in grid.points() {
        let Point { kind: content, size, mode, direction } = point;
        let name = kind(content);
        if mode == Mode::Cbc {
            add.add(format!("GCM : CBC/{direction}/{name}/{size}"), grid.gcm_to_cbc(point));
        }
        if content != Content::Text && grid.time(point.kind(Content::Text)).is_some() {
            let ratio = grid.ratio(point, point.kind(Content::Text));
            add.add(format!("image : text/{mode}/{direction}/{name}/{size}"), ratio);
        }
        let next = SIZES.windows(2).find(|pair| pair[0] == size).map(|pair| pair[1]);
        let grown = next.and_then(|next| Some((next, grid.ratio(point.size(next), point)?)));
        if let Some((next, grown)) = grown {
            let of_a_byte: Interval = grown.scale(size.0 as f64 / next.0 as f64);
            let name = format!("time of a byte, larger : smaller/{mode}/{direction}/{name}/{size} to {next}");
            add.add(name, of_a_byte);
        }
    }
    for size in SIZES {
        let point = text(size, Direction::Decrypt);
        if grid.time(point).is_some() {
            add.add(format!("CBC decrypt : encrypt/{size}"), grid.ratio(point, text(size, Direction::Encrypt)));
        }
    }
}

#[cfg(test)]
#[path = "quantities_tests.rs"]
mod tests;
