//! Finds the files of a trace: `PREFIX.0.smpt.zst`, `PREFIX.1.smpt.zst`, and so on, also for the other formats.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs::File,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};

use super::{
    Windows, champsim::ChampSim, chunks::Chunks, drmemtrace::Drmemtrace, lz4::Lz4, read_whole, smpt::Smpt,
    synchro::SynchroTrace,
};
use crate::{
    access::{Source, SourceError},
    config::MOST_PROCESSORS,
    hex::hex,
};

/// A format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Sealwright's own: `PREFIX.T.smpt.zst` or `PREFIX.T.smpt`.
    Smpt,
    /// DynamoRIO's final traces: `PREFIX.T.trace`, plain or with `.zip`, `.gz` or `.lz4`; or a folder as DynamoRIO
    /// writes it, with one file a thread of any name that ends so.
    Drmemtrace,
    /// SynchroTraceGen's: `PREFIX.T.sigil` or `PREFIX.T.sigil.gz`.
    Synchro,
    /// ChampSim's, a program each: `PREFIX.T.champsim`, plain or with `.gz` or `.zst`.
    ChampSim,
}

impl Format {
    /// Every format with its endings, plain and compressed.
    const ENDINGS: [(Format, &'static [&'static str]); 4] = [
        (Format::Smpt, &["smpt.zst", "smpt"]),
        (Format::Drmemtrace, &["trace.zip", "trace.gz", "trace.lz4", "trace"]),
        (Format::Synchro, &["sigil.gz", "sigil"]),
        (Format::ChampSim, &["champsim.zst", "champsim.gz", "champsim"]),
    ];
}

/// Why a trace cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// There is no file with the prefix.
    #[error("no trace: {} does not exist, in this or another format", .0.display())]
    Missing(PathBuf),
    /// A thread's file is missing among others.
    #[error("{}: missing, though {} exists", .missing.display(), .last.display())]
    Gap {
        /// The first file that is missing.
        missing: PathBuf,
        /// The last one that exists.
        last: PathBuf,
    },
    /// There is only one file.
    #[error("{}: a trace of one thread; the machine has at least two", .0.display())]
    OneThread(PathBuf),
    /// There are more files than a machine can have processors.
    #[error("{}: a trace of {threads} threads; the machine has at most {MOST_PROCESSORS}", .first.display())]
    ManyThreads {
        /// The first file without a processor.
        first: PathBuf,
        /// How many there are.
        threads: usize,
    },
    /// A file cannot be opened.
    #[error("{}: {error}", .file.display())]
    Open {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// A file cannot be read to its end.
    #[error(transparent)]
    Damaged(#[from] SourceError),
    /// The files of the threads do not belong together, or the threads cannot run together.
    #[error("{0}")]
    Unplayable(String),
}

/// Where a thread's records are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// In a file.
    File(PathBuf),
    /// In memory: a name for messages that ends as a file's would, and its bytes.
    Bytes(String, &'static [u8]),
}

impl Part {
    fn path(&self) -> &Path {
        match self {
            Part::File(path) => path,
            Part::Bytes(name, _) => Path::new(name),
        }
    }
}

/// Numbers of threads that have a file `PREFIX.T.ending` but exceed a machine's processors, smallest first.
fn beyond(prefix: &Path, ending: &str) -> impl Iterator<Item = usize> + use<> {
    let folder = prefix.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let start = prefix.file_name().unwrap_or_default().as_encoded_bytes();
    let number = |name: &OsStr| {
        let middle = name.as_encoded_bytes().strip_prefix(start)?.strip_prefix(b".")?;
        let digits = str::from_utf8(middle.strip_suffix(ending.as_bytes())?.strip_suffix(b".")?).ok()?;
        let number = digits.parse().ok().filter(|number: &usize| number.to_string() == digits)?;
        (number >= MOST_PROCESSORS).then_some(number)
    };
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| number(&name)).collect::<BTreeSet<_>>().into_iter()
}

/// Binary logarithm of zstd's largest window in bytes, enough for its levels up to 19. Each open file takes that much
/// memory.
const WINDOW: u32 = 23;

