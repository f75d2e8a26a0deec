//! Another provider's suites with this crate's protection.

use std::sync::{Mutex, PoisonError};

use rustls::{CipherSuite, SupportedCipherSuite, Tls13CipherSuite, crypto::CipherSuiteCommon};
use sealwright::Suite;

use crate::{quic, tls13};

/// Each replaced suite and its replacement. They are never freed, because rustls requires `'static` suites, so none is
/// made twice.
static REPLACED: Mutex<Vec<(SupportedCipherSuite, SupportedCipherSuite)>> = Mutex::new(Vec::new());

/// `suite` with this crate's protection if it uses AES-GCM, otherwise `suite` itself.
pub(crate) fn replace(suite: SupportedCipherSuite) -> SupportedCipherSuite {
    let Some(aead) = aead(suite.suite()) else { return suite };
    // The table is consistent between any two statements, so a panic elsewhere does no harm.
    let mut replaced = REPLACED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, ours)) = replaced.iter().find(|(theirs, ours)| same(*theirs, suite) || same(*ours, suite)) {
        return *ours;
    }
    let ours = match suite {
        SupportedCipherSuite::Tls13(theirs) => SupportedCipherSuite::Tls13(tls13(theirs, aead)),
        #[cfg(feature = "tls12")]
        SupportedCipherSuite::Tls12(theirs) => SupportedCipherSuite::Tls12(tls12(theirs, aead)),
        // TLS 1.2 was enabled in rustls by another crate, but not in this one.
        #[cfg(not(feature = "tls12"))]
        #[allow(unreachable_patterns)]
        other => return other,
    };
    replaced.push((suite, ours));
    ours
}

/// Whether both are the same object; rustls compares only their numbers.
fn same(a: SupportedCipherSuite, b: SupportedCipherSuite) -> bool {
    match (a, b) {
        (SupportedCipherSuite::Tls13(a), SupportedCipherSuite::Tls13(b)) => std::ptr::eq(a, b),
        #[cfg(feature = "tls12")]
        (SupportedCipherSuite::Tls12(a), SupportedCipherSuite::Tls12(b)) => std::ptr::eq(a, b),
        #[allow(unreachable_patterns)]
        _ => false,
    }
}

/// The AES-GCM suite of a TLS suite, if it has one and this build supports it.
fn aead(suite: CipherSuite) -> Option<Suite> {
    match suite {
        CipherSuite::TLS13_AES_128_GCM_SHA256
        | CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
        | CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => Some(Suite::Aes128Gcm),
        CipherSuite::TLS13_AES_256_GCM_SHA384
        | CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
        | CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 => Some(Suite::Aes256Gcm),
        _ => None,
    }
}

fn common(theirs: &CipherSuiteCommon) -> CipherSuiteCommon {
    CipherSuiteCommon { ..*theirs }
}

fn tls13(theirs: &'static Tls13CipherSuite, aead: Suite) -> &'static Tls13CipherSuite {
    let (records, packets): (&'static tls13::Records, &'static quic::Packets) = match aead {
        Suite::Aes128Gcm => (&tls13::Records(Suite::Aes128Gcm), &quic::Packets(Suite::Aes128Gcm)),
        _ => (&tls13::Records(Suite::Aes256Gcm), &quic::Packets(Suite::Aes256Gcm)),
    };
    Box::leak(Box::new(Tls13CipherSuite {
        common: common(&theirs.common),
        hkdf_provider: theirs.hkdf_provider,
        aead_alg: records,
        quic: theirs.quic.map(|_| packets as _),
    }))
}

#[cfg(feature = "tls12")]
fn tls12(theirs: &'static rustls::Tls12CipherSuite, aead: Suite) -> &'static rustls::Tls12CipherSuite {
    use crate::tls12::Records;
    Box::leak(Box::new(rustls::Tls12CipherSuite {
        common: common(&theirs.common),
        prf_provider: theirs.prf_provider,
        kx: theirs.kx,
        sign: theirs.sign,
        aead_alg: match aead {
            Suite::Aes128Gcm => &Records(Suite::Aes128Gcm),
            _ => &Records(Suite::Aes256Gcm),
        },
    }))
}
