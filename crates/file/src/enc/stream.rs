//! The modes over a stream of any length, in pieces that stay in the cache.

use std::io::{Read, Write};

use sealwright::{Aead, Block, mode::gcm, raw};
use zeroize::Zeroizing;

use super::{
    Enc, GCM_LIMIT,
    armor::Encoder,
    cipher::EncMode,
    error::EncError,
    secret::{EncSecret, SALT, Salt},
};
use crate::{
    error::{Error, OUTPUT},
    read::fill,
};

/// Bytes treated at once: whole blocks, small enough for the second-level cache.
const PIECE: usize = 256 * 1024;
const BLOCK: usize = 16;
const GCM_TAG: usize = 16;
/// How `openssl enc` marks a salt.
const MAGIC: &[u8; 8] = b"Salted__";

impl Enc {
    pub(super) fn encrypt<W: Write>(&self, from: &mut impl Read, to: &mut Encoder<'_, W>) -> Result<(), Error> {
        let (salt, written) = self.secret.fresh_salt()?;
        let (key, iv) = self.secret.derive(self.cipher, salt)?;
        if let Some(salt) = salt.filter(|_| written) {
            to.write(MAGIC)?;
            to.write(&salt)?;
        }
        match self.cipher.mode() {
            EncMode::Cbc => self.cbc_encrypt(&key, block(&iv), from, to),
            EncMode::Ctr => self.ctr(&key, block(&iv), from, |bytes| to.write(bytes)),
            EncMode::Gcm => {
                let mut text = self.whole(from)?;
                let sealed = self.gcm(&key)?.seal_in_place(&iv, &[], &mut text);
                let tag = sealed.map_err(|_| EncError::TooLong)?;
                to.write(&text)?;
                to.write(tag.as_ref())
            }
        }
    }

    pub(super) fn decrypt(&self, from: &mut impl Read, to: &mut impl Write) -> Result<(), Error> {
        let salt = match &self.secret {
            EncSecret::Passphrase { salt: Salt::Header, .. } => Some(read_salt(from)?),
            EncSecret::Passphrase { salt: Salt::Given(salt), .. } => Some(*salt),
            _ => None,
        };
        let (key, iv) = self.secret.derive(self.cipher, salt)?;
        match self.cipher.mode() {
            EncMode::Cbc => self.cbc_decrypt(&key, block(&iv), from, to)?,
            EncMode::Ctr => self.ctr(&key, block(&iv), from, |bytes| write(to, bytes))?,
            EncMode::Gcm => {
                let mut text = self.whole(from)?;
                let len = text.len().checked_sub(GCM_TAG).ok_or(EncError::NotAuthentic)?;
                let (text, tag) = text.split_at_mut(len);
                self.gcm(&key)?.open_in_place(&iv, &[], text, tag).map_err(|_| EncError::NotAuthentic)?;
                write(to, text)?;
            }
        }
        to.flush().map_err(Error::io("write", OUTPUT))
    }

    /// Reads a piece, heeding the interrupt and telling the progress.
    fn read(&self, from: &mut impl Read, buffer: &mut [u8]) -> Result<usize, Error> {
        self.work.interrupt.check()?;
        let got = fill(from, buffer)?;
        self.work.progress.advance(got as u64);
        Ok(got)
    }

    fn raw(&self, key: &[u8]) -> Box<dyn raw::Raw> {
        raw::aes(self.isa, key).expect("the key has the length that its cipher names")
    }

    fn gcm(&self, key: &[u8]) -> Result<Box<dyn Aead>, Error> {
        Ok(gcm::by_key(self.isa, key, gcm::TagLen::T16).expect("the key has the length that its cipher names"))
    }

    fn cbc_encrypt<W: Write>(
        &self,
        key: &[u8],
        mut iv: Block,
        from: &mut impl Read,
        to: &mut Encoder<'_, W>,
    ) -> Result<(), Error> {
        let aes = self.raw(key);
        let mut piece = Zeroizing::new(vec![0; PIECE]);
        loop {
            let got = self.read(from, &mut piece)?;
            if got < PIECE {
                piece.truncate(got);
                if self.padding {
                    raw::pkcs7_pad(&mut piece);
                } else if got % BLOCK != 0 {
                    return Err(EncError::NotWholeBlocks.into());
                }
            }
            aes.cbc_encrypt(&iv, &mut piece);
            to.write(&piece)?;
            if got < PIECE {
                return Ok(());
            }
            iv = last_block(&piece);
        }
    }

    /// Keeps back one block until the input has ended: it may be padding.
    fn cbc_decrypt(&self, key: &[u8], mut iv: Block, from: &mut impl Read, to: &mut impl Write) -> Result<(), Error> {
        let aes = self.raw(key);
        let mut piece = Zeroizing::new(vec![0; BLOCK + PIECE]);
        let mut kept = 0;
        loop {
            let wanted = piece.len() - kept;
            let got = self.read(from, &mut piece[kept..])?;
            let len = kept + got;
            if got < wanted {
                if len % BLOCK != 0 {
                    return Err(EncError::Cut.into());
                }
                aes.cbc_decrypt(&iv, &mut piece[..len]);
                let text =
                    if self.padding { raw::pkcs7_unpad(&piece[..len]).map_err(|_| EncError::BadPadding)? } else { len };
                return write(to, &piece[..text]);
            }
            let (now, held) = piece.split_at_mut(len - BLOCK);
            let next = last_block(now);
            aes.cbc_decrypt(&iv, now);
            write(to, now)?;
            iv = next;
            let held = last_block(held);
            piece[..BLOCK].copy_from_slice(&held);
            kept = BLOCK;
        }
    }

    fn ctr(
        &self,
        key: &[u8],
        mut counter: Block,
        from: &mut impl Read,
        mut write: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let aes = self.raw(key);
        let mut piece = Zeroizing::new(vec![0; PIECE]);
        loop {
            let got = self.read(from, &mut piece)?;
            aes.ctr(&counter, &mut piece[..got]);
            write(&piece[..got])?;
            if got < PIECE {
                return Ok(());
            }
            raw::advance(&mut counter, (PIECE / BLOCK) as u64);
        }
    }

    /// All of the input, if it is not too much.
    fn whole(&self, from: &mut impl Read) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut whole = Zeroizing::new(Vec::new());
        let mut piece = Zeroizing::new(vec![0; PIECE]);
        loop {
            let got = self.read(from, &mut piece)?;
            whole.extend_from_slice(&piece[..got]);
            if whole.len() > GCM_LIMIT + GCM_TAG {
                return Err(EncError::TooLong.into());
            }
            if got < PIECE {
                return Ok(whole);
            }
        }
    }
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

fn last_block(bytes: &[u8]) -> Block {
    bytes.last_chunk().copied().expect("a piece has whole blocks")
}
