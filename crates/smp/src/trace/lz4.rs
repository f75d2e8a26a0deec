//! LZ4 frames, read to the last byte of the file. The decoder alone would stop after the first frame, and accept a file
//! that is cut off between two blocks.

use std::io::{self, Read};

use lz4_flex::frame::FrameDecoder;

/// Magic number of LZ4's legacy format, whose frames have no end mark.
const LEGACY: u32 = 0x184c_2102;

/// The contents of one frame, or of several concatenated frames.
pub(super) struct Lz4(FrameDecoder<Frames>);

impl Lz4 {
    pub(super) fn new(file: Box<dyn Read>) -> Lz4 {
        Lz4(FrameDecoder::new(Frames::new(file)))
    }
}

impl Read for Lz4 {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.0.read(out)?;
            let frames = self.0.get_mut();
            if read > 0 || out.is_empty() || frames.ended {
                return Ok(read);
            }
            // No bytes: an empty block, or the end of a frame. The next frame may have larger blocks than this decoder
            // has buffers for, so it gets a new decoder.
            if frames.between() {
                let rest = std::mem::replace(frames, Frames::new(Box::new(io::empty())));
                self.0 = FrameDecoder::new(rest);
            }
        }
    }
}

/// A part of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Magic,
    Flags,
    Descriptor,
    /// A block's length, or 0 for the end.
    Size,
    Block,
    Checksum,
}

/// A file of frames: tracks the position in a frame, and reports an error if the file ends within one.
struct Frames {
    file: Box<dyn Read>,
    part: Part,
    /// Bytes of the part that are still to come.
    left: usize,
    /// The last four bytes, the first of them lowest.
    word: u32,
    flags: u8,
    ended: bool,
}

impl Frames {
    fn new(file: Box<dyn Read>) -> Frames {
        Frames { file, part: Part::Magic, left: 4, word: 0, flags: 0, ended: false }
    }

    /// Whether this is a frame boundary, at which the file may end.
    fn between(&self) -> bool {
        self.part == Part::Magic && self.left == 4
    }

    fn pass(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let (part, later) = bytes.split_at(bytes.len().min(self.left));
            for byte in &part[part.len().saturating_sub(4)..] {
                self.word = self.word >> 8 | u32::from(*byte) << 24;
            }
            self.left -= part.len();
            bytes = later;
            if self.left == 0 {
                (self.part, self.left) = self.after()?;
            }
        }
        Ok(())
    }

    /// The part that follows the one that has ended, and its length.
    fn after(&mut self) -> io::Result<(Part, usize)> {
        if self.part == Part::Flags {
            // The descriptor's second byte, the block size, follows the flags
            self.flags = (self.word >> 16) as u8;
        }
        let flag = |bit: u8| usize::from(self.flags >> bit & 1);
        Ok(match self.part {
            Part::Magic if self.word == LEGACY => {
                return Err(io::Error::other(
                    "LZ4's first format does not tell a whole file: compress it with lz4 anew",
                ));
            }
            Part::Magic => (Part::Flags, 2),
            // A header checksum and, optionally, the content size and a dictionary number
            Part::Flags => (Part::Descriptor, 1 + 8 * flag(3) + 4 * flag(0)),
            Part::Descriptor | Part::Block => (Part::Size, 4),
            Part::Size if self.word > 0 => {
                // The highest bit marks an uncompressed block
                let length = (self.word & 0x7fff_ffff) as usize;
                (Part::Block, length + 4 * flag(4))
            }
            Part::Size if flag(2) == 1 => (Part::Checksum, 4),
            Part::Size | Part::Checksum => (Part::Magic, 4),
        })
    }
}

impl Read for Frames {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(out)?;
        if read == 0 && !out.is_empty() {
            self.ended = self.between();
            // Not `UnexpectedEof`, which the decoder takes for a regular end
            return if self.ended {
                Ok(0)
            } else {
                Err(io::Error::other("LZ4: the file was cut: it ends within a frame"))
            };
        }
        self.pass(&out[..read])?;
        Ok(read)
    }
}
