//! The library's errors as Python exceptions.

use pyo3::{
    create_exception,
    exceptions::{
        PyException, PyFileExistsError, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyOverflowError, PyValueError,
    },
    prelude::*,
};
use sealwright::{KeyLengthError, OpenError, SealError, UnknownSuiteError};
use sealwright_file::{self as file, KeyFault, KeyKind};

create_exception!(sealwright, Error, PyException, "The base class of Sealwright's own exceptions.");
create_exception!(
    sealwright,
    InvalidTag,
    Error,
    "A message or file is not authentic: its bytes, nonce or associated data are not those sealed under this key."
);
create_exception!(
    sealwright,
    Replayed,
    Error,
    "A frame of a session was seen before, or was sealed under keys that the session no longer has."
);
create_exception!(
    sealwright,
    Unsupported,
    Error,
    "A file is of a kind that this package does not read. Whether it is authentic was not checked."
);
create_exception!(
    sealwright,
    WrongKey,
    Error,
    "A file does not open with the given keys, or with the given associated data."
);

/// The error for an input that every method refuses.
pub(crate) fn too_long() -> PyErr {
    PyOverflowError::new_err("data and associated data may have at most 2**31 - 1 bytes; files may be longer")
}

/// An error of the library, to be raised in Python.
pub(crate) struct Raised(PyErr);

impl From<Raised> for PyErr {
    fn from(raised: Raised) -> PyErr {
        raised.0
    }
}

impl From<PyErr> for Raised {
    fn from(error: PyErr) -> Raised {
        Raised(error)
    }
}

impl From<OpenError> for Raised {
    fn from(error: OpenError) -> Raised {
        Raised(InvalidTag::new_err(error.to_string()))
    }
}

impl From<SealError> for Raised {
    fn from(error: SealError) -> Raised {
        Raised(match error {
            SealError::TextTooLong | SealError::AdTooLong => PyOverflowError::new_err(error.to_string()),
            SealError::KeyExhausted => Error::new_err(error.to_string()),
            SealError::NoRandomness => PyOSError::new_err(error.to_string()),
            _ => PyValueError::new_err(error.to_string()),
        })
    }
}

impl From<KeyLengthError> for Raised {
    fn from(error: KeyLengthError) -> Raised {
        Raised(PyValueError::new_err(error.to_string()))
    }
}

impl From<UnknownSuiteError> for Raised {
    fn from(error: UnknownSuiteError) -> Raised {
        Raised(PyValueError::new_err(error.to_string()))
    }
}

impl From<getrandom::Error> for Raised {
    fn from(error: getrandom::Error) -> Raised {
        Raised(PyOSError::new_err(format!("the operating system gave no random bytes: {error}")))
    }
}

impl From<file::Error> for Raised {
    fn from(error: file::Error) -> Raised {
        let text = match hint(&error) {
            Some(hint) => format!("{error} (hint: {hint})"),
            None => error.to_string(),
        };
        Raised(match error {
            // An exception raised by a Python file object is raised again unchanged.
            file::Error::Io { error, .. } if error.get_ref().is_some_and(|inner| inner.is::<PyErr>()) => error.into(),
            file::Error::Io { error, .. } => match error.raw_os_error() {
                // From the number, Python selects the class: FileNotFoundError, PermissionError.
                Some(number) => PyOSError::new_err((number, text.replace(&format!(" (os error {number})"), ""))),
                None => std::io::Error::new(error.kind(), text).into(),
            },
            file::Error::Random(_) => PyOSError::new_err(text),
            file::Error::Exists(_) => PyFileExistsError::new_err(text),
            file::Error::NotAuthentic(_) => InvalidTag::new_err(text),
            file::Error::Unsupported(_) | file::Error::Armored => Unsupported::new_err(text),
            file::Error::NoMemory(_) => PyMemoryError::new_err(text),
            file::Error::Interrupted => PyKeyboardInterrupt::new_err(text),
            file::Error::NoSlots | file::Error::TooManySlots | file::Error::BadKey { .. } => {
                PyValueError::new_err(text)
            }
            _ => match error.exit_code() {
                2 => PyValueError::new_err(text),
                4 => WrongKey::new_err(text),
                _ => Error::new_err(text),
            },
        })
    }
}

/// A hint in terms of the Python interface, or else the library's own.
fn hint(error: &file::Error) -> Option<&'static str> {
    Some(match error {
        file::Error::Exists(_) => "force=True replaces it",
        file::Error::TooCostly { .. } => "raise max_memory_kib if you trust the source of the file",
        file::Error::KeyKind { wanted: KeyKind::Passphrase, .. } => "pass key=Key.passphrase(...)",
        file::Error::KeyKind { wanted: KeyKind::Public, .. } => "pass recipients=[secret_key.public_key]",
        file::Error::KeyKind { wanted: KeyKind::Raw, .. } => "pass key=Key.raw(...)",
        file::Error::NoneOpens => "pass key=Key.read(path) or key=Key.pair(secret_key)",
        file::Error::KeyFile { why, .. } if *why != KeyFault::Readable => "see Key.read and Key.write",
        file::Error::KeyAsName => {
            "SecretKey and Key.raw take keys themselves; for a file of that name, put ./ in front"
        }
        other => return other.hint(),
    })
}

/// Converts errors of the library to exceptions: `work().raised()?`.
pub(crate) trait OrRaise<T> {
    fn raised(self) -> PyResult<T>;
}

impl<T, E: Into<Raised>> OrRaise<T> for Result<T, E> {
    fn raised(self) -> PyResult<T> {
        self.map_err(|error| error.into().into())
    }
}
