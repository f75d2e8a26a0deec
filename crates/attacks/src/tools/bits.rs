//! Linear equations over GF(2).

/// A row of bits.
pub(crate) type Row = Vec<u64>;

/// The row with no bit set, of so many bits.
pub(crate) fn zeros(bits: usize) -> Row {
    vec![0; bits.div_ceil(64)]
}

/// Bit `at` of a row.
pub(crate) fn bit(row: &[u64], at: usize) -> bool {
    row[at / 64] >> (at % 64) & 1 == 1
}

/// Flips bit `at` of a row.
pub(crate) fn flip(row: &mut [u64], at: usize) {
    row[at / 64] ^= 1 << (at % 64);
}

/// Adds a row to another.
pub(crate) fn add(row: &mut [u64], other: &[u64]) {
    row.iter_mut().zip(other).for_each(|(a, b)| *a ^= b);
}

/// A basis of the kernel: the solutions in `unknowns` bits whose product with each row of `equations` is 0.
pub(crate) fn kernel(mut equations: Vec<Row>, unknowns: usize) -> Vec<Row> {
    let (mut pivots, mut rank) = (Vec::new(), 0);
    for column in 0..unknowns {
        let Some(found) = (rank..equations.len()).find(|&row| bit(&equations[row], column)) else { continue };
        equations.swap(rank, found);
        let pivot = equations[rank].clone();
        for (row, equation) in equations.iter_mut().enumerate() {
            if row != rank && bit(equation, column) {
                add(equation, &pivot);
            }
        }
        pivots.push(column);
        rank += 1;
    }
    let free = (0..unknowns).filter(|column| !pivots.contains(column));
    free.map(|column| {
        let mut solution = zeros(unknowns);
        flip(&mut solution, column);
        for (row, &pivot) in pivots.iter().enumerate() {
            if bit(&equations[row], column) {
                flip(&mut solution, pivot);
            }
        }
        solution
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::{bit, kernel};

    #[test]
    fn solutions_solve_the_equations() {
        let equations: Vec<Vec<u64>> = (1..40u64)
            .map(|i| vec![i.wrapping_mul(0x9e37_79b9_7f4a_7c15), i.wrapping_mul(0xd134_2543_de82_ef95)])
            .collect();
        let solutions = kernel(equations.clone(), 128);
        assert_eq!(solutions.len(), 128 - 39);
        for solution in &solutions {
            assert!(solution.iter().any(|word| *word != 0));
            for equation in &equations {
                let ones: u32 = solution.iter().zip(equation).map(|(a, b)| (a & b).count_ones()).sum();
                assert_eq!(ones % 2, 0);
            }
        }
        assert!(bit(&solutions[0], (0..128).find(|&at| bit(&solutions[0], at)).unwrap_or(0)));
    }
}
