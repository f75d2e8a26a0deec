//! A message in OpenSSL's steps: init, associated data, text, final. TLS 1.2 records are in `records`.

use std::{mem, sync::Arc};

use sealwright::{
    Aead, InPieces, Isa, Key, Pieces, Tag,
    mode::{gcm, ocb},
};
use zeroize::{Zeroize, Zeroizing, optimization_barrier};

use super::{
    ad::Ad,
    held::Held,
    reasons::{Core, Reason},
};

/// Length of the associated data of a TLS 1.2 record.
pub(super) const AD: usize = 13;

/// A mode and a key length.
#[derive(Clone, Copy)]
pub(super) struct Algorithm {
    pub(super) gcm: bool,
    pub(super) key_len: usize,
}

/// A text of at most this many bytes is sealed at once, though more of it may follow: usually it does not, and
/// beginning a message in pieces takes as long as sealing a few hundred bytes.
const WHOLE: usize = 2048;

/// The progress of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// A new nonce is needed: none was set, the last one was used, or a step failed.
    NoNonce,
    /// The nonce is set, and possibly associated data.
    Ready,
    /// Text was processed.
    Text,
    /// The message has ended.
    Ended,
}

/// The state of one EVP_CIPHER_CTX. A clone continues independently from the same state.
#[derive(Clone)]
pub(super) struct Cipher {
    pub(super) algorithm: Algorithm,
    pub(super) core: Core,
    pub(super) key: Option<(Key<32>, Arc<dyn InPieces>)>,
    pub(super) sealing: bool,
    pub(super) state: State,
    /// The nonce of the message. Protocols keep a part of it secret, so it is wiped when dropped.
    nonce: Zeroizing<[u8; 16]>,
    /// The nonce that was set, or the next one if nonces are counted.
    pub(super) iv: Zeroizing<[u8; 16]>,
    pub(super) iv_len: usize,
    /// Whether a nonce of this length is set.
    pub(super) has_iv: bool,
    /// Whether nonces are counted, after a fixed part.
    pub(super) counted: bool,
    /// When sealing, the tag of the text so far; when opening, the expected tag.
    pub(super) tag: [u8; 16],
    /// Length of the tag: OCB's, or the expected one's in GCM.
    pub(super) tag_len: usize,
    /// When opening: whether the expected tag was set.
    pub(super) expected: bool,
    ad: Ad,
    /// When sealing: the text, if it was sealed at once but more may follow.
    text: Zeroizing<Vec<u8>>,
    /// When sealing: the message, if it is in pieces.
    pieces: Option<Box<dyn Pieces>>,
    /// OCB: the end of the text, a partial block; when sealing, not yet encrypted.
    held: Held,
    /// OCB, when sealing: whether a partial last block was output.
    closed: bool,
    /// When opening: whether the text is authentic, once it was processed.
    genuine: bool,
    /// When opening: whether more text followed the first piece.
    in_many: bool,
    /// Associated data of the next TLS 1.2 record.
    pub(super) record: Option<[u8; AD]>,
}

impl Cipher {
    pub(super) fn new(algorithm: Algorithm, core: Core) -> Cipher {
        Cipher {
            algorithm,
            core,
            key: None,
            sealing: true,
            state: State::NoNonce,
            nonce: Zeroizing::default(),
            iv: Zeroizing::default(),
            iv_len: 12,
            has_iv: false,
            counted: false,
            tag: [0; 16],
            tag_len: 16,
            expected: false,
            ad: Ad::default(),
            text: Zeroizing::default(),
            pieces: None,
            held: Held::default(),
            closed: false,
            genuine: false,
            in_many: false,
            record: None,
        }
    }

    /// The key, prepared for tags of the length that is set: OCB depends on it.
    pub(super) fn prepared(&self, key: &[u8]) -> Option<(Key<32>, Arc<dyn InPieces>)> {
        let aead = match (self.algorithm.gcm, self.tag_len) {
            _ if key.len() != self.algorithm.key_len => return None,
            // A shorter tag of GCM is a prefix of the full one.
            (true, _) => gcm::pieces_by_key(Isa::best(), key, gcm::TagLen::T16),
            (false, 16) => ocb::pieces_by_key(Isa::best(), key, ocb::TagLen::T16),
            (false, 12) => ocb::pieces_by_key(Isa::best(), key, ocb::TagLen::T12),
            (false, 8) => ocb::pieces_by_key(Isa::best(), key, ocb::TagLen::T8),
            (false, _) => return None,
        };
        let mut kept = [0; 32];
        kept[..key.len()].copy_from_slice(key);
        let prepared = aead.ok().map(|aead| (Key::from(kept), aead));
        kept.zeroize();
        prepared
    }

    pub(super) fn aead(&self) -> Option<&dyn Aead> {
        self.key.as_ref().map(|(_, aead)| &**aead as &dyn Aead)
    }

