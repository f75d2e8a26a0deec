//! The chunks of an archive as one stream: DynamoRIO writes a thread's trace as `chunk.0000`, `chunk.0001` and so on.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use flate2::{Crc, read::DeflateDecoder};
use zip::{CompressionMethod, ZipArchive};

/// The files of an archive, one after the other in the order of the archive.
pub(super) struct Chunks {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
    next: usize,
    current: Option<Chunk>,
}

impl Chunks {
    pub(super) fn open(path: &Path) -> io::Result<Chunks> {
        let mut archive = ZipArchive::new(BufReader::new(File::open(path)?)).map_err(io::Error::other)?;
        lie_apart(&mut archive)?;
        Ok(Chunks { path: path.to_owned(), archive, next: 0, current: None })
    }

    /// The next file, decompressed as it is read: a chunk may be larger than memory.
    fn chunk(&mut self) -> io::Result<Chunk> {
        let entry = self.archive.by_index_raw(self.next).map_err(io::Error::other)?;
        let (start, size, method) = (entry.data_start(), entry.compressed_size(), entry.compression());
        let (left, expected) = (entry.size(), entry.crc32());
        let start = start.ok_or_else(|| io::Error::other("a file of the archive has no place in it"))?;
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(start))?;
        let data = BufReader::new(file.take(size));
        let data: Box<dyn Read> = match method {
            CompressionMethod::Stored => Box::new(data),
            CompressionMethod::Deflated => Box::new(DeflateDecoder::new(data)),
            other => return Err(io::Error::other(format!("the archive's compression {other} is not read"))),
        };
        Ok(Chunk { number: self.next + 1, data, left, crc: Crc::new(), expected })
    }
}

/// A file of an archive, checked against the archive's length and checksum.
struct Chunk {
    /// Counted from 1.
    number: usize,
    data: Box<dyn Read>,
    /// Bytes that are still to come.
    left: u64,
    crc: Crc,
    expected: u32,
}

impl Read for Chunk {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.data.read(out)?;
        self.crc.update(&out[..read]);
        let left = self.left.checked_sub(read as u64);
        let ended = read == 0 && !out.is_empty();
        let wrong = match left {
            None => "is longer than the archive says",
            Some(1..) if ended => "is shorter than the archive says",
            Some(0) if ended && self.crc.sum() != self.expected => "is damaged: its checksum is another",
            Some(left) => {
                self.left = left;
                return Ok(read);
            }
        };
        Err(io::Error::other(format!("file {} of the archive {wrong}", self.number)))
    }
}

/// Rejects archives whose files overlap: many entries for the same data would be inflated once each (a zip bomb).
fn lie_apart(archive: &mut ZipArchive<BufReader<File>>) -> io::Result<()> {
    let mut places = Vec::new();
    for number in 0..archive.len() {
        let entry = archive.by_index_raw(number).map_err(io::Error::other)?;
        let data = entry.data_start().unwrap_or(u64::MAX);
        places.push((entry.header_start(), data.saturating_add(entry.compressed_size())));
    }
    places.sort_unstable();
    match places.windows(2).find(|pair| pair[1].0 < pair[0].1) {
        Some(pair) => {
            let (start, end) = (pair[1].0, pair[0].1);
            Err(io::Error::other(format!(
                "a file of the archive starts at byte {start}, before the file in front of it ends at {end}"
            )))
        }
        None => Ok(()),
    }
}

impl Read for Chunks {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.current.is_none() {
                if self.next == self.archive.len() {
                    return Ok(0);
                }
                self.current = Some(self.chunk()?);
                self.next += 1;
            }
            if let Some(current) = &mut self.current {
                match current.read(out)? {
                    0 if !out.is_empty() => self.current = None,
                    n => return Ok(n),
                }
            }
        }
    }
}
