//! A message on its way through OpenSSL's steps: init, associated data, text, final. Records of TLS 1.2 are in `records`.

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

/// Bytes of the associated data of a record of TLS 1.2.
pub(super) const AD: usize = 13;

/// Which mode under which length of key.
#[derive(Clone, Copy)]
pub(super) struct Algorithm {
    pub(super) gcm: bool,
    pub(super) key_len: usize,
}

/// A text of at most so many bytes is sealed at once, though more of it may come: most often it does not, and to begin a message in pieces
/// takes as long as sealing a few hundred bytes.
const WHOLE: usize = 2048;

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

/// The state of one EVP_CIPHER_CTX. A clone goes on as the other does.
#[derive(Clone)]
pub(super) struct Cipher {
    pub(super) algorithm: Algorithm,
    pub(super) core: Core,
    pub(super) key: Option<(Key<32>, Arc<dyn InPieces>)>,
    pub(super) sealing: bool,
    pub(super) state: State,
    /// The nonce of the message. Protocols keep a part of it secret, so it is wiped as this is.
    nonce: Zeroizing<[u8; 16]>,
    /// The nonce that was set, or the one that comes next where nonces are counted.
    pub(super) iv: Zeroizing<[u8; 16]>,
    pub(super) iv_len: usize,
    /// Whether there is one of this length.
    pub(super) has_iv: bool,
    /// Whether nonces are counted, from a fixed part on.
    pub(super) counted: bool,
    /// Sealing: the tag of what came. Opening: the one to expect.
    pub(super) tag: [u8; 16],
    /// Bytes of a tag: OCB's, or those to expect under GCM.
    pub(super) tag_len: usize,
    /// Opening: whether the tag to expect was set.
    pub(super) expected: bool,
    ad: Ad,
    /// Sealing: the text, if it was sealed as a whole but more may come.
    text: Zeroizing<Vec<u8>>,
    /// Sealing: the message, once it comes in pieces.
    pieces: Option<Box<dyn Pieces>>,
    /// OCB: the end of the text, of a block that is not whole; sealing, before it is encrypted.
    held: Held,
    /// OCB, sealing: whether a last block was given out that is not whole.
    closed: bool,
    /// Opening: whether the text is authentic, once it came.
    genuine: bool,
    /// Opening: whether more came behind the first piece of the text.
    in_many: bool,
    /// Associated data of the record of TLS 1.2 that comes next.
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

