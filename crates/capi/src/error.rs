//! Errors by number and text.

use std::{
    any::Any,
    cell::RefCell,
    collections::TryReserveError,
    ffi::{CStr, CString, c_char, c_int},
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
};

use sealwright::{KeyLengthError, OpenError, SealError, UnknownSuiteError};
use sealwright_file::{self as file, KeyFault, KeyKind};
use sealwright_stream::StreamError;

/// The result of every function that can fail. Numbers keep their meaning; later versions may add more.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealwrightError {
    /// Success.
    SealwrightOk = 0,
    /// An argument is invalid.
    SealwrightErrorArgument = 1,
    /// No suite has this name.
    SealwrightErrorSuite = 2,
    /// The message, the stream or the file is not authentic.
    SealwrightErrorNotAuthentic = 3,
    /// The stream or the file does not open with this key, or with this context or associated data.
    SealwrightErrorWrongKey = 4,
    /// The key does not have the length of the suite, or of any suite.
    SealwrightErrorKeyLength = 5,
    /// The nonce does not have the suite's length.
    SealwrightErrorNonceLength = 6,
    /// The text is longer than the suite or the format allows.
    SealwrightErrorTooLong = 7,
    /// The operating system reported an error when reading or writing.
    SealwrightErrorIo = 8,
    /// The output exists already, and SEALWRIGHT_FORCE was not given.
    SealwrightErrorExists = 9,
    /// The operating system's random source failed.
    SealwrightErrorRandom = 10,
    /// The stream was finished, or ended by an earlier error, or the process was forked after the stream was begun.
    SealwrightErrorEnded = 11,
    /// Any other error.
    SealwrightErrorOther = 12,
    /// A defect of the library. Objects that were passed to the call must not be used again.
    SealwrightErrorInternal = 13,
    /// The file is of a kind that this library does not read: it is signed, or its format version, suite, key source or
    /// content is unknown to this library, or it is armored and was to be read with random access. Whether it is
    /// genuine was not checked.
    SealwrightErrorUnsupported = 14,
    /// There is not enough memory for the call.
    SealwrightErrorMemory = 15,
}

use SealwrightError::{
    SealwrightErrorArgument as Argument, SealwrightErrorEnded as Ended, SealwrightErrorExists as Exists,
    SealwrightErrorInternal as Internal, SealwrightErrorIo as Io, SealwrightErrorKeyLength as KeyLength,
    SealwrightErrorMemory as Memory, SealwrightErrorNonceLength as NonceLength,
    SealwrightErrorNotAuthentic as NotAuthentic, SealwrightErrorOther as Other, SealwrightErrorRandom as Random,
    SealwrightErrorSuite as Suite, SealwrightErrorTooLong as TooLong, SealwrightErrorUnsupported as Unsupported,
    SealwrightErrorWrongKey as WrongKey, SealwrightOk as Ok_,
};

/// The text of every error number.
const TEXTS: &[(SealwrightError, &CStr)] = &[
    (Ok_, c"no error"),
    (Argument, c"invalid argument"),
    (Suite, c"unknown suite"),
    (NotAuthentic, c"not authentic"),
    (WrongKey, c"wrong key, or wrong associated data"),
    (KeyLength, c"wrong key length"),
    (NonceLength, c"wrong nonce length"),
    (TooLong, c"too long to be sealed"),
    (Io, c"the operating system reported an error"),
    (Exists, c"the output exists"),
    (Random, c"the random source of the operating system failed"),
    (Ended, c"the stream has ended"),
    (Other, c"failed"),
    (Internal, c"internal error: a defect of the library"),
    (Memory, c"no memory"),
    (Unsupported, c"a kind of file that this library does not support"),
];

/// The text of an error number. It is never NULL and always valid.
#[unsafe(no_mangle)]
pub extern "C" fn sealwright_error_text(error: c_int) -> *const c_char {
    let text = TEXTS.iter().find(|(number, _)| *number as c_int == error).map_or(c"unknown error", |(_, text)| text);
    text.as_ptr()
}

/// The version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn sealwright_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

thread_local! {
    /// The text of the last error in this thread.
    static LAST: RefCell<Option<CString>> = const { RefCell::new(None) };
}

/// The last error in the calling thread, in detail, with a hint if there is one. NULL if there was none, or in
/// destructors at the end of the thread, when the library's memory for it is already freed. The text is valid until the
/// thread next calls the library.
#[unsafe(no_mangle)]
pub extern "C" fn sealwright_last_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ref().map_or(ptr::null(), |text| text.as_ptr())).unwrap_or(ptr::null())
}

/// An error that will be returned to the caller.
pub(crate) struct Failed {
    number: SealwrightError,
    text: String,
}

impl Failed {
    pub(crate) fn argument(what: &str) -> Failed {
        Failed { number: Argument, text: what.into() }
    }

    pub(crate) fn ended(what: &str) -> Failed {
        Failed { number: Ended, text: what.into() }
    }

