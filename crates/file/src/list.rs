//! The manifest of files that were sealed one by one: which commitment belongs to which name. It is sealed itself.
//!
//! Each file is authentic on its own, but does not contain its name. The manifest reveals files that were swapped with
//! one another, renamed, replaced by an older version or removed.
//!
//! ```
//! use std::path::Path;
//!
//! use sealwright_file::{FileList, Input, Key, Opening, Output, Sealing, Shared};
//!
//! let key = Key::generate(sealwright_file::Suite::Aes256Gcm)?;
//! let mut list = FileList::default();
//! let done = Sealing::new(&key).seal(Input::bytes(b"a text", "text"), Output::writer(Shared::default(), "sealed"))?;
//! list.add("text.seal".into(), done.commitment);
//! let mut sealed = Shared::default();
//! list.seal(&Sealing::new(&key), Output::writer(sealed.clone(), "manifest"))?;
//!
//! // Later: is this the file that had this name?
//! let list = FileList::open(&Opening::new(&key), Input::bytes(sealed.take(), "manifest"))?;
//! assert_eq!(list.commitment(Path::new("text.seal")), Some(done.commitment));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{
    collections::BTreeMap,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use crate::{
    body::read_header,
    error::{Error, Flaw},
    file_id::{Commitment, Summary},
    input::{Cursored, From, Input},
    layout::Content,
    list_form::{MAGIC, first_entry, may_follow},
    open::Opening,
    output::{Output, Shared},
    seal::Sealing,
};

/// The name of a manifest, in the directory whose files it lists.
pub const NAME: &str = ".seal-manifest";

/// Names of sealed files, relative to the directory of the manifest, and what each commits to.
///
/// ```
/// use std::path::Path;
///
/// use sealwright_file::FileList;
///
/// let mut list = FileList::default();
/// list.add("text.seal".into(), [7; 32]);
/// assert_eq!(list.path_of(&[7; 32]), Some(Path::new("text.seal")));
/// assert_eq!(list.paths().count(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileList {
    files: BTreeMap<PathBuf, Commitment>,
}

impl FileList {
    /// Lists a file.
    pub fn add(&mut self, path: PathBuf, commitment: Commitment) {
        self.files.insert(path, commitment);
    }

    /// The names, in order.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// What the file of this name commits to, if it is listed.
    pub fn commitment(&self, path: &Path) -> Option<Commitment> {
        self.files.get(path).copied()
    }

    /// The name under which a file was sealed.
    pub fn path_of(&self, commitment: &Commitment) -> Option<&Path> {
        self.files.iter().find(|(_, listed)| *listed == commitment).map(|(path, _)| path.as_path())
    }

    /// Seals the manifest.
    ///
    /// # Errors
    /// [`Error::LongPath`]; those of [`Sealing::seal`].
    pub fn seal(&self, sealing: &Sealing<'_>, output: Output) -> Result<Summary, Error> {
        self.paths().try_for_each(Error::check_path)?;
        sealing.clone().content(Content::List).armor(false).seal(Input::bytes(self.to_bytes(), "the manifest"), output)
    }

    /// Opens a manifest.
    ///
    /// # Errors
    /// [`Error::NotAList`]; [`Flaw::List`]; those of [`Opening::open`].
    pub fn open(opening: &Opening<'_>, mut input: Input) -> Result<FileList, Error> {
        let is_list = |content| if content == Content::List { Ok(()) } else { Err(Error::NotAList) };
        opening.refuse_content(&mut input, is_list)?;
        let mut text = Shared::default();
        opening.open_text(input, Output::writer(text.clone(), "the manifest"))?;
        FileList::read(&text.take()).ok_or(Error::NotAuthentic(Flaw::List))
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for (path, commitment) in &self.files {
            let path = path.as_os_str().as_bytes();
            bytes.extend((path.len() as u16).to_be_bytes());
            bytes.extend(path);
            bytes.extend(commitment);
        }
        bytes
    }

    /// Decodes a manifest; `None` if it is malformed. The encoding is canonical: each manifest has only one.
    fn read(bytes: &[u8]) -> Option<FileList> {
        let mut rest = bytes.strip_prefix(&MAGIC)?;
        let mut list = FileList::default();
        while !rest.is_empty() {
            let (path, commitment, after) = first_entry(rest)?;
            if !may_follow(path, list.files.last_key_value().map(|(path, _)| path.as_path())) {
                return None;
            }
            list.add(path.into(), *commitment);
            rest = after;
        }
        Some(list)
    }
}

