//! The manifest of a tree: its encoding, and the rules that keep every entry inside the tree.

use std::{
    collections::HashSet,
    ffi::OsStr,
    io::Read,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use crate::{
    error::{Error, Flaw},
    read::{fill, unread},
};

/// The magic bytes at the start of a tree's text.
pub(crate) const MAGIC: [u8; 8] = *b"SEALTREE";
/// Bytes before the manifest: the magic bytes and the manifest's length.
pub(super) const START: usize = 16;
/// The maximum length of a manifest, in bytes.
pub(super) const MAX_MANIFEST_LEN: u64 = 1 << 30;
/// The maximum number of entries. In memory, an entry takes several times as much as its encoding.
pub(super) const MAX_ENTRIES: usize = 1 << 22;
/// Bytes of an entry before its path.
const HEAD: usize = 1 + 2 + 8 + 4 + 8 + 2;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
}

/// One entry of a tree.
///
/// ```
/// use sealwright_file::tree::{Entry, EntryKind, Manifest};
///
/// fn line(entry: &Entry) -> String {
///     let kind = if entry.kind == EntryKind::Directory { 'd' } else { '-' };
///     format!("{kind}{:03o} {:>9} {}", entry.mode, entry.len, entry.path.display())
/// }
/// let lines = |manifest: &Manifest| manifest.entries().iter().map(line).collect::<Vec<_>>();
/// assert!(lines(&Manifest::default()).is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// Its path, which begins with the name of the tree: `photos/2026/1.jpg`.
    pub path: PathBuf,
    /// Its permission bits.
    pub mode: u16,
    /// When it was changed: seconds since 1970 and nanoseconds.
    pub modified: (i64, u32),
    /// Bytes of its content; 0 for directories.
    pub len: u64,
}

/// Everything in a tree, parents before children.
///
/// ```
/// use std::path::Path;
///
/// use sealwright_file::tree::Manifest;
///
/// // Where in the text of the tree one file stands: seek there.
/// fn place(manifest: &Manifest, name: &str) -> Option<(u64, u64)> {
///     manifest.find(&manifest.name().join(name))
/// }
/// assert_eq!(place(&Manifest::default(), "1.jpg"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    pub(crate) entries: Vec<Entry>,
}

impl Manifest {
    /// The entries in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The name of the tree.
    pub fn name(&self) -> &Path {
        self.entries.first().map_or(Path::new(""), |entry| &entry.path)
    }

    /// Bytes of all contents.
    pub fn content_len(&self) -> u64 {
        self.entries.iter().map(|entry| entry.len).sum()
    }

    /// Where in the text the content of the file at `path` is, and its length; `None` if there is no such file.
    pub fn find(&self, path: &Path) -> Option<(u64, u64)> {
        let mut at = (START + self.to_bytes().len()) as u64;
        for entry in &self.entries {
            if entry.kind == EntryKind::File && entry.path == path {
                return Some((at, entry.len));
            }
            at += entry.len;
        }
        None
    }