    pub(crate) fn key_length(given: usize) -> Failed {
        Failed { number: KeyLength, text: format!("the key has {given} bytes; it must have 16 or 32") }
    }

    fn of(number: SealwrightError, error: impl ToString) -> Failed {
        Failed { number, text: error.to_string() }
    }

    pub(crate) fn number(&self) -> c_int {
        self.number as c_int
    }
}

/// Runs `work` and turns a panic into an error.
pub(crate) fn caught(work: impl FnOnce() -> Result<(), Failed>) -> Result<(), Failed> {
    // Objects of a call that panicked must not be used again, as the header says.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Failed::of(Internal, reason(&*panic))))
}

/// Runs `work`, returns the number of its error and stores the text for the thread.
pub(crate) fn guard(work: impl FnOnce() -> Result<(), Failed>) -> c_int {
    let Err(failed) = caught(work) else { return Ok_ as c_int };
    let text = CString::new(failed.text.replace('\0', " ")).unwrap_or_default();
    // In a destructor that runs after this thread-local was destroyed, the text cannot be stored. The number is
    // returned all the same.
    let _ = LAST.try_with(|last| last.replace(Some(text)));
    failed.number()
}

fn reason(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panicked")
}

impl From<TryReserveError> for Failed {
    fn from(error: TryReserveError) -> Failed {
        Failed::of(Memory, error)
    }
}

impl From<OpenError> for Failed {
    fn from(error: OpenError) -> Failed {
        Failed::of(NotAuthentic, error)
    }
}

impl From<KeyLengthError> for Failed {
    fn from(error: KeyLengthError) -> Failed {
        Failed::of(KeyLength, error)
    }
}

impl From<UnknownSuiteError> for Failed {
    fn from(error: UnknownSuiteError) -> Failed {
        Failed::of(Suite, error)
    }
}

impl From<SealError> for Failed {
    fn from(error: SealError) -> Failed {
        let number = match error {
            SealError::NonceLength => NonceLength,
            SealError::TextTooLong | SealError::AdTooLong => TooLong,
            SealError::NoRandomness => Random,
            _ => Other,
        };
        Failed::of(number, error)
    }
}

impl From<StreamError> for Failed {
    fn from(error: StreamError) -> Failed {
        let number = match error {
            StreamError::KeyLength { .. } => KeyLength,
            StreamError::Random(_) => Random,
            StreamError::WrongKey => WrongKey,
            StreamError::Truncated { .. } | StreamError::Chunk { .. } => NotAuthentic,
            StreamError::TooLong => TooLong,
            StreamError::Ended => Ended,
            _ => Other,
        };
        Failed::of(number, error)
    }
}

impl From<file::Error> for Failed {
    fn from(error: file::Error) -> Failed {
        let number = match &error {
            file::Error::Io { .. } => Io,
            file::Error::Unsupported(_) | file::Error::Armored => Unsupported,
            file::Error::Exists(_) => Exists,
            file::Error::TooLong => TooLong,
            file::Error::KeyLength { .. } | file::Error::KeyFile { why: KeyFault::RawLength, .. } => KeyLength,
            file::Error::NoMemory(_) => Memory,
            file::Error::Random(_) => Random,
            error => match error.exit_code() {
                2 => Argument,
                3 => NotAuthentic,
                4 => WrongKey,
                _ => Other,
            },
        };
        match hint(&error) {
            Some(hint) => Failed { number, text: format!("{error} (hint: {hint})") },
            None => Failed::of(number, error),
        }
    }
}

/// A hint in terms of this interface, or else the library's own.
fn hint(error: &file::Error) -> Option<&'static str> {
    Some(match error {
        file::Error::Exists(_) => "SEALWRIGHT_FORCE replaces it",
        file::Error::BlockDevice(_) => "SEALWRIGHT_FORCE writes to it all the same",
        file::Error::TooCostly { .. } => "`sealwright open --max-cost` opens it if you trust its source",
        file::Error::KeyKind { wanted: KeyKind::Passphrase, .. } => "use sealwright_secret_passphrase",
        file::Error::KeyKind { wanted: KeyKind::Raw, .. } => "use sealwright_secret_raw or sealwright_secret_read",
        file::Error::KeyKind { wanted: KeyKind::Secret, .. } | file::Error::NoneOpens => {
            "`sealwright inspect` shows what opens it; this library opens with raw keys and passphrases"
        }
        file::Error::KeyAsName => {
            "sealwright_secret_raw takes the key itself; for a file of that name, put ./ in front"
        }
        other => return other.hint(),
    })
}

impl From<io::Error> for Failed {
    /// An error of a stream or a file that was wrapped in `io::Error`, or one of the operating system.
    fn from(error: io::Error) -> Failed {
        match error.downcast::<StreamError>() {
            Ok(stream) => stream.into(),
            Err(error) => match error.downcast::<file::Error>() {
                Ok(file) => file.into(),
                Err(error) => Failed::of(Io, error),
            },
        }
    }
}
