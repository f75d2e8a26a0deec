//! The keys of one stream, and the sealing and opening of its chunks in any order.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sealwright::{Aead, Isa, RandomError, Suite};
use sha2::Sha512;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use crate::{
    StreamError,
    chunk::{self, COMMITMENT, HEADER, NONCE, SALT, SEALED, TAG, nonce},
};

/// The label in the key derivation: the name of the construction.
const LABEL: &[u8] = b"c2sp.org/chunked-encryption@v1+";

/// Seals and opens the chunks of one stream, in any order and from several threads.
///
/// Each chunk must be sealed once only: the number is the nonce. The last chunk must be shorter than
/// [`chunk::PLAIN`] bytes and all others exactly that long. [`Sealer`](crate::Sealer) and [`Opener`](crate::Opener)
/// ensure both. A chunk does not authenticate the chunks after it: to prove that a stream is complete, and how long its
/// text is, open the last chunk at the position that follows from the stream's length ([`chunk::plain_len`]).
///
/// ```
/// use sealwright_stream::{ChunkCipher, Isa, Suite, chunk};
///
/// let (suite, isa, key) = (Suite::Aes256Gcm, Isa::best(), [7; 32]);
/// let (cipher, header) = ChunkCipher::create(suite, isa, &key, &[b"a context"])?;
/// // Chunks may be sealed in any order: the last one first.
/// let (mut second, mut first) = (vec![2; 100 + chunk::TAG], vec![1; chunk::SEALED]);
/// cipher.seal_chunk(1, &mut second, 100);
/// cipher.seal_chunk(0, &mut first, chunk::PLAIN);
///
/// let cipher = ChunkCipher::open(suite, isa, &key, &header, &[b"a context"])?;
/// cipher.open_chunk(1, &mut second)?;
/// assert_eq!(second[..100], [2; 100]);
/// assert!(cipher.open_chunk(1, &mut first).is_err()); // not its place
/// # Ok::<(), sealwright_stream::StreamError>(())
/// ```
pub struct ChunkCipher {
    aead: Box<dyn Aead>,
    base: Zeroizing<[u8; NONCE]>,
    /// Salt and commitment, which no other stream has.
    pub(crate) header: [u8; HEADER],
    /// Whether chunks may be sealed. Not for a stream that was opened, whose nonces are already used.
    seals: bool,
}

impl ChunkCipher {
    /// A new stream with a random salt: its cipher, and the header (salt and commitment) that goes before chunk 0.
    ///
    /// The parts of `context` are concatenated.
    ///
    /// # Errors
    /// [`StreamError::KeyLength`], [`StreamError::Random`].
    pub fn create(
        suite: Suite,
        isa: Isa,
        key: &[u8],
        context: &[&[u8]],
    ) -> Result<(ChunkCipher, [u8; HEADER]), StreamError> {
        let mut salt = [0; SALT];
        getrandom::fill(&mut salt).map_err(|_| StreamError::Random(RandomError))?;
        ChunkCipher::create_with_salt(suite, isa, key, &salt, context)
    }

    /// As [`ChunkCipher::create`], but with the caller's salt, for test vectors and for salts that are random already.
    /// Two texts under the same key, salt and context share their nonces, which reveals the texts.
    ///
    /// # Errors
    /// As [`ChunkCipher::create`].
    pub fn create_with_salt(
        suite: Suite,
        isa: Isa,
        key: &[u8],
        salt: &[u8; SALT],
        context: &[&[u8]],
    ) -> Result<(ChunkCipher, [u8; HEADER]), StreamError> {
        let cipher = ChunkCipher::derive(suite, isa, key, salt, context, true)?;
        let header = cipher.header;
        Ok((cipher, header))
    }

    /// The cipher of the stream that begins with `header`. It only opens: sealing would reuse the stream's nonces.
    ///
    /// # Errors
    /// [`StreamError::WrongKey`] unless key and context are those that the stream was sealed under;
    /// [`StreamError::KeyLength`].
    pub fn open(
        suite: Suite,
        isa: Isa,
        key: &[u8],
        header: &[u8; HEADER],
        context: &[&[u8]],
    ) -> Result<ChunkCipher, StreamError> {
        let cipher = ChunkCipher::derive(suite, isa, key, &header[..SALT], context, false)?;
        if bool::from(cipher.header.ct_eq(header)) { Ok(cipher) } else { Err(StreamError::WrongKey) }
    }

