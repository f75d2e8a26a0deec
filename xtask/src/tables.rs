//! Distinguishes the tables for research, whose lookups depend on secrets, from all other code, by the source line of
//! an instruction. Names of functions do not suffice: a kernel and all that is inlined in it is the function `run` of
//! its level.

use std::{collections::BTreeSet, path::Path, process::Command};

use crate::{generated::Place, programs::said};

/// Where the tables are, and nothing else: their names end in `_vartime`.
const TABLES: &str = "crates/aead/src/ghash/table.rs";

/// What was found in the tables, and what elsewhere.
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
        ask.arg("--addresses").arg("--exe").arg(program).args(places.iter().map(|at| format!("{at:#x}")));
        said(&mut ask).map(|lines| Apart::of(found, &lines))
    }

    /// By the lines of a program's sources, as `addr2line --addresses` prints them: an address, and a file with a line.
    fn of(found: Vec<Place>, lines: &str) -> Apart {
        let (mut in_tables, mut at) = (BTreeSet::new(), None);
        for line in lines.lines() {
            match (line.strip_prefix("0x").map(|at| u64::from_str_radix(at, 16)), at) {
                (Some(Ok(address)), _) => at = Some(address),
                (_, Some(at)) if is_of_tables(line) => drop(in_tables.insert(at)),
                _ => {}
            }
        }
        let (tables, others) = found.into_iter().partition(|place| in_tables.contains(&place.at));
        Apart { tables, others }
    }
}

/// Of `/a/b.rs:12 (discriminator 3)`, whether the file is that of the tables.
fn is_of_tables(line: &str) -> bool {
    let file = line.rsplit_once(".rs:").map_or("", |(file, _)| file);
    format!("/{file}.rs").ends_with(&format!("/{TABLES}"))
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
        let apart = Apart::of(found, LINES);
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
            assert_eq!(Apart::of(place(), lines).tables.len(), tables, "{lines}");
        }
    }
}
