//! Keys as text: Bech32m (BIP 350), whose checksum detects typing errors, without its limit of 90 characters. Beyond
//! 1023 characters, fewer errors are certain to be detected, but still all but one in 2^30.
//!
//! Keys are secret: apart from the final result, valid or not, no branch and no memory address depends on a character
//! after the prefix. Hence there are no lookup tables.

use zeroize::{Zeroize, Zeroizing};

use super::public::kind;
use crate::error::{Error, KeyFault};

/// Character `n` encodes the five bits of `n`.
const CHARACTERS: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
/// Length of the checksum in characters.
const CHECKSUM: usize = 6;
/// Maximum length of a text.
const MAX_LEN: usize = 4096;

/// The checksum of BIP 350, computed incrementally.
struct Sum(u32);

impl Sum {
    /// The checksum of a valid text.
    const WHOLE: u32 = 0x2bc8_30a3;
    const GENERATOR: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];

    /// The checksum over a lower-case prefix and the separator `1`.
    fn new(prefix: &str) -> Sum {
        let mut sum = Sum(1);
        prefix.bytes().for_each(|character| sum.take(character >> 5));
        sum.take(0);
        prefix.bytes().for_each(|character| sum.take(character & 31));
        sum
    }

    fn take(&mut self, five: u8) {
        let top = self.0 >> 25;
        self.0 = (self.0 & 0x1ff_ffff) << 5 ^ u32::from(five);
        for (i, generator) in Self::GENERATOR.into_iter().enumerate() {
            self.0 ^= generator & 0u32.wrapping_sub(top >> i & 1);
        }
    }

    /// The last characters of a text, which make its checksum valid.
    fn last(mut self) -> [u8; CHECKSUM] {
        (0..CHECKSUM).for_each(|_| self.take(0));
        std::array::from_fn(|i| ((self.0 ^ Self::WHOLE) >> (5 * (CHECKSUM - 1 - i)) & 31) as u8)
    }
}

impl Drop for Sum {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// `bytes` as text: `prefix`, in lower case, then `1`, the data and the checksum.
pub(crate) fn encode(prefix: &str, bytes: &[u8]) -> String {
    let bits = 8 * bytes.len();
    let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| byte >> (7 - at % 8) & 1);
    let mut sum = Sum::new(prefix);
    // Full capacity from the start: growing would leave an unwiped copy behind.
    let mut text = String::with_capacity(prefix.len() + 1 + bits.div_ceil(5) + CHECKSUM);
    text.push_str(prefix);
    text.push('1');
    for start in (0..bits).step_by(5) {
        let five = (start..start + 5).fold(0, |five, at| five << 1 | bit(at));
        sum.take(five);
        text.push(character(five));
    }
    sum.last().into_iter().for_each(|five| text.push(character(five)));
    text
}

/// The content of a secret key file: the public key in a comment after `label`, then the secret key.
pub(crate) fn key_file(label: &str, public: &str, secret: &str) -> Zeroizing<String> {
    // Full capacity, as above.
    let mut text = Zeroizing::new(String::with_capacity(label.len() + public.len() + secret.len() + 10));
    for part in ["# ", label, ": ", public, "\n", secret, "\n"] {
        text.push_str(part);
    }
    text
}

/// Decodes `text`, which must have `prefix`. The error names the kind of key if it is another one, and is `otherwise`
/// if it is none.
pub(crate) fn decode(prefix: &str, text: &str, otherwise: &'static str) -> Result<Zeroizing<Vec<u8>>, Error> {
    let other = || match kind(text.as_bytes()) {
        Some(kind) => bad(KeyFault::OtherKind(kind)),
        None => wrong(otherwise),
    };
    let (start, rest) = text.split_at_checked(prefix.len() + 1).ok_or_else(other)?;
    if !start.eq_ignore_ascii_case(&format!("{prefix}1")) {
        return Err(other());
    }
    let len = rest.len().checked_sub(CHECKSUM).filter(|_| text.len() <= MAX_LEN);
    let whole = len.and_then(|len| read(prefix, start.as_bytes(), rest.as_bytes(), len));
    whole.ok_or_else(|| wrong("the key is not complete, or a character of it is wrong"))
}

