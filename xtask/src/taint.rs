//! Follows values that kernels move from vector registers to general registers, instruction by instruction, until
//! another path joins. The values may be shifted, combined and stored. No branch and no address may depend on them.
//!
//! They are not followed beyond a join: the compiler lets paths share code, and a register that another path uses for
//! something else would be taken for one with the value.

use std::collections::HashSet;

use crate::disassembly::{Line, address, general};

/// General registers, by the numbers of [`number`], as bits.
type Registers = u32;

/// The registers that hold such a value before an instruction, and whether the flags say something of one.
#[derive(Clone, Copy, Default, PartialEq)]
struct State {
    registers: Registers,
    flags: bool,
    /// The flags say whether the last byte of a counter block is near its end.
    near: bool,
}

/// What is moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Moved {
    /// A word of a text or a key.
    Word,
    /// What may be the last byte of a counter block. Whether this carries soon may decide something where the nonce
    /// alone made it.
    LastByte,
}

/// Which instructions decide something by a value that one of `moves` takes to a general register.
pub(crate) fn wrong(body: &[Line<'_>], moves: &HashSet<usize>, joins: &HashSet<u64>, moved: Moved) -> Vec<usize> {
    let (mut state, mut wrong) = (State::default(), Vec::new());
    for (at, line) in body.iter().enumerate() {
        if joins.contains(&line.0) {
            state = State::default();
        }
        let (mut after, decides) = step(line, state, moves.contains(&at));
        after.near =
            after.flags && (moved == Moved::LastByte && near_its_end(line) || state.near && line.1.starts_with('j'));
        if decides {
            wrong.push(at);
        }
        let ends = ["ret", "jmp", "ud2"].iter().any(|end| line.1.starts_with(end));
        state = if ends { State::default() } else { after };
    }
    wrong
}

/// What an instruction makes of a state, and whether it decides something by a value.
fn step((_, name, operands): &Line<'_>, state: State, moves: bool) -> (State, bool) {
    let holds = |word: &str| number(word).is_some_and(|register| state.registers & register != 0);
    let mut after = state;
    let mut decides = operands.iter().flat_map(|word| address(word)).any(|register| holds(&format!("%{register}")));
    if ["lea", "nop", "data16", "cs"].iter().any(|other| name.starts_with(other)) {
        // Not an address in use: it counts where the result does.
        decides = false;
    }
    let conditional = (name.starts_with('j') && !name.starts_with("jmp")) || name.starts_with("set");
    let takes = conditional || ["cmov", "loop"].iter().any(|other| name.starts_with(other));
    // A carry that is added decides nothing: the sum is followed instead.
    let carried = state.flags && ["adc", "sbb", "adox"].iter().any(|other| name.starts_with(other));
    let by_size = ["a", "ae", "b", "be"]
        .iter()
        .any(|size| ["j", "set", "cmov"].iter().any(|what| name.strip_prefix(what) == Some(*size)));
    decides |= state.flags && takes && !(state.near && by_size);
    // A jump to where a register says.
    decides |= (name.starts_with("jmp") || name.starts_with("call"))
        && operands.iter().any(|word| word.strip_prefix('*').is_some_and(&holds));
    let sources = operands.iter().any(|word| holds(word));
    if name.starts_with("call") {
        // The registers of arguments and results are another's then.
        let scratch = ["%ax", "%cx", "%dx", "%si", "%di", "%8", "%9", "%10", "%11"];
        after.registers &= !scratch.iter().filter_map(|word| number(word)).sum::<u32>();
        after.flags = false;
        return (after, decides);
    }
    if ["cmp", "test", "bt", "comis", "ucomis"].iter().any(|other| name.starts_with(other)) {
        after.flags = sources;
        return (after, decides);
    }
    let keeps_flags =
        ["mov", "lea", "push", "pop", "bswap", "not", "nop", "cmov", "set", "shlx", "shrx", "sarx", "rorx", "v", "j"]
            .iter()
            .any(|other| name.starts_with(other));
    let products = products(name, operands);
    let sources = sources || carried || products.is_some() && holds(if *name == "mulx" { "%rdx" } else { "%rax" });
    if !keeps_flags {
        after.flags = sources;
    }
    if let Some(both) = products {
        after.registers = if sources { after.registers | both } else { after.registers & !both };
        return (after, decides);
    }
    let Some((to, rest)) = operands.split_last() else { return (after, decides) };
    let Some(register) = number(to) else { return (after, decides) };
    if name.starts_with("set") {
        // What the flags said counts where they were asked.
        after.registers &= !register;
        return (after, decides);
    }
    if moves {
        after.registers |= register;
        return (after, decides);
    }
    let from = carried
        || rest.iter().any(|word| holds(word))
        || (*name == "lea" && operands.iter().flat_map(|word| address(word)).any(|it| holds(&format!("%{it}"))));
    let cleared = name.starts_with("xor") && rest.first().is_some_and(|word| number(word) == Some(register));
    let replaces = ["mov", "lea", "shlx", "shrx", "sarx", "rorx", "andn", "bzhi", "pop", "v"]
        .iter()
        .any(|other| name.starts_with(other))
        || cleared
        || operands.len() == 3;
    if from && !cleared {
        after.registers |= register;
    } else if replaces {
        after.registers &= !register;
    }
    (after, decides)
}

/// The registers of a product of twice the length, if this is an instruction that makes one.
fn products(name: &str, operands: &[&str]) -> Option<Registers> {
    let registers = |words: &[&str]| words.iter().filter_map(|word| number(word)).sum();
    match operands {
        [_, low, high] if name == "mulx" => Some(registers(&[low, high])),
        [_] if ["mul", "mulq", "mull", "imul", "imulq", "imull"].contains(&name) => Some(registers(&["%rax", "%rdx"])),
        _ => None,
    }
}

/// Whether a byte is compared with a number that only the last byte of a counter block is compared with: so many blocks
/// before its end.
fn near_its_end((_, name, operands): &Line<'_>) -> bool {
    let number =
        operands.first().and_then(|word| word.strip_prefix("$0x")).and_then(|hex| u64::from_str_radix(hex, 16).ok());
    // As a byte, or with its sign in all of a register.
    let number = number.map(|number| if number > 0xffff { number & 0xff } else { number });
    name.starts_with("cmp") && number.is_some_and(|number| (0xc0..=0x101).contains(&number))
}

/// A general register as a bit, by any of its names or its short one.
fn number(word: &str) -> Option<Registers> {
    const NAMES: [&str; 16] =
        ["ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "8", "9", "10", "11", "12", "13", "14", "15"];
    let short = general(word).or_else(|| word.strip_prefix('%').map(str::to_owned))?;
    NAMES.iter().position(|name| *name == short).map(|at| 1 << at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disassembly::parts;

    /// What is wrong after the first instruction, which moves a value into %rax.
    fn after(moved: Moved, lines: &[&str]) -> usize {
        let all = [&["vmovq  %xmm0,%rax"], lines, &["ret"]].concat();
        let body: Vec<Line<'_>> = all.iter().enumerate().map(|(at, line)| parts(0x10 + at as u64, line)).collect();
        wrong(&body, &HashSet::from([0]), &HashSet::new(), moved).len()
    }

    #[test]
    fn a_value_may_be_combined_and_stored() {
        for right in [
            &["shr    $0x20,%rax", "or     %rax,%rdx", "mov    %edx,0x4(%rdi)"][..],
            &["mov    %rax,(%rsp)", "mov    (%rdi),%rax", "test   %rax,%rax", "je     12"],
            &["xor    %eax,%eax", "mov    (%rcx,%rax,8),%rdx"],
            &["bswap  %rax", "shld   $0x8,%rax,%rcx", "cmp    $0x3,%rsi", "ja     11", "mov    %cx,(%rdi)"],
            &["cmp    $0x3,%rsi", "cmovae %rax,%rcx", "mov    %rcx,(%rdi)"],
            &["add    %rax,%rcx", "adc    $0x0,%rdx", "mov    %rdx,(%rdi)"],
            &["mul    %rcx", "xor    %edx,%edx", "test   %rdx,%rdx", "je     12"],
        ] {
            assert_eq!(after(Moved::Word, right), 0, "{right:?}");
        }
    }

    #[test]
    fn a_value_may_decide_nothing() {
        for planted in [
            &["mov    (%rcx,%rax,8),%rdx"][..],
            &["shr    $0x8,%rax", "movzbl %al,%edx", "mov    (%rcx,%rdx,8),%rdx"],
            &["test   %rax,%rax", "je     12"],
            &["shr    $0x1,%rax", "jb     12"],
            &["mov    %rax,%rcx", "cmp    %rcx,%rdx", "sete   %dl"],
            &["lea    0x8(%rax),%rcx", "jmp    *%rcx"],
            &["cmp    $0x3,%rsi", "je     20", "mov    (%rcx,%rax,8),%rdx"],
            &["add    %rax,%rcx", "jb     12"],
            &["add    %rax,%rcx", "adc    $0x0,%rdx", "mov    (%rdi,%rdx,8),%rsi"],
            &["add    %rax,%rcx", "sbb    %rdx,%rdx", "test   %rdx,%rdx", "je     12"],
            &["add    %rax,%rcx", "adc    $0x0,%rdx", "adc    $0x0,%rsi", "mov    (%rdi,%rsi,8),%rsi"],
            &["mul    %rcx", "mov    (%rdi,%rdx,8),%rsi"],
            &["mov    %rax,%rdx", "mulx   %rcx,%r8,%r9", "mov    (%rdi,%r8,8),%rsi"],
        ] {
            assert_eq!(after(Moved::Word, planted), 1, "{planted:?}");
        }
    }

    #[test]
    fn the_last_byte_of_a_counter_decides_only_when_it_carries() {
        for right in [
            &["movzbl %al,%eax", "cmp    $0xf8,%eax", "ja     12"][..],
            &["cmp    $0xf8,%al", "jbe    12"],
            &["cmp    $0xf8,%al", "setbe  %al", "test   %al,%dl", "je     12"],
            &["add    $0x10,%eax", "mov    %al,0x4(%rdi)"],
        ] {
            assert_eq!(after(Moved::LastByte, right), 0, "{right:?}");
        }
        for planted in [
            &["test   %al,%al", "je     12"][..],
            &["cmp    $0xf8,%al", "je     12"],
            &["cmp    $0x10,%al", "ja     12"],
            &["cmp    %al,%dl", "ja     12"],
            &["movzbl %al,%eax", "mov    (%rcx,%rax,8),%rdx"],
        ] {
            assert_eq!(after(Moved::LastByte, planted), 1, "{planted:?}");
        }
        assert_eq!(after(Moved::Word, &["cmp    $0xf8,%al", "ja     12"]), 1);
    }
}
