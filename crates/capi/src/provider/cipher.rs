//! A message on its way through OpenSSL's steps: init, associated data, text, final; or a record of TLS 1.2 in one step.

use sealwright::{
    Aead, Isa, Key,
    mode::{gcm, ocb},
};
use zeroize::{Zeroize, Zeroizing};

use super::params::Param;

/// Which mode under which length of key.
#[derive(Clone, Copy)]
pub(super) struct Algorithm {
    pub(super) gcm: bool,
    pub(super) key_len: usize,
}

/// The longest text that may come in several pieces: they are kept until the end, because the tag is over all of them.
const PIECES: usize = 16 << 20;
/// Bytes of a nonce that a record of TLS 1.2 carries, and of its associated data.
const EXPLICIT: usize = 8;
const TLS_AD: usize = 13;

/// The state of one EVP_CIPHER_CTX.
pub(super) struct Cipher {
    pub(super) algorithm: Algorithm,
    key: Option<(Key<32>, Box<dyn Aead>)>,
    sealing: bool,
    iv: [u8; 16],
    iv_len: usize,
    /// Whether `iv` has served no message yet.
    iv_fresh: bool,
    tag: [u8; 16],
    tag_len: usize,
    /// Sealing: the tag is that of the message. Opening: it is the one to expect.
    tag_set: bool,
    ad: Vec<u8>,
    /// The text sealed so far.
    text: Zeroizing<Vec<u8>>,
    /// Opening: whether the text was authentic, once it came.
    genuine: Option<bool>,
    /// Associated data of the record of TLS 1.2 that comes next.
    record: Option<[u8; TLS_AD]>,
}

impl Cipher {
    pub(super) fn new(algorithm: Algorithm) -> Cipher {
        Cipher {
            algorithm,
            key: None,
            sealing: true,
            iv: [0; 16],
            iv_len: 12,
            iv_fresh: false,
            tag: [0; 16],
            tag_len: 16,
            tag_set: false,
            ad: Vec::new(),
            text: Zeroizing::default(),
            genuine: None,
            record: None,
        }
    }

    /// The same key and settings, for a message of its own.
    pub(super) fn duplicate(&self) -> Option<Cipher> {
        let mut copy = Cipher::new(self.algorithm);
        if let Some((key, _)) = &self.key {
            copy.set_key(&key.expose()[..self.algorithm.key_len]).then_some(())?;
        }
        (copy.sealing, copy.iv, copy.iv_len, copy.iv_fresh) = (self.sealing, self.iv, self.iv_len, self.iv_fresh);
        (copy.tag, copy.tag_len, copy.tag_set) = (self.tag, self.tag_len, self.tag_set);
        (copy.ad, copy.text, copy.genuine) = (self.ad.clone(), self.text.clone(), self.genuine);
        copy.record = self.record;
        Some(copy)
    }

    fn set_key(&mut self, key: &[u8]) -> bool {
        let aead = match (self.algorithm.gcm, self.tag_len) {
            _ if key.len() != self.algorithm.key_len => return false,
            // Shorter tags of GCM are the front of the whole one.
            (true, _) => gcm::by_key(Isa::best(), key, gcm::TagLen::T16),
            (false, 16) => ocb::by_key(Isa::best(), key, ocb::TagLen::T16),
            (false, 12) => ocb::by_key(Isa::best(), key, ocb::TagLen::T12),
            (false, 8) => ocb::by_key(Isa::best(), key, ocb::TagLen::T8),
            (false, _) => return false,
        };
        let mut kept = [0; 32];
        kept[..key.len()].copy_from_slice(key);
        self.key = aead.ok().map(|aead| (Key::from(kept), aead));
        kept.zeroize();
        self.key.is_some()
    }

