//! Searches the machine code of the kernels for three ways in which a branch or an address could depend on a secret.
//!
//! 1. Vector kernels hold keys and texts in vector registers. A branch or an address can depend on them only after a
//!    move to a general register or to the flags, or by a gather. Each such instruction is checked, and moved values
//!    are followed to their uses ([`taint`]).
//! 2. In the functions of the key paths: a comparison that ends early ([`early_exit`]), or `memcmp`, which may end
//!    early.
//! 3. In all functions of the library: an address whose index was read from memory as one or two bytes, or came from a
//!    vector register, in the same run of instructions. This is what a table indexed by a secret looks like.
//!
//! Valgrind follows secrets exactly, but supports neither VAES nor AVX-512. This search covers every level, but only
//! these patterns.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::{
    disassembly::{self, Function, Line, address, general, joins, parts},
    early_exit,
    searched::{is_known, is_ours, is_planted, is_public, is_vartime},
    taint::{self, Moved},
};

/// Levels whose kernels have vector registers.
pub(crate) const LEVELS: [&str; 3] = ["sse", "avx2", "avx512"];

/// What the names of a level's functions begin with.
fn of_level(level: &str) -> String {
    format!("sealwright::simd::{level}::")
}

/// The findings.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) functions: usize,
    pub(crate) instructions: usize,
    /// The kernels of a level, and the moves out of vector registers in them, by kind.
    pub(crate) leaving: BTreeMap<String, BTreeMap<&'static str, usize>>,
    /// Indexed reads in functions that do not claim constant time.
    pub(crate) vartime: usize,
    /// Comparisons that end early and are there to be found.
    pub(crate) planted: Vec<Place>,
    pub(crate) wrong: Vec<Place>,
}

/// An instruction that may depend on a secret: a short description, and its place.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) at: u64,
    pub(crate) what: String,
}

impl Place {
    /// Whether it is in a kernel of this level.
    pub(crate) fn is_of(&self, level: &str) -> bool {
        self.what.starts_with(&of_level(level))
    }

    fn of(function: &str, line: &Line<'_>, before: &str, behind: &str) -> Place {
        Place { at: line.0, what: format!("{function}: {before}{}{behind}", written(line)) }
    }
}

/// Searches disassembled code: `objdump --disassemble --no-show-raw-insn --demangle`.
pub(crate) fn search(code: &str) -> Found {
    let mut found = Found::default();
    for function in disassembly::functions(code) {
        let body: Vec<Line<'_>> =
            function.body.iter().map(|&(address, instruction)| parts(address, instruction)).collect();
        of_function(&function, &body, &mut found);
    }
    found
}

fn of_function(Function { name: function, body: text }: &Function<'_>, body: &[Line<'_>], found: &mut Found) {
    if !is_ours(function) {
        return;
    }
    found.functions += 1;
    found.instructions += body.len();
    let level = LEVELS.iter().find(|level| function.starts_with(&of_level(level)));
    if let Some(level) = level {
        let kinds = found.leaving.entry((*level).to_owned()).or_default();
        let (mut words, mut last_bytes) = (HashSet::new(), HashSet::new());
        for at in 0..body.len() {
            match leaves(body, at) {
                Leaves::Not => {}
                Leaves::LastByte => {
                    *kinds.entry("the last byte of a block, as of a counter").or_default() += 1;
                    last_bytes.insert(at);
                }
                Leaves::Words => {
                    *kinds.entry("words that are only combined and stored").or_default() += 1;
                    words.insert(at);
                }
                Leaves::Unknown => found.wrong.push(Place::of(function, &body[at], "", "")),
            }
        }
        for (moves, moved) in [(words, Moved::Word), (last_bytes, Moved::LastByte)] {
            let decide = taint::wrong(body, &moves, &joins(body), moved);
            let decide =
                decide.into_iter().map(|at| Place::of(function, &body[at], "decides by a word of a text: ", ""));
            found.wrong.extend(decide);
        }
    }
    let calls = text.iter().filter(|(_, line)| (line.starts_with("call") || line.starts_with("jmp")) && compares(line));
    let calls = calls.map(|&(at, line)| Place { at, what: format!("{function}: {at:x}: {line}") });
    let early = early_exit::early(body, &joins(body)).into_iter();
    let early = early.map(|at| Place::of(function, &body[at], "a comparison that ends early: ", ""));
    if is_planted(function) {
        found.planted.extend(calls.chain(early));
    } else if !is_public(function) {
        found.wrong.extend(calls.chain(early));
    }
    for (from, at) in indexed(body) {
        if is_vartime(function) {
            found.vartime += 1;
        } else if !is_jump(&body[at..]) && !is_known(function, &from, &written(&body[at])) {
            found.wrong.push(Place::of(function, &body[at], "", &format!(", after {from}")));
        }
    }
}

