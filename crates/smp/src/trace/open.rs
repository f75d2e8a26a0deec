//! Finding a trace's files: `PREFIX.0.smpt.zst`, `PREFIX.1.smpt.zst`, and so on for the other formats.

use std::{
    fs::File,
    io::{BufReader, Read},
    path::{Path, PathBuf},
};

use flate2::read::MultiGzDecoder;
use lz4_flex::frame::FrameDecoder;

use super::{Windows, champsim::ChampSim, chunks::Chunks, drmemtrace::Drmemtrace, smpt::Smpt, synchro::SynchroTrace};
use crate::{
    access::{Source, SourceError},
    config::MOST_PROCESSORS,
};

/// A format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Ours: `PREFIX.T.smpt.zst` or `PREFIX.T.smpt`.
    Smpt,
    /// DynamoRIO's final traces: `PREFIX.T.trace`, plain or with `.zip`, `.gz` or `.lz4`; or a folder as DynamoRIO writes
    /// it, with one file a thread of any name that ends so.
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
    /// No file has the prefix.
    #[error("no trace: {} does not exist, nor in another format", .0.display())]
    Missing(PathBuf),
    /// A thread's file is missing among others.
    #[error("{}: missing, though {} exists", .missing.display(), .last.display())]
    Gap {
        /// The first file that is missing.
        missing: PathBuf,
        /// The last one that exists.
        last: PathBuf,
    },
    /// There is one file only.
    #[error("{}: a trace of one thread; the machine has at least two", .0.display())]
    OneThread(PathBuf),
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
    /// The threads' files do not belong together, or nobody could run them.
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
    fn of_files(format: Format, files: Vec<PathBuf>) -> Trace {
        Trace { format, parts: files.into_iter().map(Part::File).collect(), windows: None }
    }

    /// A recorded program that is compiled in: `.smpt.zst` of each thread.
    pub fn of_bytes(name: &str, threads: &[&'static [u8]]) -> Trace {
        let part = |(thread, bytes): (usize, &&'static [u8])| Part::Bytes(format!("{name}.{thread}.smpt.zst"), bytes);
        Trace { format: Format::Smpt, parts: threads.iter().enumerate().map(part).collect(), windows: None }
    }

    /// The same trace with these windows as its region of interest. [`check`](Self::check) refuses those that it does not have.
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
                let files: Vec<_> =
                    (0..MOST_PROCESSORS).map(|thread| name(thread, ending)).filter(|file| file.is_file()).collect();
                let expected = (0..files.len()).map(|thread| name(thread, ending));
                if let Some((missing, _)) = expected.zip(&files).find(|(expected, file)| expected != *file) {
                    return Err(TraceError::Gap { missing, last: files[files.len() - 1].clone() });
                }
                match files.len() {
                    0 => {}
                    1 => {
                        return Err(TraceError::OneThread(files[0].clone()));
                    }
                    _ => return Ok(Trace::of_files(format, files)),
                }
            }
        }
        Err(TraceError::Missing(name(0, "smpt.zst")))
    }

    /// Finds DynamoRIO's files in a folder, in the order of their names.
    fn folder(folder: &Path) -> Result<Trace, TraceError> {
        let open = |error| TraceError::Open { file: folder.to_owned(), error };
        let (_, endings) = Format::ENDINGS[1];
        let ends = |file: &PathBuf| {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            endings.iter().any(|ending| name.ends_with(&format!(".{ending}")))
        };
        let entries = std::fs::read_dir(folder).map_err(open)?.map(|entry| entry.map(|entry| entry.path()));
        let mut files: Vec<PathBuf> = entries.collect::<Result<_, _>>().map_err(open)?;
        files.retain(ends);
        files.sort_unstable();
        match files.len() {
            0 => Err(TraceError::Missing(folder.join("*.trace.zip"))),
            1 => Err(TraceError::OneThread(files.swap_remove(0))),
            _ => Ok(Trace::of_files(Format::Drmemtrace, files)),
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
        let file: Box<dyn Read> = match &self.parts[thread] {
            Part::File(path) => Box::new(File::open(path).map_err(fail)?),
            Part::Bytes(_, bytes) => Box::new(*bytes),
        };
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let plain: Box<dyn Read> = match ending {
            "zst" => Box::new(zstd::Decoder::new(file).map_err(fail)?),
            "gz" => Box::new(MultiGzDecoder::new(BufReader::new(file))),
            "lz4" => Box::new(FrameDecoder::new(BufReader::new(file))),
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
mod tests {
    use super::*;
    use crate::access::{Access, Kind};

    #[test]
    fn files_are_found_by_their_prefix_or_it_is_told_why_not() {
        let folder = tempfile::tempdir().unwrap();
        let prefix = |name: &str| folder.path().join(name);
        for name in [
            "a.0.smpt.zst",
            "a.1.smpt.zst",
            "g.0.smpt.zst",
            "g.1.smpt.zst",
            "g.3.smpt.zst",
            "b.0.trace.gz",
            "b.1.trace.gz",
            "c.0.sigil",
        ] {
            std::fs::write(prefix(name), []).unwrap();
        }
        let found = |name: &str| Trace::find(&prefix(name));
        assert_eq!(found("a").unwrap().threads(), 2);
        assert_eq!(found("b").unwrap().format, Format::Drmemtrace);
        for (name, what) in [("c", "one thread"), ("g", "g.2.smpt.zst: missing, though"), ("e", "does not exist")] {
            let why = found(name).unwrap_err().to_string();
            assert!(why.contains(what), "{why}");
        }
    }

    /// A thread of DynamoRIO's test `threadsig`, cut to 600 entries in two chunks (BSD licence).
    const REAL: &[u8] = include_bytes!("../../tests/data/threadsig.0.trace.zip");

    #[test]
    fn drmemtrace_is_read_as_dynamorio_writes_it_in_every_compression() {
        use std::io::Write;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for thread in 0..2 {
            std::fs::write(path(&format!("zip.{thread}.trace.zip")), REAL).unwrap();
        }
        let mut plain = Vec::new();
        Chunks::open(&path("zip.0.trace.zip")).unwrap().read_to_end(&mut plain).unwrap();
        assert_eq!(plain.len(), 601 * 12, "both chunks");
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).unwrap();
        let gzip = gzip.finish().unwrap();
        let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
        lz4.write_all(&plain).unwrap();
        let lz4 = lz4.finish().unwrap();
        std::fs::create_dir(path("dir")).unwrap();
        for thread in 0..2 {
            std::fs::write(path(&format!("gz.{thread}.trace.gz")), &gzip).unwrap();
            std::fs::write(path(&format!("lz4.{thread}.trace.lz4")), &lz4).unwrap();
            std::fs::write(path(&format!("plain.{thread}.trace")), &plain).unwrap();
            std::fs::write(path(&format!("dir/drmemtrace.threadsig.87290{thread}.1041.trace.zip")), REAL).unwrap();
        }
        std::fs::write(path("dir/cpu_schedule.bin.zip"), [0; 4]).unwrap();
        let steps = |name: &str| {
            let trace = Trace::find(&path(name)).unwrap();
            assert_eq!((trace.format, trace.threads()), (Format::Drmemtrace, 2), "{name}");
            let mut steps = Vec::new();
            trace.open(64).unwrap()[1].fill(&mut steps).unwrap();
            steps
        };
        let all = steps("zip");
        let count = |kind| all.iter().filter(|step| step.kind == kind).count();
        // 67 loads and 40 stores in the file, of which some cross a line
        assert!((67..=75).contains(&count(Kind::Load)) && (40..=48).contains(&count(Kind::Store)), "{all:?}");
        // 248 in the file, 5 of which have two references; the last one has none, and nothing follows it
        assert_eq!(all.iter().map(Access::instructions).sum::<u64>(), 248 + 5 - 1);
        for name in ["gz", "lz4", "plain", "dir"] {
            assert_eq!(steps(name), all, "{name}");
        }
    }

    #[test]
    fn archives_that_are_damaged_are_refused_with_their_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |thread: usize| folder.path().join(format!("bad.{thread}.trace.zip"));
        std::fs::write(path(0), &REAL[..REAL.len() / 2]).unwrap();
        std::fs::write(path(1), REAL).unwrap();
        let Err(error) = Trace::find(&folder.path().join("bad")).unwrap().open(64) else { panic!("half an archive") };
        assert!(error.to_string().contains("bad.0.trace.zip"), "{error}");
        let mut damaged = REAL.to_vec();
        damaged[100..140].fill(0xff);
        std::fs::write(path(0), damaged).unwrap();
        let mut steps = Vec::new();
        let read = Trace::find(&folder.path().join("bad")).unwrap().open(64).map(|mut all| all[0].fill(&mut steps));
        let error = match read {
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
            Ok(Ok(())) => panic!("a damaged chunk was read"),
        };
        assert!(error.contains("bad.0.trace.zip"), "{error}");
    }
}
