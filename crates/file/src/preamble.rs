//! The bytes before the body: magic, version, suite and key source.

use std::io::Read;

use sealwright::Suite;

use crate::{
    armor,
    costs::Costs,
    error::{Error, Flaw, KeyKind, Unsupported},
    layout::Layout,
    read::fill,
    slots::{Fixed, PASSPHRASE_SALT, Slots},
};

/// The first bytes of every sealed file. They are not text, and reveal newline translation and stripped high bits.
pub const MAGIC: [u8; 8] = [0x89, b'S', b'E', b'A', b'L', 0x0d, 0x0a, 0x1a];
/// The version written here.
pub const VERSION: u8 = 1;
/// Bytes before the source parameters.
pub const FIXED: usize = 16;

const RAW: u8 = 0;
const PASSPHRASE: u8 = 1;
const RECIPIENTS: u8 = 2;
const PASSPHRASE_PARAMS: usize = Costs::BYTES + PASSPHRASE_SALT;

/// The public header of a sealed file, readable without a key. It is authenticated only when the file is opened.
///
/// ```
/// use sealwright_file::{Content, KeySource, Preamble};
///
/// let preamble = Preamble::new(sealwright_file::Suite::Aes256Gcm, Content::Bytes, KeySource::Raw);
/// let bytes = preamble.to_bytes();
/// assert_eq!(Preamble::read(&mut &bytes[..])?, preamble);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preamble {
    /// Cipher, mode and lengths.
    pub suite: Suite,
    /// How the text is laid out.
    pub layout: Layout,
    /// Where the input key comes from.
    pub source: KeySource,
}

/// Where a sealed file's input key comes from.
///
/// ```
/// use sealwright_file::{Costs, KeyKind, KeySource};
///
/// let source = KeySource::Passphrase { costs: Costs::default(), salt: [7; 16] };
/// assert_eq!((source.key_kind(), KeySource::Raw.key_kind()), (Some(KeyKind::Passphrase), Some(KeyKind::Raw)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeySource {
    /// The user holds the key itself.
    Raw,
    /// Argon2id of a passphrase.
    Passphrase {
        /// Its parameters.
        costs: Costs,
        /// Its salt.
        salt: [u8; PASSPHRASE_SALT],
    },
    /// A file key in slots, each of which opens with a key of its own.
    Recipients(Slots),
}

impl KeySource {
    /// Its name, as `sealwright inspect --json` and the bindings have it: "raw", "passphrase" or "recipients".
    pub fn name(&self) -> &'static str {
        match self {
            KeySource::Raw => "raw",
            KeySource::Passphrase { .. } => "passphrase",
            KeySource::Recipients(_) => "recipients",
        }
    }

    /// The kind of key that opens the file; `None` if several kinds do, or an unknown one.
    pub fn key_kind(&self) -> Option<KeyKind> {
        match self {
            KeySource::Raw => Some(KeyKind::Raw),
            KeySource::Passphrase { .. } => Some(KeyKind::Passphrase),
            KeySource::Recipients(slots) => {
                let mut kinds = slots.iter().map(|slot| slot.kind().key_kind());
                let first = kinds.next()??;
                kinds.all(|kind| kind == Some(first)).then_some(first)
            }
        }
    }

    fn id(&self) -> u8 {
        match self {
            KeySource::Raw => RAW,
            KeySource::Passphrase { .. } => PASSPHRASE,
            KeySource::Recipients(_) => RECIPIENTS,
        }
    }
}

impl Preamble {
    /// The header of a file with this suite, layout and source of its key.
    pub fn new(suite: Suite, layout: impl Into<Layout>, source: KeySource) -> Preamble {
        Preamble { suite, layout: layout.into(), source }
    }

    /// Its bytes in the file. The encoding is canonical: each preamble has only one.
    pub fn to_bytes(&self) -> Vec<u8> {
        let params = match &self.source {
            KeySource::Raw => Vec::new(),
            KeySource::Passphrase { costs, salt } => costs.to_bytes().into_iter().chain(*salt).collect(),
            KeySource::Recipients(slots) => slots.to_bytes(),
        };
        let mut bytes = fixed(self.suite, self.layout, self.source.id()).to_vec();
        bytes.extend((params.len() as u32).to_be_bytes());
        bytes.extend(params);
        bytes
    }

    /// The first bytes, which never change.
    #[cfg(feature = "signatures")]
    pub(crate) fn fixed(&self) -> Fixed {
        fixed(self.suite, self.layout, self.source.id())
    }