/// Whether it reads where a jump leads, as `match` compiles to: over levels, suites or kinds of slots, which are no
/// secrets.
fn is_jump(body: &[Line<'_>]) -> bool {
    let (_, name, operands) = &body[0];
    let to = operands.last();
    let jumps = |line: &Line<'_>| line.1.starts_with("jmp") && line.2.first().is_some_and(|to| to.starts_with('*'));
    let adds = |line: &Line<'_>| line.1.starts_with("add") && line.2.last() == to;
    // Other instructions may stand between.
    let after = &body[1..body.len().min(6)];
    name.starts_with("movslq") && after.iter().position(adds).is_some_and(|at| after[at..].iter().any(jumps))
}

fn written((address, name, operands): &Line<'_>) -> String {
    format!("{address:x}: {name} {}", operands.join(","))
}

/// Whether it calls a comparison of the C library, which may end early.
fn compares(line: &str) -> bool {
    ["<memcmp@", "<memcmp>", "<bcmp@", "<bcmp>", "memcmp@GLIBC", "bcmp@GLIBC"].iter().any(|name| line.contains(name))
}

#[derive(PartialEq, Debug)]
enum Leaves {
    Not,
    /// It moves what may be the last byte of a counter block, which is followed.
    LastByte,
    /// It moves a word, which is followed to where it is used.
    Words,
    Unknown,
}

/// Whether an instruction moves from a vector register to a general register or to flags, or gathers.
fn leaves(body: &[Line<'_>], at: usize) -> Leaves {
    let (_, name, operands) = &body[at];
    let plain = name.strip_prefix('v').unwrap_or(name);
    let to_general = operands.last().is_some_and(|last| general(last).is_some());
    let from_vector = operands.len() > 1 && operands[..operands.len() - 1].iter().any(|word| word.contains("mm"));
    if plain.starts_with("pextrb") && operands[0] == "$0xf" && to_general {
        return Leaves::LastByte;
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

/// Addresses made of what was read as bytes or came from a vector register: whence, and which line uses it.
fn indexed(body: &[Line<'_>]) -> Vec<(String, usize)> {
    let targets = joins(body);
    let (mut found, mut from) = (Vec::new(), HashMap::<String, String>::new());
    for (number, line) in body.iter().enumerate() {
        let (at, name, operands) = line;
        if targets.contains(at) {
            from.clear();
        }
        if !["lea", "nop", "data16", "cs"].iter().any(|other| name.starts_with(other)) {
            let used = operands.iter().flat_map(|word| address(word)).find_map(|register| from.get(&register));
            found.extend(used.map(|from| (from.clone(), number)));
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
        assert!(found.wrong[0].what.contains("(%rax,%rcx,1)") && found.wrong[0].what.contains("movzbl"));
        assert_eq!(found.wrong[0].at, 0x18);
        let vartime = search(&TABLE.replace("times", "times_vartime"));
        assert_eq!((vartime.vartime, vartime.wrong.len()), (1, 0));
        // The register was overwritten; another path comes here; the function is another library's.
        assert!(search(&TABLE.replace("shl    $0x4,%rcx", "mov    %rdx,%rcx")).wrong.is_empty());
        assert!(search(&TABLE.replace("shl    $0x4,%rcx", "jne    18 <x>")).wrong.is_empty());
        assert!(search(&TABLE.replace("sealwright", "other")).wrong.is_empty());
        // A jump, and a table of numbers that are read in the same way.
        let to = |last: &str| search(&TABLE.replace("pxor   (%rax,%rcx,1),%xmm0\n  1c:\tret", last)).wrong.len();
        assert_eq!(to("movslq (%rax,%rcx,4),%rcx\n  1c:\tadd    %rax,%rcx\n  1e:\tjmp    *%rcx"), 0);
        assert_eq!(to("movslq (%rax,%rcx,4),%rcx\n  1c:\tadd    %rax,%rcx\n  1e:\tret"), 1);
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

    #[test]
    fn the_last_byte_of_a_block_and_turned_words_are_followed() {
        let kernel =
            |lines: &str| format!("0000000000000010 <sealwright::simd::avx2::run>:\n  10:\t{lines}\n  1f:\tret\n");
        let decides = "test   %rax,%rax\n  1e:\tje     10";
        for (planted, wrong) in [
            (format!("vpextrb $0xf,%xmm0,%eax\n  16:\t{decides}"), 1),
            (format!("vmovq  %xmm0,%rax\n  16:\tbswap  %rax\n  19:\t{decides}"), 1),
            // As GCM asks whether a counter carries, and OCB shifts its nonce
            ("vpextrb $0xf,%xmm0,%eax\n  16:\tcmp    $0xf0,%eax\n  1b:\tja     10".to_owned(), 0),
            (
                "vmovq  %xmm0,%rax\n  16:\tbswap  %rax\n  19:\tshld   %cl,%rax,%rdx\n  1c:\tmov    %rdx,(%rdi)"
                    .to_owned(),
                0,
            ),
        ] {
            assert_eq!(search(&kernel(&planted)).wrong.len(), wrong, "{planted}");
        }
    }

    #[test]
    fn a_comparison_of_tags_that_ends_early_is_found() {
        let early = "  10:\tmovzbl (%rdi,%rcx,1),%eax\n  14:\tcmp    (%rsi,%rcx,1),%al\n  17:\tjne    20 <x>\n";
        let called = "  10:\tcall   *0x71acd0(%rip)        # 13fded8 <bcmp@GLIBC_2.2.5>\n  16:\ttest   %eax,%eax\n";
        for function in
            ["sealwright::tag::Tag::matches", "sealwright_session::client::Client::open", "sealwright_file::slots::f"]
        {
            for planted in [early, called] {
                let found = search(&format!("0000000000000010 <{function}>:\n{planted}  20:\tret\n"));
                assert_eq!(found.wrong.len(), 1, "{function}: {planted}");
            }
        }
        let names = "<sealwright::suite::Suite as core::str::traits::FromStr>::from_str";
        assert!(search(&format!("0000000000000010 <{names}>:\n{called}  20:\tret\n")).wrong.is_empty());
    }

    #[test]
    fn tables_are_found_wherever_keys_pass() {
        for function in [
            "<sealwright::committing::Committing as sealwright::aead::Aead>::open_in_place",
            "sealwright::mode::cbc_hmac::CbcHmac<_>::tag",
            "sealwright_session::packet::Keyed::open",
            "<sealwright_session::schemes::derived::Derived as sealwright_session::scheme::Scheme>::keyed",
            "sealwright_stream::cipher::Cipher::new",
            "sealwright_file::key::stretch::stretch",
        ] {
            assert_eq!(
                search(&TABLE.replace("sealwright::ghash::table::times", function)).wrong.len(),
                1,
                "{function}"
            );
        }
        // The place in the buffer of a hash, which lies on the stack.
        let place = TABLE.replace("sealwright::ghash::table::times", "sealwright::committing::Committing::derive");
        let place = place.replace("0x3(%rdi)", "0x90(%rsp)").replace("(%rax,%rcx,1)", "(%rsp,%rcx,1)");
        assert!(search(&place).wrong.is_empty());
        assert_eq!(search(&place.replace("0x90(%rsp)", "0x90(%rdi)")).wrong.len(), 1);
        for other in ["other_sealwright::key::f", "sealwright_cli::key::f", "sealwright_file::list::f"] {
            assert!(search(&TABLE.replace("sealwright::ghash::table::times", other)).wrong.is_empty(), "{other}");
        }
    }
}
