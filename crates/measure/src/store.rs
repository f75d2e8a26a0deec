//! Storage of results: lines that are appended, and documents that are replaced atomically.

use std::{
    error::Error,
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

/// The version of the envelope around every result; raised when a reader of old files would misread new ones.
pub const SCHEMA: u32 = 2;

/// A folder of results.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// A file does not contain what this program can read: why, and what to do. It is the inner error of an [`io::Error`].
#[derive(Debug)]
pub struct UnreadableError {
    what: String,
    hint: &'static str,
}

impl fmt::Display for UnreadableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl Error for UnreadableError {}

impl UnreadableError {
    /// The file belongs elsewhere.
    pub fn misplaced(what: impl fmt::Display) -> io::Error {
        UnreadableError::io(what, AWAY)
    }

    fn io(what: impl fmt::Display, hint: &'static str) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, UnreadableError { what: what.to_string(), hint })
    }
}

/// What to do about an error of a [`Store`], if the file can be read but not understood.
pub fn hint(error: &io::Error) -> Option<&'static str> {
    error.get_ref()?.downcast_ref::<UnreadableError>().map(|error| error.hint)
}

/// What to do about a damaged file.
const AWAY: &str = "move the file away, and measure again";

/// Bytes that are written to try a folder: as many as a large document has.
const PROBE: usize = 1 << 20;

/// The envelope of every line and document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record<T> {
    /// [`SCHEMA`] at the time of writing.
    pub schema: u32,
    /// When it was written: UTC, RFC 3339.
    pub date: String,
    /// The result.
    pub result: T,
}

impl Store {
    /// A store in `folder`, which is created if it does not exist.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn open(folder: impl Into<PathBuf>) -> io::Result<Store> {
        let folder = folder.into();
        fs::create_dir_all(&folder)?;
        Ok(Store { folder })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a document of a mebibyte, and removes it: whether the folder can be written to, and the disk has room.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub fn probe(&self) -> io::Result<()> {
        let path = self.folder.join(".probe");
        write_atomically(&path, &vec![b' '; PROBE])?;
        fs::remove_file(path)
    }

    /// Renames `name`.jsonl to `name`.jsonl.damaged, replacing an older file of that name.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub fn set_aside(&self, name: &str) -> io::Result<()> {
        let path = self.folder.join(format!("{name}.jsonl"));
        fs::rename(&path, path.with_extension("jsonl.damaged"))
    }

    /// Adds `result` as one line of `name`.jsonl and waits until the disk has it: a crash loses at most the result
    /// under way.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append<T: Serialize>(&self, name: &str, result: &T) -> io::Result<()> {
        let path = self.folder.join(format!("{name}.jsonl"));
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let mut line = Vec::new();
        if !ends_in_newline(&mut file)? {
            line.push(b'\n'); // a crash left an incomplete line; keep it separate
        }
        serde_json::to_writer(&mut line, &record(result))?;
        line.push(b'\n');
        file.write_all(&line)?;
        file.sync_data()
    }

    /// All results in `name`.jsonl, oldest first; none if there is no such file. Incomplete lines left by a crash and
    /// lines with an older schema are skipped.
    ///
    /// # Errors
    /// When the file cannot be read or a whole line is not a record of this schema holding a `T`.
    pub fn lines<T: DeserializeOwned>(&self, name: &str) -> io::Result<Vec<Record<T>>> {
        let text = match fs::read_to_string(self.folder.join(format!("{name}.jsonl"))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Err(UnreadableError::io(error, AWAY)),
            text => text?,
        };
        let mut records = Vec::new();
        for (number, line) in text.lines().enumerate() {
            match serde_json::from_str::<Record<Value>>(line) {
                // Results of an older schema cannot be used
                Ok(record) if record.schema < SCHEMA => {}
                Ok(record) => records.push(check(record)?),
                Err(error) if error.is_eof() => {}
                // Each line is a document of its own, so the error counts its lines from 1
                Err(error) => {
                    let what = format!("line {}, column {}: not a record", number + 1, error.column());
                    return Err(UnreadableError::io(what, AWAY));
                }
            }
        }
        Ok(records)
    }

    /// Writes `result` as the document `name`.json, replacing an older one at once or not at all.
    ///
    /// # Errors
    /// When it cannot be written; the older document then stands.
    pub fn write<T: Serialize>(&self, name: &str, result: &T) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(&record(result))?;
        text.push(b'\n');
        write_atomically(&self.folder.join(format!("{name}.json")), &text)
    }

    /// The document `name`.json, or `None` if there is none.
    ///
    /// # Errors
    /// When it cannot be read or is not a record of this schema holding a `T`.
    pub fn read<T: DeserializeOwned>(&self, name: &str) -> io::Result<Option<Record<T>>> {
        match File::open(self.folder.join(format!("{name}.json"))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
            Ok(file) => check(serde_json::from_reader(io::BufReader::new(file)).map_err(damaged)?).map(Some),
        }
    }
}

/// Writes `content` to `path` atomically: to a temporary file in the same folder, which is synced to disk and then
/// renamed.
///
/// # Errors
/// When any step fails; `path` is then as it was.
pub fn write_atomically(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666)); // the umask is applied to these
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    // The renaming changes the folder, which must be synced as well
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

fn record<T>(result: T) -> Record<T> {
    Record { schema: SCHEMA, date: crate::machine::now(), result }
}

/// Deserialises the result of a record, if the record has the current schema.
fn check<T: DeserializeOwned>(record: Record<Value>) -> io::Result<Record<T>> {
    let Record { schema, date, result } = record;
    if schema == SCHEMA {
        return Ok(Record { schema, date, result: serde_json::from_value(result).map_err(damaged)? });
    }
    let hint = if schema < SCHEMA { "run it again, or move the file away" } else { "a newer program wrote it" };
    Err(UnreadableError::io(format_args!("it has schema {schema} and this program reads {SCHEMA}"), hint))
}

/// The error of a file that cannot be read, or that is not JSON of the expected form.
fn damaged(error: serde_json::Error) -> io::Error {
    if error.is_io() { error.into() } else { UnreadableError::io(error, AWAY) }
}

/// Whether the last byte is a newline; true of an empty file.
fn ends_in_newline(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
