//! Validity periods of certificates and revocation lists.

use std::time::Duration;

use rustls::{
    RootCertStore,
    pki_types::{
        CertificateDer, CertificateRevocationListDer, SignatureVerificationAlgorithm, UnixTime, pem::PemObject,
    },
};
use time::{Date, Month, Time};
use webpki::{EndEntityCert, Error as WebpkiError, KeyUsage};

/// The last second of the year 9999: certificates that never expire say so.
pub(super) const NEVER: u64 = 253_402_300_799;

/// When the relay's own files become invalid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Validity {
    /// Validity period of the relay's certificate, in seconds since 1970.
    pub(super) from: u64,
    pub(super) until: u64,
    /// Whether its certificate is for servers and issued under the authority of the clients.
    pub(super) verified: bool,
    /// When the first of the revocation lists expires.
    pub(super) revocations_until: Option<u64>,
}

impl Validity {
    pub(super) fn of(
        chain: &[CertificateDer<'_>],
        roots: &RootCertStore,
        revocations: &[u8],
        algorithms: &[&dyn SignatureVerificationAlgorithm],
    ) -> Validity {
        let verified = |at: u64| {
            let (certificate, between) = chain.split_first().ok_or(WebpkiError::UnknownIssuer)?;
            let certificate = EndEntityCert::try_from(certificate)?;
            let at = UnixTime::since_unix_epoch(Duration::from_secs(at));
            let usage = KeyUsage::server_auth();
            certificate.verify_for_usage(algorithms, &roots.roots, between, at, usage, None, None).map(drop)
        };
        // Validity periods are checked before anything else, so far-off times reveal them
        let until = match verified(NEVER) {
            Err(WebpkiError::CertExpired { not_after, .. }) => not_after.as_secs(),
            _ => NEVER,
        };
        let from = match verified(0) {
            Err(WebpkiError::CertNotValidYet { not_before, .. }) => not_before.as_secs(),
            _ => 0,
        };
        let now = UnixTime::now().as_secs().clamp(from, until.max(from));
        let verified = verified(now).is_ok();
        Validity { from, until, verified, revocations_until: first_update(revocations) }
    }

    /// The same with other revocation lists.
    pub(super) fn with(self, revocations: &[u8]) -> Validity {
        Validity { revocations_until: first_update(revocations), ..self }
    }
}

/// When the first of these lists expires.
fn first_update(lists: &[u8]) -> Option<u64> {
    let lists = CertificateRevocationListDer::pem_slice_iter(lists).flatten();
    lists.filter_map(|list| next_update(&list)).min()
}

/// The `nextUpdate` of a list, which was checked to be usable.
fn next_update(list: &[u8]) -> Option<u64> {
    let (_, list, _) = element(list)?;
    let (_, list, _) = element(list)?;
    let mut rest = list;
    let mut times = Vec::new();
    // An optional version, the algorithm, the issuer, then thisUpdate and nextUpdate
    while times.len() < 2 {
        let (tag, content, after) = element(rest)?;
        rest = after;
        match tag {
            UTC_TIME => times.push(seconds(content, 2)),
            GENERALIZED_TIME => times.push(seconds(content, 4)),
            _ if !times.is_empty() => return None,
            _ => {}
        }
    }
    times.pop()?
}

const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The first DER element: its tag, its content, and the bytes after it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, first], rest) = bytes.split_first_chunk()?;
    let (length, rest) = match first {
        short @ 0..0x80 => (usize::from(short), rest),
        long => {
            let (length, rest) =
                rest.split_at_checked(usize::from(long & 0x7f)).filter(|(length, _)| length.len() <= 4)?;
            (length.iter().fold(0, |all, byte| all << 8 | usize::from(*byte)), rest)
        }
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// Seconds since 1970 of a DER time whose year has this many digits.
fn seconds(text: &[u8], year: usize) -> Option<u64> {
    let text = str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let number = |at: usize, len: usize| text.get(at..at + len)?.parse::<u16>().ok();
    let two = |at: usize| number(year + at, 2).map(|number| number as u8);
    let years = match (number(0, year)?, year) {
        (late @ 50.., 2) => 1900 + late,
        (early, 2) => 2000 + early,
        (years, _) => years,
    };
    let date = Date::from_calendar_date(years.into(), Month::try_from(two(0)?).ok()?, two(2)?).ok()?;
    let at = date.with_time(Time::from_hms(two(4)?, two(6)?, two(8)?).ok()?).assume_utc();
    u64::try_from(at.unix_timestamp()).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const YEAR_2049: u64 = 2_493_072_000;

    #[test]
    fn times_are_read_in_both_forms() {
        assert_eq!(seconds(b"490101000000Z", 2), Some(YEAR_2049));
        assert_eq!(seconds(b"20490101000000Z", 4), Some(YEAR_2049));
        assert_eq!(seconds(b"700101000001Z", 2), Some(1));
        for wrong in [&b""[..], b"Z", b"490101000000", b"491301000000Z", b"49010100000\xc3\xa9Z", b"690101000000Z"] {
            assert_eq!(seconds(wrong, 2), None, "{wrong:?}");
        }
    }

    #[test]
    fn what_is_no_list_has_no_time_and_nothing_is_read_beyond_its_end() {
        let list = b"\x30\x24\x30\x22\x30\x00\x30\x00\x17\x0d250101000000Z\x17\x0d490101000000Z";
        let mut whole = list.to_vec();
        whole[1] = (list.len() - 2) as u8;
        whole[3] = (list.len() - 4) as u8;
        assert_eq!(next_update(&whole), Some(YEAR_2049));
        for end in 0..whole.len() {
            assert_eq!(next_update(&whole[..end]), None);
        }
        assert_eq!(element(b"\x30\x85\0\0\0\0\0"), None, "longer than anything is");
        assert_eq!(element(b"\x30\x81\x01x!"), Some((0x30, &b"x"[..], &b"!"[..])));
    }
}
