//! A message on its way through OpenSSL's steps: init, associated data, text, final. Records of TLS 1.2 are in `records`.

use sealwright::{
    Aead, Isa, Key, Tag,
    mode::{gcm, ocb},
    raw,
};
use zeroize::{Zeroize, Zeroizing};

/// Bytes of the associated data of a record of TLS 1.2.
pub(super) const AD: usize = 13;

/// Which mode under which length of key.
#[derive(Clone, Copy)]
pub(super) struct Algorithm {
    pub(super) gcm: bool,
    pub(super) key_len: usize,
}

/// The longest text that may come in several pieces: they are kept until the end, because the tag is over all of them.
const PIECES: usize = 16 << 20;

/// How far a message is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It needs a new nonce: there was none yet, the one before has served, or a step failed.
    NoNonce,
    /// Nonce and, maybe, associated data are there.
    Ready,
    /// Text came.
    Text,
    /// It has ended.
    Ended,
}

/// The state of one EVP_CIPHER_CTX.
pub(super) struct Cipher {
    pub(super) algorithm: Algorithm,
    pub(super) key: Option<(Key<32>, Box<dyn Aead>)>,
    pub(super) sealing: bool,
    pub(super) state: State,
    /// The nonce of the message.
    nonce: [u8; 16],
    /// The nonce that was set, or the one that comes next where nonces are counted.
    pub(super) iv: [u8; 16],
    pub(super) iv_len: usize,
    /// Whether nonces are counted, from a fixed part on.
    pub(super) counted: bool,
    /// Sealing: the tag of what came. Opening: the one to expect.
    pub(super) tag: [u8; 16],
    /// Bytes of a tag: OCB's, or those to expect under GCM.
    pub(super) tag_len: usize,
    /// Opening: whether the tag to expect was set.
    pub(super) expected: bool,
    ad: Vec<u8>,
    /// Sealing: the text so far, if more may come.
    text: Zeroizing<Vec<u8>>,
    /// What is given out of `text`, or of a text that is opened, if it was not made where it goes.
    made: Zeroizing<Vec<u8>>,
    /// Bytes of text that came, and that were given out.
    came: usize,
    given: usize,
    /// Opening: whether the text is authentic, once it came.
    genuine: bool,
    /// Sealing: whether `tag` is that of all that came; otherwise the end makes it.
    tagged: bool,
    /// Associated data of the record of TLS 1.2 that comes next.
    pub(super) record: Option<[u8; AD]>,
}

impl Cipher {
    pub(super) fn new(algorithm: Algorithm) -> Cipher {
        Cipher {
            algorithm,
            key: None,
            sealing: true,
            state: State::NoNonce,
            nonce: [0; 16],
            iv: [0; 16],
            iv_len: 12,
            counted: false,
            tag: [0; 16],
            tag_len: 16,
            expected: false,
            ad: Vec::new(),
            text: Zeroizing::default(),
            made: Zeroizing::default(),
            came: 0,
            given: 0,
            genuine: false,
            tagged: true,
            record: None,
        }
    }

    /// The same in every part, so that both go on alike. Every field is named: one that is added cannot be forgotten here.
    pub(super) fn duplicate(&self) -> Option<Cipher> {
        let key = match &self.key {
            Some((key, _)) => Some(self.prepared(&key.expose()[..self.algorithm.key_len])?),
            None => None,
        };
        Some(Cipher {
            algorithm: self.algorithm,
            key,
            sealing: self.sealing,
            state: self.state,
            nonce: self.nonce,
            iv: self.iv,
            iv_len: self.iv_len,
            counted: self.counted,
            tag: self.tag,
            tag_len: self.tag_len,
            expected: self.expected,
            ad: self.ad.clone(),
            text: self.text.clone(),
            made: self.made.clone(),
            came: self.came,
            given: self.given,
            genuine: self.genuine,
            tagged: self.tagged,
            record: self.record,
        })
    }

    /// A key, for tags of the length that is set: those of OCB depend on it.
    pub(super) fn prepared(&self, key: &[u8]) -> Option<(Key<32>, Box<dyn Aead>)> {
        let aead = match (self.algorithm.gcm, self.tag_len) {
            _ if key.len() != self.algorithm.key_len => return None,
            // Shorter tags of GCM are the front of the whole one.
            (true, _) => gcm::by_key(Isa::best(), key, gcm::TagLen::T16),
            (false, 16) => ocb::by_key(Isa::best(), key, ocb::TagLen::T16),
            (false, 12) => ocb::by_key(Isa::best(), key, ocb::TagLen::T12),
            (false, 8) => ocb::by_key(Isa::best(), key, ocb::TagLen::T8),
            (false, _) => return None,
        };
        let mut kept = [0; 32];
        kept[..key.len()].copy_from_slice(key);
        let prepared = aead.ok().map(|aead| (Key::from(kept), aead));
        kept.zeroize();
        prepared
    }