    /// The encoding without magic bytes and length.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for Entry { kind, path, mode, modified, len } in &self.entries {
            let path = path.as_os_str().as_bytes();
            bytes.push(match kind {
                EntryKind::Directory => 0,
                EntryKind::File => 1,
            });
            bytes.extend(mode.to_be_bytes());
            bytes.extend(modified.0.to_be_bytes());
            bytes.extend(modified.1.to_be_bytes());
            bytes.extend(len.to_be_bytes());
            bytes.extend((path.len() as u16).to_be_bytes());
            bytes.extend(path);
        }
        bytes
    }

    /// Reads magic bytes, length and manifest from the start of a text.
    pub(crate) fn read(from: &mut (impl Read + ?Sized)) -> Result<Manifest, Error> {
        Manifest::read_within(from, MAX_ENTRIES)
    }

    /// The same with another maximum number of entries.
    fn read_within(from: &mut (impl Read + ?Sized), most: usize) -> Result<Manifest, Error> {
        let malformed = || Error::NotAuthentic(Flaw::Tree);
        let mut head = [0; START];
        if fill(from, &mut head)? < head.len() || head[..8] != MAGIC {
            return Err(Error::NotATree);
        }
        let len = head[8..].iter().fold(0, |n: u64, &byte| n << 8 | u64::from(byte));
        if len > MAX_MANIFEST_LEN {
            return Err(malformed());
        }
        let mut bytes = Vec::new();
        from.take(len).read_to_end(&mut bytes).map_err(|error| unread(error, "the tree"))?;
        if bytes.len() as u64 != len {
            return Err(malformed());
        }
        Manifest::from_bytes_within(&bytes, most).ok_or_else(malformed)
    }

    /// Decodes a manifest, without magic bytes and length.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Manifest> {
        Manifest::from_bytes_within(bytes, MAX_ENTRIES)
    }

    fn from_bytes_within(mut bytes: &[u8], most: usize) -> Option<Manifest> {
        let mut manifest = Manifest::default();
        while !bytes.is_empty() {
            let (entry, after) = Entry::read(bytes).filter(|_| manifest.entries.len() < most)?;
            manifest.entries.push(entry);
            bytes = after;
        }
        manifest.stays_inside().then_some(manifest)
    }

    /// Whether every entry is inside the tree: the first is a directory with a plain name, every other is directly in a
    /// directory that precedes it, no path occurs twice, and the offset of every content fits into 64 bits.
    fn stays_inside(&self) -> bool {
        let Some((root, rest)) = self.entries.split_first() else { return false };
        let mut directories = HashSet::from([root.path.as_path()]);
        let mut seen = directories.clone();
        // Contents follow the manifest, whose length is at most `MAX_MANIFEST_LEN`.
        let mut total = START as u64 + MAX_MANIFEST_LEN;
        root.kind == EntryKind::Directory
            && is_name(root.path.as_os_str())
            && rest.iter().all(|entry| {
                let parent = entry.path.parent().is_some_and(|parent| directories.contains(parent));
                let name = entry.path.file_name().is_some_and(is_name);
                // The path must be in canonical form: no `a//b`, `a/./b` or `a/`.
                let plain = entry.path.components().collect::<PathBuf>().as_os_str() == entry.path.as_os_str();
                if entry.kind == EntryKind::Directory {
                    directories.insert(&entry.path);
                }
                let sum = total.checked_add(entry.len);
                total = sum.unwrap_or(0);
                parent && name && plain && seen.insert(&entry.path) && sum.is_some()
            })
    }
}

impl Entry {
    fn read(bytes: &[u8]) -> Option<(Entry, &[u8])> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let number = |from: usize, to: usize| head[from..to].iter().fold(0, |n: u64, &byte| n << 8 | u64::from(byte));
        let kind = match head[0] {
            0 => EntryKind::Directory,
            1 => EntryKind::File,
            _ => return None,
        };
        let (path, rest) = rest.split_at_checked(number(23, 25) as usize)?;
        let (mode, nanoseconds, len) = (number(1, 3) as u16, number(11, 15) as u32, number(15, 23));
        let sane = mode <= 0o777 && nanoseconds < 1_000_000_000 && (kind == EntryKind::File || len == 0);
        let path = PathBuf::from(OsStr::from_bytes(path));
        let modified = (number(3, 11) as i64, nanoseconds);
        sane.then_some((Entry { kind, path, mode, modified, len }, rest))
    }
}

