//! Hints for failed connections to a relay, by the TLS error.

use std::io;

use rustls::{AlertDescription, CertificateError, Error as TlsError};

/// A suggestion to the user.
pub(super) fn hint(error: &io::Error) -> &'static str {
    match error.get_ref().and_then(|why| why.downcast_ref()) {
        Some(TlsError::InvalidCertificate(why)) => of_certificate(why),
        Some(TlsError::AlertReceived(alert)) if is_about_certificate(*alert) => {
            "the relay does not accept this client's certificate: is it this relay's, and is it still valid?"
        }
        Some(_) => "is this the relay's control port?",
        None => "is the relay running, and is this its address?",
    }
}

/// The hint for a relay certificate that was refused for this reason.
fn of_certificate(why: &CertificateError) -> &'static str {
    use CertificateError::{
        Expired, ExpiredContext, NotValidForName, NotValidForNameContext, NotValidYet, NotValidYetContext,
    };
    match why {
        NotValidForName | NotValidForNameContext { .. } => "does the relay's certificate contain this name?",
        Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. } => {
            "is the clock of this machine right? If it is, the relay's operator must renew the relay's certificate"
        }
        _ => "`authority` in the client's file is not the one that issued the relay's certificate",
    }
}

/// Whether an alert can mean that the relay refuses the client's certificate.
fn is_about_certificate(alert: AlertDescription) -> bool {
    use AlertDescription::{
        AccessDenied, BadCertificate, CertificateExpired, CertificateRequired, CertificateRevoked, CertificateUnknown,
        DecryptError, UnknownCA, UnsupportedCertificate,
    };
    matches!(
        alert,
        AccessDenied
            | BadCertificate
            | CertificateExpired
            | CertificateRequired
            | CertificateRevoked
            | CertificateUnknown
            | DecryptError
            | UnknownCA
            | UnsupportedCertificate
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_depends_on_what_tls_says() {
        let told = |error: TlsError| hint(&io::Error::new(io::ErrorKind::InvalidData, error));
        let certificate = |why| told(TlsError::InvalidCertificate(why));
        for why in [CertificateError::BadSignature, CertificateError::UnknownIssuer] {
            assert!(certificate(why).contains("`authority` in the client's file"));
        }
        assert!(certificate(CertificateError::NotValidForName).contains("contain this name"));
        for why in [CertificateError::Expired, CertificateError::NotValidYet] {
            assert!(certificate(why).contains("clock"));
        }
        let alert = |alert| told(TlsError::AlertReceived(alert));
        for refused in [AlertDescription::DecryptError, AlertDescription::UnknownCA] {
            assert!(alert(refused).contains("this client's certificate"));
        }
        assert!(alert(AlertDescription::ProtocolVersion).contains("control port"));
        assert!(hint(&io::ErrorKind::ConnectionRefused.into()).contains("running"));
    }
}
