//! The code that the compiler made of the kernels, searched for two ways in which a secret could decide what is done next.
//!
//! 1. Kernels with vector registers hold keys and texts there, and nothing can branch on these or read memory at a place that
//!    they say before they were moved to a general register or to flags, or gathered. Each such instruction is looked at, and
//!    words that were moved are followed to where they are used ([`taint`]).
//! 2. In all functions of the library, an address whose index was read from memory as a byte or two, or came from a vector
//!    register, in the same run of instructions: what a table indexed by a secret looks like.
//!
//! Valgrind follows secrets truly, but knows neither VAES nor AVX-512. This knows every level, but only these two patterns.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::{
    disassembly::{self, Line, address, general, joins, parts},
    taint,
};

/// What is in order, and why: a part of a function's name, a part of the instruction.
const KNOWN: &[(&str, &str, &str)] = &[
    ("", "movslq (", "a jump over levels or suites: which one is no secret"),
    ("fmt::Debug>::fmt", "", "names of suites"),
    ("committing::Committing", "", "which suite, and how full a buffer of SHA-256 is"),
    ("cbc_hmac::CbcHmac", "(%rsp,", "how full a buffer of SHA-2 is"),
];

/// Functions that read tables at secret places, as their names say; for research only.
const VARTIME: &str = "_vartime";

/// What was found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) functions: usize,
    pub(crate) instructions: usize,
    /// Kernels of a level, and what leaves the vector registers there, by kind.
    pub(crate) leaving: BTreeMap<String, BTreeMap<&'static str, usize>>,
    /// Indexed reads in functions that promise nothing.
    pub(crate) vartime: usize,
    pub(crate) wrong: Vec<String>,
}

/// Searches disassembled code: `objdump --disassemble --no-show-raw-insn --demangle`.
pub(crate) fn search(code: &str) -> Found {
    let mut found = Found::default();
    for function in disassembly::functions(code) {
        let body: Vec<Line<'_>> =
            function.body.iter().map(|&(address, instruction)| parts(address, instruction)).collect();
        of_function(function.name, &body, &mut found);
    }
    found
}

