//! The keys of one body, and the sealing and opening of its chunks.

use std::io::Read;

use hmac::{Hmac, KeyInit, Mac};
use sealwright::{Aead, Isa, OpenError, Suite};
use sha2::Sha512;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use crate::{
    Error, Opening, Sealing,
    chunk::{self, COMMITMENT, HEADER, NONCE, PLAIN, SALT, SEALED, TAG, nonce},
    error::Flaw,
    key::{Secret, random},
    preamble::{Preamble, aead_name, fill},
};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod example;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod vectors;

/// The name of the construction, in every body's key derivation.
const LABEL: &[u8] = b"c2sp.org/chunked-encryption@v1+";

/// One body's cipher: key schedule, base nonce, and where its chunks begin in the file.
pub(crate) struct Body {
    aead: Box<dyn Aead>,
    base: [u8; NONCE],
    /// Where the body begins in the file.
    start: u64,
}

impl Body {
    /// A new body: its cipher, and all that stands before its first chunk.
    pub(crate) fn create(sealing: &Sealing<'_>) -> Result<(Body, Vec<u8>), Error> {
        let mut salt = [0; SALT];
        random(&mut salt)?;
        let (source, input_key) = sealing.key.for_sealing(sealing.suite, sealing.costs)?;
        let preamble = Preamble { suite: sealing.suite, source };
        Body::create_with(&preamble, &input_key, &salt, sealing.isa, sealing.ad)
    }

    /// As [`Body::create`], with the random choices made.
    pub(crate) fn create_with(
        preamble: &Preamble,
        input_key: &Secret,
        salt: &[u8; SALT],
        isa: Isa,
        ad: &[u8],
    ) -> Result<(Body, Vec<u8>), Error> {
        let mut header = preamble.to_bytes();
        let start = header.len() as u64;
        let derived = Derived::new(preamble.suite, isa, input_key, salt, &[&header, ad])?;
        header.extend(salt);
        header.extend(derived.commitment);
        Ok((Body { aead: derived.aead, base: derived.base, start }, header))
    }

    /// Reads salt and commitment from `from` and checks the commitment before anything else is believed.
    pub(crate) fn open(from: &mut impl Read, preamble: &Preamble, opening: &Opening<'_>) -> Result<Body, Error> {
        let context = preamble.to_bytes();
        let mut header = [0; HEADER];
        let got = fill(from, &mut header)?;
        if got < HEADER {
            return Err(Error::cut((context.len() + got) as u64));
        }
        let input_key = opening.key.input_key(preamble.suite, &preamble.source, opening.ceiling)?;
        let body = Body::resume(&header, preamble.suite, opening.isa, &input_key, &[&context, opening.ad])?;
        let wrong = if opening.key.is_passphrase() { "passphrase" } else { "key" };
        body.map(|body| Body { start: context.len() as u64, ..body }).ok_or(Error::WrongKey(wrong))
    }

    /// The body that begins with `header`; `None` if the commitment is not what key and context make.
    fn resume(
        header: &[u8; HEADER],
        suite: Suite,
        isa: Isa,
        input_key: &Secret,
        context: &[&[u8]],
    ) -> Result<Option<Body>, Error> {
        let (salt, commitment) = header.split_at(SALT);
        let derived = Derived::new(suite, isa, input_key, salt, context)?;
        let same = bool::from(derived.commitment.ct_eq(commitment));
        Ok(same.then_some(Body { aead: derived.aead, base: derived.base, start: 0 }))
    }

    /// Seals chunk `index`: the first `len` bytes of `chunk` are encrypted in place, the tag goes behind them.
    pub(crate) fn seal(&self, index: u64, chunk: &mut [u8], len: usize) {
        let (text, tag) = chunk[..len + TAG].split_at_mut(len);
        let sealed = self.aead.seal_in_place(&nonce(&self.base, index), &[], text);
        tag.copy_from_slice(sealed.expect("a chunk is within every suite's limits").as_ref());
    }

    /// Opens chunk `index` in place: text and tag.
    pub(crate) fn unseal(&self, index: u64, chunk: &mut [u8]) -> Result<(), OpenError> {
        let (text, tag) = chunk.split_at_mut_checked(chunk.len().wrapping_sub(TAG)).ok_or(OpenError)?;
        self.aead.open_in_place(&nonce(&self.base, index), &[], text, tag)
    }

