//! The text of a manifest: its magic bytes, its entries, and a check of its form while it is streamed.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Component, Path, PathBuf},
};

use crate::file_id::Commitment;

/// The magic bytes at the start of a manifest's text.
pub(crate) const MAGIC: [u8; 8] = *b"SEALLIST";

/// Path and commitment of the first entry, and the bytes after it; `None` if the entry is incomplete.
pub(crate) fn first_entry(bytes: &[u8]) -> Option<(&Path, &Commitment, &[u8])> {
    let (len, rest) = bytes.split_first_chunk()?;
    let (path, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))?;
    let (commitment, rest) = rest.split_first_chunk()?;
    Some((Path::new(OsStr::from_bytes(path)), commitment, rest))
}

/// Whether `path` is valid in a list in which `last` precedes it: a plain relative path, and in ascending order.
pub(crate) fn may_follow(path: &Path, last: Option<&Path>) -> bool {
    // The path must be in canonical form: no `a//b`, `a/./b` or `a/`.
    let plain = path.components().collect::<PathBuf>().as_os_str() == path.as_os_str();
    let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    !path.as_os_str().is_empty() && plain && inside && last.is_none_or(|last| last < path)
}

/// Checks that a text is a list while it arrives in pieces, without keeping it.
#[derive(Default)]
pub(crate) struct ListForm {
    begun: bool,
    broken: bool,
    /// The start of an entry that is not complete yet.
    held: Vec<u8>,
    last: Option<PathBuf>,
}

impl ListForm {
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

    /// Whether the text so far is a complete list.
    pub(crate) fn is_whole(&self) -> bool {
        self.begun && !self.broken && self.held.is_empty()
    }
}