    pub(super) fn aead(&self) -> Option<&dyn Aead> {
        self.key.as_ref().map(|(_, aead)| &**aead)
    }

    /// Begins a message, whose key and nonce may come in calls of their own; `set_up` follows.
    pub(super) fn begin(&mut self, sealing: bool) {
        // To open, the tag to expect may be set between two calls.
        self.expected &= !sealing;
        self.sealing = sealing;
        // One that has begun is not another's beginning.
        if self.has_begun() {
            self.state = State::NoNonce;
        }
        self.record = None;
        self.forget();
    }

    fn forget(&mut self) {
        self.ad.clear();
        self.text.clear();
        self.made.clear();
        (self.came, self.given, self.genuine, self.tagged) = (0, 0, false, true);
    }

    pub(super) fn set_up(&mut self, key: Option<&[u8]>, iv: Option<&[u8]>) -> bool {
        if let Some(iv) = iv {
            if iv.len() != self.iv_len {
                return false;
            }
            self.iv[..iv.len()].copy_from_slice(iv);
            self.counted = false;
            self.renew();
        }
        if let Some(key) = key {
            self.key = self.prepared(key);
        }
        key.is_none() || self.key.is_some()
    }

    /// After a step that failed, nothing of the message can be used; nor can the key before, if another was given.
    pub(super) fn fail(&mut self, with_key: bool) -> bool {
        self.state = State::NoNonce;
        self.forget();
        if with_key {
            self.key = None;
        }
        false
    }

    /// A text that misses a piece gets no tag, and none holds for it.
    pub(super) fn miss(&mut self) -> bool {
        self.state == State::Text && self.fail(false)
    }

    /// A new message, whose nonce is `iv`.
    pub(super) fn renew(&mut self) {
        self.forget();
        (self.nonce, self.state) = (self.iv, State::Ready);
    }

    pub(super) fn has_begun(&self) -> bool {
        matches!(self.state, State::Text | State::Ended) || !self.ad.is_empty()
    }

    /// That the nonce may change: not while a message is on its way.
    pub(super) fn between_messages(&self) -> bool {
        self.key.is_some() && (self.state == State::Ended || !self.has_begun())
    }

    pub(super) fn add_ad(&mut self, ad: &[u8]) -> bool {
        let early = self.state == State::Ready && self.key.is_some();
        if early {
            self.ad.extend_from_slice(ad);
        }
        early
    }

    /// How many bytes are given out when `len` bytes of text come: OCB keeps back a block that is not whole, as the text may go on.
    pub(super) fn due(&self, len: usize) -> usize {
        let came = self.came.saturating_add(len);
        let whole = if self.algorithm.gcm { came } else { came - came % 16 };
        whole.saturating_sub(self.given)
    }

    /// How many bytes of what came are still to be given out.
    pub(super) fn left(&self) -> usize {
        self.came - self.given
    }

    /// Whether `len` bytes of text may come; and then, whether they can be worked on where they go.
    pub(super) fn takes(&self, len: usize) -> Option<bool> {
        match self.state {
            _ if self.key.is_none() => None,
            // Nothing is given out that is not authentic: the tag must be known, and the text come whole.
            State::Ready if self.sealing || self.expected => Some(self.algorithm.gcm || len.is_multiple_of(16)),
            // Behind a block that was given out as the last one, nothing can come.
            State::Text if self.sealing && (self.algorithm.gcm || self.given.is_multiple_of(16)) => {
                (self.came.checked_add(len)? <= PIECES).then_some(false)
            }
            _ => None,
        }
    }

    /// Seals or opens, in `out`, a text of which most often no more comes.
    pub(super) fn in_place(&mut self, out: &mut [u8]) -> bool {
        if self.sealing && out.len() <= PIECES {
            append(&mut self.text, out);
        }
        // Whatever happens below, the nonce has served.
        (self.state, self.came, self.given) = (State::NoNonce, out.len(), out.len());
        let Some((_, aead)) = &self.key else { return self.fail(false) };
        let nonce = &self.nonce[..self.iv_len];
        if self.sealing {
            let sealed = aead.seal_in_place(nonce, &self.ad, out);
            return self.keep_tag(sealed.ok());
        }
        // That it is not authentic is told by `end`, as programs expect; the text is all zero.
        self.genuine = open(&**aead, self.algorithm.gcm, nonce, &self.ad, out, &self.tag[..self.tag_len]);
        self.state = State::Text;
        true
    }

