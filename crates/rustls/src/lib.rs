#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod header;
mod protection;
mod quic;
mod suites;
#[cfg(feature = "tls12")]
mod tls12;
mod tls13;

use rustls::crypto::CryptoProvider;

/// Returns `base` with its AES-GCM suites replaced: records and QUIC packets are then protected by Sealwright, at the
/// best instruction-set level of the machine.
///
/// Everything else stays that of the base: the other suites and the order of all of them, key exchange, signatures,
/// hashes, key derivation, random numbers, and the limits of each suite. The provider is not a FIPS module, even if the
/// base is one.
///
/// rustls requires suites with a `'static` lifetime, so the first call for a suite of the base allocates its
/// replacement and never frees it; later calls reuse it.
///
/// ```
/// use std::sync::Arc;
///
/// let provider = sealwright_rustls::provider(rustls::crypto::aws_lc_rs::default_provider());
/// let config = rustls::ClientConfig::builder_with_provider(Arc::new(provider))
///     .with_safe_default_protocol_versions()?
///     .with_root_certificates(rustls::RootCertStore::empty())
///     .with_no_client_auth();
/// # assert!(!config.fips());
/// # Ok::<(), rustls::Error>(())
/// ```
#[must_use]
pub fn provider(base: CryptoProvider) -> CryptoProvider {
    let cipher_suites = base.cipher_suites.iter().map(|&suite| suites::replace(suite)).collect();
    CryptoProvider { cipher_suites, ..base }
}