    /// A key, for tags of the length that is set: those of OCB depend on it.
    pub(super) fn prepared(&self, key: &[u8]) -> Option<(Key<32>, Arc<dyn InPieces>)> {
        let aead = match (self.algorithm.gcm, self.tag_len) {
            _ if key.len() != self.algorithm.key_len => return None,
            // Shorter tags of GCM are the front of the whole one.
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
        self.wipe_text();
        (self.held, self.pieces) = (Held::default(), None);
        (self.closed, self.genuine, self.in_many) = (false, false, false);
    }

    /// Keeps the memory, for the next message. A text is put where nothing is, so that memory that grows moves none of it.
    fn wipe_text(&mut self) {
        // Not if there is none: to fill no bytes of a vector without memory takes 60 ns with AVX-512, since its address is none.
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

    /// A step that is not done. A text that misses a piece gets no tag, and none holds for it.
    pub(super) fn refuse(&mut self) -> bool {
        self.state == State::Text && self.fail(false)
    }

    /// `len` bytes of text that are not taken, for which `due` zeros go out. To open, what comes behind a first piece is let pass all the same:
    /// `BIO_f_cipher`, and so `openssl cms`, takes a failure here for the end of the text, and then nobody asks `end` whether it is authentic.
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

    /// A new message, whose nonce is `iv`.
    pub(super) fn renew(&mut self) {
        self.forget();
        *self.nonce = *self.iv;
        self.state = State::Ready;
    }

    pub(super) fn has_begun(&self) -> bool {
        matches!(self.state, State::Text | State::Ended) || !self.ad.is_empty()
    }

    /// That the nonce may change: not while a message is on its way.
    pub(super) fn between_messages(&self) -> bool {
        self.key.is_some() && (self.state == State::Ended || !self.has_begun())
    }

    /// Where they come too early or too late, the message is not the one that was meant. One that has ended stays as it is.
    pub(super) fn add_ad(&mut self, ad: &[u8]) -> bool {
        let in_time = self.state == State::Ready && self.key.is_some();
        if in_time && self.ad.add(ad).is_ok() {
            return true;
        }
        self.core.tell(if in_time { Reason::Memory } else { Reason::Ad });
        self.state != State::Ended && self.fail(false)
    }

    /// How many bytes are given out when `len` bytes of text come: OCB keeps back a block that is not whole, as the text may go on.
    pub(super) fn due(&self, len: usize) -> Option<usize> {
        let all = self.held.len().checked_add(len)?;
        Some(if self.algorithm.gcm { all } else { all - all % 16 })
    }

    /// What is kept back if `due` bytes are given out, and `rest` is what comes behind them.
    pub(super) fn kept_back(&self, due: usize, rest: &[u8]) -> Held {
        Held::of(if due == 0 { &self.held[..] } else { &[] }, rest)
    }

    /// How many bytes of what came are still to be given out.
    pub(super) fn left(&self) -> usize {
        self.held.len()
    }

    /// Why no text may come, if it may not.
    pub(super) fn refuses_text(&self) -> Option<Reason> {
        match self.state {
            _ if self.key.is_none() => Some(Reason::NoKey),
            // Nothing is given out that is not authentic: the tag must be known, and the text come whole.
            State::Ready => (!self.sealing && !self.expected).then_some(Reason::LateTag),
            State::Text if !self.sealing => Some(Reason::Pieces),
            // Behind a block that is not whole and was given out, nothing can come.
            State::Text => self.closed.then_some(Reason::Behind),
            State::NoNonce | State::Ended => Some(Reason::NoIv),
        }
    }

    /// Seals or opens a piece of text. Its front is in `out`, behind what was kept back before, to be replaced by what is given out; `end` is
    /// the rest, less than a block.
    pub(super) fn add(&mut self, out: &mut [u8], end: Held) -> bool {
        // Whatever happens below, the nonce has served.
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

    /// The message in pieces. If all of it so far was sealed as a whole, it goes through once more.
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

    /// That the text is not authentic is told by `end`, as programs expect; it is all zero.
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

    /// Gives out what was kept back.
    pub(super) fn give(&mut self, out: &mut [u8]) {
        out.copy_from_slice(&self.held);
        self.held = Held::default();
    }

    /// What was kept back is the end of the text: from here on `held` is what is to be given out.
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

    /// Ends the message: whether its tag is made, or holds. Then `left` bytes are to be given out.
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
        // It is one message's.
        let opened = !self.sealing && mem::take(&mut self.expected) && self.genuine;
        self.sealing || opened || self.fail(false)
    }
}

/// Opens `text` in place if its tag holds. GCM makes whole tags: a shorter one is the front of one.
fn open(aead: &dyn InPieces, gcm: bool, nonce: &[u8], ad: &[u8], text: &mut [u8], tag: &[u8]) -> bool {
    if aead.tag_len() == tag.len() {
        return aead.open_in_place(nonce, ad, text, tag).is_ok();
    }
    // Counter mode is its own inverse. Sealing the ciphertext gives the text; sealing that gives the ciphertext, with the whole tag; and
    // if that holds, the text again. A copy instead would want memory.
    let mut seal = || aead.seal_in_place(nonce, ad, text);
    let holds = |whole: Tag| whole.as_ref().iter().zip(tag).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0;
    let genuine = gcm && seal().is_ok() && seal().is_ok_and(holds) && seal().is_ok();
    if !genuine {
        text.fill(0);
    }
    genuine
}
