//! The parameters of a context: queries and settings.

use super::{
    cipher::{Cipher, State},
    params::Param,
    reasons::Reason,
};

/// The shortest tag of GCM, in bytes: shorter ones are too easy to forge.
const LEAST_TAG: usize = 12;

impl Cipher {
    pub(super) fn get(&mut self, param: &mut Param) -> bool {
        match param.key() {
            b"keylen" => self.told(param, self.algorithm.key_len),
            b"ivlen" => self.told(param, self.iv_len),
            b"taglen" => self.told(param, self.tag_len),
            b"tlsaadpad" => self.told(param, 16),
            b"iv" | b"updated-iv" => self.has_iv && param.set_bytes(&self.iv[..self.iv_len]),
            b"tag" if !self.sealing || self.state != State::Ended => self.refused(Reason::NoTag),
            // A shorter tag of GCM is a prefix of the full one, and opens if it is long enough; tags of OCB have the
            // length that is set.
            b"tag" => {
                let whole = if self.algorithm.gcm { 16 } else { self.tag_len };
                let least = if self.algorithm.gcm { LEAST_TAG } else { whole };
                let len = if param.asks() { whole } else { param.len() };
                match (least..=whole).contains(&len) {
                    true => param.set_bytes(&self.tag[..len]),
                    false => self.refused(Reason::TagLen),
                }
            }
            b"tlsivgen" => self.next_nonce(param),
            _ => true,
        }
    }

    pub(super) fn set(&mut self, param: &Param) -> bool {
        match param.key() {
            b"keylen" => match param.get_number() {
                Some(len) => len == self.algorithm.key_len || self.refused(Reason::KeyLen),
                None => self.refused(Reason::Number),
            },
            b"ivlen" => match param.get_number() {
                Some(len) if (1..=if self.algorithm.gcm { 16 } else { 15 }).contains(&len) => {
                    if len != self.iv_len {
                        (self.iv_len, self.state, self.counted) = (len, State::NoNonce, false);
                        self.has_iv = false;
                    }
                    true
                }
                Some(_) => self.refused(Reason::IvLen),
                None => self.refused(Reason::Number),
            },
            b"tag" => self.set_tag(param),
            b"tlsaad" => param.get_bytes().and_then(|ad| ad.try_into().ok()).is_some_and(|ad| self.set_record(ad)),
            b"tlsivfixed" => self.set_fixed(param),
            b"tlsivinv" => param.get_bytes().is_some_and(|invocation| self.set_invocation(invocation)),
            _ => true,
        }
    }

    fn told(&self, param: &mut Param, len: usize) -> bool {
        param.set_number(len) || self.refused(Reason::Number)
    }

    fn refused(&self, reason: Reason) -> bool {
        self.core.tell(reason);
        false
    }

    fn set_tag(&mut self, param: &Param) -> bool {
        let len = param.len();
        let Some(tag) = param.get_bytes() else {
            // A length without a tag: the key is prepared for it again. A message that has begun keeps its length.
            let fits = !self.algorithm.gcm && param.asks() && [8, 12, 16].contains(&len);
            if !fits || len == self.tag_len {
                return fits;
            }
            if self.has_begun() && self.state != State::Ended {
                return false;
            }
            (self.tag_len, self.expected) = (len, false);
            if self.state == State::Ended {
                self.state = State::NoNonce;
            }
            let Some((key, _)) = self.key.take() else { return true };
            self.key = self.prepared(&key.expose()[..self.algorithm.key_len]);
            return self.key.is_some();
        };
        let fits = if self.algorithm.gcm { (LEAST_TAG..=16).contains(&len) } else { len == self.tag_len };
        if !fits {
            return self.refused(Reason::TagLen);
        }
        // The text was opened with the tag that was set before.
        if self.sealing || self.state == State::Text {
            return false;
        }
        self.tag[..len].copy_from_slice(tag);
        (self.tag_len, self.expected) = (len, true);
        true
    }
}
