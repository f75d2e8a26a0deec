//! Finding a trace's files: `PREFIX.0.smpt.zst`, `PREFIX.1.smpt.zst`, and so on for the other formats.

use std::{
    fs::File,
    io::{BufReader, Read},
    path::{Path, PathBuf},
};

use flate2::read::MultiGzDecoder;

use super::{Drmemtrace, Smpt, SynchroTrace};
use crate::{access::Source, config::MOST_PROCESSORS};

/// A format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Ours: `PREFIX.T.smpt.zst` or `PREFIX.T.smpt`.
    Smpt,
    /// DynamoRIO's final traces: `PREFIX.T.trace` or `PREFIX.T.trace.gz`.
    Drmemtrace,
    /// SynchroTraceGen's: `PREFIX.T.sigil` or `PREFIX.T.sigil.gz`.
    Synchro,
}

/// Other packings of drmemtrace, and what unpacks a file of theirs.
const PACKED: [(&str, &str); 2] = [("trace.zip", "unzip -p"), ("trace.lz4", "lz4 -dc")];

impl Format {
    /// Every format with its endings, plain and compressed.
    const ENDINGS: [(Format, [&'static str; 2]); 3] = [
        (Format::Smpt, ["smpt.zst", "smpt"]),
        (Format::Drmemtrace, ["trace.gz", "trace"]),
        (Format::Synchro, ["sigil.gz", "sigil"]),
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
    /// The files are compressed in a way that is not read.
    #[error("{}: this compression is not read: {how} {} > {}", .file.display(), .file.display(), .plain.display())]
    Packed {
        /// The file.
        file: PathBuf,
        /// What decompresses it.
        how: &'static str,
        /// Where that should go.
        plain: PathBuf,
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
}

/// A trace: one file a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Its format.
    pub format: Format,
    /// Its files, thread 0 first.
    pub files: Vec<PathBuf>,
}

impl Trace {
    /// Finds the files of `prefix`.
    ///
    /// # Errors
    /// When there are none, or but one.
    pub fn find(prefix: &Path) -> Result<Trace, TraceError> {
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
                    _ => return Ok(Trace { format, files }),
                }
            }
        }
        for (ending, how) in PACKED {
            let file = name(0, ending);
            if file.is_file() {
                return Err(TraceError::Packed { file, how, plain: name(0, "trace") });
            }
        }
        Err(TraceError::Missing(name(0, "smpt.zst")))
    }

    /// Opens every thread's file for lines of `line` bytes.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub fn open(&self, line: usize) -> Result<Vec<Box<dyn Source>>, TraceError> {
        self.files.iter().enumerate().map(|(thread, file)| self.source(file, line, thread)).collect()
    }

    fn source(&self, path: &Path, line: usize, thread: usize) -> Result<Box<dyn Source>, TraceError> {
        let name = path.display().to_string();
        let fail = |error: std::io::Error| TraceError::Open { file: path.to_owned(), error };
        let file = File::open(path).map_err(fail)?;
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let plain: Box<dyn Read> = match ending {
            "zst" => Box::new(zstd::Decoder::new(file).map_err(fail)?),
            "gz" => Box::new(MultiGzDecoder::new(BufReader::new(file))),
            _ => Box::new(file),
        };
        Ok(match self.format {
            Format::Smpt => Box::new(Smpt::new(plain, &name, line, thread)),
            Format::Drmemtrace => {
                Box::new(Drmemtrace::new(Box::new(BufReader::with_capacity(1 << 16, plain)), &name, line, thread))
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
            "d.0.trace.zip",
        ] {
            std::fs::write(prefix(name), []).unwrap();
        }
        let found = |name: &str| Trace::find(&prefix(name));
        assert_eq!(found("a").unwrap().files.len(), 2);
        assert_eq!(found("b").unwrap().format, Format::Drmemtrace);
        for (name, what) in
            [("c", "one thread"), ("g", "g.2.smpt.zst: missing, though"), ("d", "unzip -p"), ("e", "does not exist")]
        {
            let why = found(name).unwrap_err().to_string();
            assert!(why.contains(what), "{why}");
        }
    }
}
