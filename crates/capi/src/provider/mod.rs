//! The OpenSSL provider: AES-GCM and AES-OCB through EVP, so that programs that use OpenSSL 3 use these kernels without
//! changes.
//!
//! OpenSSL loads the library, calls `OSSL_provider_init`, and receives tables of functions (provider(7),
//! provider-cipher(7)). Numbers and names are those of `openssl/core_dispatch.h` and `openssl/core_names.h`. The
//! provider calls no functions of OpenSSL, except those that report why a step was refused.

mod ad;
mod cipher;
mod held;
mod offers;
mod params;
mod reasons;
mod records;
mod settings;
mod table;

pub use offers::OSSL_provider_init;
