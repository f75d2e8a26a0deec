//! The loops of disassembled aarch64 code that contain rounds of AES: how many instructions each has, and which.

use std::fmt;

use crate::disassembly::{self, Function};

/// Rounds of AES-128 on the eight blocks of a batch.
const BATCH: usize = 8 * 10;

/// A loop with rounds of AES.
pub(crate) struct Loop {
    function: String,
    instructions: usize,
    /// Rounds: `aese` and `aesd`.
    rounds: usize,
    /// Carry-less products: `pmull` and `pmull2`.
    products: usize,
    /// Moves between registers, and stores to and loads from the stack: the cost of too few registers.
    moves: usize,
    stack: usize,
}

impl fmt::Display for Loop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Loop { function, instructions, rounds, products, moves, stack } = self;
        let counts = format!("{rounds} rounds, {products} products, {moves} moves, {stack} stack");
        write!(f, "{instructions:>5} instructions: {counts}: {function}")
    }
}

/// For each function the shortest loop with at least the AES rounds of a batch. A loop is the code between a branch
/// back and its target in the same function.
pub(crate) fn of_aes(code: &str) -> Vec<Loop> {
    disassembly::functions(code).iter().filter_map(shortest).collect()
}

fn shortest(function: &Function<'_>) -> Option<Loop> {
    let mut spans = Vec::new();
    for (end, (address, instruction)) in function.body.iter().enumerate() {
        let Some(target) = branch(instruction).filter(|target| target <= address) else { continue };
        let Ok(start) = function.body.binary_search_by_key(&target, |(address, _)| *address) else { continue };
        spans.push((start, end));
    }
    let all = spans.into_iter().map(|(start, end)| counted(function.name, &function.body[start..=end]));
    all.filter(|one| one.rounds >= BATCH).min_by_key(|one| one.instructions)
}

fn counted(function: &str, body: &[(u64, &str)]) -> Loop {
    let count = |test: &dyn Fn(&str, &str) -> bool| {
        let parts = |instruction: &&str| {
            let (name, operands) = instruction.split_once('\t').unwrap_or((*instruction, ""));
            test(name.trim(), operands)
        };
        body.iter().map(|(_, instruction)| instruction).filter(|instruction| parts(instruction)).count()
    };
    Loop {
        function: function.to_owned(),
        instructions: body.len(),
        rounds: count(&|name, _| name == "aese" || name == "aesd"),
        products: count(&|name, _| name.starts_with("pmull")),
        moves: count(&|name, _| name == "mov"),
        stack: count(&|name, operands| {
            (name.starts_with("ld") || name.starts_with("st"))
                && (operands.contains("[sp") || operands.contains("[x29"))
        }),
    }
}

/// Where a branch goes that stays in its function, written `b.ne\t1f4 <name+0x10>`, also after other operands.
fn branch(instruction: &str) -> Option<u64> {
    let (name, operands) = instruction.split_once('\t')?;
    let name = name.trim();
    if !(name == "b" || name.starts_with("b.") || name.starts_with("cb") || name.starts_with("tb")) {
        return None;
    }
    let target = operands.split(" <").next()?.rsplit([',', ' ']).next()?;
    u64::from_str_radix(target.trim().trim_start_matches("0x"), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_loop_is_counted() {
        let mut code = String::from("0000000000000000 <one>:\n   0:\tmov\tx0, x1\n");
        for i in 1..=80 {
            code += &format!("  {:x}:\taese\tv0.16b, v1.16b\n", 4 * i);
        }
        // A loop of 84 instructions around the rounds, and one more around it.
        for (i, line) in ["pmull2\tv2.1q, v3.2d, v4.2d", "str\tq0, [sp, #16]", "cbnz\tx2, 4 <one+0x4>", "b\t0 <one>"]
            .iter()
            .enumerate()
        {
            code += &format!("  {:x}:\t{line}\n", 4 * (81 + i));
        }
        code += "0000000000000000 <two>:\n   0:\taese\tv0.16b, v1.16b\n   4:\tb.ne\t0 <two>  // b.any\n";
        let loops = of_aes(&code);
        assert_eq!(loops.len(), 1);
        let one = &loops[0];
        assert_eq!((one.function.as_str(), one.instructions), ("one", 83));
        assert_eq!((one.rounds, one.products, one.moves, one.stack), (80, 1, 0, 1));
    }

    #[test]
    fn branches_are_told_from_calls() {
        assert_eq!(branch("b.ne\t1f4 <f+0x10>  // b.any"), Some(0x1f4));
        assert_eq!(branch("cbz\tw8, 20 <f+0x20>"), Some(0x20));
        assert_eq!(branch("tbnz\tw8, #3, 0x40"), Some(0x40));
        assert_eq!(branch("bl\t20 <g>"), None);
        assert_eq!(branch("ret"), None);
    }
}
