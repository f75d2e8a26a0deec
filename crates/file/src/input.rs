//! Where bytes come from: a file, read by position on every core, or a stream, read in order.

use std::{
    fmt,
    fs::{File, Metadata},
    io::{self, Cursor, IoSliceMut, Read, Seek, SeekFrom},
    os::{
        fd::AsFd,
        unix::fs::{FileExt, MetadataExt},
    },
    path::Path,
};

use crate::{
    access,
    armor::{self, ArmorReader},
    error::{Error, INPUT},
    file_id::FileId,
    output::not_closed,
    preamble::{self, Preamble},
    read::fill,
};

/// Bytes to seal or to open.
///
/// ```
/// use sealwright_file::Input;
///
/// let stream = Input::reader(std::io::empty(), "a pipe");
/// assert_eq!((stream.name(), stream.len()), ("a pipe", None)); // of unknown length
/// let error = Input::open("no such file").unwrap_err();
/// assert!(error.to_string().starts_with("cannot open no such file"));
/// ```
pub struct Input {
    pub(crate) from: From,
    pub(crate) name: String,
    /// The identity and the permission bits of the regular file that this is, even if it is read as a stream.
    regular: Option<(FileId, u32)>,
    preamble: Option<Preamble>,
    /// Whether the preamble was read from armor.
    armored: bool,
    /// The armored file, if the input is one.
    text: Option<(File, Metadata)>,
}

pub(crate) enum From {
    /// A regular file of known length.
    File { file: File, meta: Metadata },
    /// Anything else.
    Stream(Box<dyn Read + Send>),
}

impl Input {
    /// The file at `path`; devices and named pipes are read as streams.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be opened, or is a directory.
    pub fn open(path: impl AsRef<Path>) -> Result<Input, Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let file = File::open(path).map_err(Error::io("open", name.clone()))?;
        Input::file(file, name)
    }

    /// Standard input; a redirected file is read by position if it is at its start.
    ///
    /// # Errors
    /// [`Error::Io`] when it is closed or a directory.
    pub fn stdin() -> Result<Input, Error> {
        let open = not_closed(io::stdin()).and_then(|()| io::stdin().as_fd().try_clone_to_owned());
        Input::file(File::from(open.map_err(Error::io("read", "standard input"))?), "standard input")
    }

    /// An open file; `name` is what errors call it.
    ///
    /// # Errors
    /// [`Error::Io`] when its metadata cannot be read, or it is a directory.
    pub fn file(mut file: File, name: impl Into<String>) -> Result<Input, Error> {
        let name = name.into();
        let meta = file.metadata().map_err(Error::io("read", name.clone()))?;
        if meta.is_dir() {
            return Err(Error::Io { doing: "read", place: name, error: io::ErrorKind::IsADirectory.into() });
        }
        // Files in /proc report a length of 0 although they have content, so they are read as streams. So is a file
        // whose position is not at its start: reading continues from there.
        let regular = meta.is_file().then(|| (FileId::of(&meta), access::bits(&file, meta.mode())));
        let whole = meta.is_file() && meta.len() > 0 && file.stream_position().is_ok_and(|at| at == 0);
        let from = if whole { From::File { file, meta } } else { From::Stream(Box::new(file)) };
        Ok(Input { from, name, regular, preamble: None, armored: false, text: None })
    }

    /// Any reader; `name` is what errors call it.
    pub fn reader(from: impl Read + Send + 'static, name: impl Into<String>) -> Input {
        let from = From::Stream(Box::new(from));
        Input { from, name: name.into(), regular: None, preamble: None, armored: false, text: None }
    }

    /// Bytes in memory; `name` is what errors call them.
    pub fn bytes(bytes: impl AsRef<[u8]> + Send + 'static, name: impl Into<String>) -> Input {
        Input::reader(Cursor::new(bytes), name)
    }

    /// What errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its length in bytes, if it is a file.
    pub fn len(&self) -> Option<u64> {
        match &self.from {
            From::File { meta, .. } => Some(meta.len()),
            From::Stream(_) => None,
        }
    }

    /// Whether it is a file known to be empty. Streams are not known to be.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Which file it is, if it is one.
    pub fn identity(&self) -> Option<FileId> {
        self.regular.map(|(identity, _)| identity)
    }

    /// The permission bits for a file that is made from this one, if it is a file. The new file has no access list
    /// (ACL): if this one has, the group bits are those of the group itself, not the mask.
    pub fn mode(&self) -> Option<u32> {
        self.regular.map(|(_, mode)| mode)
    }

    /// The preamble of a sealed input, which tells the kind of key to ask for. A stream is read up to the end of the
    /// preamble; opening continues from there.
    ///
    /// # Errors
    /// As [`Preamble::read`].
    pub fn preamble(&mut self) -> Result<&Preamble, Error> {
        let preamble = match self.preamble.take() {
            Some(preamble) => preamble,
            None => self.read_preamble().map_err(|error| error.of(&self.name))?,
        };
        Ok(self.preamble.insert(preamble))
    }

    /// Whether the input was found to be armored when the preamble was read.
    pub(crate) fn is_armored(&self) -> bool {
        self.armored
    }

    /// All of the input, in order.
    #[cfg(feature = "signatures")]
    pub(crate) fn in_order(&mut self) -> Box<dyn Read + '_> {
        match &mut self.from {
            From::File { file, .. } => Box::new(Cursored { file, at: 0 }),
            From::Stream(stream) => Box::new(stream),
        }
    }

    /// The same file again from its start, to be read independently; `None` for a stream, which can be read only once.
    ///
    /// # Errors
    /// If no file descriptor is left.
    #[cfg(feature = "signatures")]
    pub(crate) fn again(&self) -> Result<Option<Input>, Error> {
        let Some((file, meta)) = self.at_hand() else { return Ok(None) };
        let file = file.try_clone().map_err(Error::io("read", self.name.clone()))?;
        let from = From::File { file, meta: meta.clone() };
        let (name, regular) = (self.name.clone(), self.regular);
        Ok(Some(Input { from, name, regular, preamble: None, armored: false, text: None }))
    }

    /// Fails if this is a file that was written to since it was opened.
    ///
    /// # Errors
    /// [`Error::Changed`].
    #[cfg(feature = "signatures")]
    pub(crate) fn is_unchanged(&self) -> Result<(), Error> {
        self.at_hand().map_or(Ok(()), |(file, meta)| FileId::of(meta).still(file, &self.name))
    }

    /// The regular file that this is, or that contains the armor.
    #[cfg(feature = "signatures")]
    fn at_hand(&self) -> Option<(&File, &Metadata)> {
        match &self.from {
            From::File { file, meta } => Some((file, meta)),
            From::Stream(_) => self.text.as_ref().map(|(file, meta)| (file, meta)),
        }
    }

    /// Reads the preamble. Armor is recognised by its first line; from then on it is decoded.
    fn read_preamble(&mut self) -> Result<Preamble, Error> {
        let mut head = vec![0; armor::BEGIN.len()];
        let stream = match &mut self.from {
            From::File { file, meta } => {
                let got = fill(&mut Cursored { file, at: 0 }, &mut head)?;
                if !head[..got].starts_with(&armor::BEGIN.as_bytes()[..preamble::FIXED]) {
                    return Preamble::read(&mut Cursored { file, at: 0 });
                }
                let another = || file.try_clone().map_err(Error::io("read", INPUT));
                self.text = Some((another()?, meta.clone()));
                Box::new(Positioned::from(another()?))
            }
            From::Stream(stream) => {
                // No more than a preamble has, because the rest is read by other code.
                let got = fill(stream, &mut head[..preamble::FIXED])?;
                let stream = std::mem::replace(stream, Box::new(io::empty()));
                let whole = Cursor::new(head[..got].to_vec()).chain(stream);
                if !head[..got].starts_with(&armor::BEGIN.as_bytes()[..preamble::FIXED]) {
                    let mut whole: Box<dyn Read + Send> = Box::new(whole);
                    let preamble = Preamble::read(&mut whole);
                    self.from = From::Stream(whole);
                    return preamble;
                }
                Box::new(whole) as Box<dyn Read + Send>
            }
        };
        self.armored = true;
        let mut bare: Box<dyn Read + Send> = Box::new(ArmorReader::new(stream));
        let preamble = Preamble::read(&mut bare);
        self.from = From::Stream(bare);
        preamble
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Input({})", self.name)
    }
}

