//! AEADs with the interface of pyca/cryptography: `AESGCM(key).encrypt(nonce, data, associated_data)`.

use pyo3::{
    prelude::*,
    types::{PyBytes, PyList},
};
use sealwright::{
    Aead, Isa, KeyLengthError,
    mode::{gcm, gcm_siv, ocb, xaes::Xaes256Gcm},
};

use crate::{
    batch,
    buffer::{Input, Output, or_empty},
    error::OrRaise,
    keyed::{Keyed, generate},
};

macro_rules! aead {
    ($(#[$doc:meta])* $name:ident, $nonces:expr, $once:expr, $bits:expr, $new:expr) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "sealwright")]
        #[allow(clippy::upper_case_acronyms, reason = "names of pyca/cryptography")]
        pub(crate) struct $name(Keyed);

        #[pymethods]
        impl $name {
            /// The longest input, in bytes.
            #[classattr]
            #[pyo3(name = "MAX_SIZE")]
            const MAX_SIZE: usize = i32::MAX as usize;

            #[new]
            #[pyo3(signature = (key))]
            fn new(key: Input<'_>) -> PyResult<Self> {
                let new: fn(&[u8]) -> Result<Box<dyn Aead>, KeyLengthError> = $new;
                Ok($name(Keyed { aead: new(key.bytes()).raised()?, nonces: $nonces, once: $once }))
            }

            /// Returns a new random key.
            #[staticmethod]
            #[pyo3(signature = (bit_length))]
            fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
                generate(py, bit_length, $bits)
            }

            /// Returns the ciphertext of `data` followed by the tag. A nonce must never be used twice with one key.
            #[pyo3(signature = (nonce, data, associated_data))]
            fn encrypt<'py>(
                &self,
                py: Python<'py>,
                nonce: Input<'_>,
                data: Input<'_>,
                associated_data: Option<Input<'_>>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                self.0.encrypt(py, nonce.bytes(), data.bytes(), or_empty(&associated_data))
            }

            /// Returns the text of `data`, which is ciphertext followed by the tag. Raises `InvalidTag` if it is not
            /// authentic.
            #[pyo3(signature = (nonce, data, associated_data))]
            fn decrypt<'py>(
                &self,
                py: Python<'py>,
                nonce: Input<'_>,
                data: Input<'_>,
                associated_data: Option<Input<'_>>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                self.0.decrypt(py, nonce.bytes(), data.bytes(), or_empty(&associated_data))
            }

            /// Like `encrypt`, but writes to `buf`, which must be 16 bytes longer than `data`. Returns the number of
            /// bytes written. `buf` may overlap `data`.
            #[pyo3(signature = (nonce, data, associated_data, buf))]
            fn encrypt_into(
                &self,
                py: Python<'_>,
                nonce: Input<'_>,
                data: Input<'_>,
                associated_data: Option<Input<'_>>,
                buf: Output,
            ) -> PyResult<usize> {
                self.0.encrypt_into(py, nonce.bytes(), data.memory(), or_empty(&associated_data), buf)
            }

            /// Like `decrypt`, but writes to `buf`, which must be 16 bytes shorter than `data`. Returns the number of
            /// bytes written. If the message is not authentic, `buf` is filled with zeros. `buf` may overlap `data`.
            #[pyo3(signature = (nonce, data, associated_data, buf))]
            fn decrypt_into(
                &self,
                py: Python<'_>,
                nonce: Input<'_>,
                data: Input<'_>,
                associated_data: Option<Input<'_>>,
                buf: Output,
            ) -> PyResult<usize> {
                self.0.decrypt_into(py, nonce.bytes(), data.memory(), or_empty(&associated_data), buf)
            }

            /// Calls `encrypt` for each item of `data`. There must be as many nonces as messages; associated data is
            /// given for all of them or for each. A nonce that occurs twice raises `ValueError` before anything is
            /// encrypted, except in AES-GCM-SIV, which allows it.
            #[pyo3(signature = (nonces, data, associated_data=None))]
            fn encrypt_batch<'py>(
                &self,
                nonces: &Bound<'py, PyAny>,
                data: &Bound<'py, PyAny>,
                associated_data: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyList>> {
                batch::encrypt(&self.0, nonces, data, associated_data)
            }

            /// Calls `decrypt` for each item of `data`. The result has `None` in place of each message that is not
            /// authentic.
            #[pyo3(signature = (nonces, data, associated_data=None))]
            fn decrypt_batch<'py>(
                &self,
                nonces: &Bound<'py, PyAny>,
                data: &Bound<'py, PyAny>,
                associated_data: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyList>> {
                batch::decrypt(&self.0, nonces, data, associated_data)
            }

            /// Encrypts messages of equal length that are contiguous in memory, such as an array of shape (n, length),
            /// into `buf` of shape (n, length + 16), which must not overlap `data`. `nonces` has shape (n, nonce
            /// length), and no nonce may occur twice, as in `encrypt_batch`. Returns n.
            #[pyo3(signature = (nonces, data, associated_data, buf))]
            fn encrypt_rows(
                &self,
                py: Python<'_>,
                nonces: Input<'_>,
                data: Input<'_>,
                associated_data: Option<Input<'_>>,
                buf: Output,
            ) -> PyResult<usize> {
                batch::encrypt_rows(&self.0, py, &nonces, &data, &associated_data, buf)
            }

            /// Decrypts the output of `encrypt_rows` into `buf` of shape (n, length), which must not overlap `data`.
            /// Returns the indices of the rows that are not authentic; these are filled with zeros.
            #[pyo3(signature = (nonces, data, associated_data, buf))]
            fn decrypt_rows(
                &self,
                py: Python<'_>,
                nonces: Input<'_>,
                data: Input<'_>,
                associated_data: Option<Input<'_>>,
                buf: Output,
            ) -> PyResult<Vec<usize>> {
                batch::decrypt_rows(&self.0, py, &nonces, &data, &associated_data, buf)
            }
        }
    };
}

aead! {
    /// AES-GCM (NIST SP 800-38D) under a key of 128, 192 or 256 bits. Nonces have 8 to 128 bytes; use 12.
    AESGCM, 8..=128, true, &[128, 192, 256], |key| gcm::across_by_key(Isa::best(), key, gcm::TagLen::T16)
}
aead! {
    /// AES-OCB3 (RFC 7253) under a key of 128, 192 or 256 bits. Nonces have 12 to 15 bytes.
    AESOCB3, 12..=15, true, &[128, 192, 256], |key| ocb::by_key(Isa::best(), key, ocb::TagLen::T16)
}
aead! {
    /// AES-GCM-SIV (RFC 8452) under a key of 128 or 256 bits. Nonces have 12 bytes; a repeated nonce reveals only
    /// whether the messages are equal.
    AESGCMSIV, 12..=12, false, &[128, 256], |key| gcm_siv::by_key(Isa::best(), key)
}
aead! {
    /// XAES-256-GCM (C2SP) under a key of 256 bits. Nonces have 24 bytes and may be random.
    XAES256GCM, 24..=24, true, &[256], |key| match key.try_into() {
        Ok(key) => Ok(Box::new(Xaes256Gcm::new(Isa::best(), key))),
        // AES-256 refuses the length with the same error message.
        Err(_) => Err(sealwright::Suite::Aes256Gcm.aead(key).err().unwrap_or_else(|| unreachable!("no other length fits"))),
    }
}
