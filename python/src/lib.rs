//! The extension module of the Python package `sealwright`. Its interface is described in
//! `package/sealwright/_sealwright.pyi` and in `docs/PYTHON.md`.
//!
//! Unsafe code is confined to [`buffer`], which turns memory that Python owns into slices.

mod aead;
mod batch;
mod buffer;
mod counter;
mod error;
mod files;
mod job;
mod keyed;
mod keys;
mod process;
mod python_file;
mod reader;
mod sessions;
mod smp;
mod writer;

use pyo3::prelude::*;

// Nothing in the module relies on the interpreter lock: classes are frozen, or contain a mutex.
#[pymodule(gil_used = false)]
mod _sealwright {
    use super::*;
    #[pymodule_export]
    use super::{
        aead::{AESGCM, AESGCMSIV, AESOCB3, XAES256GCM},
        counter::{Opener, RandomNonceKey, Sealer},
        error::{Error, InvalidTag, Replayed, Unsupported, WrongKey},
        files::{inspect, open, seal, suites, text_bytes, verify},
        keys::{Key, PublicKey, SecretKey},
        reader::SealedReader,
        sessions::{SessionClient, Sessions},
        smp::{smp_digest, smp_names, smp_read, smp_run, smp_write},
        writer::SealedWriter,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("isa", sealwright::Isa::best().name())
    }
}
