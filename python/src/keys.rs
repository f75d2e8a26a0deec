//! Keys of sealed files.

use std::{borrow::Cow, path::PathBuf};

use pyo3::{
    exceptions::{PyFileExistsError, PyTypeError, PyValueError},
    prelude::*,
    types::{PyBytes, PyString},
};
use sealwright_file::{self as file, Recipient, key::KeyForm};

use crate::{
    buffer::{Input, copied, dimensions},
    counter::suite,
    error::OrRaise,
};

/// What seals and opens files: a raw key, a passphrase, or the secret keys of an identity file. A passphrase is
/// stretched only once for all files that one `Key` seals.
#[pyclass(frozen, module = "sealwright")]
pub(crate) struct Key(Vec<file::Key>);

impl Key {
    fn of(key: file::Key) -> Key {
        Key(vec![key])
    }
}

#[pymethods]
impl Key {
    /// A raw key, uniformly random: 16 or 32 bytes, depending on the suite.
    #[staticmethod]
    fn raw(key: Input<'_>) -> PyResult<Key> {
        let given = key.bytes().len();
        if ![16, 32].contains(&given) {
            return Err(PyValueError::new_err(format!("the key has {given} bytes; it must have 16 or 32")));
        }
        Ok(Key::of(file::Key::raw(key.bytes())))
    }

    /// A passphrase: text, or bytes as typed.
    #[staticmethod]
    fn passphrase(passphrase: &Bound<'_, PyAny>) -> PyResult<Key> {
        Ok(Key::of(typed(passphrase)?.raised()?))
    }

    /// The secret key of a pair. It opens files and cannot seal: pass its `public_key` to `recipients`.
    #[staticmethod]
    fn pair(secret: &SecretKey) -> Key {
        Key::of(file::Key::pair(secret.0.clone()))
    }

    /// Generates a raw key.
    #[staticmethod]
    #[pyo3(signature = (suite="aes-256-gcm"))]
    fn generate(suite: &str) -> PyResult<Key> {
        Ok(Key::of(file::Key::generate(self::suite(suite)?).raised()?))
    }

    /// Reads the key in a key file, or all keys in an identity file. Nobody but its owner may have permission to read
    /// the file. A sealed identity file is opened with `passphrase`, which is text or bytes.
    #[staticmethod]
    #[pyo3(signature = (path, *, passphrase=None))]
    fn read(py: Python<'_>, path: PathBuf, passphrase: Option<&Bound<'_, PyAny>>) -> PyResult<Key> {
        // As a key it is wiped, even if it is not needed. Without one, the error is raised where it is needed.
        let passphrase = passphrase.map_or_else(|| Ok(file::Key::passphrase("")), typed)?;
        let ask = || passphrase;
        let keys = py.detach(|| file::read_identities::<file::Error>(&path, ask)).raised()?;
        Ok(Key(keys))
    }

    /// Writes a raw key to a new file that only its owner may read.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let other =
            || PyValueError::new_err("only a raw key can be written (hint: a SecretKey has a write of its own)");
        let [key] = &self.0[..] else { return Err(other()) };
        match py.detach(|| key.write_file(&path, KeyForm::Raw)) {
            Err(file::Error::KeyKind { .. }) => Err(other()),
            written => never_replaced(written),
        }
    }

    fn __repr__(&self) -> String {
        let kinds: Vec<String> = self.0.iter().map(|key| key.kind().to_string()).collect();
        format!("<Key: {}>", kinds.join(", "))
    }
}

/// A passphrase as it was typed: text or bytes. The inner error is that of an empty one.
fn typed(passphrase: &Bound<'_, PyAny>) -> PyResult<Result<file::Key, file::Error>> {
    let bytes = match passphrase.cast::<PyString>() {
        Ok(text) => utf8(text, "the passphrase is not text; pass the bytes that were typed")?.into_owned().into_bytes(),
        Err(_) => copied(passphrase.extract::<Input<'_>>()?.bytes())?,
    };
    Ok(file::Key::passphrase(bytes))
}

/// The keys in an argument: a `Key`, a `SecretKey`, or the bytes of a raw key.
pub(crate) fn keys(given: &Bound<'_, PyAny>) -> PyResult<Vec<file::Key>> {
    if let Ok(key) = given.cast::<Key>() {
        return Ok(key.get().0.clone());
    }
    if let Ok(secret) = given.cast::<SecretKey>() {
        return Ok(Key::pair(secret.get()).0);
    }
    if given.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("a str is no key (hint: for a passphrase, pass key=Key.passphrase(...))"));
    }
    if given.is_none() {
        return Err(none_given("key"));
    }
    // A buffer that is not contiguous gets its own error message.
    if dimensions(given).is_none() {
        let kind = given.get_type().name().map_or_else(|_| "this".into(), |name| name.to_string());
        return Err(PyTypeError::new_err(format!(
            "{WANTED}, not {kind} (hint: Key.read(path) reads a key from its file)"
        )));
    }
    Ok(Key::raw(given.extract()?)?.0)
}