/// Whether `name` is a valid name of exactly one directory entry.
pub(super) fn is_name(name: &OsStr) -> bool {
    let name = name.as_bytes();
    !name.is_empty()
        && name.len() <= 255
        && name != b"."
        && name != b".."
        && !name.contains(&b'/')
        && !name.contains(&0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn entry(kind: EntryKind, path: &str) -> Entry {
        Entry {
            kind,
            path: path.into(),
            mode: 0o644,
            modified: (-1, 999_999_999),
            len: u64::from(kind == EntryKind::File),
        }
    }

    fn read(entries: &[(EntryKind, &str)]) -> Result<Manifest, Error> {
        let manifest = Manifest { entries: entries.iter().map(|(kind, path)| entry(*kind, path)).collect() };
        let bytes = manifest.to_bytes();
        let text = [&MAGIC[..], &(bytes.len() as u64).to_be_bytes(), &bytes].concat();
        let again = Manifest::read(&mut &text[..])?;
        assert_eq!(again, manifest);
        Ok(again)
    }

    #[test]
    fn a_tree_goes_both_ways() {
        use EntryKind::{Directory, File};
        let manifest =
            read(&[(Directory, "d"), (File, "d/a"), (Directory, "d/e"), (File, "d/e/b"), (File, "d/z")]).unwrap();
        let start = 16 + manifest.to_bytes().len() as u64;
        assert_eq!(manifest.find(Path::new("d/e/b")), Some((start + 1, 1)));
        assert_eq!((manifest.find(Path::new("d/e")), manifest.find(Path::new("d/x"))), (None, None));
        assert_eq!((manifest.name(), manifest.content_len()), (Path::new("d"), 3));
    }

    /// The known path traversal attacks with archives.
    #[test]
    fn nothing_leaves_the_tree() {
        use EntryKind::{Directory, File};
        for root in ["", ".", "..", "/", "/etc", "a/b", "a/", "a\0b"] {
            assert!(read(&[(Directory, root)]).is_err(), "{root:?}");
        }
        assert!(read(&[(File, "d")]).is_err());
        for path in [
            "x",
            "/etc/passwd",
            "../x",
            "d/../x",
            "d/..",
            "d/.",
            "d/./x",
            "d//x",
            "d/x/",
            "d/",
            "d",
            "D/x",
            "d/no/x",
            "d/f/x",
            "d/x\0y",
            "d/f",
        ] {
            for kind in [Directory, File] {
                assert!(read(&[(Directory, "d"), (File, "d/f"), (kind, path)]).is_err(), "{path:?}");
            }
        }
        let long = format!("d/{}", "n".repeat(256));
        assert!(read(&[(Directory, "d"), (File, &long)]).is_err());
    }

    /// The error for a text with this beginning.
    fn refused(mut text: impl Read) -> Error {
        Manifest::read(&mut text).unwrap_err()
    }

    fn is_malformed(error: &Error) -> bool {
        matches!(error, Error::NotAuthentic(Flaw::Tree))
    }

    #[test]
    fn an_entry_s_bytes_are_where_the_format_says() {
        let entry = Entry {
            kind: EntryKind::File,
            path: "d/f".into(),
            mode: 0o417,
            modified: (0x0102_0304_0506_0708, 0x0910_1112),
            len: 0x2122_2324_2526_2728,
        };
        let numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0x10, 0x11, 0x12, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28];
        let bytes = [&[1, 1, 0o17][..], &numbers, &[0, 3], b"d/f"].concat();
        let manifest = Manifest { entries: vec![entry.clone()] };
        assert_eq!((manifest.to_bytes(), manifest.entries()), (bytes.clone(), &[entry.clone()][..]));
        assert_eq!(Entry::read(&[&bytes[..], b"more"].concat()), Some((entry, &b"more"[..])));
        for len in 0..bytes.len() {
            assert_eq!(Entry::read(&bytes[..len]), None, "{len} bytes");
        }
        assert_eq!(Entry::read(&[&[2], &bytes[1..]].concat()), None, "no file and no directory");
    }

    #[test]
    fn entries_are_held_to_their_values() {
        let good = entry(EntryKind::File, "d");
        let nothing = Entry { kind: EntryKind::Directory, len: 0, ..good.clone() };
        let reads = |entry: &Entry| Entry::read(&Manifest { entries: vec![entry.clone()] }.to_bytes()).is_some();
        for entry in [&good, &nothing, &Entry { mode: 0, len: 0, modified: (0, 0), ..good.clone() }] {
            assert!(reads(entry) && reads(&Entry { mode: 0o777, ..entry.clone() }), "{entry:?}");
            for mode in [0o1000, 0o4755, u16::MAX] {
                assert!(!reads(&Entry { mode, ..entry.clone() }), "mode {mode:o}");
            }
            for nanoseconds in [1_000_000_000, u32::MAX] {
                assert!(!reads(&Entry { modified: (0, nanoseconds), ..entry.clone() }), "{nanoseconds} ns");
            }
        }
        assert!(!reads(&Entry { len: 1, ..nothing }), "a directory with content");
    }

    #[test]
    fn a_text_that_is_no_tree_is_told_from_a_broken_one() {
        let start = |len: u64| [&MAGIC[..], &len.to_be_bytes()].concat();
        for text in [b"".to_vec(), MAGIC.to_vec(), start(7)[..15].to_vec(), vec![b'x'; 40]] {
            assert!(matches!(refused(&text[..]), Error::NotATree), "{text:?}");
        }
        assert!(is_malformed(&refused(&start(0)[..])), "without a root");
        assert!(is_malformed(&refused(&[start(30), vec![0; 29]].concat()[..])), "cut");
    }

    /// Fails if it is read.
    struct Untouched;

    impl Read for Untouched {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("it was read"))
        }
    }

    #[test]
    fn a_manifest_that_is_too_long_is_not_read() {
        let start = |len: u64| [&MAGIC[..], &len.to_be_bytes()].concat();
        for len in [(1 << 30) + 1, 1 << 40, u64::MAX] {
            assert!(is_malformed(&refused(start(len).chain(Untouched))), "{len}");
        }
        assert!(matches!(refused(start(1 << 30).chain(Untouched)), Error::Io { .. }));
    }

    #[test]
    fn a_manifest_of_too_many_entries_is_not_kept() {
        let files = ["d/a", "d/b", "d/c"].map(|path| entry(EntryKind::File, path));
        let manifest = Manifest { entries: [entry(EntryKind::Directory, "d")].into_iter().chain(files).collect() };
        let bytes = manifest.to_bytes();
        let text = [&MAGIC[..], &(bytes.len() as u64).to_be_bytes(), &bytes].concat();
        let read = |most| Manifest::read_within(&mut &text[..], most);
        assert_eq!(read(4).unwrap(), manifest);
        assert!(is_malformed(&read(3).unwrap_err()) && is_malformed(&read(0).unwrap_err()));
        assert_eq!(MAX_ENTRIES, 1 << 22, "as docs/FORMAT.md has it");
    }

    /// The offset after the longest manifest and all contents must fit into 64 bits.
    #[test]
    fn contents_have_places() {
        let most = u64::MAX - 16 - (1 << 30);
        let tree = |lens: &[u64]| {
            let files = lens.iter().enumerate();
            let files = files.map(|(n, &len)| Entry { len, ..entry(EntryKind::File, &format!("d/{n}")) });
            let manifest = Manifest { entries: [entry(EntryKind::Directory, "d")].into_iter().chain(files).collect() };
            manifest.stays_inside()
        };
        assert!(tree(&[most]) && tree(&[most - 7, 7]) && tree(&[0, most, 0]));
        assert!(!tree(&[most + 1]) && !tree(&[u64::MAX]) && !tree(&[most, 1]) && !tree(&[most, 1, 0]));
    }

    #[test]
    fn names_that_an_entry_may_have() {
        for name in ["a", "...", ".a", "a b", &"n".repeat(255)] {
            assert!(is_name(OsStr::new(name)), "{name:?}");
        }
        for name in ["", ".", "..", "/", "a/b", "a/", "a\0b", "\0", &"n".repeat(256)] {
            assert!(!is_name(OsStr::new(name)), "{name:?}");
        }
    }
}
