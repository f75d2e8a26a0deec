//! Test files: text and pictures of an exact length, which depend only on the seed and not on the machine.

mod picture;
mod text;

use std::fmt;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Content {
    /// English words in paragraphs.
    Text,
    /// A picture with lossless compression.
    Png,
    /// A picture without compression: three bytes per pixel.
    Ppm,
}

impl Content {
    /// All kinds.
    pub const ALL: [Content; 3] = [Content::Text, Content::Png, Content::Ppm];

    /// The usual extension of such a file's name.
    pub fn extension(self) -> &'static str {
        match self {
            Content::Text => "txt",
            Content::Png => "png",
            Content::Ppm => "ppm",
        }
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Content::Text => "text",
            Content::Png => "PNG image",
            Content::Ppm => "PPM image",
        })
    }
}

/// A file of `kind` that is exactly `bytes` long. Text ends with a newline. Pictures can be decoded; a comment in them
/// fills the bytes that complete rows leave over.
///
/// # Panics
/// If `bytes` is less than 2000, which is too small for a picture.
pub fn file(kind: Content, bytes: usize, seed: u64) -> Vec<u8> {
    assert!(bytes >= 2000, "a file of the corpus has 2000 bytes at least");
    match kind {
        Content::Text => text::text(bytes, seed),
        Content::Png => picture::png(bytes, seed),
        Content::Ppm => picture::ppm(bytes, seed),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn files_have_the_length_asked_for_and_follow_from_their_seed() {
        for kind in Content::ALL {
            for bytes in [2000, 2001, 31_337, 100_000] {
                let one = file(kind, bytes, 7);
                assert_eq!(one.len(), bytes, "{kind}");
                assert_eq!(one, file(kind, bytes, 7), "{kind}");
                assert_ne!(one, file(kind, bytes, 8), "{kind}");
            }
        }
    }

    #[test]
    fn text_is_text() {
        let text = String::from_utf8(file(Content::Text, 50_000, 1)).unwrap();
        assert!(text.ends_with('\n'));
        assert!(text.lines().all(|line| line.len() <= 80 && line.chars().all(|c| c == ' ' || c.is_ascii_graphic())));
        let words = text.split_whitespace().count();
        assert!((7_000..13_000).contains(&words), "{words} words of English in 50 kB");
    }

    #[test]
    fn png_decodes_to_what_ppm_shows() {
        let bytes = file(Content::Png, 100_000, 3);
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        reader.finish().unwrap();
        assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
        assert!(info.width >= 100 && info.height >= 100, "{} x {}", info.width, info.height);
        let first = &pixels[..3];
        assert!(pixels.chunks_exact(3).any(|pixel| pixel != first), "a picture shows something");
    }

    #[test]
    fn ppm_holds_as_many_pixels_as_its_head_says() {
        let bytes = file(Content::Ppm, 100_000, 3);
        let lines: Vec<&[u8]> = bytes.splitn(5, |&byte| byte == b'\n').collect();
        assert_eq!((lines[0], lines[3]), (&b"P6"[..], &b"255"[..]));
        assert!(lines[1].starts_with(b"# "));
        let size: Vec<usize> =
            std::str::from_utf8(lines[2]).unwrap().split(' ').map(|side| side.parse().unwrap()).collect();
        assert_eq!(lines[4].len(), size[0] * size[1] * 3);
    }
}
