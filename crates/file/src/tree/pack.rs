//! Packing a directory into the text of a tree.

use std::{
    collections::{BTreeSet, VecDeque, btree_set},
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Cursor, Read},
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fstat, openat, statat},
    io::Errno,
};

use super::{
    manifest::{Entry, EntryKind, MAGIC, MAX_ENTRIES, MAX_MANIFEST_LEN, Manifest, is_name},
    steps::Steps,
};
use crate::{
    access,
    error::{Error, OutputFault},
    file_id::FileId,
    found::regular,
    input::Input,
    output::Output,
    read::fill,
};

/// A directory, ready to be sealed.
///
/// ```
/// use sealwright_file::tree::pack;
///
/// let directory = tempfile::tempdir()?;
/// std::fs::write(directory.path().join("note"), "a text")?;
/// std::os::unix::fs::symlink("note", directory.path().join("link"))?;
/// let packed = pack(directory.path())?;
/// assert_eq!(packed.skipped.len(), 1); // links are not packed: tell the user
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Packed {
    /// The text: give it to [`Sealing::seal`](crate::Sealing::seal).
    pub input: Input,
    /// Bytes of the text.
    pub len: u64,
    /// What was left out: symbolic links, what is neither a file nor a directory, and the file that the output
    /// replaces.
    pub skipped: Vec<PathBuf>,
}

/// Lists the directory at `path`, in the order of the names' bytes. Contents are read when the text is.
///
/// A file that is changed between the listing and its reading is an error, not a mixture.
///
/// ```
/// use sealwright_file::{Content, Key, Output, Sealing, Shared, tree::pack};
///
/// let directory = tempfile::tempdir()?;
/// std::fs::write(directory.path().join("note"), "a text")?;
/// let key = Key::generate(sealwright_file::Suite::Aes256Gcm)?;
/// let sealing = Sealing::new(&key).content(Content::Tree);
/// sealing.seal(pack(directory.path())?.input, Output::writer(Shared::default(), "sealed"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// What the system says; [`Error::BadOutput`] for a directory without a name; [`Error::TooManyEntries`];
/// [`Error::LongPath`]; [`Error::LongName`].
pub fn pack(path: impl AsRef<Path>) -> Result<Packed, Error> {
    pack_within(path.as_ref(), None, MAX_MANIFEST_LEN, MAX_ENTRIES)
}

/// The same without the file that `output` replaces, if that lies in the directory.
///
/// ```
/// use sealwright_file::{Output, OutputOptions, tree::pack_without};
///
/// let directory = tempfile::tempdir()?;
/// let backup = directory.path().join("backup.seal");
/// std::fs::write(&backup, "the former one")?;
/// let output = Output::file(&backup, OutputOptions::default().force(true))?;
/// assert_eq!(pack_without(directory.path(), &output)?.skipped, [backup]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`pack`].
pub fn pack_without(path: impl AsRef<Path>, output: &Output) -> Result<Packed, Error> {
    pack_within(path.as_ref(), output.identity(), MAX_MANIFEST_LEN, MAX_ENTRIES)
}

/// The same with another file to leave out and with other limits of the manifest, in bytes and entries.
fn pack_within(path: &Path, output: Option<FileId>, longest: u64, most: usize) -> Result<Packed, Error> {
    let whole = fs::canonicalize(path).map_err(Error::io("open", path.display().to_string()))?;
    // A symbolic link keeps its own name; `.` and `..` get the name of the directory that they stand for.
    let Some(name) = path.file_name().or(whole.file_name()).filter(|name| is_name(name)) else {
        return Err(Error::BadOutput { path: path.into(), why: OutputFault::NoName });
    };
    let mut listing = Listing { most, output, ..Listing::default() };
    let directory = openat(CWD, path, DIRECTORY, Mode::empty()).map_err(failed(path))?;
    listing.list(directory, path.into(), name.into())?;
    let Listing { manifest, files, skipped, .. } = listing;
    let bytes = manifest.to_bytes();
    if bytes.len() as u64 > longest {
        return Err(Error::TooManyEntries);
    }
    // If the file system reports something that the reader would refuse, nothing is sealed: it could never be opened.
    if Manifest::from_bytes(&bytes).is_none() {
        let error = io::Error::other("the operating system lists an impossible entry in it");
        return Err(Error::Io { doing: "read", place: path.display().to_string(), error });
    }
    let head = [&MAGIC[..], &(bytes.len() as u64).to_be_bytes(), &bytes].concat();
    let len = head.len() as u64 + manifest.content_len();
    let contents = Contents { files, open: None };
    let input = Input::reader(Cursor::new(head).chain(contents), path.display().to_string());
    Ok(Packed { input, len, skipped })
}

