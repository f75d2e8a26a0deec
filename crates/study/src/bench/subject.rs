//! What can be measured: all suites, modes that are not suites because files should not be sealed with them, and TLS
//! records.

use std::{fmt, str::FromStr};

use sealwright::{
    Aead, Isa, Suite,
    block::aes2s::SecondaryKeys,
    mode::{
        cbc_hmac, gcm_siv, gscm,
        rkc::{self, Rkc, RkcHmac},
        xaes::Xaes256Gcm,
    },
};

use super::unit::Blocks;

/// The number of bytes by which a TLS 1.3 record is longer than its text: the content type and the tag.
pub(super) const RECORD_OVERHEAD: usize = 1 + 16;
/// The longest text of a record in bytes.
const LONGEST_RECORD: usize = 1 << 14;

/// A suite, or another mode that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject {
    /// A suite of the library.
    Suite(Suite),
    /// AES-128-CBC, then HMAC-SHA-256 cut to 16 bytes: A128CBC-HS256 of RFC 7518.
    Aes128CbcHmac,
    /// AES-256-CBC, then HMAC-SHA-256.
    Aes256CbcHmac,
    /// AES-128-GCM-SIV.
    Aes128GcmSiv,
    /// AES-256-GCM-SIV.
    Aes256GcmSiv,
    /// XAES-256-GCM, with nonces of 24 bytes.
    Xaes256Gcm,
    /// AES-128-CBC without authentication, whole blocks only.
    Aes128Cbc,
    /// AES-256-CBC without authentication, whole blocks only.
    Aes256Cbc,
    /// Serpent-256 in counter mode without authentication.
    Serpent256Ctr,
    /// Records of TLS 1.3 under AES-256-GCM, through rustls.
    Tls13Records,
    /// GSCM-H with a cluster key of 128 bits.
    Gscm128H,
    /// GSCM-H with a cluster key of 256 bits.
    Gscm256H,
    /// **Research only.** GSCM as printed, with a cluster key of 128 bits.
    Gscm128,
    /// **Research only.** GSCM as printed, with a cluster key of 256 bits.
    Gscm256,
    /// **Research only.** RKC-R.
    Rkc,
    /// **Research only.** RKC-R's encryption under HMAC-SHA-256.
    RkcHmac,
}

/// No subject has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownSubjectError;

impl fmt::Display for UnknownSubjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Subject::all().map(Subject::name).collect();
        write!(f, "unknown suite; known are {}", names.join(", "))
    }
}
impl std::error::Error for UnknownSubjectError {}

impl Subject {
    const BESIDE: [Subject; 15] = [
        Subject::Aes128CbcHmac,
        Subject::Aes256CbcHmac,
        Subject::Aes128GcmSiv,
        Subject::Aes256GcmSiv,
        Subject::Xaes256Gcm,
        Subject::Aes128Cbc,
        Subject::Aes256Cbc,
        Subject::Serpent256Ctr,
        Subject::Tls13Records,
        Subject::Gscm128H,
        Subject::Gscm256H,
        Subject::Gscm128,
        Subject::Gscm256,
        Subject::Rkc,
        Subject::RkcHmac,
    ];

    /// All subjects, suites first.
    pub fn all() -> impl Iterator<Item = Subject> {
        Suite::ALL.iter().copied().map(Subject::Suite).chain(Subject::BESIDE)
    }

    /// Whether it is broken, and included only for comparison.
    pub fn research_only(self) -> bool {
        matches!(self, Subject::Gscm128 | Subject::Gscm256 | Subject::Rkc | Subject::RkcHmac)
    }