    fn derive(
        suite: Suite,
        isa: Isa,
        key: &[u8],
        salt: &[u8],
        context: &[&[u8]],
        seals: bool,
    ) -> Result<ChunkCipher, StreamError> {
        let wrong_length = |given| StreamError::KeyLength { suite, wanted: suite.key_len(), given };
        if key.len() != suite.key_len() {
            return Err(wrong_length(key.len()));
        }
        let mut info = vec![LABEL, suite.aead_name().as_bytes(), &[0], salt];
        info.extend(context);
        let mut derived = Zeroizing::new(vec![0; suite.key_len() + NONCE + COMMITMENT]);
        hkdf_expand(key, &info, &mut derived);
        let (chunk_key, rest) = derived.split_at(suite.key_len());
        let (base_bytes, commitment) = rest.split_at(NONCE);
        let aead = suite.aead_at(isa, chunk_key).map_err(|_| wrong_length(chunk_key.len()))?;
        let (mut base, mut header) = (Zeroizing::new([0; NONCE]), [0; HEADER]);
        base.copy_from_slice(base_bytes);
        header[..SALT].copy_from_slice(salt);
        header[SALT..].copy_from_slice(commitment);
        Ok(ChunkCipher { aead, base, header, seals })
    }

    /// Panics if the cipher came with a stream to open: sealing would repeat its nonces.
    pub(crate) fn must_seal(&self) {
        assert!(self.seals, "a stream that was opened has used its nonces: seal a new one");
    }

    /// Seals chunk `index` in place: the first `len` bytes of `chunk` are its text, the tag goes behind them.
    ///
    /// The caller must use each `index` only once, and a `len` less than [`chunk::PLAIN`] for the last chunk and for no
    /// other. Neither is checked.
    ///
    /// # Panics
    /// If `index` is not less than [`chunk::MAX_CHUNKS`], if `len` is more than [`chunk::PLAIN`], if `chunk` is shorter
    /// than `len` and a tag, or if the stream is one that was opened.
    pub fn seal_chunk(&self, index: u64, chunk: &mut [u8], len: usize) {
        self.must_seal();
        assert!(index < chunk::MAX_CHUNKS, "a stream has at most 2^38 chunks, and none of number {index}");
        assert!(len <= chunk::PLAIN, "a chunk has at most 16384 bytes of text, not {len}");
        let sealed = self.aead.seal_message(&nonce(&self.base, index), &[], &mut chunk[..len + TAG]);
        sealed.expect("a chunk is within every suite's limits");
    }

    /// Opens chunk `index`, text and tag, in place. On failure nothing of the text is left in `chunk`.
    ///
    /// # Errors
    /// [`StreamError::Chunk`]; [`StreamError::TooLong`] if no stream has a chunk of this number.
    pub fn open_chunk(&self, index: u64, chunk: &mut [u8]) -> Result<(), StreamError> {
        if index >= chunk::MAX_CHUNKS {
            chunk.fill(0);
            return Err(StreamError::TooLong);
        }
        let last = chunk.len() < SEALED;
        let flaw = || StreamError::Chunk { index, offset: chunk::offset(index), last };
        // Whoever has the key can make a longer chunk with a valid tag, but no other reader of the format would accept
        // it.
        if chunk.len() > SEALED {
            chunk.fill(0);
            return Err(flaw());
        }
        let Some((text, tag)) = chunk.split_at_mut_checked(chunk.len().wrapping_sub(TAG)) else { return Err(flaw()) };
        self.aead.open_in_place(&nonce(&self.base, index), &[], text, tag).map_err(|_| flaw())
    }
}

impl fmt::Debug for ChunkCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkCipher").finish_non_exhaustive()
    }
}

/// HKDF-Expand (RFC 5869) with SHA-512 under `key`, over the concatenated parts of `info`, into `out`.
///
/// The crate `hkdf` is not used because it refuses keys shorter than the hash, as the RFC requires of extracted keys;
/// here `key` may be shorter, but must be uniformly random.
///
/// ```
/// use sealwright_stream::hkdf_expand;
///
/// let (key, mut header_key) = ([7; 32], [0; 16]);
/// hkdf_expand(&key, &[b"my format, header, ", b"version 1"], &mut header_key);
/// assert_ne!(header_key, [0; 16]);
/// ```
///
/// # Panics
/// If `out` has more than 255 · 64 bytes.
pub fn hkdf_expand(key: &[u8], info: &[&[u8]], out: &mut [u8]) {
    assert!(out.len() <= 255 * 64, "HKDF-Expand gives at most 255 blocks");
    let mut previous = Zeroizing::new(Vec::with_capacity(64));
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
