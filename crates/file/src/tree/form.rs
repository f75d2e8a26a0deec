//! Checks that a text is a tree while it arrives in pieces, without unpacking it.

use super::manifest::{MAGIC, MAX_MANIFEST_LEN, Manifest, START};

/// The state of the check.
pub(crate) enum TreeForm {
    /// The text so far, and, once its first bytes are known, the number of bytes up to the end of the manifest.
    Beginning(Vec<u8>, Option<usize>),
    /// The number of bytes of contents that are still to come.
    Contents(u64),
    /// The text is not a tree.
    Broken,
}

impl Default for TreeForm {
    fn default() -> TreeForm {
        TreeForm::Beginning(Vec::new(), None)
    }
}

impl TreeForm {
    pub(crate) fn take(&mut self, mut bytes: &[u8]) {
        while let TreeForm::Beginning(held, whole) = self {
            let wanted = whole.unwrap_or(START) - held.len();
            let (some, rest) = bytes.split_at(wanted.min(bytes.len()));
            held.extend_from_slice(some);
            bytes = rest;
            if some.len() < wanted {
                return;
            }
            let next = match whole {
                None => match manifest_len(held) {
                    Some(manifest) => {
                        *whole = Some(START + manifest);
                        continue;
                    }
                    None => TreeForm::Broken,
                },
                Some(_) => match Manifest::from_bytes(&held[START..]) {
                    Some(manifest) => TreeForm::Contents(manifest.content_len()),
                    None => TreeForm::Broken,
                },
            };
            *self = next;
        }
        if let TreeForm::Contents(left) = self {
            match left.checked_sub(bytes.len() as u64) {
                Some(fewer) => *left = fewer,
                None => *self = TreeForm::Broken,
            }
        }
    }

    /// Whether the text so far is a complete tree.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self, TreeForm::Contents(0))
    }
}

/// The length of the manifest according to the first bytes, if these are the start of a tree.
fn manifest_len(start: &[u8]) -> Option<usize> {
    let (magic, len) = start.split_first_chunk()?;
    let len = u64::from_be_bytes(len.try_into().ok()?);
    (*magic == MAGIC && len <= MAX_MANIFEST_LEN).then_some(usize::try_from(len).ok()?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::Read;

    use super::*;
    use crate::input::From;

    fn is_whole(text: &[u8], piece: usize) -> bool {
        let mut form = TreeForm::default();
        text.chunks(piece).for_each(|piece| form.take(piece));
        form.is_whole()
    }

    #[test]
    fn a_text_is_a_whole_tree_or_none() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a"), "a text").unwrap();
        std::fs::write(directory.path().join("b"), "").unwrap();
        let From::Stream(mut packed) = crate::tree::pack(directory.path()).unwrap().input.from else { panic!() };
        let mut text = Vec::new();
        packed.read_to_end(&mut text).unwrap();
        for piece in [1, 7, 16, 17, text.len()] {
            assert!(is_whole(&text, piece), "{piece}");
            assert!((0..text.len()).all(|len| !is_whole(&text[..len], piece)), "{piece}");
            assert!(!is_whole(&[&text[..], b"x"].concat(), piece), "{piece}");
            for at in [0, 7, 8, 15, START, START + 1] {
                let mut changed = text.clone();
                changed[at] ^= 0x80;
                assert!(!is_whole(&changed, piece), "{piece}: byte {at}");
            }
        }
        for text in [&b""[..], b"SEALTREE", &[&MAGIC[..], &[0; 8]].concat(), &[0xff; 40]] {
            assert!(!is_whole(text, 5), "{text:?}");
        }
    }

    /// A length greater than any manifest's is refused at once, and no memory is allocated for it.
    #[test]
    fn a_manifest_that_is_too_long_is_none() {
        let mut form = TreeForm::default();
        form.take(&[&MAGIC[..], &(MAX_MANIFEST_LEN + 1).to_be_bytes()].concat());
        assert!(matches!(form, TreeForm::Broken));
    }
}