fn of_function(function: &str, body: &[Line<'_>], found: &mut Found) {
    let ours = ["simd", "block", "ghash", "mode", "raw", "batch", "committing", "suite", "tag", "key", "nonce"];
    if !ours.iter().any(|module| function.contains(&format!("sealwright::{module}::"))) {
        return;
    }
    found.functions += 1;
    found.instructions += body.len();
    let level =
        ["sse", "avx2", "avx512"].iter().find(|level| function.starts_with(&format!("sealwright::simd::{level}::")));
    if let Some(level) = level {
        let kinds = found.leaving.entry((*level).to_owned()).or_default();
        let mut moves = HashSet::new();
        for at in 0..body.len() {
            match leaves(body, at) {
                Leaves::Not => {}
                Leaves::Known(why) => *kinds.entry(why).or_default() += 1,
                Leaves::Words => {
                    *kinds.entry("words that are only combined and stored").or_default() += 1;
                    moves.insert(at);
                }
                Leaves::Unknown => found.wrong.push(format!("{function}: {}", written(&body[at]))),
            }
        }
        let decide = taint::wrong(body, &moves, &joins(body));
        found.wrong.extend(
            decide.iter().map(|&at| format!("{function}: decides by a word of a text: {}", written(&body[at]))),
        );
    }
    for (from, to) in indexed(body) {
        let what = format!("{function}: {to}, after {from}");
        if function.contains(VARTIME) {
            found.vartime += 1;
        } else if !KNOWN.iter().any(|(name, part, _)| function.contains(name) && to.contains(part)) {
            found.wrong.push(what);
        }
    }
}

fn written((address, name, operands): &Line<'_>) -> String {
    format!("{address:x}: {name} {}", operands.join(","))
}

#[derive(PartialEq, Debug)]
enum Leaves {
    Not,
    /// It does, and this is why it may.
    Known(&'static str),
    /// It moves a word, which is followed to where it is used.
    Words,
    Unknown,
}

/// Whether an instruction takes something from a vector register to a general one, or to flags, or gathers.
fn leaves(body: &[Line<'_>], at: usize) -> Leaves {
    let (_, name, operands) = &body[at];
    let plain = name.strip_prefix('v').unwrap_or(name);
    let to_general = operands.last().is_some_and(|last| general(last).is_some());
    let from_vector = operands.len() > 1 && operands[..operands.len() - 1].iter().any(|word| word.contains("mm"));
    if plain.starts_with("pextrb") && operands[0] == "$0xf" && to_general {
        return Leaves::Known("the last byte of a counter block");
    }
    if (plain.starts_with("pextrq") || plain == "movq") && from_vector && to_general {
        // OCB makes a nonce's first offset with shifts of words, by a number of bits that the nonce says
        let register = operands.last().and_then(|last| general(last));
        let turned = body[at + 1..]
            .iter()
            .take(3)
            .any(|(_, name, operands)| *name == "bswap" && operands.last().and_then(|last| general(last)) == register);
        return if turned { Leaves::Known("words of OCB's stretched nonce") } else { Leaves::Words };
    }
    let moves = matches!(plain, "movd" | "movq") || plain.starts_with("pextr") || plain.starts_with("cvt");
    let masks = plain.contains("movmsk") || (plain.starts_with("kmov") && operands[0].contains("%k"));
    let flags = ["ptest", "comis", "ucomis", "kortest", "ktest", "testp", "pcmpestr", "pcmpistr"];
    let compares = flags.iter().any(|flag| plain.starts_with(flag));
    let gathers = plain.contains("gather") || plain.contains("scatter");
    if moves && from_vector && to_general {
        return Leaves::Words;
    }
    if (masks && to_general) || compares || gathers { Leaves::Unknown } else { Leaves::Not }
}

/// Addresses made of what was read as bytes or came from a vector register: whence, and where it is used.
fn indexed(body: &[Line<'_>]) -> Vec<(String, String)> {
    let targets = joins(body);
    let (mut found, mut from) = (Vec::new(), HashMap::<String, String>::new());
    for line in body {
        let (at, name, operands) = line;
        if targets.contains(at) {
            from.clear();
        }
        if !["lea", "nop", "data16", "cs"].iter().any(|other| name.starts_with(other)) {
            let used = operands.iter().flat_map(|word| address(word)).find_map(|register| from.get(&register));
            found.extend(used.map(|from| (from.clone(), written(line))));
        }
        if ["call", "ret", "jmp"].iter().any(|end| name.starts_with(end)) {
            from.clear();
        }
        let Some((to, sources)) = operands.split_last() else { continue };
        let Some(to) = general(to) else { continue };
        if ["cmp", "test", "push", "bt"].iter().any(|other| name.starts_with(other)) {
            continue;
        }
        let narrow = ["movzb", "movzw", "movsb", "movsw"].iter().any(|narrow| name.starts_with(narrow));
        let read = narrow && sources.first().is_some_and(|word| word.contains('('));
        if read || sources.iter().any(|word| word.contains("mm")) {
            from.insert(to, written(line));
            continue;
        }
        let sources: Vec<String> = match name.starts_with("lea") {
            true => sources.iter().flat_map(|word| address(word)).collect(),
            false => sources.iter().filter_map(|word| general(word)).collect(),
        };
        let origin = sources.iter().find_map(|register| from.get(register)).cloned();
        let cleared = name.starts_with("xor") && sources.contains(&to);
        let replaced = name.starts_with("mov") || name.starts_with("lea") || cleared;
        match origin {
            Some(origin) if !cleared => drop(from.insert(to, origin)),
            _ if replaced => drop(from.remove(&to)),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "0000000000000010 <sealwright::ghash::table::times>:\n  10:\tmovzbl 0x3(%rdi),%ecx\n  \
                         14:\tshl    $0x4,%rcx\n  18:\tpxor   (%rax,%rcx,1),%xmm0\n  1c:\tret\n";

    #[test]
    fn a_planted_table_is_found() {
        let found = search(TABLE);
        assert_eq!((found.functions, found.instructions, found.wrong.len()), (1, 4, 1), "{:?}", found.wrong);
        assert!(found.wrong[0].contains("(%rax,%rcx,1)") && found.wrong[0].contains("movzbl"));
        let vartime = search(&TABLE.replace("times", "times_vartime"));
        assert_eq!((vartime.vartime, vartime.wrong.len()), (1, 0));
        // The register was overwritten; another path comes here; the function is another library's.
        assert!(search(&TABLE.replace("shl    $0x4,%rcx", "mov    %rdx,%rcx")).wrong.is_empty());
        assert!(search(&TABLE.replace("shl    $0x4,%rcx", "jne    18 <x>")).wrong.is_empty());
        assert!(search(&TABLE.replace("sealwright", "other")).wrong.is_empty());
    }

    #[test]
    fn what_leaves_a_vector_register_is_found() {
        let kernel =
            |line: &str| format!("0000000000000010 <sealwright::simd::avx2::run>:\n  10:\t{line}\n  16:\tret\n");
        for planted in [
            "vmovq  %xmm0,%rdi\n  14:\ttest   %rdi,%rdi\n  15:\tje     10",
            "vmovd  %xmm3,%ecx\n  14:\tcmp    $0x1,%ecx\n  15:\tsete   %al",
            "vpextrb $0x3,%xmm0,%eax\n  14:\tshr    $0x1,%eax\n  15:\tjb     10",
            "vpmovmskb %ymm0,%eax",
            "vptest %ymm0,%ymm0",
            "kmovd  %k1,%eax",
            "vpgatherdd %ymm1,(%rax,%ymm2,4),%ymm0",
        ] {
            assert_eq!(search(&kernel(planted)).wrong.len(), 1, "{planted}");
        }
        for right in [
            "vmovq  %rdi,%xmm0",
            "vpextrq $0x1,%xmm0,%rax\n  14:\tmov    %rax,(%rdi)",
            "vpextrb $0xf,%xmm14,%ecx",
            "vmovq  %xmm0,0x8(%rsp)",
            "kmovd  %eax,%k1",
            "vmovq  %xmm0,%rdx\n  14:\tbswap  %rdx",
        ] {
            assert!(search(&kernel(right)).wrong.is_empty(), "{right}");
        }
    }
}