    /// The context of the body's keys: the whole preamble, or, if there are slots, only the part that does not change
    /// with them.
    pub(crate) fn context(&self) -> Vec<u8> {
        match self.source {
            KeySource::Recipients(_) => recipients_fixed(self.suite, self.layout).to_vec(),
            _ => self.to_bytes(),
        }
    }

    /// Reads a preamble, and no byte after it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] with a number that this build does not know; [`Error::NotAuthentic`] with another field
    /// that is not valid in version 1; [`Error::Armored`]; reading errors.
    pub fn read(from: &mut impl Read) -> Result<Preamble, Error> {
        let mut fixed = [0; FIXED];
        let got = fill(from, &mut fixed)?;
        if fixed == armor::BEGIN.as_bytes()[..FIXED] {
            return Err(Error::Armored);
        }
        if got == 0 {
            return Err(Error::NotAuthentic(Flaw::Empty));
        }
        if fixed[..got.min(8)] != MAGIC[..got.min(8)] {
            return Err(Error::NotAuthentic(Flaw::Magic));
        }
        if got < FIXED {
            return Err(Error::cut(got as u64));
        }
        let [.., version, suite, source, layout, a, b, c, d] = fixed;
        let length = u32::from_be_bytes([a, b, c, d]);
        let unsupported = |what| Err(Error::Unsupported(what));
        if version != VERSION {
            return unsupported(Unsupported::Version(version));
        }
        let Some(suite) = Suite::from_id(suite) else { return unsupported(Unsupported::Suite(suite)) };
        let Some(layout) = Layout::from_byte(layout) else { return unsupported(Unsupported::Content(layout)) };
        if layout.signed && !cfg!(feature = "signatures") {
            return unsupported(Unsupported::Signed);
        }
        let source = match source {
            RAW if length == 0 => KeySource::Raw,
            PASSPHRASE if length as usize == PASSPHRASE_PARAMS => read_passphrase(from)?,
            RECIPIENTS => KeySource::Recipients(Slots::read(from, length, FIXED as u64)?),
            RAW | PASSPHRASE => return Err(Error::NotAuthentic(Flaw::SourceLength(length))),
            other => return unsupported(Unsupported::KeySource(other)),
        };
        Ok(Preamble { suite, layout, source })
    }
}

/// The first bytes of a preamble.
fn fixed(suite: Suite, layout: Layout, source: u8) -> Fixed {
    let mut fixed = [0; 12];
    fixed[..8].copy_from_slice(&MAGIC);
    fixed[8..].copy_from_slice(&[VERSION, suite.id(), source, layout.to_byte()]);
    fixed
}

/// The first bytes of a preamble with slots, to which slots and body are bound.
pub(crate) fn recipients_fixed(suite: Suite, layout: Layout) -> Fixed {
    fixed(suite, layout, RECIPIENTS)
}