    /// The name on the command line and in rows.
    pub fn name(self) -> &'static str {
        match self {
            Subject::Suite(suite) => suite.name(),
            Subject::Aes128CbcHmac => "aes-128-cbc-hmac",
            Subject::Aes256CbcHmac => "aes-256-cbc-hmac",
            Subject::Aes128GcmSiv => "aes-128-gcm-siv",
            Subject::Aes256GcmSiv => "aes-256-gcm-siv",
            Subject::Xaes256Gcm => "xaes-256-gcm",
            Subject::Aes128Cbc => "aes-128-cbc",
            Subject::Aes256Cbc => "aes-256-cbc",
            Subject::Serpent256Ctr => "serpent-256-ctr",
            Subject::Tls13Records => "tls13-aes-256-gcm",
            Subject::Gscm128H => "gscm-h-128",
            Subject::Gscm256H => "gscm-h-256",
            Subject::Gscm128 => "gscm-128",
            Subject::Gscm256 => "gscm-256",
            Subject::Rkc => "rkc",
            Subject::RkcHmac => "rkc-hmac",
        }
    }

    /// Length of all its keys together in bytes: in GSCM a cluster key and two keys of 16 bytes, with HMAC two keys.
    pub fn key_len(self) -> usize {
        match self {
            Subject::Suite(suite) => suite.key_len(),
            Subject::Aes128GcmSiv | Subject::Aes128Cbc => 16,
            Subject::Aes128CbcHmac | Subject::Tls13Records | Subject::Rkc => 32,
            Subject::Aes256GcmSiv | Subject::Xaes256Gcm | Subject::Aes256Cbc | Subject::Serpent256Ctr => 32,
            Subject::Gscm128H | Subject::Gscm128 => 48,
            Subject::Aes256CbcHmac | Subject::Gscm256H | Subject::Gscm256 | Subject::RkcHmac => 64,
        }
    }

    /// Length of the nonce, IV or seed in bytes.
    pub fn nonce_len(self) -> usize {
        match self {
            Subject::Suite(suite) => suite.nonce_len(),
            Subject::Aes128CbcHmac | Subject::Aes256CbcHmac => 16,
            Subject::Aes128Cbc | Subject::Aes256Cbc | Subject::Serpent256Ctr => 16,
            Subject::Xaes256Gcm => 24,
            Subject::Rkc | Subject::RkcHmac => rkc::SEED_BYTES,
            _ => gscm::NONCE,
        }
    }

    /// Length of the tag in bytes; 0 if nothing is authenticated. For a record, the content type is included.
    pub fn tag_len(self) -> usize {
        match self {
            Subject::Tls13Records => RECORD_OVERHEAD,
            Subject::Suite(suite) => suite.tag_len(),
            Subject::Aes256CbcHmac | Subject::Rkc | Subject::RkcHmac => 32,
            Subject::Aes128Cbc | Subject::Aes256Cbc | Subject::Serpent256Ctr => 0,
            _ => 16,
        }
    }

    /// Whether it accepts texts of this length. Some modes need whole blocks; a record has at most 16 KiB.
    pub fn takes(self, bytes: usize) -> bool {
        if self == Subject::Tls13Records {
            return bytes <= LONGEST_RECORD;
        }
        let chained =
            matches!(self, Subject::Aes128CbcHmac | Subject::Aes256CbcHmac | Subject::Aes128Cbc | Subject::Aes256Cbc);
        let whole_blocks = chained || matches!(self, Subject::Rkc | Subject::RkcHmac);
        !whole_blocks || bytes.is_multiple_of(16)
    }

    /// The number of AES rounds per block, if AES (and not a hash) is most of the work.
    pub(super) fn aes_rounds(self) -> Option<usize> {
        match self {
            Subject::Suite(Suite::Aes128Gcm | Suite::Aes128Ocb)
            | Subject::Gscm128H
            | Subject::Gscm128
            | Subject::Aes128GcmSiv => Some(10),
            Subject::Suite(Suite::Aes256Gcm | Suite::Aes256Ocb)
            | Subject::Tls13Records
            | Subject::Aes256GcmSiv
            | Subject::Xaes256Gcm
            | Subject::Gscm256H
            | Subject::Gscm256 => Some(14),
            _ => None,
        }
    }

    /// The number of blocks that AES encrypts for a message. In addition to the text, GCM encrypts one block for the
    /// tag, and OCB one for the tag and one for associated data. Modes that derive a key for each message encrypt
    /// further blocks for it.
    pub(super) fn blocks(self, bytes: usize) -> Blocks {
        let (beside, keys) = match self {
            // RFC 8452, section 4: two blocks for the hash key, and two or four for the cipher key; each block gives
            // eight bytes
            Subject::Aes128GcmSiv => (1, 4),
            Subject::Aes256GcmSiv => (1, 6),
            // Two blocks for the key of AES-256-GCM, and one zero block under that key for the hash key
            Subject::Xaes256Gcm => (1, 3),
            _ if self.hashes() => (1, 0),
            _ => (2, 0),
        };
        // The content type of a record is encrypted with the text
        let text = if self == Subject::Tls13Records { bytes + 1 } else { bytes };
        Blocks { text: text.div_ceil(16) + beside, keys }
    }

    /// Whether it authenticates with carry-less products like GCM.
    pub(super) fn hashes(self) -> bool {
        !self.name().ends_with("-ocb")
    }

    /// The associated data of its messages. RKC and modes without a tag have none, and records define their own.
    pub(super) fn ad(self) -> &'static [u8] {
        if matches!(self, Subject::Rkc | Subject::Tls13Records) || self.tag_len() == 0 { b"" } else { b"sealwright ad" }
    }

    /// Sealwright's implementation at a level; `None` if the key does not have [`Subject::key_len`] bytes, or the
    /// subject does not authenticate.
    pub fn aead_at(self, isa: Isa, key: &[u8]) -> Option<Box<dyn Aead>> {
        match self {
            Subject::Suite(suite) => suite.aead_at(isa, key).ok(),
            Subject::Aes128CbcHmac | Subject::Aes256CbcHmac if key.len() == self.key_len() => {
                cbc_hmac::by_key(isa, key).ok()
            }
            Subject::Aes128GcmSiv | Subject::Aes256GcmSiv if key.len() == self.key_len() => {
                gcm_siv::by_key(isa, key).ok()
            }
            Subject::Xaes256Gcm => Some(Box::new(Xaes256Gcm::new(isa, key.try_into().ok()?))),
            Subject::Gscm128H | Subject::Gscm256H | Subject::Gscm128 | Subject::Gscm256 => {
                let (key, client) = key.split_at_checked(self.key_len() - 32)?;
                let (k1, k2) = client.split_first_chunk()?;
                let client = SecondaryKeys { k1: *k1, k2: k2.try_into().ok()? };
                let make = if self.research_only() { gscm::research_only_by_key } else { gscm::by_key };
                make(isa, key, &client).ok()
            }
            Subject::Rkc => Some(Box::new(Rkc::research_only(isa, key.try_into().ok()?))),
            Subject::RkcHmac => {
                let (key, mac_key) = key.split_first_chunk()?;
                Some(Box::new(RkcHmac::research_only(isa, key, mac_key.try_into().ok()?)))
            }
            _ => None,
        }
    }
}

