//! The six-step FFT of SPLASH-2: the points form a square matrix, of which each processor has some rows. All
//! communication is in the transposes.

use std::{f64::consts::TAU, ops::Range};

use super::{
    cpu::{Cpu, Emitter, Shared, sources},
    program::{KernelError, Program, ResultError, check},
};
use crate::random::Random;

/// Offsets of the arrays in words: points, their transpose, roots of a row, twiddle factors.
#[derive(Clone, Copy)]
struct Layout {
    side: usize,
    points: usize,
    other: usize,
    roots: usize,
    twiddles: usize,
}

impl Layout {
    fn new(side: usize) -> Layout {
        let all = 2 * side * side;
        Layout { side, points: 0, other: all, roots: 2 * all, twiddles: 2 * all + 2 * side }
    }
}

pub(super) fn program(m: u32, processors: usize, base: u64, seed: u64) -> Result<Program, KernelError> {
    if !m.is_multiple_of(2) || !(4..=24).contains(&m) {
        return Err(KernelError(format!("an FFT of 2^{m} points: the exponent must be even and from 4 to 24")));
    }
    let side = 1usize << (m / 2);
    if !side.is_multiple_of(processors) {
        return Err(KernelError(format!("{side} rows cannot be divided evenly among {processors} processors")));
    }
    let layout = Layout::new(side);
    let points = side * side;
    let shared = Shared::new(base, layout.twiddles + 2 * points);
    let set = |at: usize, i: usize, (re, im): (f64, f64)| {
        shared.set(at + 2 * i, re.to_bits());
        shared.set(at + 2 * i + 1, im.to_bits());
    };
    let root = |of: usize, power: usize| {
        let angle = -TAU * power as f64 / of as f64;
        (angle.cos(), angle.sin())
    };
    let mut random = Random::new(seed);
    let input: Vec<(f64, f64)> = (0..points).map(|_| (random.fraction(), random.fraction())).collect();
    input.iter().enumerate().for_each(|(i, point)| set(layout.points, i, *point));
    (0..side).for_each(|i| set(layout.roots, i, root(side, i)));
    (0..points).for_each(|i| set(layout.twiddles, i, root(points, (i / side) * (i % side))));

    let image = shared.image();
    let rows = side / processors;
    let sources = sources(processors, &shared, |cpu| work(cpu, layout, rows, processors));
    let check = check(base + 8 * layout.other as u64, 2 * points, move |found| {
        let number = f64::from_bits;
        let spectrum: Vec<(f64, f64)> = found.chunks_exact(2).map(|pair| (number(pair[0]), number(pair[1]))).collect();
        let back = inverse(&spectrum);
        let worst = back
            .iter()
            .zip(&input)
            .map(|(a, b)| (a.0 / points as f64 - b.0).abs().max((a.1 / points as f64 - b.1).abs()))
            .fold(0.0, f64::max);
        let text = format!("the inverse transform gives the input back within {worst:.1e}");
        // The comparison is false for NaN
        if worst < 1e-10 { Ok(text) } else { Err(ResultError(text)) }
    });
    Ok(Program { image, sources, check: Some(check) })
}

async fn work(cpu: Cpu, layout: Layout, rows: usize, processors: usize) {
    let mine = cpu.id * rows..(cpu.id + 1) * rows;
    cpu.barrier().await;
    transpose(&cpu, layout, layout.points, layout.other, rows, processors).await;
    cpu.barrier().await;
    for row in mine.clone() {
        row_fft(&mut cpu.out(), layout, layout.other + 2 * row * layout.side);
        twiddle(&mut cpu.out(), layout, row);
        cpu.catch_up().await;
    }
    cpu.barrier().await;
    transpose(&cpu, layout, layout.other, layout.points, rows, processors).await;
    cpu.barrier().await;
    for row in mine {
        row_fft(&mut cpu.out(), layout, layout.points + 2 * row * layout.side);
        cpu.catch_up().await;
    }
    cpu.barrier().await;
    transpose(&cpu, layout, layout.points, layout.other, rows, processors).await;
    cpu.barrier().await;
}

