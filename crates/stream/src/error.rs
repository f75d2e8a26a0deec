//! Why a stream was not sealed or opened.

use std::io;

use sealwright::{RandomError, Suite};

/// Why a stream was not sealed or opened. No variant carries a secret.
///
/// ```
/// use std::io::Read;
///
/// use sealwright_stream::{Opener, Sealer, StreamError, Suite};
///
/// let sealed = Sealer::new(Vec::new(), Suite::Aes256Gcm, &[7; 32], b"")?.finish()?;
/// let error = Opener::new(&sealed[..], Suite::Aes256Gcm, &[8; 32], b"").unwrap_err();
/// assert_eq!(error.downcast::<StreamError>()?, StreamError::WrongKey);
///
/// let mut text = Vec::new();
/// let error = Opener::new(&sealed[..70], Suite::Aes256Gcm, &[7; 32], b"")?.read_to_end(&mut text).unwrap_err();
/// assert_eq!(error.downcast::<StreamError>()?, StreamError::Truncated { offset: 70 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The key does not have the length that the suite takes.
    #[error("the key has {given} bytes, but {suite} takes {wanted}")]
    KeyLength {
        /// The suite.
        suite: Suite,
        /// The length that the suite takes, in bytes.
        wanted: usize,
        /// The length given, in bytes.
        given: usize,
    },
    /// The operating system gave no random bytes for the salt.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The commitment does not match: another key, another context, or an edited header.
    #[error("wrong key or context, or the header was changed")]
    WrongKey,
    /// The stream ends early.
    #[error("the stream is truncated at byte {offset}")]
    Truncated {
        /// Where it ends, in bytes.
        offset: u64,
    },
    /// A chunk is not authentic: it was changed, moved or cut, or bytes were added.
    #[error("chunk {index} (at byte {offset}) is not authentic")]
    Chunk {
        /// Its number, from 0.
        index: u64,
        /// Where it begins, in bytes.
        offset: u64,
        /// Whether it stands where the last chunk does, whose length gives that of the text.
        last: bool,
    },
    /// The text is longer than one stream can hold.
    #[error("the text is longer than 4 PiB")]
    TooLong,
    /// Something was to be written after [`Sealer::try_finish`](crate::Sealer::try_finish) had sealed the last chunk.
    #[error("the stream has ended: nothing more can be written")]
    Ended,
}

impl From<StreamError> for io::Error {
    /// A stream that ends early is [`io::ErrorKind::UnexpectedEof`]; one that is otherwise not authentic, or is of
    /// another key or context, is [`io::ErrorKind::InvalidData`]; a key of the wrong length is
    /// [`io::ErrorKind::InvalidInput`]; a text that is too long is [`io::ErrorKind::FileTooLarge`]; the others are
    /// [`io::ErrorKind::Other`]. `downcast` gives the [`StreamError`] back.
    fn from(error: StreamError) -> io::Error {
        let kind = match &error {
            StreamError::Truncated { .. } => io::ErrorKind::UnexpectedEof,
            StreamError::WrongKey | StreamError::Chunk { .. } => io::ErrorKind::InvalidData,
            StreamError::KeyLength { .. } => io::ErrorKind::InvalidInput,
            StreamError::TooLong => io::ErrorKind::FileTooLarge,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::{StreamError, Suite};

    #[test]
    fn errors_have_the_kinds_that_readers_expect() {
        let chunk = StreamError::Chunk { index: 3, offset: 7, last: false };
        let length = StreamError::KeyLength { suite: Suite::ALL[0], wanted: 16, given: 5 };
        for (error, kind) in [
            (length, ErrorKind::InvalidInput),
            (StreamError::Truncated { offset: 1 }, ErrorKind::UnexpectedEof),
            (StreamError::WrongKey, ErrorKind::InvalidData),
            (chunk, ErrorKind::InvalidData),
            (StreamError::TooLong, ErrorKind::FileTooLarge),
            (StreamError::Ended, ErrorKind::Other),
        ] {
            assert_eq!(Error::from(error).kind(), kind);
        }
    }
}