/// A zstd decoder whose error for a larger window says what to do about it.
struct Unpacked<R: BufRead>(zstd::Decoder<'static, R>);

impl Unpacked<BufReader<Box<dyn Read>>> {
    fn new(file: Box<dyn Read>) -> std::io::Result<Self> {
        let mut decoder = zstd::Decoder::new(file)?;
        decoder.window_log_max(WINDOW)?;
        Ok(Unpacked(decoder))
    }
}

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(out).map_err(|error| {
            // zstd has an error code for this, but the crate exposes only the text
            if !error.to_string().contains("requires too much memory") {
                return error;
            }
            let most = 1 << (WINDOW - 20);
            std::io::Error::other(format!(
                "its window is more than {most} MiB: compress it with zstd -19 or less, without --long"
            ))
        })
    }
}

/// A trace: one file a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Its format.
    pub format: Format,
    /// Its threads' records, thread 0 first.
    pub parts: Vec<Part>,
    /// The windows that are its region of interest, if some were chosen.
    pub windows: Option<Windows>,
}

impl Trace {
    fn of_files(format: Format, files: Vec<PathBuf>) -> Result<Trace, TraceError> {
        if let Some(first) = files.get(MOST_PROCESSORS) {
            return Err(TraceError::ManyThreads { first: first.clone(), threads: files.len() });
        }
        Ok(Trace { format, parts: files.into_iter().map(Part::File).collect(), windows: None })
    }

    /// A recorded program that is compiled into this one: the `.smpt.zst` contents of each thread.
    pub fn of_bytes(name: &str, threads: &[&'static [u8]]) -> Trace {
        let part = |(thread, bytes): (usize, &&'static [u8])| Part::Bytes(format!("{name}.{thread}.smpt.zst"), bytes);
        Trace { format: Format::Smpt, parts: threads.iter().enumerate().map(part).collect(), windows: None }
    }

    /// The same trace with these windows as its region of interest. [`check`](Self::check) refuses those that it does
    /// not have.
    #[must_use]
    pub fn region(self, windows: Option<Windows>) -> Trace {
        Trace { windows, ..self }
    }

    /// How many threads it has.
    pub fn threads(&self) -> usize {
        self.parts.len()
    }

    /// The name of a thread's file.
    pub(super) fn name(&self, thread: usize) -> String {
        self.parts[thread].path().display().to_string()
    }

    /// The name of its files up to the thread's number, or the folder that DynamoRIO wrote: what [`find`](Self::find)
    /// takes.
    pub fn prefix(&self) -> PathBuf {
        let Some(first) = self.parts.first().map(Part::path) else { return PathBuf::new() };
        let name = first.file_name().unwrap_or_default().to_string_lossy();
        let endings = Format::ENDINGS
            .into_iter()
            .find_map(|(format, endings)| (format == self.format).then_some(endings))
            .unwrap_or_default();
        let start = endings.iter().find_map(|ending| name.strip_suffix(&format!(".0.{ending}")));
        start.map_or_else(|| first.parent().unwrap_or(Path::new("")).to_owned(), |start| first.with_file_name(start))
    }

    /// SHA-256 of its format and of every thread's bytes as they are stored, in hex: what a run of it depends on.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn digest(&self) -> Result<String, TraceError> {
        let mut whole = Sha256::new_with_prefix(format!("{:?} {}", self.format, self.threads()));
        for thread in 0..self.threads() {
            let path = self.parts[thread].path();
            let fail = |error: std::io::Error| TraceError::Open { file: path.to_owned(), error };
            let (mut stored, mut one) = (self.stored(thread).map_err(fail)?, Sha256::new());
            let mut bytes = vec![0; 1 << 16];
            loop {
                match read_whole(&mut stored, &mut bytes) {
                    (_, Some(error)) => return Err(fail(error)),
                    (0, None) => break,
                    (n, None) => one.update(&bytes[..n]),
                }
            }
            whole.update(one.finalize());
        }
        Ok(hex(&whole.finalize()))
    }

    /// A thread's bytes as they are stored.
    fn stored(&self, thread: usize) -> std::io::Result<Box<dyn Read>> {
        Ok(match &self.parts[thread] {
            Part::File(path) => Box::new(File::open(path)?),
            Part::Bytes(_, bytes) => Box::new(*bytes),
        })
    }

    /// Finds the files of `prefix`.
    ///
    /// # Errors
    /// When there are none, or but one.
    pub fn find(prefix: &Path) -> Result<Trace, TraceError> {
        if prefix.is_dir() {
            return Trace::folder(prefix);
        }
        let name = |thread: usize, ending: &str| {
            let mut name = prefix.as_os_str().to_owned();
            name.push(format!(".{thread}.{ending}"));
            PathBuf::from(name)
        };
        for (format, endings) in Format::ENDINGS {
            for ending in endings {
                let mut files: Vec<_> =
                    (0..MOST_PROCESSORS).map(|thread| name(thread, ending)).filter(|file| file.is_file()).collect();
                if !files.is_empty() {
                    files.extend(beyond(prefix, ending).map(|thread| name(thread, ending)));
                }
                let expected = (0..files.len()).map(|thread| name(thread, ending));
                if let Some((missing, _)) = expected.zip(&files).find(|(expected, file)| expected != *file) {
                    return Err(TraceError::Gap { missing, last: files[files.len() - 1].clone() });
                }
                match files.len() {
                    0 => {}
                    1 => {
                        return Err(TraceError::OneThread(files[0].clone()));
                    }
                    _ => return Trace::of_files(format, files),
                }
            }
        }
        Err(TraceError::Missing(name(0, "smpt.zst")))
    }

    /// Finds DynamoRIO's files in a folder, sorted by name.
    fn folder(folder: &Path) -> Result<Trace, TraceError> {
        let open = |error| TraceError::Open { file: folder.to_owned(), error };
        let (_, endings) = Format::ENDINGS[1];
        // A pipe would be waited for until somebody writes to it
        let ends = |file: &PathBuf| {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            file.is_file() && endings.iter().any(|ending| name.ends_with(&format!(".{ending}")))
        };
        let entries = std::fs::read_dir(folder).map_err(open)?.map(|entry| entry.map(|entry| entry.path()));
        let mut files: Vec<PathBuf> = entries.collect::<Result<_, _>>().map_err(open)?;
        files.retain(ends);
        files.sort_unstable();
        match files.len() {
            0 => Err(TraceError::Missing(folder.join("*.trace.zip"))),
            1 => Err(TraceError::OneThread(files.swap_remove(0))),
            _ => Trace::of_files(Format::Drmemtrace, files),
        }
    }

    /// Opens every thread's file for lines of `line` bytes.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub fn open(&self, line: usize) -> Result<Vec<Box<dyn Source>>, TraceError> {
        (0..self.threads()).map(|thread| self.source(line, thread)).collect()
    }