    /// Length of the text in a sealed file of `len` bytes.
    pub(crate) fn text_len(&self, len: u64) -> Result<u64, Error> {
        chunk::plain_len(len.saturating_sub(self.start)).map_err(|flaw| {
            Error::NotAuthentic(match flaw {
                Flaw::Truncated { .. } => Flaw::Truncated { offset: len },
                Flaw::Chunk { index, offset, last } => Flaw::Chunk { index, offset: self.start + offset, last },
                other => other,
            })
        })
    }

    /// Where chunk `index` begins in the file.
    pub(crate) fn offset(&self, index: u64) -> u64 {
        self.start + chunk::offset(index)
    }

    /// Where the last chunk of a text of `len` bytes begins in the file.
    pub(crate) fn last_offset(&self, len: u64) -> u64 {
        self.offset(chunk::count(len) - 1)
    }

    /// Reads and opens the last chunk of a text of `len` bytes, which only a text of that length has. Returns the chunk,
    /// its text in front.
    pub(crate) fn prove_length(&self, from: &mut impl Read, len: u64) -> Result<Secret, Error> {
        let mut last = Secret::new(vec![0; (len % PLAIN as u64) as usize + TAG]);
        self.read_chunk(from, chunk::count(len) - 1, &mut last)?;
        Ok(last)
    }

    /// Reads chunk `index` from `from`, which stands at it, and opens it in place.
    pub(crate) fn read_chunk(&self, from: &mut impl Read, index: u64, chunk: &mut [u8]) -> Result<(), Error> {
        let got = fill(from, chunk)?;
        if got < chunk.len() {
            return Err(Error::cut(self.offset(index) + got as u64));
        }
        self.unseal(index, chunk).map_err(|_| self.flaw(index, chunk.len()))
    }

    /// What to say of a chunk of `len` sealed bytes that is not authentic.
    pub(crate) fn flaw(&self, index: u64, len: usize) -> Error {
        Error::NotAuthentic(Flaw::Chunk { index, offset: self.offset(index), last: len < SEALED })
    }
}

/// What the input key, the salt and the context make together.
struct Derived {
    aead: Box<dyn Aead>,
    base: [u8; NONCE],
    commitment: [u8; COMMITMENT],
}

impl Derived {
    fn new(suite: Suite, isa: Isa, input_key: &Secret, salt: &[u8], context: &[&[u8]]) -> Result<Derived, Error> {
        let name = aead_name(suite).filter(|_| suite.nonce_len() == NONCE && suite.tag_len() == TAG);
        let name = name.ok_or(Error::SuiteNotForFiles(suite))?;
        let key_length = |given| Error::KeyLength { suite, wanted: suite.key_len(), given };
        if input_key.len() != suite.key_len() {
            return Err(key_length(input_key.len()));
        }
        let mut info = vec![LABEL, name.as_bytes(), &[0], salt];
        info.extend(context);
        let mut out = Zeroizing::new(vec![0; suite.key_len() + NONCE + COMMITMENT]);
        expand(input_key, &info, &mut out);
        let (key, rest) = out.split_at(suite.key_len());
        let (base, commitment) = rest.split_at(NONCE);
        let aead = suite.aead_at(isa, key).map_err(|wrong| key_length(wrong.given()))?;
        let mut derived = Derived { aead, base: [0; NONCE], commitment: [0; COMMITMENT] };
        derived.base.copy_from_slice(base);
        derived.commitment.copy_from_slice(commitment);
        Ok(derived)
    }
}

/// HKDF-Expand (RFC 5869) with SHA-512. Written out because crate `hkdf` takes no key shorter than the hash, as the
/// RFC asks of extracted keys; here the key is uniform already, of the suite's length.
fn expand(key: &[u8], info: &[&[u8]], out: &mut [u8]) {
    let mut previous = Zeroizing::new(Vec::new());
    for (i, part) in out.chunks_mut(64).enumerate() {
        let mut mac = Hmac::<Sha512>::new_from_slice(key).expect("HMAC takes keys of every length");
        mac.update(&previous);
        info.iter().for_each(|piece| mac.update(piece));
        mac.update(&[i as u8 + 1]);
        let mut block = mac.finalize().into_bytes();
        part.copy_from_slice(&block[..part.len()]);
        previous.resize(block.len(), 0);
        previous.copy_from_slice(&block);
        block.as_mut_slice().zeroize();
    }
}