    /// Seals `text`, if need be with all that came before, or opens it; `give` gives it out. The last tag is the message's.
    pub(super) fn add(&mut self, text: &[u8]) -> bool {
        append(if self.sealing { &mut self.text } else { &mut self.made }, text);
        (self.state, self.came) = (State::NoNonce, self.came + text.len());
        let Some((_, aead)) = &self.key else { return self.fail(false) };
        let nonce = &self.nonce[..self.iv_len];
        if self.sealing {
            reserve(&mut self.made, self.came);
            self.made.resize(self.came, 0);
            self.tagged = !self.counter_mode();
            if !self.tagged {
                self.state = State::Text;
                return self.encrypt_last(text.len()).is_some() || self.fail(false);
            }
            let sealed = aead.seal_to(nonce, &self.ad, &self.text, &mut self.made);
            return self.keep_tag(sealed.ok());
        }
        self.genuine = open(&**aead, self.algorithm.gcm, nonce, &self.ad, &mut self.made, &self.tag[..self.tag_len]);
        self.state = State::Text;
        true
    }

    /// Whether what is added can be encrypted without what came before: by counter mode, where its first block is known.
    fn counter_mode(&self) -> bool {
        self.algorithm.gcm && self.iv_len == 12
    }

    /// Encrypts the last `len` bytes of the text by counter mode. The tag is left to `end`.
    fn encrypt_last(&mut self, len: usize) -> Option<()> {
        let (key, _) = self.key.as_ref()?;
        let cipher = raw::aes(Isa::best(), &key.expose()[..self.algorithm.key_len]).ok()?;
        // From the start of the block in which it begins. The first block of text has number 2; no text here has 2^32 blocks.
        let start = self.came - len;
        let aligned = start - start % 16;
        let mut counter = [0; 16];
        counter[..12].copy_from_slice(&self.nonce[..12]);
        counter[12..].copy_from_slice(&u32::try_from(aligned / 16 + 2).ok()?.to_be_bytes());
        let mut last = Zeroizing::new(self.text[aligned..].to_vec());
        cipher.ctr(&counter, &mut last);
        self.made[start..].copy_from_slice(&last[start - aligned..]);
        Some(())
    }

    pub(super) fn give(&mut self, out: &mut [u8]) {
        out.copy_from_slice(&self.made[self.given..][..out.len()]);
        self.given += out.len();
    }

    fn keep_tag(&mut self, sealed: Option<Tag>) -> bool {
        let Some(tag) = sealed else { return self.fail(false) };
        self.tag[..tag.as_ref().len()].copy_from_slice(tag.as_ref());
        self.state = State::Text;
        true
    }

    /// Ends the message: whether its tag is made, or holds. Then `left` bytes are to be given out.
    pub(super) fn end(&mut self) -> bool {
        if self.state == State::Ready && self.takes(0).is_some() {
            self.in_place(&mut []);
        }
        if self.state != State::Text {
            return false;
        }
        if !self.tagged {
            let Some((_, aead)) = &self.key else { return self.fail(false) };
            let sealed = aead.seal_in_place(&self.nonce[..self.iv_len], &self.ad, &mut self.text);
            if !self.keep_tag(sealed.ok()) {
                return false;
            }
        }
        self.state = State::Ended;
        self.text.clear();
        // It is one message's.
        let opened = !self.sealing && std::mem::take(&mut self.expected) && self.genuine;
        self.sealing || opened || self.fail(false)
    }
}

/// Puts `more` behind `kept`.
fn append(kept: &mut Zeroizing<Vec<u8>>, more: &[u8]) {
    reserve(kept, kept.len() + more.len());
    kept.extend_from_slice(more);
}

/// Room for `len` bytes in all; if that takes other memory, what was there is wiped.
fn reserve(kept: &mut Zeroizing<Vec<u8>>, len: usize) {
    if len > kept.capacity() {
        let mut larger = Zeroizing::new(Vec::with_capacity(len.max(2 * kept.capacity())));
        larger.extend_from_slice(kept);
        *kept = larger;
    }
}

/// Opens `text` in place if its tag holds. GCM makes whole tags: a shorter one is the front of one.
fn open(aead: &dyn Aead, gcm: bool, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> bool {
    if aead.tag_len() == tag.len() {
        return aead.open_in_place(nonce, ad, text, tag).is_ok();
    }
    // Counter mode is its own inverse. Sealing the ciphertext gives the text; sealing that gives the whole tag.
    if !gcm || aead.seal_in_place(nonce, ad, text).is_err() {
        text.fill(0);
        return false;
    }
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