/// Decodes the first `len` characters of `rest`, if all of it is valid and in one case.
fn read(prefix: &str, start: &[u8], rest: &[u8], len: usize) -> Option<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(vec![0; len * 5 / 8]);
    let mut sum = Sum::new(prefix);
    let mut seen = Seen::default();
    // Bits after the last byte.
    let mut behind = 0;
    for (i, &character) in rest.iter().enumerate() {
        let five = seen.value(character);
        sum.take(five);
        for (at, bit) in (5 * i..).zip((0..5).rev().map(|bit| five >> bit & 1)).take_while(|_| i < len) {
            match bytes.get_mut(at / 8) {
                Some(byte) => *byte |= bit << (7 - at % 8),
                None => behind |= bit,
            }
        }
    }
    start.iter().for_each(|&character| seen.cases(character));
    let whole = (sum.0 ^ Sum::WHOLE) | u32::from(seen.others | behind | seen.small & seen.capital);
    // The encoding is canonical: the bits after the last byte are zero, and fewer than a character.
    (whole == 0 && len * 5 % 8 < 5).then_some(bytes)
}

/// The kinds of characters seen so far: each field is 0 or 1.
#[derive(Default)]
struct Seen {
    small: u8,
    capital: u8,
    others: u8,
}

impl Seen {
    /// The five bits of a character in either case.
    fn value(&mut self, character: u8) -> u8 {
        self.cases(character);
        let (mut five, mut known) = (0, 0);
        for (n, &small) in (0..).zip(CHARACTERS) {
            let this = equal(character, small) | equal(character, small.to_ascii_uppercase());
            five |= n & 0u8.wrapping_sub(this);
            known |= this;
        }
        self.others |= known ^ 1;
        five
    }

    fn cases(&mut self, character: u8) {
        let letter = |first: u8| less(character.wrapping_sub(first), 26);
        self.small |= letter(b'a');
        self.capital |= letter(b'A');
    }
}

/// The character that encodes `five`.
fn character(five: u8) -> char {
    (0..).zip(CHARACTERS).fold(0, |found, (n, &this)| found | this & 0u8.wrapping_sub(equal(five, n))).into()
}

/// 1 if the numbers are equal, otherwise 0.
fn equal(a: u8, b: u8) -> u8 {
    less(a ^ b, 1)
}

/// 1 if `a < b`, otherwise 0.
fn less(a: u8, b: u8) -> u8 {
    (u16::from(a).wrapping_sub(b.into()) >> 15) as u8
}

/// The error for an invalid key. It does not repeat the text, which may be secret.
pub(crate) fn wrong(why: &'static str) -> Error {
    bad(KeyFault::Other(why))
}

