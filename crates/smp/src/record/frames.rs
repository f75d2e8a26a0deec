//! The stream from the plugin: frames of a thread number, a length (both 32 bits, little-endian) and that many bytes of
//! records. Thread number 2^32 - 1 ends the stream, with one byte that says whether recording ever began.

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use super::error::RecordError;
use crate::output::{ForAWhile, within};

/// Threads that a trace may have: as many as a machine has processors.
pub(super) const MOST_THREADS: usize = crate::config::MOST_PROCESSORS;

const LAST: u32 = u32::MAX;

/// The longest frame of the plugin.
const LONGEST: u32 = 64 << 10;

/// zstd's level: higher levels take longer than recording.
const LEVEL: i32 = 3;

struct Thread {
    out: zstd::Encoder<'static, ForAWhile<NamedTempFile>>,
    records: u64,
}

/// Writes the threads' records to temporary files, which get their names at the end.
pub(super) struct Frames {
    folder: PathBuf,
    threads: Vec<Thread>,
    began: Option<bool>,
}

impl Frames {
    pub(super) fn new(folder: &Path) -> Frames {
        Frames { folder: folder.to_owned(), threads: Vec::new(), began: None }
    }

    /// Whether recording began, once the plugin has ended the stream.
    pub(super) fn began(&self) -> Option<bool> {
        self.began
    }

    /// Records of each thread.
    pub(super) fn records(&self) -> Vec<u64> {
        self.threads.iter().map(|thread| thread.records).collect()
    }

    /// Reads to the end of the stream, or to where it was cut.
    pub(super) fn read(&mut self, input: &mut dyn Read, tell: &mut dyn FnMut(u64)) -> Result<(), RecordError> {
        let failed = || RecordError::io(format!("{}: a thread's records", self.folder.display()));
        let (mut bytes, mut all) = (Vec::new(), 0);
        while let Some((number, length)) = head(input).map_err(RecordError::io("the recorder's socket"))? {
            if length > LONGEST || number != LAST && length % 8 != 0 {
                return Err(RecordError::Program(format!("the recorder sent a frame of {length} bytes")));
            }
            bytes.resize(length as usize, 0);
            match input.read_exact(&mut bytes) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                result => result.map_err(RecordError::io("the recorder's socket"))?,
            }
            if number == LAST {
                self.began = Some(bytes.first() == Some(&1));
                return Ok(());
            }
            let number = number as usize;
            if number >= MOST_THREADS {
                return Err(RecordError::Program(format!(
                    "more than {MOST_THREADS} threads: the machine has no more processors"
                )));
            }
            while self.threads.len() <= number {
                let file = within(&self.folder).map_err(failed())?;
                let mut out = zstd::Encoder::new(file, LEVEL).map_err(failed())?;
                // Otherwise a reader would not detect a bit error
                out.include_checksum(true).map_err(failed())?;
                self.threads.push(Thread { out, records: 0 });
            }
            self.threads[number].out.write_all(&bytes).map_err(failed())?;
            self.threads[number].records += u64::from(length / 8);
            all += u64::from(length / 8);
            tell(all);
        }
        Ok(())
    }

    /// Gives the files their names, once all are complete and the `old` ones removed. Old files are removed first to
    /// last, and new ones named last to first: so until it is finished the file of thread 0 is missing, and without
    /// that there is no trace.
    pub(super) fn keep(self, names: &[PathBuf], old: &[PathBuf]) -> Result<(), RecordError> {
        let mut files = Vec::new();
        for (thread, name) in self.threads.into_iter().zip(names) {
            let failed = || RecordError::io(name.display().to_string());
            let file = thread.out.finish().map_err(failed())?;
            file.as_file().sync_all().map_err(failed())?;
            files.push((file, name));
        }
        for file in old {
            std::fs::remove_file(file).map_err(RecordError::io(file.display().to_string()))?;
        }
        for (file, name) in files.into_iter().rev() {
            file.end(|file| file.persist_noclobber(name))
                .map_err(|error| RecordError::Io(name.display().to_string(), error.error))?;
        }
        Ok(())
    }
}

/// Thread number and length of the next frame; `None` at the end of the input.
fn head(input: &mut dyn Read) -> io::Result<Option<(u32, u32)>> {
    let mut bytes = [0; 8];
    let mut done = 0;
    while done < bytes.len() {
        match input.read(&mut bytes[done..]) {
            Ok(0) => return Ok(None),
            Ok(n) => done += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let [a, b, c, d, e, f, g, h] = bytes;
    Ok(Some((u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]))))
}