    /// Begins a message. Key and nonce may be set in separate calls; `set_up` follows.
    pub(super) fn begin(&mut self, sealing: bool) {
        // The nonces counted while opening are the peer's: none of them may seal.
        if sealing && !self.sealing && self.counted {
            (self.counted, self.state) = (false, State::NoNonce);
        }
        // When opening, the expected tag may be set between two calls.
        self.expected &= !sealing;
        self.sealing = sealing;
        // A message in progress is not the start of another one, which needs a new nonce.
        if self.has_begun() {
            self.state = State::NoNonce;
        }
        self.record = None;
        self.forget();
    }

    fn forget(&mut self) {
        self.ad.clear();
        self.wipe_text();
        (self.held, self.pieces) = (Held::default(), None);
        (self.closed, self.genuine, self.in_many) = (false, false, false);
    }

    /// Keeps the memory for the next message. A text is written to empty memory only, so that growing moves nothing.
    fn wipe_text(&mut self) {
        // Not if it is empty: filling zero bytes at a dangling address takes 60 ns with AVX-512.
        if !self.text.is_empty() {
            self.text.fill(0);
            optimization_barrier(&self.text[..]);
            self.text.clear();
        }
    }

    pub(super) fn set_up(&mut self, key: Option<&[u8]>, iv: Option<&[u8]>) -> bool {
        if let Some(iv) = iv {
            if iv.len() != self.iv_len {
                return false;
            }
            self.iv[..iv.len()].copy_from_slice(iv);
            (self.has_iv, self.counted) = (true, false);
            // Set in the same call, it would be sealed under this nonce, and then a text as well.
            self.record = None;
            self.renew();
        }
        if let Some(key) = key {
            self.key = self.prepared(key);
        }
        key.is_none() || self.key.is_some()
    }

    /// After a failed step, nothing of the message can be used; nor can the old key, if another was given.
    pub(super) fn fail(&mut self, with_key: bool) -> bool {
        self.state = State::NoNonce;
        self.forget();
        if with_key {
            self.key = None;
        }
        false
    }

    /// A refused step. A text that lacks a piece gets no tag, and no tag is valid for it.
    pub(super) fn refuse(&mut self) -> bool {
        self.state == State::Text && self.fail(false)
    }

    /// `len` bytes of text that are not processed, for which `due` zeros are output. When opening, text after a first
    /// piece is accepted all the same: `BIO_f_cipher`, and so `openssl cms`, treats a failure here as the end of the
    /// text, and then nobody asks `end` whether it is authentic.
    pub(super) fn miss(&mut self, len: usize, due: usize) -> bool {
        if self.sealing {
            return self.refuse();
        }
        if self.state == State::Text {
            self.held = Held::zeros(self.held.len() + len - due);
            (self.genuine, self.in_many) = (false, true);
        }
        self.state == State::Text
    }

    /// Begins a new message under the nonce `iv`.
    pub(super) fn renew(&mut self) {
        self.forget();
        *self.nonce = *self.iv;
        self.state = State::Ready;
    }

    pub(super) fn has_begun(&self) -> bool {
        matches!(self.state, State::Text | State::Ended) || !self.ad.is_empty()
    }

    /// Whether the nonce may be changed, which is so only between messages.
    pub(super) fn between_messages(&self) -> bool {
        self.key.is_some() && (self.state == State::Ended || !self.has_begun())
    }

    /// Adds associated data. If they come too early or too late, the message fails, because it is not the intended one.
    /// A message that has ended is unchanged.
    pub(super) fn add_ad(&mut self, ad: &[u8]) -> bool {
        let in_time = self.state == State::Ready && self.key.is_some();
        if in_time && self.ad.add(ad).is_ok() {
            return true;
        }
        self.core.tell(if in_time { Reason::Memory } else { Reason::Ad });
        self.state != State::Ended && self.fail(false)
    }

    /// How many bytes are output for `len` bytes of text: OCB holds back a partial block, because the text may
    /// continue.
    pub(super) fn due(&self, len: usize) -> Option<usize> {
        let all = self.held.len().checked_add(len)?;
        Some(if self.algorithm.gcm { all } else { all - all % 16 })
    }

    /// What is held back if `due` bytes are output and `rest` follows them.
    pub(super) fn kept_back(&self, due: usize, rest: &[u8]) -> Held {
        Held::of(if due == 0 { &self.held[..] } else { &[] }, rest)
    }

    /// How many bytes of the text so far are still to be output.
    pub(super) fn left(&self) -> usize {
        self.held.len()
    }

    /// Why no text is accepted, if it is not.
    pub(super) fn refuses_text(&self) -> Option<Reason> {
        match self.state {
            _ if self.key.is_none() => Some(Reason::NoKey),
            // Only authentic text is output: the tag must be known, and the text must be passed in one piece.
            State::Ready => (!self.sealing && !self.expected).then_some(Reason::LateTag),
            State::Text if !self.sealing => Some(Reason::Pieces),
            // Nothing can follow a partial block that was output.
            State::Text => self.closed.then_some(Reason::Behind),
            State::NoNonce | State::Ended => Some(Reason::NoIv),
        }
    }