fn read_passphrase(from: &mut impl Read) -> Result<KeySource, Error> {
    let mut params = [0; PASSPHRASE_PARAMS];
    let got = fill(from, &mut params)?;
    if got < params.len() {
        return Err(Error::cut((FIXED + got) as u64));
    }
    let (mut costs, mut salt) = ([0; Costs::BYTES], [0; PASSPHRASE_SALT]);
    costs.copy_from_slice(&params[..Costs::BYTES]);
    salt.copy_from_slice(&params[Costs::BYTES..]);
    let costs = Costs::from_bytes(&costs);
    if !costs.are_possible() {
        return Err(Error::NotAuthentic(Flaw::Costs));
    }
    Ok(KeySource::Passphrase { costs, salt })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::layout::Content;

    /// The first bytes of a preamble with AES-256-GCM and content `Bytes`, as in docs/FORMAT.md.
    const FIRST: [u8; 12] = [0x89, b'S', b'E', b'A', b'L', 0x0d, 0x0a, 0x1a, 1, 2, 0, 0];

    fn preamble(source: KeySource) -> Preamble {
        Preamble { suite: Suite::Aes256Gcm, layout: Content::Bytes.into(), source }
    }

    fn passphrase() -> Preamble {
        preamble(KeySource::Passphrase { costs: Costs { memory_kib: 64, passes: 3, lanes: 4 }, salt: [7; 16] })
    }

    fn flaw(mut bytes: &[u8]) -> Flaw {
        match Preamble::read(&mut bytes) {
            Err(Error::NotAuthentic(flaw)) => flaw,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn bytes_are_where_the_format_says() {
        let raw = preamble(KeySource::Raw);
        let bytes = [&FIRST[..], &[0; 4]].concat();
        assert_eq!((raw.to_bytes(), raw.context()), (bytes.clone(), bytes.clone()));
        let mut rest = &[&bytes[..], b"body"].concat()[..];
        assert_eq!((Preamble::read(&mut rest).unwrap(), rest), (raw, &b"body"[..]));

        let [mut with_source, mut signed] = [FIRST; 2];
        with_source[10] = 1;
        let parameters = [0, 0, 0, 64, 0, 0, 0, 3, 0, 0, 0, 4];
        let bytes = [&with_source[..], &[0, 0, 0, 28], &parameters, &[7; 16]].concat();
        assert_eq!((passphrase().to_bytes(), passphrase().context()), (bytes.clone(), bytes.clone()));
        assert_eq!(Preamble::read(&mut &bytes[..]).unwrap(), passphrase());

        with_source[10] = 2;
        assert_eq!(recipients_fixed(Suite::Aes256Gcm, Content::Bytes.into()), with_source);
        signed[11] = 0x40;
        let layout = Layout { signed: true, ..Layout::default() };
        let preamble = Preamble { layout, ..preamble(KeySource::Raw) };
        assert_eq!(preamble.to_bytes()[..12], signed);
        #[cfg(feature = "signatures")]
        assert_eq!((preamble.fixed(), Preamble::read(&mut &preamble.to_bytes()[..]).unwrap()), (signed, preamble));
        #[cfg(not(feature = "signatures"))]
        assert!(matches!(Preamble::read(&mut &preamble.to_bytes()[..]), Err(Error::Unsupported(Unsupported::Signed))));
    }

    /// If there are slots, body and slots are bound only to the part that does not change with the slots.
    #[test]
    fn with_slots_the_context_is_the_first_twelve_bytes() {
        let mut bytes = [&FIRST[..], &[0, 0, 0, 36, 9, 0, 0, 0], &[5; 32]].concat();
        bytes[10] = 2;
        let preamble = Preamble::read(&mut &bytes[..]).unwrap();
        assert_eq!((preamble.context(), preamble.to_bytes()), (bytes[..12].to_vec(), bytes));
    }

    #[test]
    fn where_it_ends_is_told() {
        assert_eq!((flaw(b""), flaw(b"\x89SEAM"), flaw(b"Salted__12345678")), (Flaw::Empty, Flaw::Magic, Flaw::Magic));
        for bytes in [preamble(KeySource::Raw).to_bytes(), passphrase().to_bytes()] {
            for offset in 1..bytes.len() {
                if offset == 16 && bytes[10] == 0 {
                    continue;
                }
                assert_eq!(flaw(&bytes[..offset]), Flaw::Truncated { offset: offset as u64 }, "{offset}");
            }
        }
    }

    #[test]
    fn lengths_belong_to_sources() {
        let with = |source, length| {
            let mut bytes = [&FIRST[..], &[0, 0, 0, length], &[0; 99]].concat();
            bytes[10] = source;
            flaw(&bytes)
        };
        for length in [1, 27, 28, 29] {
            assert_eq!(with(0, length), Flaw::SourceLength(length.into()));
        }
        for length in [0, 1, 27, 29] {
            assert_eq!(with(1, length), Flaw::SourceLength(length.into()));
        }
        assert_eq!(with(1, 28), Flaw::Costs, "costs of zero");
    }

    #[test]
    fn what_is_wanted_is_told() {
        let wants = [KeySource::Raw, passphrase().source].map(|source| source.key_kind());
        assert_eq!(wants, [Some(KeyKind::Raw), Some(KeyKind::Passphrase)]);
        let raw = [&[1, 0, 0, 104][..], &[3; 104]].concat();
        let ssh = [&[4, 0, 0, 152][..], &[3; 152]].concat();
        let pair = [&[3, 0, 4, 216][..], &[3; 1240]].concat();
        let costs = [0, 0, 0, 64, 0, 0, 0, 3, 0, 0, 0, 4];
        let passphrase = [&[2, 0, 0, 132][..], &costs, &[3; 120]].concat();
        let unknown = vec![9, 0, 0, 0];
        for (slots, wanted) in [
            (&[&raw, &raw][..], Some(KeyKind::Raw)),
            (&[&ssh, &pair], Some(KeyKind::Secret)),
            (&[&passphrase, &passphrase], Some(KeyKind::Passphrase)),
            (&[&ssh, &raw], None),
            (&[&unknown], None),
        ] {
            let bytes = [slots.iter().copied().flatten().copied().collect(), vec![5; 32]].concat();
            let slots = Slots::read(&mut &bytes[..], bytes.len() as u32, 16).unwrap();
            assert_eq!(KeySource::Recipients(slots).key_kind(), wanted);
        }
    }
}