/// Flags for opening a directory.
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The entries found so far.
#[derive(Default)]
struct Listing {
    manifest: Manifest,
    files: VecDeque<(PathBuf, FileId)>,
    skipped: Vec<PathBuf>,
    /// The file that the output replaces.
    output: Option<FileId>,
    /// The maximum number of entries.
    most: usize,
}

/// An open directory, and those of its names that were not visited yet.
struct Level {
    directory: Dir,
    names: btree_set::IntoIter<OsString>,
}

impl Listing {
    /// Lists an open directory. Subdirectories are opened relative to it and not by their paths, so that a symbolic
    /// link that somebody puts in place of one is not followed. The depth is limited by the number of files that this
    /// process may have open.
    fn list(&mut self, directory: OwnedFd, mut path: PathBuf, mut inside: PathBuf) -> Result<(), Error> {
        let mut levels = vec![self.enter(directory, &path, &inside)?];
        while let Some(level) = levels.last_mut() {
            let Some(name) = level.names.next() else {
                levels.pop();
                path.pop();
                inside.pop();
                continue;
            };
            path.push(&name);
            inside.push(&name);
            let directory = level.directory.fd().map_err(failed(&path))?;
            let stat = statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed(&path))?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => {
                    let below = openat(directory, &name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty());
                    levels.push(self.enter(below.map_err(failed(&path))?, &path, &inside)?);
                    continue;
                }
                FileType::RegularFile if self.output.is_some_and(|id| id.same_file(&FileId::of_stat(&stat))) => {
                    self.skipped.push(path.clone());
                }
                FileType::RegularFile => {
                    let mode = access::bits_at(&path, stat.st_mode, || regular(directory, &name));
                    self.add(entry(EntryKind::File, &inside, &stat, mode))?;
                    self.files.push_back((path.clone(), FileId::of_stat(&stat)));
                }
                _ => self.skipped.push(path.clone()),
            }
            path.pop();
            inside.pop();
        }
        Ok(())
    }

    /// Adds a directory, and reads its names.
    fn enter(&mut self, directory: OwnedFd, path: &Path, inside: &Path) -> Result<Level, Error> {
        let stat = fstat(&directory).map_err(failed(path))?;
        self.add(entry(EntryKind::Directory, inside, &stat, access::bits(&directory, stat.st_mode)))?;
        let mut directory = Dir::new(directory).map_err(failed(path))?;
        let mut names = BTreeSet::new();
        while let Some(entry) = directory.read() {
            let entry = entry.map_err(failed(path))?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                // A name can be listed twice if other processes rename files at the same time; it is kept once.
                names.insert(OsString::from(name));
            }
        }
        Ok(Level { directory, names: names.into_iter() })
    }

    /// Adds an entry, unless a tree with it could not be opened again.
    fn add(&mut self, entry: Entry) -> Result<(), Error> {
        if self.manifest.entries.len() == self.most {
            return Err(Error::TooManyEntries);
        }
        Error::check_path(&entry.path)?;
        // FAT and NTFS allow names that are longer in bytes than other file systems do.
        let name = entry.path.file_name().unwrap_or_default();
        if !is_name(name) {
            return Err(Error::LongName { name: name.into(), len: name.len() });
        }
        self.manifest.entries.push(entry);
        Ok(())
    }
}

fn failed(path: &Path) -> impl FnOnce(Errno) -> Error {
    let failed = Error::io("read", path.display().to_string());
    move |error| failed(error.into())
}

fn entry(kind: EntryKind, path: &Path, stat: &Stat, mode: u32) -> Entry {
    let len = if kind == EntryKind::File { stat.st_size as u64 } else { 0 };
    let modified = (stat.st_mtime, stat.st_mtime_nsec as u32);
    Entry { kind, path: path.into(), mode: mode as u16, modified, len }
}

