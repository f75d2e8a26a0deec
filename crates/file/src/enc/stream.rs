//! The modes on a stream of any length, processed in pieces that fit into the cache.

use std::io::{Read, Write};

use sealwright::{Block, mode::gcm, raw};
use zeroize::Zeroizing;

#[cfg(feature = "enc-more")]
use super::blocks::ChaCha20;
use super::{
    Derived, Enc, GCM_LIMIT,
    armor::{Armor, Encoder},
    blocks::{Feedback, blocks, pad, unpadded},
    cipher::EncMode,
    error::EncError,
    secret::{EncSecret, SALT, Salt},
};
use crate::{
    error::{Error, OUTPUT},
    read::fill,
    secret::Secret,
};

/// Bytes processed at once: whole blocks, small enough for the second-level cache.
const PIECE: usize = 256 * 1024;
const BLOCK: usize = 16;
const GCM_TAG: usize = 16;
const KEY_FITS: &str = "the key has the length that its cipher names";
/// The magic bytes before a salt in the formats of `openssl enc`.
const MAGIC: &[u8; 8] = b"Salted__";

impl Enc {
    /// `known` is the number of bytes in `from`, if it is known.
    pub(super) fn encrypt<W: Write>(
        &self,
        from: &mut impl Read,
        known: Option<u64>,
        to: &mut Encoder<'_, W>,
    ) -> Result<(), Error> {
        if self.cipher.is_read_only() {
            return Err(EncError::ReadOnly(self.cipher.to_string()).into());
        }
        let (salt, written) = self.secret.fresh_salt()?;
        let (key, iv) = self.keys(salt)?;
        if let Some(salt) = salt.filter(|_| written) {
            to.write(MAGIC)?;
            to.write(&salt)?;
        }
        let feedback = || Feedback::new(blocks(self.cipher, self.isa, &key), &iv);
        match self.cipher.mode() {
            EncMode::Ecb | EncMode::Cbc => self.blocks_encrypt(&key, iv, from, to),
            EncMode::Ctr => self.ctr(&key, block(&iv), from, |bytes| to.write(bytes)),
            EncMode::Cfb => {
                let mut feedback = feedback();
                self.pieces(from, |piece| feedback.cfb_encrypt(piece), |bytes| to.write(bytes))
            }
            EncMode::Ofb => {
                let mut feedback = feedback();
                self.pieces(from, |piece| feedback.ofb(piece), |bytes| to.write(bytes))
            }
            #[cfg(feature = "enc-more")]
            EncMode::Stream => {
                let mut stream = ChaCha20::new(&key, &iv);
                self.pieces(from, |piece| stream.apply(piece), |bytes| to.write(bytes))
            }
            EncMode::Gcm => {
                fits(known, GCM_LIMIT)?;
                self.gcm_encrypt(&key, &iv, from, to, GCM_LIMIT)
            }
        }
    }

    /// `known` is the number of bytes in `from` before base64 is decoded, if it is known.
    pub(super) fn decrypt(&self, from: &mut impl Read, known: Option<u64>, to: &mut impl Write) -> Result<(), Error> {
        let (key, iv) = self.keys(self.written_salt(from)?)?;
        let feedback = || Feedback::new(blocks(self.cipher, self.isa, &key), &iv);
        match self.cipher.mode() {
            EncMode::Ecb | EncMode::Cbc => self.blocks_decrypt(&key, iv, from, to)?,
            EncMode::Ctr => self.ctr(&key, block(&iv), from, |bytes| write(to, bytes))?,
            EncMode::Cfb => {
                let mut feedback = feedback();
                self.pieces(from, |piece| feedback.cfb_decrypt(piece), |bytes| write(to, bytes))?;
            }
            EncMode::Ofb => {
                let mut feedback = feedback();
                self.pieces(from, |piece| feedback.ofb(piece), |bytes| write(to, bytes))?;
            }
            #[cfg(feature = "enc-more")]
            EncMode::Stream => {
                let mut stream = ChaCha20::new(&key, &iv);
                self.pieces(from, |piece| stream.apply(piece), |bytes| write(to, bytes))?;
            }
            EncMode::Gcm => {
                let most = GCM_LIMIT + GCM_TAG;
                let decoded = match self.armor {
                    Armor::None => fits(known, most).map(|()| known)?,
                    // At most: there may be white space.
                    Armor::Lines | Armor::OneLine => known.map(|characters| characters.div_ceil(4) * 3),
                };
                let mut text = self.whole(from, most, decoded.and_then(|len| len.try_into().ok()))?;
                let len = text.len().checked_sub(GCM_TAG).ok_or(EncError::NotAuthentic)?;
                let (text, tag) = text.split_at_mut(len);
                let gcm = gcm::by_key(self.isa, &key, gcm::TagLen::T16).expect(KEY_FITS);
                gcm.open_in_place(&iv, &[], text, tag).map_err(|_| EncError::NotAuthentic)?;
                write(to, text)?;
            }
        }
        to.flush().map_err(Error::io("write", OUTPUT))
    }