/// Fills the processor's rows of `to` from all processors' rows of `from`. It begins with the next processor's rows, so
/// that not all processors read from the same one at a time.
async fn transpose(cpu: &Cpu, layout: Layout, from: usize, to: usize, rows: usize, processors: usize) {
    for step in 1..=processors {
        let peer = (cpu.id + step) % processors;
        let theirs: Range<usize> = peer * rows..(peer + 1) * rows;
        for block in theirs.clone().step_by(8) {
            for row in cpu.id * rows..(cpu.id + 1) * rows {
                let mut out = cpu.out();
                for column in block..(block + 8).min(theirs.end) {
                    let (source, target) =
                        (from + 2 * (column * layout.side + row), to + 2 * (row * layout.side + column));
                    let (re, im) = (out.load(source), out.load(source + 1));
                    out.work(4);
                    out.store(target, re);
                    out.store(target + 1, im);
                }
            }
            cpu.catch_up().await;
        }
    }
}

/// In-place FFT of a row: bit reversal, then butterflies.
fn row_fft(out: &mut Emitter<'_>, layout: Layout, row: usize) {
    let side = layout.side;
    let bits = side.trailing_zeros();
    for i in 0..side {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        out.work(6);
        if j > i {
            for part in 0..2 {
                let (a, b) = (row + 2 * i + part, row + 2 * j + part);
                let (x, y) = (out.load(a), out.load(b));
                out.store(a, y);
                out.store(b, x);
            }
        }
    }
    let mut half = 1;
    while half < side {
        let stride = side / (2 * half);
        for start in (0..side).step_by(2 * half) {
            for k in 0..half {
                let root = layout.roots + 2 * k * stride;
                let (wr, wi) = (out.number(root), out.number(root + 1));
                let (low, high) = (row + 2 * (start + k), row + 2 * (start + k + half));
                let (ar, ai) = (out.number(low), out.number(low + 1));
                let (br, bi) = (out.number(high), out.number(high + 1));
                let (tr, ti) = (br * wr - bi * wi, br * wi + bi * wr);
                out.work(14);
                out.write(low, ar + tr);
                out.write(low + 1, ai + ti);
                out.write(high, ar - tr);
                out.write(high + 1, ai - ti);
            }
        }
        half *= 2;
    }
}

fn twiddle(out: &mut Emitter<'_>, layout: Layout, row: usize) {
    for column in 0..layout.side {
        let at = layout.other + 2 * (row * layout.side + column);
        let root = layout.twiddles + 2 * (row * layout.side + column);
        let (ar, ai) = (out.number(at), out.number(at + 1));
        let (wr, wi) = (out.number(root), out.number(root + 1));
        out.work(8);
        out.write(at, ar * wr - ai * wi);
        out.write(at + 1, ar * wi + ai * wr);
    }
}

/// The inverse transform without its factor, by textbook recursion: independent of the kernel's algorithm.
fn inverse(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let n = points.len();
    if n == 1 {
        return points.to_vec();
    }
    let part = |odd: usize| inverse(&points.iter().skip(odd).step_by(2).copied().collect::<Vec<_>>());
    let (even, odd) = (part(0), part(1));
    let mut out = vec![(0.0, 0.0); n];
    for k in 0..n / 2 {
        let angle = TAU * k as f64 / n as f64;
        let (wr, wi) = (angle.cos(), angle.sin());
        let (br, bi) = odd[k];
        let (tr, ti) = (br * wr - bi * wi, br * wi + bi * wr);
        out[k] = (even[k].0 + tr, even[k].1 + ti);
        out[k + n / 2] = (even[k].0 - tr, even[k].1 - ti);
    }
    out
}
