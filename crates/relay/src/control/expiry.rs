//! Expiry of certificates and revocation lists: checks, and warnings to operators in time.

use std::time::Duration;

use rustls::{
    CertificateError, Error as RustlsError,
    pki_types::{CertificateDer, UnixTime},
};

use crate::control::{
    tls::{FileError, ServerTls, TlsError, TlsFiles},
    validity::{NEVER, Validity},
};

const DAY_SECONDS: u64 = 86_400;
/// How many days before its expiry the operator is warned of the relay's certificate.
const WARNING_DAYS: u64 = 30;

impl ServerTls {
    /// Refuses a relay certificate that clients would refuse now.
    ///
    /// # Errors
    /// When it has expired, or is not valid yet.
    pub(crate) fn check_time(&self) -> Result<(), TlsError> {
        let (now, Validity { from, until, .. }) = (UnixTime::now().as_secs(), self.validity);
        let why = match now {
            _ if now > until => FileError::Expired,
            _ if now < from => FileError::NotYetValid,
            _ => return Ok(()),
        };
        Err(TlsError::File { path: self.files.certificate.clone(), why })
    }

    /// When the relay's certificate expires, in seconds since 1970.
    pub(crate) fn certificate_until(&self) -> u64 {
        self.validity.until
    }

    /// When the first of the revocation lists expires.
    pub(crate) fn revocations_until(&self) -> Option<u64> {
        self.validity.revocations_until
    }

    /// Warnings to the operator: event name and text.
    pub(crate) fn warnings(&self) -> Vec<(&'static str, String)> {
        warnings(&self.files, self.validity, UnixTime::now().as_secs())
    }

    /// Until when a valid chain stays valid, revocations aside; `None` if that cannot be determined.
    pub(super) fn valid_until(&self, chain: &[CertificateDer<'_>]) -> Option<UnixTime> {
        let (certificate, between) = chain.split_first()?;
        let mut at = UnixTime::since_unix_epoch(Duration::from_secs(NEVER));
        // Verify as of ever earlier times: each failure tells when one more certificate of the chain expires
        for _ in 0..=chain.len() {
            at = match self.verifier.verify_client_cert(certificate, between, at) {
                Ok(_) => return Some(at),
                Err(RustlsError::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) => not_after,
                Err(_) => return None,
            };
        }
        None
    }
}

fn warnings(files: &TlsFiles, validity: Validity, now: u64) -> Vec<(&'static str, String)> {
    let Validity { from, until, verified, revocations_until } = validity;
    let mut all = Vec::new();
    let certificate = files.certificate.display();
    let mut expires =
        |what: String| all.push(("certificate-expires", format!("{certificate}: this certificate {what}")));
    if now > until {
        expires("has expired: clients refuse it".into());
    } else if now < from {
        expires("is not valid yet: clients refuse it".into());
    } else if (until - now) / DAY_SECONDS < WARNING_DAYS {
        expires(format!("expires in {} days", (until - now) / DAY_SECONDS));
    }
    if !verified {
        let authority = files.authority.display();
        let what = format!("{certificate}: clients that trust only {authority} refuse this certificate");
        all.push(("certificate-of-others", what));
    }
    if let (Some(path), Some(late)) = (&files.crl, revocations_until.and_then(|until| now.checked_sub(until))) {
        let (path, days) = (path.display(), late / DAY_SECONDS);
        let what = format!(
            "{path}: a list of revoked certificates expired {days} days ago: those revoked since are not in it"
        );
        all.push(("revocations-expired", what));
    }
    all
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn an_operator_is_told_in_time_and_not_too_early() {
        let path = |name: &str| PathBuf::from(name);
        let files = TlsFiles {
            authority: path("a.pem"),
            certificate: path("r.pem"),
            key: path("r.key"),
            crl: Some(path("a.crl")),
        };
        let good = Validity {
            from: 100,
            until: 1000 * DAY_SECONDS,
            verified: true,
            revocations_until: Some(2000 * DAY_SECONDS),
        };
        let events = |validity, now| {
            let all = warnings(&files, validity, now);
            all.into_iter().map(|(event, text)| format!("{event}: {text}")).collect::<Vec<_>>()
        };
        assert_eq!(events(good, 969 * DAY_SECONDS), [""; 0]);
        assert_eq!(
            events(good, 980 * DAY_SECONDS + 1),
            ["certificate-expires: r.pem: this certificate expires in 19 days"]
        );
        assert!(
            events(good, 1001 * DAY_SECONDS)[0].contains("has expired") && events(good, 1)[0].contains("not valid yet")
        );
        let theirs = events(Validity { verified: false, ..good }, 500 * DAY_SECONDS);
        assert!(theirs.len() == 1 && theirs[0].contains("trust only a.pem"), "{theirs:?}");
        let late = events(Validity { revocations_until: Some(400 * DAY_SECONDS), ..good }, 500 * DAY_SECONDS);
        assert!(late.len() == 1 && late[0].contains("a.crl: a list") && late[0].contains("100 days"), "{late:?}");
    }
}