/// The commitment that the sealed file `input` claims, read without a key. If it differs from the listed one, this is
/// not the listed file. Only opening the file proves that its content belongs to its commitment.
///
/// ```
/// use sealwright_file::{Input, Key, Output, Sealing, Shared, list::claimed};
///
/// let (key, mut sealed) = (Key::generate(sealwright_file::Suite::Aes256Gcm)?, Shared::default());
/// let done = Sealing::new(&key).seal(Input::bytes(b"a text", "text"), Output::writer(sealed.clone(), "sealed"))?;
/// assert_eq!(claimed(Input::bytes(sealed.take(), "sealed"))?, done.commitment);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::NotAuthentic`] if it is not a sealed file; [`Error::Unsupported`]; reading errors.
pub fn claimed(mut input: Input) -> Result<Commitment, Error> {
    let start = input.preamble()?.to_bytes().len() as u64;
    let header = match &mut input.from {
        From::File { file, .. } => read_header(&mut Cursored { file, at: start }, start),
        From::Stream(stream) => read_header(stream, start),
    };
    Ok(header.map_err(|error| error.of(&input.name))?.last_chunk().copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::list_form::ListForm;

    fn bytes(paths: &[&[u8]]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for path in paths {
            bytes.extend((path.len() as u16).to_be_bytes());
            bytes.extend(*path);
            bytes.extend([7; 32]);
        }
        bytes
    }

    fn is_whole(text: &[u8], piece: usize) -> bool {
        let mut form = ListForm::default();
        text.chunks(piece).for_each(|piece| form.take(piece));
        form.is_whole()
    }

    /// A regression: the length overflowed, and a list was sealed that could not be opened.
    #[test]
    fn a_path_that_is_too_long_is_not_sealed() {
        let (key, sealed) = (crate::Key::raw([7; 32]), Shared::default());
        for (len, fits) in [(65_535, true), (65_536, false)] {
            let mut list = FileList::default();
            list.add("n".repeat(len).into(), [7; 32]);
            let done = list.seal(&Sealing::new(&key), Output::writer(sealed.clone(), "manifest"));
            assert_eq!(done.is_ok(), fits);
            assert!(fits || matches!(done, Err(Error::LongPath { len: 65_536, .. })));
        }
    }

    #[test]
    fn a_list_is_binary_also_beside_armored_files() {
        let (key, mut sealed) = (crate::Key::raw([7; 32]), Shared::default());
        let sealing = Sealing::new(&key).armor(true);
        FileList::default().seal(&sealing, Output::writer(sealed.clone(), "manifest")).unwrap();
        assert_eq!(sealed.take()[..4], [0x89, b'S', b'E', b'A']);
    }

    #[test]
    fn one_way_to_write_a_list() {
        for paths in [&[][..], &[&b"a.seal"[..]], &[b"a/b.seal", b"a/c.seal", b"b.seal"]] {
            let list = FileList::read(&bytes(paths)).unwrap();
            assert_eq!(list.to_bytes(), bytes(paths));
            assert_eq!(list.paths().count(), paths.len());
            assert!(is_whole(&bytes(paths), 1) && is_whole(&bytes(paths), 50) && is_whole(&bytes(paths), 1000));
        }
        for paths in
            [&[&b""[..]][..], &[b"/a"], &[b"../a"], &[b"a//b"], &[b"a/"], &[b"./a"], &[b"b", b"a"], &[b"a", b"a"]]
        {
            assert_eq!(FileList::read(&bytes(paths)), None, "{paths:?}");
            assert!(!is_whole(&bytes(paths), 1) && !is_whole(&bytes(paths), 1000), "{paths:?}");
        }
        let whole = bytes(&[b"a.seal"]);
        for cut in (0..whole.len()).filter(|cut| *cut != 8) {
            assert_eq!(FileList::read(&whole[..cut]), None, "{cut}");
            assert!(!is_whole(&whole[..cut], 3), "{cut}");
        }
    }
}