    /// Key and IV for `salt`, which are also passed to [`Enc::on_derived`].
    fn keys(&self, salt: Option<[u8; SALT]>) -> Result<(Secret, Vec<u8>), Error> {
        let (key, iv) = self.secret.derive(self.cipher, salt)?;
        if let Some(on_derived) = &self.on_derived {
            on_derived.call(&Derived { salt, key: key.clone(), iv: iv.clone() });
        }
        Ok((key, iv))
    }

    /// The salt to decrypt with; it is read from the input if it is stored there.
    pub(super) fn written_salt(&self, from: &mut impl Read) -> Result<Option<[u8; SALT]>, Error> {
        Ok(match &self.secret {
            EncSecret::Passphrase { salt: Salt::Header, .. } => Some(read_salt(from)?),
            EncSecret::Passphrase { salt: Salt::Given(salt), .. } => Some(*salt),
            _ => None,
        })
    }

    /// Reads a piece, checks for an interrupt and reports progress.
    fn read(&self, from: &mut impl Read, buffer: &mut [u8]) -> Result<usize, Error> {
        self.work.interrupt.check()?;
        let got = fill(from, buffer)?;
        self.work.progress.advance(got as u64);
        Ok(got)
    }

    /// Writes each piece as soon as it is encrypted, and the tag at the end. A text of more than `limit` bytes is
    /// refused when that many have been read.
    pub(super) fn gcm_encrypt<W: Write>(
        &self,
        key: &[u8],
        iv: &[u8],
        from: &mut impl Read,
        to: &mut Encoder<'_, W>,
        limit: usize,
    ) -> Result<(), Error> {
        let key = gcm::pieces_by_key(self.isa, key, gcm::TagLen::T16).expect(KEY_FITS);
        let mut message = key.begin(iv, &[]).expect("the IV has the length that its cipher names");
        let (mut piece, mut left) = (Zeroizing::new(vec![0; PIECE]), limit);
        loop {
            let got = self.read(from, &mut piece)?;
            left = left.checked_sub(got).ok_or(EncError::TooLong)?;
            message.seal(&mut piece[..got]).map_err(|_| EncError::TooLong)?;
            to.write(&piece[..got])?;
            if got < PIECE {
                return to.write(message.finish().as_ref());
            }
        }
    }

    fn blocks_encrypt<W: Write>(
        &self,
        key: &Secret,
        mut iv: Vec<u8>,
        from: &mut impl Read,
        to: &mut Encoder<'_, W>,
    ) -> Result<(), Error> {
        let cipher = blocks(self.cipher, self.isa, key);
        let mut piece = Zeroizing::new(vec![0; PIECE]);
        loop {
            let got = self.read(from, &mut piece)?;
            if got < PIECE {
                piece.truncate(got);
                if self.padding {
                    pad(&mut piece, cipher.block());
                } else if got % cipher.block() != 0 {
                    return Err(EncError::NotWholeBlocks.into());
                }
            }
            match self.cipher.mode() {
                EncMode::Cbc => cipher.cbc_encrypt(&mut iv, &mut piece),
                _ => cipher.encrypt(&mut piece),
            }
            to.write(&piece)?;
            if got < PIECE {
                return Ok(());
            }
        }
    }

