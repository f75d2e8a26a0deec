//! Distinguishes the tables for research, whose lookups depend on secrets, from all other code, by the source line of
//! an instruction. Names of functions do not suffice: a kernel and all that is inlined in it is the function `run` of
//! its level.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use crate::{generated::Place, programs::said};

/// Where the tables are, and nothing else: their names end in `_vartime`.
const TABLES: &str = "crates/aead/src/ghash/table.rs";

/// Lines of sources that compilers may turn into such instructions, and why they may: a file, and what the line says.
const PUBLIC_LINES: &[(&str, &str, &str)] = {
    const FILE: &str = "crates/aead/src/mode/multi_buffer/kernel.rs";
    const WHY: &str = "where frames lie, by their lengths";
    &[
        (FILE, "for (block, frame) in blocks.iter_mut().zip(frames.iter_mut()) {", WHY),
        (FILE, "if let Some(there) = frame.first_chunk_mut() {", WHY),
        (FILE, "*block = there;", WHY),
    ]
};

/// What was found in the tables, and what elsewhere, without what is public.
#[derive(Debug, Default)]
pub(crate) struct Apart {
    pub(crate) tables: Vec<Place>,
    pub(crate) others: Vec<Place>,
}

impl Apart {
    /// Of a program, which must know the lines of its sources.
    pub(crate) fn in_program(found: Vec<Place>, program: &Path) -> Result<Apart, String> {
        if found.is_empty() {
            return Ok(Apart::default());
        }
        let places: BTreeSet<u64> = found.iter().map(|place| place.at).collect();
        let mut ask = Command::new("addr2line");
        ask.args(["--addresses", "--inlines"])
            .arg("--exe")
            .arg(program)
            .args(places.iter().map(|at| format!("{at:#x}")));
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let says = |file: &str, line: usize| {
            let text = fs::read_to_string(root.join(file)).ok()?;
            text.lines().nth(line.checked_sub(1)?).map(|line| line.trim().to_owned())
        };
        said(&mut ask).map(|lines| Apart::of(found, &lines, says))
    }

    /// By the lines of a program's sources, as `addr2line --addresses --inlines` prints them: an address, and files with
    /// lines, each inlined in the next one. The first that is ours counts. `says` returns the text of a line.
    fn of(found: Vec<Place>, lines: &str, says: impl Fn(&str, usize) -> Option<String>) -> Apart {
        let (mut first, mut at) = (BTreeMap::new(), None);
        for line in lines.lines() {
            match (line.strip_prefix("0x").map(|at| u64::from_str_radix(at, 16)), at) {
                (Some(Ok(address)), _) => at = Some(address),
                (_, Some(at)) => drop(ours(line).map(|ours| first.entry(at).or_insert(ours))),
                _ => {}
            }
        }
        let is_public = |(file, line): &(&str, usize)| {
            PUBLIC_LINES.iter().any(|(public, text, _)| file == public && says(file, *line).as_deref() == Some(*text))
        };
        let public: BTreeSet<u64> = first.iter().filter(|(_, place)| is_public(place)).map(|(at, _)| *at).collect();
        let found = found.into_iter().filter(|place| !public.contains(&place.at));
        let (tables, others) = found.partition(|place| first.get(&place.at).is_some_and(|(file, _)| *file == TABLES));
        Apart { tables, others }
    }
}

/// Of `/a/crates/b.rs:12 (discriminator 3)`, `crates/b.rs` and 12; `None` if it is not of ours.
fn ours(line: &str) -> Option<(&str, usize)> {
    let (path, number) = line.rsplit_once(':')?;
    let number = number.split_whitespace().next()?.parse().ok()?;
    let from = if path.starts_with("crates/") { 0 } else { path.find("/crates/")? + 1 };
    Some((&path[from..], number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::search;

    /// Two kernels of one name. In the first is a table, and beside it a word of a text that decides; in the other one,
    /// a table of ours.
    const CODE: &str = "0000000000000010 <sealwright::simd::avx2::run>:\n  10:\tvmovq  %xmm0,%rax\n  \
                        14:\tvpxor  (%rcx,%rax,1),%xmm1,%xmm1\n  18:\tvmovq  %xmm0,%rdi\n  1c:\ttest   %rdi,%rdi\n  \
                        1f:\tje     10\n  20:\tret\n\n\
                        0000000000000030 <sealwright::simd::avx2::run>:\n  30:\tmovzbl 0x3(%rdi),%ecx\n  \
                        34:\tvpxor  (%rax,%rcx,1),%xmm0,%xmm0\n  38:\tret\n";
    const LINES: &str = "0x0000000000000014\n/w/crates/aead/src/ghash/table.rs:129 (discriminator 2)\n\
                         0x000000000000001f\n/w/crates/aead/src/mode/gcm/kernel.rs:97\n\
                         0x0000000000000034\n/w/crates/aead/src/mode/gcm/hash.rs:129\n";

    #[test]
    fn a_leak_beside_the_planted_tables_is_told_from_them() {
        let found = search(CODE).wrong;
        let places: Vec<u64> = found.iter().map(|place| place.at).collect();
        let apart = Apart::of(found, LINES, |_, _| None);
        let at = |places: &[Place]| places.iter().map(|place| place.at).collect::<Vec<_>>();
        assert_eq!(at(&apart.tables), [0x14, 0x14], "{places:x?}");
        assert_eq!(at(&apart.others), [0x1f, 0x34], "{places:x?}");
    }

    #[test]
    fn what_has_no_line_is_no_table() {
        let place = || vec![Place { at: 0x14, what: String::new() }];
        for (lines, tables) in [
            ("0x0000000000000014\ncrates/aead/src/ghash/table.rs:1\n", 1),
            ("0x0000000000000014\n??:0\n", 0),
            ("0x0000000000000014\n??:?\n", 0),
            ("0x0000000000000014\n/w/other-crates/aead/src/ghash/table.rs:1\n", 0),
            ("0x0000000000000014\n/w/crates/aead/src/ghash/table.rs.rs:1\n", 0),
            ("0x0000000000000015\n/w/crates/aead/src/ghash/table.rs:1\n", 0),
            ("", 0),
        ] {
            assert_eq!(Apart::of(place(), lines, |_, _| None).tables.len(), tables, "{lines}");
        }
    }

    #[test]
    fn a_public_line_is_known_by_what_it_says() {
        let (file, text, _) = PUBLIC_LINES[0];
        let lines = format!(
            "0x0000000000000014\n/rustc/1/library/core/src/ptr/mut_ptr.rs:961\n/w/{file}:7 (discriminator 3)\n/w/a.rs:1\n"
        );
        let place = || vec![Place { at: 0x14, what: String::new() }];
        let others = |says: &str| Apart::of(place(), &lines, |_, line| (line == 7).then(|| says.to_owned())).others;
        assert!(others(text).is_empty());
        assert_eq!(others("*block = table[secret];").len(), 1);
        // The lines are there.
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for (file, text, _) in PUBLIC_LINES {
            let source = fs::read_to_string(root.join(file)).expect("the source");
            assert!(source.lines().any(|line| line.trim() == *text), "{file}: {text}");
        }
    }
}