/// Writes a recorder's stream to files of these names, which must be as many as a trace may have. Returns the records
/// of each thread, and whether recording began. Only fuzzing calls this.
///
/// # Errors
/// When the stream is none that a recorder sends; no file is left then.
pub fn kept_stream(
    mut stream: &[u8],
    folder: &Path,
    names: &[PathBuf],
) -> Result<(Vec<u64>, Option<bool>), RecordError> {
    let mut frames = Frames::new(folder);
    frames.read(&mut stream, &mut |_| {})?;
    let found = (frames.records(), frames.began());
    frames.keep(names, &[])?;
    Ok(found)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::trace::{Trace, Writer};

    fn frame(number: u32, bytes: &[u8]) -> Vec<u8> {
        [&number.to_le_bytes()[..], &(bytes.len() as u32).to_le_bytes(), bytes].concat()
    }

    fn records(first: u64) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new());
        writer.refer(3, false, first, 3).unwrap();
        writer.refer(0, true, first + 64, 3).unwrap();
        writer.into_inner()
    }

    #[test]
    fn a_stream_becomes_files_that_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let stream =
            [frame(1, &records(640)), frame(0, &records(0)), frame(1, &records(6400)), frame(LAST, &[1])].concat();
        let mut frames = Frames::new(folder.path());
        let mut last = 0;
        frames.read(&mut &stream[..], &mut |records| last = records).unwrap();
        assert_eq!((last, frames.records(), frames.began()), (6, vec![2, 4], Some(true)));
        let prefix = folder.path().join("t");
        let names: Vec<PathBuf> = (0..2).map(|i| folder.path().join(format!("t.{i}.smpt.zst"))).collect();
        frames.keep(&names, &[]).unwrap();
        let mut sources = Trace::find(&prefix).unwrap().open(64).unwrap();
        let mut steps = Vec::new();
        sources[1].fill(&mut steps).unwrap();
        let addresses: Vec<_> = steps.iter().map(|step| step.address).collect();
        assert_eq!(addresses, [640, 704, 6400, 6464]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
    }

    /// Wherever it is interrupted, files of two recordings are never taken for one trace.
    #[test]
    fn a_trace_that_is_replaced_is_never_a_mixture() {
        let folder = tempfile::tempdir().unwrap();
        let prefix = folder.path().join("t");
        let name = |thread: usize| folder.path().join(format!("t.{thread}.smpt.zst"));
        let record = |threads: u32, names: &[PathBuf]| {
            let stream = (0..threads).flat_map(|thread| frame(thread, &records(64))).chain(frame(LAST, &[1]));
            let stream: Vec<u8> = stream.collect();
            let mut frames = Frames::new(folder.path());
            frames.read(&mut &stream[..], &mut |_| {}).unwrap();
            let old: Vec<PathBuf> = names.iter().filter(|name| name.exists()).cloned().collect();
            frames.keep(names, &old)
        };
        let names: Vec<PathBuf> = (0..3).map(name).collect();
        // The last of three files cannot be renamed
        std::fs::create_dir(name(2)).unwrap();
        record(3, &names).unwrap_err();
        let found = Trace::find(&prefix).map(|trace| trace.threads());
        assert!(found.is_err(), "a cut trace is taken for whole: {found:?}");
        // The same when replacing an older recording
        record(2, &names[..2]).unwrap();
        record(3, &names).unwrap_err();
        let found = Trace::find(&prefix).map(|trace| trace.threads());
        assert!(found.is_err(), "threads of two recordings: {found:?}");
    }

    #[test]
    fn a_stream_that_is_cut_never_ends() {
        let folder = tempfile::tempdir().unwrap();
        let stream = [frame(0, &records(0)), frame(LAST, &[1])].concat();
        for cut in 0..stream.len() {
            let mut frames = Frames::new(folder.path());
            frames.read(&mut &stream[..cut], &mut |_| {}).unwrap();
            assert_eq!(frames.began(), None, "{cut}");
        }
        let odd = frame(0, &[0; 7]);
        assert!(Frames::new(folder.path()).read(&mut &odd[..], &mut |_| {}).is_err());
        let many = frame(64, &records(0));
        assert!(
            Frames::new(folder.path())
                .read(&mut &many[..], &mut |_| {})
                .unwrap_err()
                .to_string()
                .contains("more than 64")
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
