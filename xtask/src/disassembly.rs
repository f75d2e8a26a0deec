//! Disassembled code, as `objdump --disassemble --no-show-raw-insn` prints it.

use std::collections::HashSet;

/// A function: its name, and the address and text of each instruction.
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    pub(crate) body: Vec<(u64, &'a str)>,
}

/// The functions in the order of the text.
pub(crate) fn functions(code: &str) -> Vec<Function<'_>> {
    let mut functions = Vec::new();
    for line in code.lines() {
        if let Some(head) = line.strip_suffix(">:") {
            let name = head.split_once('<').map_or("", |(_, name)| name);
            functions.push(Function { name, body: Vec::new() });
        } else if let Some((address, instruction)) = line.trim_start().split_once(":\t")
            && let Ok(address) = u64::from_str_radix(address, 16)
            && let Some(function) = functions.last_mut()
        {
            function.body.push((address, instruction));
        }
    }
    functions
}

/// One instruction: its address, its name, its operands.
pub(crate) type Line<'a> = (u64, &'a str, Vec<&'a str>);

/// An instruction in its parts.
pub(crate) fn parts(address: u64, instruction: &str) -> Line<'_> {
    let (name, operands) = instruction.trim_end().split_once(' ').unwrap_or((instruction, ""));
    let operands = operands.split(" <").next().unwrap_or_default().split(" #").next().unwrap_or_default();
    (address, name, split(operands.trim()))
}

/// Splits operands at commas, except within parentheses.
fn split(operands: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in operands.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(operands[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(operands[start..].trim());
    parts
}

/// The general register that a name belongs to, whichever part of it is named.
pub(crate) fn general(word: &str) -> Option<String> {
    let name = word.strip_prefix('%')?;
    if let Some(number) = name.strip_prefix('r').map(|name| name.trim_end_matches(['d', 'w', 'b']))
        && number.parse::<u8>().is_ok()
    {
        return Some(number.to_owned());
    }
    let name = name.strip_prefix(['r', 'e']).filter(|rest| rest.len() == 2).unwrap_or(name);
    let short = match name {
        "al" | "ah" => "ax",
        "bl" | "bh" => "bx",
        "cl" | "ch" => "cx",
        "dl" | "dh" => "dx",
        "sil" | "dil" | "bpl" | "spl" => &name[..2],
        other => other,
    };
    ["ax", "bx", "cx", "dx", "si", "di", "bp", "sp"].contains(&short).then(|| short.to_owned())
}

/// Registers of an address.
pub(crate) fn address(word: &str) -> Vec<String> {
    let inside = word.split_once('(').map_or("", |(_, rest)| rest.trim_end_matches(')'));
    inside.split(',').filter_map(general).collect()
}

/// Addresses to which a jump leads.
pub(crate) fn joins(body: &[Line<'_>]) -> HashSet<u64> {
    let jumps = |line: &Line<'_>| line.1.starts_with('j').then(|| u64::from_str_radix(line.2[0], 16).ok()).flatten();
    body.iter().filter_map(jumps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_their_instructions() {
        let code = "program:  file format\n\n0000000000000010 <a::b<c>>:\n  10:\tmov    %rdx,%rcx\n  1c:\tret\n\n0000000000000020 <d>:\n";
        let functions = functions(code);
        assert_eq!(functions.len(), 2);
        assert_eq!(
            (functions[0].name, functions[0].body.as_slice()),
            ("a::b<c>", &[(0x10, "mov    %rdx,%rcx"), (0x1c, "ret")][..])
        );
        assert_eq!((functions[1].name, functions[1].body.len()), ("d", 0));
    }

    #[test]
    fn registers_by_any_name() {
        for (word, wanted) in [("%eax", "ax"), ("%r14d", "14"), ("%r9", "9"), ("%sil", "si"), ("%rbp", "bp")] {
            assert_eq!(general(word).as_deref(), Some(wanted));
        }
        assert_eq!(general("%xmm0").or(general("0x8(%rsp)")).or(general("%k1")), None);
        assert_eq!(address("0x8(%rax,%r14,4)"), ["ax", "14"]);
    }
}
