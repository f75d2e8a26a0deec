//! The LU decomposition of SPLASH-2 in blocks of 16 x 16, each of which belongs to a processor. LUC stores each block
//! contiguously. LUNC stores the matrix by columns, so that blocks of different processors share lines if it is not
//! aligned.

use super::{
    cpu::{Cpu, Emitter, Shared, sources},
    program::{KernelError, Program, ResultError, check},
};
use crate::random::Random;

/// Rows of a block.
const BLOCK: usize = 16;

/// The addresses of elements, and the assignment of blocks to processors.
#[derive(Clone, Copy)]
struct Layout {
    n: usize,
    blocks: usize,
    contiguous: bool,
    /// The processors form a grid of this many rows and columns.
    rows: usize,
    columns: usize,
}

impl Layout {
    /// The first word of block (`i`, `j`), and the words from one of its columns to the next.
    fn block(&self, i: usize, j: usize) -> (usize, usize) {
        if self.contiguous {
            ((i + j * self.blocks) * BLOCK * BLOCK, BLOCK)
        } else {
            (i * BLOCK + j * BLOCK * self.n, self.n)
        }
    }

    fn element(&self, i: usize, j: usize) -> usize {
        let (start, stride) = self.block(i / BLOCK, j / BLOCK);
        start + i % BLOCK + (j % BLOCK) * stride
    }

    fn owner(&self, i: usize, j: usize) -> usize {
        j % self.columns + (i % self.rows) * self.columns
    }
}

pub(super) fn program(
    n: usize,
    contiguous: bool,
    processors: usize,
    base: u64,
    seed: u64,
) -> Result<Program, KernelError> {
    if !n.is_multiple_of(BLOCK) || !(BLOCK..=4096).contains(&n) {
        return Err(KernelError(format!(
            "a matrix of {n} rows: the number must be a multiple of {BLOCK}, at most 4096"
        )));
    }
    let rows =
        (1..=processors).rfind(|rows| rows * rows <= processors && processors.is_multiple_of(*rows)).unwrap_or(1);
    let layout = Layout { n, blocks: n / BLOCK, contiguous, rows, columns: processors / rows };
    let shared = Shared::new(base, n * n);
    let mut random = Random::new(seed);
    let mut matrix = vec![0.0; n * n];
    for j in 0..n {
        for i in 0..n {
            // With a dominant diagonal, no pivoting is needed
            let value = random.fraction() + if i == j { n as f64 } else { 0.0 };
            matrix[i + j * n] = value;
            shared.set(layout.element(i, j), value.to_bits());
        }
    }
    let image = shared.image();
    let sources = sources(processors, &shared, |cpu| work(cpu, layout));
    let check = check(base, n * n, move |found| {
        let worst = residual(&matrix, n, |i, j| f64::from_bits(found[layout.element(i, j)]));
        let text = format!("L times U is the matrix within {worst:.1e} of its size");
        if worst < 1e-10 { Ok(text) } else { Err(ResultError(text)) }
    });
    Ok(Program { image, sources, check: Some(check) })
}

/// The relative difference between L (U v) and A v, for a vector v of ones and twos.
fn residual(matrix: &[f64], n: usize, lu: impl Fn(usize, usize) -> f64) -> f64 {
    let v: Vec<f64> = (0..n).map(|i| 1.0 + (i % 2) as f64).collect();
    let row = |i: usize, from: usize, to: usize, x: &[f64]| (from..to).map(|j| lu(i, j) * x[j]).sum::<f64>();
    // U has ones on its diagonal, L has its own
    let u: Vec<f64> = (0..n).map(|i| v[i] + row(i, i + 1, n, &v)).collect();
    let mut worst = 0.0f64;
    for i in 0..n {
        let wanted: f64 = (0..n).map(|j| matrix[i + j * n] * v[j]).sum();
        let off = (row(i, 0, i + 1, &u) - wanted).abs() / wanted;
        // NaN counts as an infinite difference
        worst = if off.is_nan() { f64::INFINITY } else { worst.max(off) };
    }
    worst
}

async fn work(cpu: Cpu, layout: Layout) {
    let blocks = layout.blocks;
    cpu.barrier().await;
    for k in 0..blocks {
        let pivot = layout.block(k, k);
        if layout.owner(k, k) == cpu.id {
            factor(&mut cpu.out(), pivot);
        }
        cpu.barrier().await;
        for other in k + 1..blocks {
            if layout.owner(other, k) == cpu.id {
                right_divide(&mut cpu.out(), layout.block(other, k), pivot);
            }
            if layout.owner(k, other) == cpu.id {
                left_divide(&mut cpu.out(), layout.block(k, other), pivot);
            }
            cpu.catch_up().await;
        }
        cpu.barrier().await;
        for i in k + 1..blocks {
            for j in k + 1..blocks {
                if layout.owner(i, j) == cpu.id {
                    for column in 0..BLOCK {
                        subtract(&mut cpu.out(), layout.block(i, j), layout.block(i, k), layout.block(k, j), column);
                        cpu.catch_up().await;
                    }
                }
            }
        }
    }
    cpu.barrier().await;
}

/// A block: its first word, and words from column to column.
type Block = (usize, usize);

/// `a += factor * b` over a column's words.
fn add_scaled(out: &mut Emitter<'_>, a: usize, b: usize, length: usize, factor: f64) {
    for i in 0..length {
        let (x, y) = (out.number(a + i), out.number(b + i));
        out.work(3);
        out.write(a + i, x + factor * y);
    }
}

/// Decomposes the pivot block.
fn factor(out: &mut Emitter<'_>, (start, stride): Block) {
    for k in 0..BLOCK {
        let pivot = out.number(start + k + k * stride);
        for j in k + 1..BLOCK {
            let at = start + k + j * stride;
            let value = out.number(at) / pivot;
            out.work(6);
            out.write(at, value);
            add_scaled(out, at + 1, start + k + k * stride + 1, BLOCK - k - 1, -value);
        }
    }
}

/// Updates a block below the pivot: `a / U`.
fn right_divide(out: &mut Emitter<'_>, (a, stride): Block, (pivot, across): Block) {
    for k in 0..BLOCK {
        for j in k + 1..BLOCK {
            let factor = out.number(pivot + k + j * across);
            out.work(4);
            add_scaled(out, a + j * stride, a + k * stride, BLOCK, -factor);
        }
    }
}

/// Updates a block to the right of the pivot: `L \ a`.
fn left_divide(out: &mut Emitter<'_>, (a, stride): Block, (pivot, across): Block) {
    for j in 0..BLOCK {
        for k in 0..BLOCK {
            let diagonal = out.number(pivot + k + k * across);
            let at = a + k + j * stride;
            let value = out.number(at) / diagonal;
            out.work(6);
            out.write(at, value);
            add_scaled(out, at + 1, pivot + k + k * across + 1, BLOCK - k - 1, -value);
        }
    }
}

/// Updates a remaining block: the contribution of column `k` of `a` to `c - a b`.
fn subtract(out: &mut Emitter<'_>, (c, stride): Block, (a, down): Block, (b, across): Block, k: usize) {
    for j in 0..BLOCK {
        let factor = out.number(b + k + j * across);
        out.work(4);
        add_scaled(out, c + j * stride, a + k * down, BLOCK, -factor);
    }
}
