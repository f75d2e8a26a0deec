//! Counted nonces: those of TLS 1.2 records, each of which is sealed or opened in one step, and those of programs like
//! OpenSSH, which request one after the other.

use sealwright::Key;
use zeroize::Zeroizing;

use super::{
    cipher::{AD, Cipher},
    params::Param,
};

/// Length of the nonce's fixed part, and of the counted part, which a record contains.
const FIXED: usize = 4;
const COUNTED: usize = 8;

impl Cipher {
    /// Processes a TLS 1.2 record in `record`: explicit nonce, text, tag. Returns the length of the result in it.
    pub(super) fn tls_record(&mut self, record: &mut [u8]) -> Option<usize> {
        let ad = self.record.take()?;
        let text_len = record.len().checked_sub(COUNTED + 16)?;
        let (explicit, rest) = record.split_at_mut(COUNTED);
        let (text, tag) = rest.split_at_mut(text_len);
        if self.sealing {
            explicit.copy_from_slice(&self.iv[FIXED..12]);
        } else {
            self.iv[FIXED..12].copy_from_slice(explicit);
        }
        let nonce = Zeroizing::new(<[u8; 12]>::try_from(&self.iv[..12]).ok()?);
        if self.sealing {
            // Counted first: no nonce repeats, whatever happens below. Nor does one that was set before serve after it.
            self.count();
            self.fail(false);
            tag.copy_from_slice(self.aead()?.seal_in_place(&nonce[..], &ad, text).ok()?.as_ref());
            return Some(record.len());
        }
        self.aead()?.open_in_place(&nonce[..], &ad, text, tag).ok()?;
        Some(text_len)
    }

    fn count(&mut self) {
        for byte in self.iv[FIXED..12].iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
    }

    /// Whether nonces can be counted: GCM with nonces of 12 bytes.
    fn counts(&self) -> bool {
        self.algorithm.gcm && self.iv_len == FIXED + COUNTED
    }

    /// Sets the associated data of a record, whose last two bytes are the length of its payload; they are replaced by
    /// the length of the text.
    pub(super) fn set_record(&mut self, mut ad: [u8; AD]) -> bool {
        let len = usize::from(u16::from_be_bytes([ad[11], ad[12]]));
        let around = if self.sealing { COUNTED } else { COUNTED + 16 };
        let Some(text) = len.checked_sub(around) else { return false };
        ad[11..].copy_from_slice(&(text as u16).to_be_bytes());
        let ready = self.counts() && self.counted;
        self.record = ready.then_some(ad);
        ready
    }

    /// Sets the fixed part of the nonce; when sealing, the other part starts at a random number and is counted.
    /// Alternatively, sets a whole nonce to count from.
    pub(super) fn set_fixed(&mut self, param: &Param) -> bool {
        if !self.counts() {
            return false;
        }
        let whole = [usize::MAX, 12].contains(&param.len());
        let Some(fixed) = param.get_front(if whole { 12 } else { FIXED }) else { return false };
        if !whole && param.len() != FIXED {
            return false;
        }
        self.iv[..fixed.len()].copy_from_slice(fixed);
        if !whole && self.sealing {
            let Ok(start) = Key::<COUNTED>::generate() else { return false };
            self.iv[FIXED..12].copy_from_slice(start.expose());
        }
        (self.has_iv, self.counted) = (true, true);
        // A nonce that was set before is discarded; this is the first counted one.
        self.fail(false);
        true
    }

    /// The next message uses the next nonce. The caller receives the last bytes of it, as many as it has room for; all
    /// of it if it states 0.
    pub(super) fn next_nonce(&mut self, param: &mut Param) -> bool {
        if !self.counts() || !self.counted || !self.between_messages() {
            return false;
        }
        let told = match param.len().min(12) {
            0 => param.set_whole(&self.iv[..12]),
            len => !param.asks() && param.set_bytes(&self.iv[12 - len..12]),
        };
        if !told {
            return false;
        }
        self.renew();
        self.count();
        true
    }

    /// When opening: the next message uses this nonce after the fixed part.
    pub(super) fn set_invocation(&mut self, invocation: &[u8]) -> bool {
        if !self.counts() || !self.counted || self.sealing || !self.between_messages() || invocation.len() > 12 {
            return false;
        }
        self.iv[12 - invocation.len()..12].copy_from_slice(invocation);
        self.renew();
        true
    }
}
