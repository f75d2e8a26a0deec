//! What a sealed file reveals without a key. None of it is authenticated: whoever can write to the file can change it,
//! and only opening the file detects that.

use sealwright_stream::chunk;

use crate::{
    body::text_len,
    error::{Error, Flaw},
    input::Input,
    preamble::{Preamble, VERSION},
};

/// What a sealed file says of itself.
///
/// ```
/// use sealwright_file::{Input, Key, KeySource, Output, Sealing, Shared, inspect};
///
/// let (key, mut sealed) = (Key::generate(sealwright_file::Suite::Aes256Gcm)?, Shared::default());
/// Sealing::new(&key).seal(Input::bytes(b"a text", "text"), Output::writer(sealed.clone(), "sealed"))?;
/// let seen = inspect(Input::bytes(sealed.take(), "sealed"))?; // without a key
/// assert_eq!((seen.version, seen.preamble.source), (1, KeySource::Raw));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// Format version.
    pub version: u8,
    /// Suite and key source.
    pub preamble: Preamble,
    /// Bytes before the body.
    pub preamble_len: u64,
    /// Whether it is armored: base64 in lines.
    pub armored: bool,
    /// Length of the sealed file in bytes, if the input is a file that is not text.
    pub sealed: Option<u64>,
    /// Length of the text in bytes, an upper bound if it is padded; a flaw if no sealed file has this length.
    pub text: Option<Result<u64, Flaw>>,
    /// Number of chunks, if the length is known and possible.
    pub chunks: Option<u64>,
}

/// Reads the preamble of `input` and works out the rest from its length.
///
/// ```
/// use sealwright_file::{Input, Key, KeySource, Output, Sealing, Shared, inspect};
///
/// let (key, mut sealed) = (Key::generate(sealwright_file::Suite::Aes256Gcm)?, Shared::default());
/// Sealing::new(&key).seal(Input::bytes(b"a text", "text"), Output::writer(sealed.clone(), "sealed"))?;
/// let seen = inspect(Input::bytes(sealed.take(), "sealed"))?; // without a key
/// assert_eq!((seen.version, seen.preamble.source), (1, KeySource::Raw));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::NotAuthentic`] if it is not a sealed file; [`Error::Unsupported`]; reading errors.
pub fn inspect(mut input: Input) -> Result<Inspection, Error> {
    let preamble = input.preamble()?.clone();
    let preamble_len = preamble.to_bytes().len() as u64;
    let (armored, sealed) = (input.is_armored(), input.len());
    let laid_out = sealed.map(|len| text_len(len, preamble_len));
    let chunks = laid_out.as_ref().and_then(|len| len.as_ref().ok()).map(|&len| chunk::count(len));
    let text = laid_out.map(|len| len.and_then(|len| preamble.layout.most_text(len)));
    Ok(Inspection { version: VERSION, preamble, preamble_len, armored, sealed, text, chunks })
}