/// Reads the contents of all files, concatenated.
struct Contents {
    files: VecDeque<(PathBuf, FileId)>,
    /// The file that is being read, its path, its state when it was listed, and the number of bytes left.
    open: Option<(File, PathBuf, FileId, u64)>,
}

impl Contents {
    /// Opens the next file, which must be unchanged since it was listed.
    fn next(&mut self) -> Result<bool, Error> {
        let Some((path, id)) = self.files.pop_front() else { return Ok(false) };
        let name = path.display().to_string();
        let opened = Steps::along(&path).and_then(|steps| regular(&steps, steps.last));
        let file = opened.map_err(io::Error::from).map_err(Error::io("open", name))?;
        unchanged(&file, &path, id)?;
        self.open = Some((file, path, id, id.len()));
        Ok(true)
    }
}

impl Read for Contents {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some((file, path, id, left)) = &mut self.open else {
                if self.next()? {
                    continue;
                }
                return Ok(0);
            };
            if *left == 0 {
                unchanged(file, path, *id)?;
                // Generated files, as in /proc, report a length of 0 although they have content.
                if fill(file, &mut [0]).map_err(|error| error.of(&path.display().to_string()))? > 0 {
                    return Err(changed(path, *id, id.len() + 1).into());
                }
                self.open = None;
                continue;
            }
            let most = buffer.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
            let got = match file.read(&mut buffer[..most]) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                    return Err(Error::Io { doing: "read", place: path.display().to_string(), error }.into());
                }
                other => other?,
            };
            if got == 0 && most > 0 {
                unchanged(file, path, *id)?;
                return Err(changed(path, *id, id.len() - *left).into());
            }
            *left -= got as u64;
            return Ok(got);
        }
    }
}

fn unchanged(file: &File, path: &Path, before: FileId) -> Result<(), Error> {
    before.still(file, &path.display().to_string())
}

fn changed(path: &Path, before: FileId, after: u64) -> Error {
    Error::Changed { place: path.display().to_string(), before: before.len(), after }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_could_not_be_opened_is_not_packed() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("a"), "text").unwrap();
        let len = pack(directory.path()).unwrap().len - 4 - (MAGIC.len() as u64 + 8);
        pack_within(directory.path(), None, len, 2).unwrap();
        // The directory itself is an entry.
        for (len, most) in [(len - 1, 2), (len, 1), (len, 0)] {
            let error = pack_within(directory.path(), None, len, most).unwrap_err();
            assert!(matches!(error, Error::TooManyEntries) && error.exit_code() == 1, "{error}");
        }
        fs::create_dir(directory.path().join("b")).unwrap();
        assert!(matches!(pack_within(directory.path(), None, MAX_MANIFEST_LEN, 2), Err(Error::TooManyEntries)));
    }

    /// On FAT, a name of 86 characters can have 258 bytes.
    #[test]
    fn a_name_that_no_sealed_directory_has_is_refused() {
        let entry = |len| {
            let path = Path::new("d").join("n".repeat(len));
            Entry { kind: EntryKind::File, path, mode: 0, modified: (0, 0), len: 0 }
        };
        let mut listing = Listing { most: 9, ..Listing::default() };
        listing.add(entry(255)).unwrap();
        let error = listing.add(entry(256)).unwrap_err();
        assert!(matches!(error, Error::LongName { len: 256, .. }) && error.exit_code() == 1, "{error}");
        assert!(error.hint().is_some() && listing.manifest.entries.len() == 1);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        fs::write(&path, "text").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        let id = FileId::of(&file.metadata().unwrap());
        let mut contents = Contents { files: VecDeque::new(), open: Some((file, path.clone(), id, id.len())) };
        let error = fill(&mut contents, &mut [0; 4]).unwrap_err();
        assert!(matches!(&error, Error::Io { doing: "read", place, .. } if Path::new(place) == path), "{error}");
    }

    /// Reading 0 bytes never reports that a file was truncated.
    #[test]
    fn no_bytes_are_read_at_any_time() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("a"), "text").unwrap();
        let Packed { input, len, .. } = pack(directory.path()).unwrap();
        let crate::input::From::Stream(mut text) = input.from else { panic!() };
        for _ in 0..len {
            assert_eq!(text.read(&mut []).unwrap(), 0);
            text.read_exact(&mut [0]).unwrap();
        }
        assert_eq!(text.read(&mut [0]).unwrap(), 0);
    }
}