const WANTED: &str = "key must be a Key, a SecretKey or bytes of 16 or 32";

/// The error for a missing argument: `what`.
pub(crate) fn none_given(what: &str) -> PyErr {
    PyTypeError::new_err(format!("{WANTED}, and none was passed (hint: pass {what})"))
}

/// The text as UTF-8. Python's own exception for an invalid string would contain all of it.
fn utf8<'a>(text: &'a Bound<'_, PyString>, otherwise: &'static str) -> PyResult<Cow<'a, str>> {
    text.to_cow().map_err(|_| PyValueError::new_err(otherwise))
}

fn key_text<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    utf8(text, "the key is not text")
}

/// The secret key of a pair: X25519 and ML-KEM-768 together.
#[pyclass(frozen, module = "sealwright")]
pub(crate) struct SecretKey(file::SecretKey);

#[pymethods]
impl SecretKey {
    /// Parses the text of a secret key: `SEAL-SECRET-KEY-1...`.
    #[new]
    fn new(text: &Bound<'_, PyString>) -> PyResult<SecretKey> {
        Ok(SecretKey(key_text(text)?.parse().raised()?))
    }

    /// Generates a key pair.
    #[staticmethod]
    fn generate() -> PyResult<SecretKey> {
        Ok(SecretKey(file::SecretKey::generate().raised()?))
    }

    /// The public key, with which others seal files for this one.
    #[getter]
    fn public_key(&self) -> PublicKey {
        PublicKey(self.0.public_key())
    }

    /// The secret key as text. Anyone who has it can open the files.
    fn to_text<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, &self.0.to_text())
    }

    /// Writes an identity file that only its owner may read; `Key.read` reads it.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        never_replaced(py.detach(|| self.0.write_file(&path)))
    }
}

/// An existing key is never replaced: `write` has no `force`, which the hint for other files names.
fn never_replaced(written: Result<(), file::Error>) -> PyResult<()> {
    if let Err(error @ file::Error::Exists(_)) = &written {
        let why = "a key is never replaced, as what it sealed could not be opened any more";
        return Err(PyFileExistsError::new_err(format!("{error} (hint: {why})")));
    }
    written.raised()
}

/// The public key of a pair.
#[pyclass(frozen, eq, module = "sealwright")]
#[derive(PartialEq)]
pub(crate) struct PublicKey(file::PublicKey);

#[pymethods]
impl PublicKey {
    /// Parses the text of a public key: `seal1...`.
    #[new]
    fn new(text: &Bound<'_, PyString>) -> PyResult<PublicKey> {
        Ok(PublicKey(key_text(text)?.parse().raised()?))
    }

    /// Reads the public keys in a recipients file, one per line.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Vec<PublicKey>> {
        let keys = py.detach(|| file::read_recipients(&path)).raised()?;
        Ok(keys.into_iter().map(PublicKey).collect())
    }

    /// The key's bytes.
    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    fn __hash__(&self) -> u64 {
        // The first bytes of a public key are effectively random.
        self.0.to_bytes().first_chunk().copied().map_or(0, u64::from_le_bytes)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// The recipients of a file: public keys, or their texts.
pub(crate) fn recipients(given: &Bound<'_, PyAny>) -> PyResult<Vec<Recipient>> {
    if given.is_instance_of::<PyString>() || given.cast::<PublicKey>().is_ok() {
        return Err(PyTypeError::new_err("recipients must be a sequence of public keys, not one"));
    }
    given.try_iter()?.map(|each| recipient(&each?)).collect()
}

fn recipient(given: &Bound<'_, PyAny>) -> PyResult<Recipient> {
    if let Ok(key) = given.cast::<PublicKey>() {
        return Ok(Recipient::PublicKey(key.get().0.clone()));
    }
    let text = given.cast::<PyString>().map_err(|_| PyTypeError::new_err("a recipient is a PublicKey, or its text"))?;
    Ok(Recipient::PublicKey(PublicKey::new(text)?.0))
}