impl From<Suite> for Subject {
    fn from(suite: Suite) -> Self {
        Subject::Suite(suite)
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Subject {
    type Err = UnknownSubjectError;

    fn from_str(name: &str) -> Result<Self, UnknownSubjectError> {
        Subject::all().find(|subject| subject.name().eq_ignore_ascii_case(name)).ok_or(UnknownSubjectError)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_limit_counts_the_blocks_that_derive_keys() {
        let blocks = |subject: Subject| {
            let Blocks { text, keys } = subject.blocks(60);
            (text, keys)
        };
        // Four blocks of text. RFC 8452, section 4: AES-128 derives 32 bytes and AES-256 48 bytes, eight from each
        // block
        assert_eq!(blocks(Subject::Aes128GcmSiv), (5, 32 / 8));
        assert_eq!(blocks(Subject::Aes256GcmSiv), (5, 48 / 8));
        assert_eq!(blocks(Subject::Xaes256Gcm), (5, 3));
        assert_eq!((blocks(Suite::Aes256Gcm.into()), blocks(Suite::Aes128Ocb.into())), ((5, 0), (6, 0)));
        assert_eq!((Subject::Tls13Records.blocks(63).text, Subject::Tls13Records.blocks(64).text), (5, 6));
    }

    #[test]
    fn every_subject_goes_by_its_name_and_lengths() {
        for subject in Subject::all() {
            assert_eq!(subject.name().parse(), Ok(subject));
            if subject == Subject::Tls13Records || subject.tag_len() == 0 {
                assert!(subject.aead_at(Isa::best(), &vec![1; subject.key_len()]).is_none());
                continue;
            }
            let aead = subject.aead_at(Isa::best(), &vec![1; subject.key_len()]).unwrap();
            let mut text = [0; 32];
            let tag = aead.seal_in_place(&vec![2; subject.nonce_len()], subject.ad(), &mut text).unwrap();
            assert_eq!(tag.as_ref().len(), subject.tag_len(), "{subject}");
            let part = aead.seal_in_place(&vec![2; subject.nonce_len()], subject.ad(), &mut text[..31]);
            assert_eq!(part.is_ok(), subject.takes(31), "{subject}");
            for len in [0, 5, subject.key_len() - 1, subject.key_len() + 1, 2 * subject.key_len()] {
                assert!(subject.aead_at(Isa::best(), &vec![1; len]).is_none(), "{subject} takes a key of {len} bytes");
            }
        }
        let unknown = "des".parse::<Subject>().unwrap_err().to_string();
        assert!(unknown.contains("aes-256-gcm") && unknown.contains("rkc-hmac"), "{unknown}");
    }
}