    /// Seals or opens a piece of text. `out` holds its start, after what was held back before, and receives the output;
    /// `end` is the rest, less than a block.
    pub(super) fn add(&mut self, out: &mut [u8], end: Held) -> bool {
        // Whatever happens below, the nonce is used.
        let state = mem::replace(&mut self.state, State::NoNonce);
        self.held = end;
        let done = if self.sealing { self.seal(state, out) } else { self.open(out) };
        if done.is_none() {
            out.fill(0);
            return self.fail(false);
        }
        self.state = State::Text;
        true
    }

    fn seal(&mut self, state: State, out: &mut [u8]) -> Option<()> {
        if state == State::Ready && self.held.is_empty() && out.len() <= WHOLE {
            self.text.extend_from_slice(out);
            let tag = self.aead()?.seal_in_place(&self.nonce[..self.iv_len], &self.ad, out).ok()?;
            self.keep_tag(&tag);
            return Some(());
        }
        self.in_pieces()?.seal(out).ok()
    }

    /// The message in pieces. If all of it so far was sealed at once, it is sealed again in pieces.
    fn in_pieces(&mut self) -> Option<&mut Box<dyn Pieces>> {
        if self.pieces.is_none() {
            let (_, key) = self.key.as_ref()?;
            let mut message = key.clone().begin(&self.nonce[..self.iv_len], &self.ad).ok()?;
            message.seal(&mut self.text).ok()?;
            self.wipe_text();
            self.pieces = Some(message);
        }
        self.pieces.as_mut()
    }

    /// `end` reports that the text is not authentic, as programs expect; the text is all zero.
    fn open(&mut self, out: &mut [u8]) -> Option<()> {
        let (gcm, nonce, tag) = (self.algorithm.gcm, &self.nonce[..self.iv_len], &self.tag[..self.tag_len]);
        let (_, aead) = self.key.as_ref()?;
        if self.held.is_empty() {
            self.genuine = open(&**aead, gcm, nonce, &self.ad, out, tag);
            return Some(());
        }
        let mut whole = Zeroizing::new(Vec::new());
        if whole.try_reserve_exact(out.len() + self.held.len()).is_err() {
            self.core.tell(Reason::Memory);
            return None;
        }
        whole.extend_from_slice(out);
        whole.extend_from_slice(&self.held);
        self.genuine = open(&**aead, gcm, nonce, &self.ad, &mut whole, tag);
        let (front, end) = whole.split_at(out.len());
        out.copy_from_slice(front);
        self.held.copy_from_slice(end);
        Some(())
    }

    /// Outputs what was held back.
    pub(super) fn give(&mut self, out: &mut [u8]) {
        out.copy_from_slice(&self.held);
        self.held = Held::default();
    }

    /// What was held back is the end of the text: from here on, `held` is what remains to be output.
    pub(super) fn close(&mut self) -> bool {
        let mut held = mem::take(&mut self.held);
        let sealed = held.is_empty() || !self.sealing || self.in_pieces().is_some_and(|to| to.seal(&mut held).is_ok());
        if !sealed {
            return self.fail(false);
        }
        self.closed |= self.sealing && !held.is_empty();
        self.held = held;
        true
    }

    fn keep_tag(&mut self, tag: &Tag) {
        self.tag[..tag.as_ref().len()].copy_from_slice(tag.as_ref());
    }

    /// Ends the message; returns whether its tag was computed, or is valid. Then `left` bytes remain to be output.
    pub(super) fn end(&mut self) -> bool {
        if self.state == State::Ready {
            if let Some(reason) = self.refuses_text() {
                self.core.tell(reason);
                return false;
            }
            self.add(&mut [], Held::default());
        }
        if self.state != State::Text || !self.close() {
            return false;
        }
        if let Some(message) = self.pieces.take() {
            self.keep_tag(&message.finish());
        }
        self.state = State::Ended;
        self.wipe_text();
        if self.in_many {
            self.core.tell(Reason::Pieces);
        }
        // The expected tag is for one message only.
        let opened = !self.sealing && mem::take(&mut self.expected) && self.genuine;
        self.sealing || opened || self.fail(false)
    }
}

/// Opens `text` in place if its tag is valid. GCM computes full tags: a shorter one is a prefix.
fn open(aead: &dyn InPieces, gcm: bool, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> bool {
    if aead.tag_len() == tag.len() {
        return aead.open_in_place(nonce, ad, text, tag).is_ok();
    }
    // Counter mode is its own inverse. Sealing the ciphertext gives the plaintext. Sealing that gives the ciphertext
    // with the full tag and, if the tag is valid, it is sealed once more to get the plaintext again. A copy instead
    // would need memory.
    let mut seal = || aead.seal_in_place(nonce, ad, text);
    let genuine = gcm && seal().is_ok() && seal().is_ok_and(|whole: Tag| whole.begins_with(tag)) && seal().is_ok();
    if !genuine {
        text.fill(0);
    }
    genuine
}
