//! Programs print an error and then its sources: what one says, the next must not say again.

use std::{error::Error as _, io, iter::successors};

use sealwright_stream::StreamError;

use super::{Error, Flaw, KeyFault, OutputFault, Unsupported};
use crate::enc::EncError;

#[test]
fn no_error_says_what_its_source_says() {
    let os = || io::Error::from_raw_os_error(2);
    let of_io: [Error; 3] = [
        Error::io("read", "a")(os()),
        Error::io("read", "a")(io::Error::other(StreamError::Ended)),
        StreamError::Ended.into(),
    ];
    let others = [
        Error::BadOutput { path: "a".into(), why: OutputFault::NoName },
        Error::KeyFile { place: "a".into(), why: KeyFault::RawLength },
        Error::BadKey { place: "a".into(), why: KeyFault::RawLength },
        Error::NotAuthentic(Flaw::Magic),
        Error::Unsupported(Unsupported::Version(2)),
        Error::Enc(EncError::NoSalt),
        Error::Random(sealwright::RandomError),
    ];
    for error in of_io.into_iter().chain(others) {
        let texts: Vec<String> = successors(error.source(), |&error| error.source()).map(ToString::to_string).collect();
        let text = error.to_string();
        assert!(texts.iter().all(|source| !text.contains(source)), "{text}: {texts:?}");
    }
    let Error::Io { error, .. } = Error::io("read", "a")(os()) else { unreachable!() };
    assert_eq!(error.raw_os_error(), Some(2), "it is kept beside the text");
}