    pub(super) fn source(&self, line: usize, thread: usize) -> Result<Box<dyn Source>, TraceError> {
        let (path, name) = (self.parts[thread].path(), self.name(thread));
        let fail = |error: std::io::Error| TraceError::Open { file: path.to_owned(), error };
        let file = self.stored(thread).map_err(fail)?;
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let plain: Box<dyn Read> = match ending {
            "zst" => Box::new(Unpacked::new(file).map_err(fail)?),
            "gz" => Box::new(MultiGzDecoder::new(BufReader::new(file))),
            "lz4" => Box::new(Lz4::new(Box::new(BufReader::new(file)))),
            "zip" => Box::new(Chunks::open(path).map_err(fail)?),
            _ => file,
        };
        Ok(match self.format {
            Format::Smpt => Box::new(Smpt::new(plain, &name, line, thread)),
            Format::Drmemtrace => {
                let plain = Box::new(BufReader::with_capacity(1 << 16, plain));
                Box::new(Drmemtrace::new(plain, &name, line, thread).region(self.windows))
            }
            Format::ChampSim => {
                Box::new(ChampSim::new(Box::new(BufReader::with_capacity(1 << 16, plain)), &name, line, thread))
            }
            Format::Synchro => {
                Box::new(SynchroTrace::new(Box::new(BufReader::with_capacity(1 << 16, plain)), &name, line, thread))
            }
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "open_tests.rs"]
mod tests;
