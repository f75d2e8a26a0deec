//! The text of a manifest: what it begins with, its entries, and whether a text is one while it comes in pieces.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Component, Path, PathBuf},
};

use crate::file_id::Commitment;

/// How the text of a manifest begins.
pub(crate) const MAGIC: [u8; 8] = *b"SEALLIST";

/// Path and commitment of the first entry, and what is behind it; `None` if it is not whole.
pub(crate) fn first_entry(bytes: &[u8]) -> Option<(&Path, &Commitment, &[u8])> {
    let (len, rest) = bytes.split_first_chunk()?;
    let (path, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))?;
    let (commitment, rest) = rest.split_first_chunk()?;
    Some((Path::new(OsStr::from_bytes(path)), commitment, rest))
}

/// Whether `path` is one of a list, whose last one so far is `last`.
pub(crate) fn may_follow(path: &Path, last: Option<&Path>) -> bool {
    // A path is as its components make it: no `a//b`, `a/./b` or `a/`.
    let plain = path.components().collect::<PathBuf>().as_os_str() == path.as_os_str();
    let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    !path.as_os_str().is_empty() && plain && inside && last.is_none_or(|last| last < path)
}

/// Whether a text is that of a list, while it comes in pieces and is not kept.
#[derive(Default)]
pub(crate) struct ListForm {
    begun: bool,
    broken: bool,
    /// What is not a whole entry yet.
    held: Vec<u8>,
    last: Option<PathBuf>,
}

impl ListForm {
    /// Takes the next piece.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        if self.broken {
            return;
        }
        self.held.extend_from_slice(bytes);
        let held = std::mem::take(&mut self.held);
        let mut rest = &held[..];
        if !self.begun {
            if held.len() < MAGIC.len() {
                self.held = held;
                return;
            }
            (self.begun, self.broken) = (true, !held.starts_with(&MAGIC));
            rest = &held[MAGIC.len()..];
        }
        while let Some((path, _, after)) = first_entry(rest).filter(|_| !self.broken) {
            self.broken = !may_follow(path, self.last.as_deref());
            self.last = Some(path.into());
            rest = after;
        }
        self.held.extend_from_slice(rest);
    }

    /// Whether what was taken is a whole list.
    pub(crate) fn is_whole(&self) -> bool {
        self.begun && !self.broken && self.held.is_empty()
    }
}