    /// Holds back the last block until the input has ended, because it may contain padding.
    fn blocks_decrypt(
        &self,
        key: &Secret,
        mut iv: Vec<u8>,
        from: &mut impl Read,
        to: &mut impl Write,
    ) -> Result<(), Error> {
        let cipher = blocks(self.cipher, self.isa, key);
        let len = cipher.block();
        let mut decrypt = |text: &mut [u8]| match self.cipher.mode() {
            EncMode::Cbc => cipher.cbc_decrypt(&mut iv, text),
            _ => cipher.decrypt(text),
        };
        let mut piece = Zeroizing::new(vec![0; len + PIECE]);
        let mut kept = 0;
        loop {
            let wanted = piece.len() - kept;
            let got = self.read(from, &mut piece[kept..])?;
            let all = kept + got;
            if got < wanted {
                if all % len != 0 {
                    return Err(EncError::Cut.into());
                }
                decrypt(&mut piece[..all]);
                let text = if self.padding { unpadded(&piece[..all], len).ok_or(EncError::BadPadding)? } else { all };
                return write(to, &piece[..text]);
            }
            decrypt(&mut piece[..all - len]);
            write(to, &piece[..all - len])?;
            piece.copy_within(all - len.., 0);
            kept = len;
        }
    }

    /// Runs `apply` on pieces, all of which consist of whole blocks except the last.
    fn pieces(
        &self,
        from: &mut impl Read,
        mut apply: impl FnMut(&mut [u8]),
        mut write: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut piece = Zeroizing::new(vec![0; PIECE]);
        loop {
            let got = self.read(from, &mut piece)?;
            apply(&mut piece[..got]);
            write(&piece[..got])?;
            if got < PIECE {
                return Ok(());
            }
        }
    }

    fn ctr(
        &self,
        key: &Secret,
        mut counter: Block,
        from: &mut impl Read,
        write: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let aes = raw::aes(self.isa, key).expect(KEY_FITS);
        let apply = |piece: &mut [u8]| {
            aes.ctr(&counter, piece);
            raw::advance(&mut counter, (piece.len() / BLOCK) as u64);
        };
        self.pieces(from, apply, write)
    }

    /// Reads all of the input, at most `most` bytes. If no more than `known` come, memory is allocated once; otherwise
    /// it is grown explicitly, so that the old one is wiped.
    pub(super) fn whole(&self, from: &mut impl Read, most: usize, known: Option<usize>) -> Result<Secret, Error> {
        // One byte more, to see the end.
        let mut whole = Secret::new(vec![0; known.map_or(PIECE, |known| known.min(most) + 1)]);
        let mut len = 0;
        loop {
            let got = self.read(from, &mut whole[len..])?;
            len += got;
            if len > most {
                return Err(EncError::TooLong.into());
            }
            if len < whole.len() {
                whole.truncate(len);
                return Ok(whole);
            }
            let mut larger = Secret::new(vec![0; (2 * len).min(most + 1)]);
            larger[..len].copy_from_slice(&whole);
            whole = larger;
        }
    }
}

/// Refuses what is known to be longer than `most` bytes.
fn fits(known: Option<u64>, most: usize) -> Result<(), EncError> {
    if known.is_some_and(|known| known > most as u64) { Err(EncError::TooLong) } else { Ok(()) }
}

fn read_salt(from: &mut impl Read) -> Result<[u8; SALT], Error> {
    let mut header = [0; MAGIC.len() + SALT];
    let got = fill(from, &mut header)?;
    let salt = header[..got].strip_prefix(MAGIC).and_then(|salt| salt.try_into().ok());
    Ok(salt.ok_or(EncError::NoSalt)?)
}

fn write(to: &mut impl Write, bytes: &[u8]) -> Result<(), Error> {
    to.write_all(bytes).map_err(Error::io("write", OUTPUT))
}

fn block(iv: &[u8]) -> Block {
    iv.try_into().expect("the IV has the length that its cipher names")
}