    /// Begins a message; key and IV may come in calls of their own.
    pub(super) fn init(&mut self, sealing: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> bool {
        // The tag to expect may be set between two calls; the tag that was made is none to expect.
        if sealing || self.sealing {
            self.tag_set = false;
        }
        self.sealing = sealing;
        self.ad.clear();
        self.text.clear();
        (self.genuine, self.record) = (None, None);
        if let Some(iv) = iv {
            if iv.len() != self.iv_len {
                return false;
            }
            self.iv[..iv.len()].copy_from_slice(iv);
            self.iv_fresh = true;
        }
        key.is_none_or(|key| self.set_key(key))
    }

    pub(super) fn add_ad(&mut self, ad: &[u8]) -> bool {
        let early = self.text.is_empty() && self.genuine.is_none();
        if early {
            self.ad.extend_from_slice(ad);
        }
        early
    }

    fn aead(&self) -> Option<&dyn Aead> {
        self.key.as_ref().map(|(_, aead)| &**aead)
    }

    /// Seals or opens the text in `out`.
    pub(super) fn piece(&mut self, out: &mut [u8]) -> bool {
        if self.record.is_some() {
            return false;
        }
        if self.sealing { self.seal_piece(out) } else { self.open_piece(out) }
    }

    fn seal_piece(&mut self, out: &mut [u8]) -> bool {
        let before = self.text.len();
        // The first piece is most often all of the text. Others are sealed with all that came before: the last tag is the message's.
        if !(self.iv_fresh || before > 0) || (before > 0 && before + out.len() > PIECES) {
            return false;
        }
        if before <= PIECES {
            self.text.extend_from_slice(out);
        }
        self.iv_fresh = false;
        let mut all = (before > 0).then(|| self.text.clone());
        let Some((_, aead)) = &self.key else { return false };
        let sealed =
            aead.seal_in_place(&self.iv[..self.iv_len], &self.ad, all.as_deref_mut().map_or(&mut *out, |all| all));
        if let Some(all) = &all {
            out.copy_from_slice(&all[before..]);
        }
        self.keep_tag(sealed)
    }

    fn keep_tag<E>(&mut self, sealed: Result<sealwright::Tag, E>) -> bool {
        self.tag_set = sealed.is_ok();
        if let Ok(tag) = sealed {
            self.tag[..tag.as_ref().len()].copy_from_slice(tag.as_ref());
        }
        self.tag_set
    }

    /// Nothing is given out that is not authentic: the tag must be known, and the text come whole.
    fn open_piece(&mut self, out: &mut [u8]) -> bool {
        if !self.tag_set || !self.iv_fresh || self.genuine.is_some() {
            return false;
        }
        let Some(aead) = self.aead() else { return false };
        let genuine = open(aead, self.tag_len, &self.iv[..self.iv_len], &self.ad, out, &self.tag[..self.tag_len]);
        (self.iv_fresh, self.genuine) = (false, Some(genuine));
        // That it is not authentic is told by `end`, as programs expect; the text is all zero.
        true
    }

    /// Ends the message: whether its tag is made, or holds.
    pub(super) fn end(&mut self) -> bool {
        let done = match (self.sealing, self.tag_set, self.genuine) {
            (true, true, _) => true,
            (true, false, _) => self.seal_piece(&mut []),
            (false, _, None) => self.open_piece(&mut []) && self.genuine == Some(true),
            (false, _, Some(genuine)) => genuine,
        };
        self.text.clear();
        if !self.sealing {
            self.tag_set = false;
        }
        done
    }

    /// A record of TLS 1.2 in `record`: the explicit nonce, the text, the tag. Returns the length of what is in it then.
    pub(super) fn tls_record(&mut self, record: &mut [u8]) -> Option<usize> {
        let ad = self.record.take()?;
        let text_len = record.len().checked_sub(EXPLICIT + 16)?;
        let (explicit, rest) = record.split_at_mut(EXPLICIT);
        let (text, tag) = rest.split_at_mut(text_len);
        if self.sealing {
            explicit.copy_from_slice(&self.iv[4..12]);
        } else {
            self.iv[4..12].copy_from_slice(explicit);
        }
        let nonce: [u8; 12] = self.iv[..12].try_into().ok()?;
        if self.sealing {
            // Counted first: no nonce comes twice, whatever happens below.
            let next = u64::from_be_bytes(explicit.try_into().ok()?).wrapping_add(1);
            self.iv[4..12].copy_from_slice(&next.to_be_bytes());
            tag.copy_from_slice(self.aead()?.seal_in_place(&nonce, &ad, text).ok()?.as_ref());
            return Some(record.len());
        }
        self.aead()?.open_in_place(&nonce, &ad, text, tag).ok()?;
        Some(text_len)
    }

    pub(super) fn in_record(&self) -> bool {
        self.record.is_some()
    }

    pub(super) fn get(&self, param: &mut Param) -> bool {
        match param.key() {
            b"keylen" => param.set_number(self.algorithm.key_len),
            b"ivlen" => param.set_number(self.iv_len),
            b"taglen" => param.set_number(self.tag_len),
            b"tlsaadpad" => param.set_number(16),
            b"iv" | b"updated-iv" => param.set_bytes(&self.iv[..self.iv_len]),
            // A shorter tag is the front of the whole one.
            b"tag" => {
                let len = param.len();
                self.sealing && self.tag_set && len <= self.tag_len && param.set_bytes(&self.tag[..len])
            }
            _ => true,
        }
    }

    pub(super) fn set(&mut self, param: &mut Param) -> bool {
        match param.key() {
            b"keylen" => param.get_number() == Some(self.algorithm.key_len),
            b"ivlen" => match param.get_number() {
                Some(len) if (1..=if self.algorithm.gcm { 16 } else { 15 }).contains(&len) => {
                    self.iv_fresh &= len == self.iv_len;
                    self.iv_len = len;
                    true
                }
                _ => false,
            },
            b"tag" => self.set_tag(param),
            b"tlsaad" => param.get_bytes().and_then(|ad| ad.try_into().ok()).is_some_and(|ad| self.set_record(ad)),
            b"tlsivfixed" => match param.get_bytes() {
                Some(fixed) => self.set_fixed(fixed),
                None => false,
            },
            _ => true,
        }
    }

    fn set_tag(&mut self, param: &Param) -> bool {
        let len = param.len();
        let Some(tag) = param.get_bytes() else {
            // The length alone: tags of OCB depend on it, so it comes before the key, or the key is prepared again.
            let fits = !self.algorithm.gcm && [8, 12, 16].contains(&len);
            if fits && len != self.tag_len {
                self.tag_len = len;
                let key = self.key.take();
                return key.is_none_or(|(key, _)| self.set_key(&key.expose()[..self.algorithm.key_len]));
            }
            return fits;
        };
        // Forgeries of shorter tags of GCM than 12 bytes come too easily.
        let fits = if self.algorithm.gcm { (12..=16).contains(&len) } else { len == self.tag_len };
        if !fits || self.sealing {
            return false;
        }
        self.tag[..len].copy_from_slice(tag);
        (self.tag_len, self.tag_set) = (len, true);
        true
    }

    /// The associated data of a record of TLS 1.2, whose last two bytes are the length of what comes: it becomes that of the text.
    fn set_record(&mut self, mut ad: [u8; TLS_AD]) -> bool {
        let len = usize::from(u16::from_be_bytes([ad[11], ad[12]]));
        let around = if self.sealing { EXPLICIT } else { EXPLICIT + 16 };
        let Some(text) = len.checked_sub(around) else { return false };
        ad[11..].copy_from_slice(&(text as u16).to_be_bytes());
        self.record = Some(ad);
        self.algorithm.gcm && self.iv_len == 12
    }

    /// The fixed part of the nonce of TLS 1.2; sealing, the other part begins anywhere and counts.
    fn set_fixed(&mut self, fixed: &[u8]) -> bool {
        match fixed.len() {
            // A whole nonce, as it was asked for before.
            12 => self.iv[..12].copy_from_slice(fixed),
            4 => {
                self.iv[..4].copy_from_slice(fixed);
                let Ok(start) = Key::<8>::generate() else { return false };
                self.iv[4..12].copy_from_slice(start.expose());
            }
            _ => return false,
        }
        self.algorithm.gcm && self.iv_len == 12
    }
}

/// Opens `text` in place if a tag of `len` bytes holds. GCM makes whole tags: a shorter one is the front of one.
fn open(aead: &dyn Aead, len: usize, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> bool {
    if aead.tag_len() == len {
        return aead.open_in_place(nonce, ad, text, tag).is_ok();
    }
    // Counter mode is its own inverse. Sealing the ciphertext gives the text; sealing that gives the whole tag.
    let Ok(_) = aead.seal_in_place(nonce, ad, text) else { return false };
    let mut again = Zeroizing::new(text.to_vec());
    let genuine = match aead.seal_in_place(nonce, ad, &mut again) {
        Ok(whole) => whole.as_ref().iter().zip(tag).fold(0, |differ, (ours, theirs)| differ | (ours ^ theirs)) == 0,
        Err(_) => false,
    };
    if !genuine {
        text.fill(0);
    }
    genuine
}
