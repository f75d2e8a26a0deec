//! Keys as text: Bech32m, which notices typing errors, without its limit of 90 characters.

use bech32::{Bech32m, ByteIterExt, Checksum, Fe32IterExt, Hrp, primitives::decode::CheckedHrpstring};
use zeroize::Zeroizing;

use crate::error::Error;

/// Bech32m for texts of up to 4096 characters. Beyond 1023 it finds fewer errors for sure, and still all but one in 2^30.
enum LongBech32m {}

impl Checksum for LongBech32m {
    type MidstateRepr = u32;
    type CorrectionField = <Bech32m as Checksum>::CorrectionField;
    const ROOT_GENERATOR: Self::CorrectionField = Bech32m::ROOT_GENERATOR;
    const ROOT_EXPONENTS: core::ops::RangeInclusive<usize> = Bech32m::ROOT_EXPONENTS;
    const CODE_LENGTH: usize = 4096;
    const CHECKSUM_LENGTH: usize = Bech32m::CHECKSUM_LENGTH;
    const GENERATOR_SH: [u32; 5] = Bech32m::GENERATOR_SH;
    const TARGET_RESIDUE: u32 = Bech32m::TARGET_RESIDUE;
}

/// `bytes` as text after `prefix` and a `1`.
pub(crate) fn encode(prefix: &str, bytes: &[u8]) -> String {
    let prefix = Hrp::parse(prefix).expect("the prefix is one of ours");
    bytes.iter().copied().bytes_to_fes().with_checksum::<LongBech32m>(&prefix).chars().collect()
}

/// A file with a secret key: the public one as a comment after `label`, then the secret one.
pub(crate) fn key_file(label: &str, public: &str, secret: &str) -> Zeroizing<String> {
    // Room for all of it: growing would leave a copy behind.
    let mut text = Zeroizing::new(String::with_capacity(label.len() + public.len() + secret.len() + 10));
    for part in ["# ", label, ": ", public, "\n", secret, "\n"] {
        text.push_str(part);
    }
    text
}

/// The bytes of `text`, which must have `prefix`.
pub(crate) fn decode(prefix: &str, text: &str, otherwise: &'static str) -> Result<Vec<u8>, Error> {
    let start = text.get(..prefix.len() + 1).unwrap_or_default();
    if !start.eq_ignore_ascii_case(&format!("{prefix}1")) {
        return Err(wrong(otherwise));
    }
    let checked = CheckedHrpstring::new::<LongBech32m>(text);
    let checked = checked.map_err(|_| wrong("the key is not complete, or a character of it is wrong"))?;
    Ok(checked.byte_iter().collect())
}

/// What is wrong with a key in text. The text is not repeated: it may be secret.
pub(crate) fn wrong(why: &'static str) -> Error {
    Error::BadKey { place: "the key".into(), why }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn texts_go_both_ways_and_errors_are_found() {
        for len in [0, 1, 32, 1216] {
            let bytes: Vec<u8> = (0..len).map(|i| (i * 7) as u8).collect();
            let text = encode("seal", &bytes);
            assert!(text.starts_with("seal1"), "{text}");
            assert_eq!(decode("seal", &text, "").unwrap(), bytes);
            assert_eq!(decode("seal", &text.to_uppercase(), "").unwrap(), bytes);
            for at in (5..text.len()).step_by(37) {
                let mut wrong = text.clone().into_bytes();
                wrong[at] = if wrong[at] == b'q' { b'p' } else { b'q' };
                assert!(decode("seal", std::str::from_utf8(&wrong).unwrap(), "").is_err(), "{at}");
            }
            assert!(decode("seal", &text[..text.len() - 1], "").is_err());
            assert!(decode("seal-secret-key-", &text, "other").is_err());
        }
    }

    /// A text of BIP 350, so that it is Bech32m and not something near it.
    #[test]
    fn it_is_bech32m() {
        let text = "abcdef1l7aum6echk45nj3s0wdvt2fg8x9yrzpqzd3ryx";
        assert!(CheckedHrpstring::new::<LongBech32m>(text).is_ok());
        assert!(CheckedHrpstring::new::<LongBech32m>("abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw").is_err());
    }
}