/// A file with a read position of its own, for [`SealedReader`](crate::SealedReader). The position of a [`File`] is
/// shared with every process that was forked while it was open, so two readers would disturb each other.
///
/// ```
/// use std::io::{Read, Seek, SeekFrom};
///
/// use sealwright_file::input::Positioned;
///
/// let mut file = tempfile::tempfile()?;
/// std::io::Write::write_all(&mut file, b"a text")?;
/// // One file with one place, as in a parent and its child.
/// let (mut one, mut other) = (Positioned::from(file.try_clone()?), Positioned::from(file));
/// one.seek(SeekFrom::Start(2))?;
/// other.seek(SeekFrom::End(-1))?;
/// let (mut text, mut end) = (String::new(), String::new());
/// one.read_to_string(&mut text)?;
/// other.read_to_string(&mut end)?;
/// assert_eq!((&*text, &*end), ("text", "t"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Positioned {
    file: File,
    at: u64,
}

impl Positioned {
    /// The file at `path`.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Positioned, Error> {
        let path = path.as_ref();
        let open = File::open(path).map(|file| Positioned { file, at: 0 });
        open.map_err(Error::io("open", path.display().to_string()))
    }
}

/// Starts at the beginning of the file, whatever the position of the `File` is.
impl std::convert::From<File> for Positioned {
    fn from(file: File) -> Positioned {
        Positioned { file, at: 0 }
    }
}

impl Read for Positioned {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.file.read_at(buffer, self.at)?;
        self.at += got as u64;
        Ok(got)
    }
}

impl Seek for Positioned {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            // Only to determine the length; the position of the `File` itself is not used.
            SeekFrom::End(_) => Some((&self.file).seek(to)?),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// Reads a file in order without moving the position of the `File`.
pub(crate) struct Cursored<'a> {
    pub(crate) file: &'a File,
    pub(crate) at: u64,
}

impl Read for Cursored<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.file.read_at(buffer, self.at)?;
        self.at += got as u64;
        Ok(got)
    }

    fn read_vectored(&mut self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let got = rustix::io::preadv(self.file, buffers, self.at)?;
        self.at += got as u64;
        Ok(got)
    }
}

/// The first bytes of a file. Unlike [`io::Take`], it supports vectored reads.
pub(crate) struct AtMost<'a> {
    pub(crate) from: Cursored<'a>,
    pub(crate) left: u64,
}

impl Read for AtMost<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let got = self.from.read(&mut buffer[..most])?;
        self.left -= got as u64;
        Ok(got)
    }

    fn read_vectored(&mut self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let wanted: u64 = buffers.iter().map(|buffer| buffer.len() as u64).sum();
        if wanted > self.left {
            let first = buffers.iter_mut().find(|buffer| !buffer.is_empty());
            return first.map_or(Ok(0), |buffer| self.read(buffer));
        }
        let got = self.from.read_vectored(buffers)?;
        self.left -= got as u64;
        Ok(got)
    }
}
