//! Errors of streams as errors of files, and these as `io::Error`.

use std::io;

use sealwright_stream::StreamError;

use super::{Error, Flaw, INPUT};

impl From<StreamError> for Error {
    fn from(error: StreamError) -> Error {
        match error {
            StreamError::KeyLength { suite, wanted, given } => Error::KeyLength { suite, wanted, given },
            StreamError::Random(error) => Error::Random(error),
            StreamError::TooLong => Error::TooLong,
            StreamError::WrongKey => Error::WrongKey("key"),
            other => match Flaw::of(&other, 0) {
                Some(flaw) => Error::NotAuthentic(flaw),
                None => Error::Io { doing: "seal", place: INPUT.into(), error: other.into() },
            },
        }
    }
}

impl From<Error> for io::Error {
    /// An error of the operating system keeps its kind. The others have the kinds of
    /// [`StreamError`](sealwright_stream::StreamError): a file that ends early is [`io::ErrorKind::UnexpectedEof`]; one
    /// that is otherwise not authentic, or does not open with the key, passphrase or associated data, is
    /// [`io::ErrorKind::InvalidData`]; an argument that no file has, such as a key of a length that the suite does not
    /// take, is [`io::ErrorKind::InvalidInput`]; a text that is too long is [`io::ErrorKind::FileTooLarge`]; a file of
    /// a kind that this build does not read is [`io::ErrorKind::Unsupported`]. An output that exists is
    /// [`io::ErrorKind::AlreadyExists`]. All others are [`io::ErrorKind::Other`]; so is
    /// [`Error::Interrupted`], because callers would try again after [`io::ErrorKind::Interrupted`]. `downcast` gives the
    /// [`Error`] back.
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Io { error, .. } => error.kind(),
            Error::NotAuthentic(Flaw::Truncated { .. }) => io::ErrorKind::UnexpectedEof,
            Error::TooLong => io::ErrorKind::FileTooLarge,
            Error::Exists(_) => io::ErrorKind::AlreadyExists,
            Error::Unsupported(_) | Error::Armored => io::ErrorKind::Unsupported,
            error => match error.exit_code() {
                2 => io::ErrorKind::InvalidInput,
                3 | 4 => io::ErrorKind::InvalidData,
                _ => io::ErrorKind::Other,
            },
        };
        io::Error::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use sealwright::Suite;

    use super::*;
    use crate::Unsupported;

    #[test]
    fn errors_have_the_kinds_that_readers_expect() {
        let io = Error::io("read", "a")(io::ErrorKind::PermissionDenied.into());
        let length = Error::KeyLength { suite: Suite::ALL[0], wanted: 16, given: 5 };
        for (error, kind) in [
            (io, io::ErrorKind::PermissionDenied),
            (Error::cut(7), io::ErrorKind::UnexpectedEof),
            (Error::NotAuthentic(Flaw::Magic), io::ErrorKind::InvalidData),
            (Error::WrongKey("key"), io::ErrorKind::InvalidData),
            (Error::NoneOpens, io::ErrorKind::InvalidData),
            (Error::WrongContext, io::ErrorKind::InvalidData),
            (length, io::ErrorKind::InvalidInput),
            (Error::TooLong, io::ErrorKind::FileTooLarge),
            (Error::Unsupported(Unsupported::Version(2)), io::ErrorKind::Unsupported),
            (Error::Armored, io::ErrorKind::Unsupported),
            (Error::Exists("a".into()), io::ErrorKind::AlreadyExists),
            (Error::NoSlots, io::ErrorKind::Other),
            (Error::Interrupted, io::ErrorKind::Other),
        ] {
            assert_eq!(io::Error::from(error).kind(), kind);
        }
    }

    /// What both crates report has the same kind, whichever reported it.
    #[test]
    fn errors_of_streams_keep_their_kinds() {
        let length = StreamError::KeyLength { suite: Suite::ALL[0], wanted: 16, given: 5 };
        let chunk = StreamError::Chunk { index: 3, offset: 7, last: false };
        let all = [StreamError::Truncated { offset: 1 }, StreamError::WrongKey, StreamError::TooLong, length, chunk];
        for error in all {
            let own = io::Error::from(error.clone()).kind();
            assert_eq!(io::Error::from(Error::from(error)).kind(), own);
        }
    }
}
