//! The layout of the text in a body: its content, and the padding and signature that are added before sealing.

mod held_back;
pub(crate) mod pad;

#[cfg(feature = "signatures")]
pub(crate) use held_back::HeldBack;

use crate::error::{Error, Flaw};

/// What the text of a sealed file is.
///
/// ```
/// use sealwright_file::{Content, Input, Key, Output, Sealing, Shared, inspect};
///
/// let (key, mut sealed) = (Key::generate(sealwright_file::Suite::Aes256Gcm)?, Shared::default());
/// Sealing::new(&key).seal(Input::bytes(b"a text", "text"), Output::writer(sealed.clone(), "sealed"))?;
/// let layout = inspect(Input::bytes(sealed.take(), "sealed"))?.preamble.layout;
/// assert_eq!(layout.content, Content::Bytes); // and neither a tree nor a list
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Any bytes: one file.
    #[default]
    Bytes,
    /// A directory with all in it.
    Tree,
    /// The names of files that were sealed one by one.
    List,
}

impl Content {
    /// Its name, as `sealwright inspect --json` and the bindings have it: "bytes", "tree" or "list".
    pub fn name(self) -> &'static str {
        match self {
            Content::Bytes => "bytes",
            Content::Tree => "tree",
            Content::List => "list",
        }
    }

    /// Refuses content that [`Opening::open`](crate::Opening::open) cannot open: trees and lists.
    pub(crate) fn is_one_file(self) -> Result<(), Error> {
        match self {
            Content::Bytes => Ok(()),
            Content::List => Err(Error::IsAList),
            Content::Tree => Err(Error::IsATree),
        }
    }
}

/// How the text of a body is laid out. One byte of the preamble.
///
/// ```
/// use sealwright_file::{Input, Key, Output, Sealing, Shared, inspect};
///
/// let (key, mut sealed) = (Key::generate(sealwright_file::Suite::Aes256Gcm)?, Shared::default());
/// let sealing = Sealing::new(&key).pad(true); // the length tells less
/// sealing.seal(Input::bytes(b"a text", "text"), Output::writer(sealed.clone(), "sealed"))?;
/// let layout = inspect(Input::bytes(sealed.take(), "sealed"))?.preamble.layout;
/// assert!(layout.padded && !layout.signed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Layout {
    /// What the text is.
    pub content: Content,
    /// Whether a signature follows the text.
    pub signed: bool,
    /// Whether the text is padded to hide its exact length.
    pub padded: bool,
}

/// Bytes of the signature after a text: the key id, then the signatures of ed25519 and ML-DSA-65.
pub(crate) const TRAILER: usize = 16 + 64 + 3309;

const PADDED: u8 = 0x80;
const SIGNED: u8 = 0x40;

impl Layout {
    /// Whether the body is the text alone, without padding or signature.
    pub(crate) fn is_plain(self) -> bool {
        !self.padded && !self.signed
    }

    /// The greatest possible length of the text if `laid_out` is its length with padding and signature.
    pub(crate) fn most_text(self, laid_out: u64) -> Result<u64, Flaw> {
        let padding = if self.padded { pad::LENGTH } else { 0 };
        let signature = if self.signed { TRAILER } else { 0 };
        laid_out.checked_sub((padding + signature) as u64).ok_or(Flaw::Layout)
    }

    /// The encoding in a preamble.
    pub(crate) fn to_byte(self) -> u8 {
        let content = match self.content {
            Content::Bytes => 0,
            Content::Tree => 1,
            Content::List => 2,
        };
        content | if self.padded { PADDED } else { 0 } | if self.signed { SIGNED } else { 0 }
    }

    /// Decodes the byte in a preamble; `None` if this build does not know it.
    pub(crate) fn from_byte(byte: u8) -> Option<Layout> {
        let content = match byte & !(PADDED | SIGNED) {
            0 => Content::Bytes,
            1 => Content::Tree,
            2 => Content::List,
            _ => return None,
        };
        Some(Layout { content, padded: byte & PADDED != 0, signed: byte & SIGNED != 0 })
    }
}

impl From<Content> for Layout {
    fn from(content: Content) -> Layout {
        Layout { content, ..Layout::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(content: Content, signed: bool, padded: bool) -> Layout {
        Layout { content, signed, padded }
    }

    /// The byte as in docs/FORMAT.md: the content, 0x40 for a signature, 0x80 for padding.
    #[test]
    fn a_byte_says_how_a_text_is_laid_out() {
        let known = [
            (0x00, layout(Content::Bytes, false, false)),
            (0x01, layout(Content::Tree, false, false)),
            (0x02, layout(Content::List, false, false)),
            (0x40, layout(Content::Bytes, true, false)),
            (0x41, layout(Content::Tree, true, false)),
            (0x42, layout(Content::List, true, false)),
            (0x80, layout(Content::Bytes, false, true)),
            (0x81, layout(Content::Tree, false, true)),
            (0x82, layout(Content::List, false, true)),
            (0xc0, layout(Content::Bytes, true, true)),
            (0xc1, layout(Content::Tree, true, true)),
            (0xc2, layout(Content::List, true, true)),
        ];
        for byte in 0..=255 {
            let of = known.iter().find(|(known, _)| *known == byte).map(|(_, layout)| *layout);
            assert_eq!(Layout::from_byte(byte), of, "{byte:#x}");
            assert!(of.is_none_or(|layout| layout.to_byte() == byte), "{byte:#x}");
        }
        assert_eq!(Layout::from(Content::List), layout(Content::List, false, false));
    }

    /// Padding takes at least the 8 bytes of the length; a signature 16, 64 and 3,309 bytes.
    #[test]
    fn what_is_around_a_text_takes_room() {
        for (signed, padded, around) in [(false, false, 0), (false, true, 8), (true, false, 3389), (true, true, 3397)] {
            let layout = layout(Content::Bytes, signed, padded);
            assert_eq!(layout.is_plain(), around == 0);
            assert!(matches!(layout.most_text(around), Ok(0)) && matches!(layout.most_text(around + 77), Ok(77)));
            assert!(around == 0 || matches!(layout.most_text(around - 1), Err(Flaw::Layout)));
        }
    }

    #[test]
    fn one_file_is_neither_a_tree_nor_a_list() {
        assert!(Content::Bytes.is_one_file().is_ok());
        assert!(matches!(Content::Tree.is_one_file(), Err(Error::IsATree)));
        assert!(matches!(Content::List.is_one_file(), Err(Error::IsAList)));
    }
}