fn bad(why: KeyFault) -> Error {
    Error::BadKey { place: "the key".into(), why }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use bech32::{Bech32m, ByteIterExt, Checksum, Fe32IterExt, Hrp, primitives::decode::CheckedHrpstring};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_go_both_ways_and_errors_are_found() {
        for len in [0, 1, 32, 1216] {
            let bytes: Vec<u8> = (0..len).map(|i| (i * 7) as u8).collect();
            let text = encode("seal", &bytes);
            assert!(text.starts_with("seal1"), "{text}");
            assert_eq!(*decode("seal", &text, "").unwrap(), bytes);
            assert_eq!(*decode("seal", &text.to_uppercase(), "").unwrap(), bytes);
            for at in (5..text.len()).step_by(37) {
                let mut wrong = text.clone().into_bytes();
                wrong[at] = if wrong[at] == b'q' { b'p' } else { b'q' };
                assert!(decode("seal", std::str::from_utf8(&wrong).unwrap(), "").is_err(), "{at}");
            }
            assert!(decode("seal", &text[..text.len() - 1], "").is_err());
            assert!(decode("seal-secret-key-", &text, "other").is_err());
        }
    }

    /// Test vectors of BIP 350: valid ones, whose data are whole bytes, and invalid ones.
    #[test]
    fn it_is_bech32m() {
        let text = "abcdef1l7aum6echk45nj3s0wdvt2fg8x9yrzpqzd3ryx";
        let bytes = decode("abcdef", text, "").unwrap();
        assert_eq!((bytes.len(), bytes[0], bytes[19]), (20, 0xff, 0x20));
        assert!(decode("a", "A1LQFN3A", "").unwrap().is_empty() && decode("a", "a1lqfn3a", "").unwrap().is_empty());
        for (prefix, text) in [
            // Bech32, not Bech32m
            ("abcdef", "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw"),
            // Characters outside the alphabet, in the data and in the checksum.
            ("y", "y1b0jsk6g"),
            ("lt", "lt1igcx5c0"),
            ("mm", "mm1crxm3i"),
            ("au", "au1s5cgom"),
            // Too short
            ("in", "in1muywd"),
            // A prefix in lower case, with the checksum of one in upper case.
            ("m", "M1VUXWEZ"),
        ] {
            assert!(decode(prefix, text, "").is_err(), "{text}");
        }
    }

    /// Every fault is detected, and also any two at once: no fault cancels another.
    #[test]
    fn faults_do_not_cancel() {
        let text = |[checksum, other, behind, cases]: [bool; 4]| {
            // A byte encoded in ten bits; the last two should be zero.
            let fives = [0, u8::from(behind)];
            let mut sum = Sum::new("seal");
            fives.iter().for_each(|&five| sum.take(five));
            let mut last = sum.last();
            last[CHECKSUM - 1] ^= u8::from(checksum);
            let mut text: Vec<char> = fives.into_iter().chain(last).map(character).collect();
            if other {
                // Not in the alphabet, and summed as zero, which is the value that was there.
                text[0] = 'b';
            }
            format!("{}1{}", if cases { "SEAL" } else { "seal" }, text.into_iter().collect::<String>())
        };
        for faults in 0..16_u8 {
            let text = text([0, 1, 2, 3].map(|n| faults >> n & 1 == 1));
            assert_eq!(decode("seal", &text, "").is_ok(), faults == 0, "{faults:04b}: {text}");
        }
    }

    /// The crate `bech32`, configured for our length.
    enum Referee {}

    impl Checksum for Referee {
        type MidstateRepr = u32;
        type CorrectionField = <Bech32m as Checksum>::CorrectionField;
        const ROOT_GENERATOR: Self::CorrectionField = Bech32m::ROOT_GENERATOR;
        const ROOT_EXPONENTS: core::ops::RangeInclusive<usize> = Bech32m::ROOT_EXPONENTS;
        const CODE_LENGTH: usize = MAX_LEN;
        const CHECKSUM_LENGTH: usize = Bech32m::CHECKSUM_LENGTH;
        const GENERATOR_SH: [u32; 5] = Bech32m::GENERATOR_SH;
        const TARGET_RESIDUE: u32 = Bech32m::TARGET_RESIDUE;
    }

    /// The result of the crate `bech32`, if the bits after the last byte are zero and fewer than a character.
    fn referee(prefix: &str, text: &str) -> Option<Vec<u8>> {
        let checked = CheckedHrpstring::new::<Referee>(text)
            .ok()
            .filter(|it| it.hrp().to_string().eq_ignore_ascii_case(prefix))?;
        let bytes: Vec<u8> = checked.byte_iter().collect();
        encode(prefix, &bytes).eq_ignore_ascii_case(text).then_some(bytes)
    }

    proptest! {
        /// Another implementation encodes the same, and accepts and refuses the same.
        #[test]
        fn it_agrees_with_the_crate(bytes in prop::collection::vec(any::<u8>(), 0..80), at in any::<prop::sample::Index>(), to in any::<u8>()) {
            let text = encode("seal", &bytes);
            let theirs: String = bytes.iter().copied().bytes_to_fes().with_checksum::<Referee>(&Hrp::parse("seal").unwrap()).chars().collect();
            prop_assert_eq!(&text, &theirs);
            let mut changed = text.into_bytes();
            let at = at.index(changed.len());
            changed[at] = to;
            if let Ok(changed) = String::from_utf8(changed) {
                prop_assert_eq!(decode("seal", &changed, "").ok().map(|bytes| bytes.to_vec()), referee("seal", &changed));
            }
        }

        /// Arbitrary data with a valid checksum: both agree on data that are not whole bytes, and on nonzero bits after
        /// the last byte.
        #[test]
        fn texts_that_nobody_wrote_are_taken_and_refused_alike(fives in prop::collection::vec(0u8..32, 0..70)) {
            let mut sum = Sum::new("seal");
            fives.iter().for_each(|&five| sum.take(five));
            let text: String = fives.iter().copied().chain(sum.last()).map(character).collect();
            let text = format!("seal1{text}");
            prop_assert!(CheckedHrpstring::new::<Referee>(&text).is_ok());
            prop_assert_eq!(decode("seal", &text, "").ok().map(|bytes| bytes.to_vec()), referee("seal", &text));
        }
    }
}
