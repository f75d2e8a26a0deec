//! Finds comparisons of memory that end early, with a branch after each byte or word: their time reveals how many bytes
//! of a tag are right. The library's own comparisons combine all differences with `or` before they branch.

use std::collections::{HashMap, HashSet};

use crate::disassembly::{Line, address, general};

/// The content of a general register.
#[derive(Clone, Copy, PartialEq)]
enum Held {
    /// A byte of memory.
    Byte,
    /// A word of memory at an address that a register indexes, as in a loop.
    Indexed,
    /// A difference of two such values.
    Difference,
}

/// The branches that depend on the difference of two bytes of memory, or of two words in a loop.
pub(crate) fn early(body: &[Line<'_>], joins: &HashSet<u64>) -> Vec<usize> {
    let (mut held, mut flags, mut found) = (HashMap::<String, Held>::new(), false, Vec::new());
    for (index, (at, name, operands)) in body.iter().enumerate() {
        if joins.contains(at) {
            held.clear();
            flags = false;
        }
        if ["call", "ret", "jmp", "ud2"].iter().any(|end| name.starts_with(end)) {
            held.clear();
            flags = false;
            continue;
        }
        // Only a branch ends a comparison. What a flag sets is a difference, which a branch may decide by.
        let sets = name.starts_with("set") || name.starts_with("cmov");
        if name.starts_with('j') || sets {
            let equality = ["je", "jne", "sete", "setne"].contains(name);
            if flags && equality && !sets {
                found.push(index);
            }
            if let Some(to) = operands.last().filter(|_| sets).and_then(|to| general(to)) {
                match flags && equality {
                    true => drop(held.insert(to, Held::Difference)),
                    false => drop(held.remove(&to)),
                }
            }
            continue;
        }
        let Some((to, rest)) = operands.split_last() else { continue };
        let sources: Vec<Option<Held>> = operands.iter().map(|word| read(word, operands, name, &held)).collect();
        let both = operands.len() == 2
            && sources.iter().all(Option::is_some)
            && !sources.contains(&Some(Held::Difference))
            && operands[0] != operands[1];
        let plain = ["cmp", "xor", "sub"]
            .iter()
            .find(|plain| name.trim_end_matches(['b', 'w', 'l', 'q']) == **plain || name == *plain);
        if let Some(plain) = plain {
            flags = both;
            if *plain != "cmp"
                && let Some(to) = general(to)
            {
                match both {
                    true => drop(held.insert(to, Held::Difference)),
                    false => drop(held.remove(&to)),
                }
            }
            continue;
        }
        if name.starts_with("test") {
            flags = operands.len() == 2 && operands[0] == operands[1] && sources[0] == Some(Held::Difference);
            continue;
        }
        let keeps =
            ["mov", "lea", "push", "pop", "bswap", "not", "nop", "v"].iter().any(|other| name.starts_with(other));
        flags &= keeps;
        let Some(to) = general(to) else { continue };
        let moved = name.starts_with("mov") && rest.len() == 1;
        match sources[0].filter(|_| moved) {
            Some(what) => drop(held.insert(to, what)),
            None => drop(held.remove(&to)),
        }
    }
    found
}

/// The value of an operand: the content of a register, or a byte or a word of a loop that it reads.
fn read(word: &str, operands: &[&str], name: &str, held: &HashMap<String, Held>) -> Option<Held> {
    if let Some(register) = general(word) {
        return held.get(&register).copied();
    }
    let registers = address(word);
    if registers.is_empty() {
        return None;
    }
    // A byte, as the instruction's name says, or the register beside it.
    let byte_register = |word: &&str| {
        ["%al", "%bl", "%cl", "%dl", "%ah", "%bh", "%ch", "%dh", "%sil", "%dil", "%bpl"].contains(word)
            || (word.starts_with("%r") && word.ends_with('b'))
    };
    let byte =
        ["movzb", "movsb", "cmpb"].iter().any(|byte| name.starts_with(byte)) || operands.iter().any(byte_register);
    match (byte, registers.len()) {
        (true, _) => Some(Held::Byte),
        (false, 2..) => Some(Held::Indexed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disassembly::parts;

    fn count(lines: &[&str]) -> usize {
        let body: Vec<Line<'_>> = lines.iter().enumerate().map(|(at, line)| parts(0x10 + at as u64, line)).collect();
        early(&body, &HashSet::new()).len()
    }

    #[test]
    fn a_comparison_that_ends_early_is_found() {
        for planted in [
            &["movzbl (%rdi,%rcx,1),%eax", "cmp    (%rsi,%rcx,1),%al", "jne    40"][..],
            &["movzbl 0x3(%rdi),%eax", "xor    0x3(%rsi),%al", "jne    40"],
            &["movzbl 0x3(%rdi),%eax", "movzbl 0x3(%rsi),%edx", "xor    %edx,%eax", "test   %eax,%eax", "je     40"],
            &["mov    (%rdi,%rcx,8),%rax", "cmp    %rax,(%rsi,%rcx,8)", "jne    40"],
            &["movzbl (%rdi),%r8d", "cmp    %r8b,(%rsi)", "sete   %al", "test   %al,%al", "je     40"],
        ] {
            assert_eq!(count(planted), 1, "{planted:?}");
        }
    }

    #[test]
    fn one_decision_by_all_bytes_is_right() {
        for right in [
            &[
                "mov    (%rdi),%rax",
                "xor    (%rsi),%rax",
                "mov    0x8(%rdi),%rcx",
                "xor    0x8(%rsi),%rcx",
                "or     %rax,%rcx",
                "je     40",
            ][..],
            &[
                "movzbl (%rdi,%rcx,1),%eax",
                "xor    (%rsi,%rcx,1),%al",
                "or     %al,%dl",
                "inc    %rcx",
                "cmp    %rcx,%r8",
                "jne    40",
            ],
            // As the crate subtle does: an answer for each byte, and all of them combined.
            &[
                "movzbl 0x20(%rsp),%eax",
                "cmp    0x10(%r15,%r14,1),%al",
                "sete   %dil",
                "and    %dil,%bpl",
                "test   %bpl,%bpl",
                "je     40",
            ],
            // A length from memory beside one in a register; lengths of two texts.
            &["movzbl 0x30(%rdi),%eax", "cmp    %rax,%rdx", "jne    40"],
            &["mov    0x10(%rdi),%rax", "cmp    0x10(%rsi),%rax", "jne    40"],
        ] {
            assert_eq!(count(right), 0, "{right:?}");
        }
    }
}
