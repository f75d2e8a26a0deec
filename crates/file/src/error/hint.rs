//! What the user may do about an error.

use rustix::io::Errno;

use super::{Error, Flaw, KeyFault, OutputFault, Unsupported, kinds::CHACHA};

impl Error {
    /// A suggestion to the user, if there is one that holds for every caller. Command lines and bindings, which know
    /// their options, add their own.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Error::Io { place, error, .. }
                if place.starts_with("standard ") && Errno::from_io_error(error) == Some(Errno::BADF) =>
            {
                "it is closed, or it is /dev/null opened for both reading and writing, which looks the same; \
                 use `</dev/null` or `>/dev/null`"
            }
            Error::EndlessOutput(_) => "seal it to a file",
            Error::BadOutput { why: OutputFault::OwnOutput, .. } => {
                "upper and lower case may be the same there, or two paths lead to one directory: name another output"
            }
            Error::SameFile(_) => "name another output",
            Error::Moved(_) => "it or a directory above it was replaced meanwhile; nothing was read from it",
            Error::Changed { .. } => "seal a copy, or wait until nothing writes to it",
            Error::NotForRecipients => {
                "open it and seal it again, with another key or passphrase, or for recipients, whose keys can be changed later"
            }
            Error::NotARecipient => "nothing was changed",
            Error::ARecipient(_) => "nothing was changed; leave it out",
            Error::IsATree => "`sealwright open` unpacks directories",
            Error::Armored => {
                "open it whole; sealed again without armor, it can be read in part and its keys can be changed"
            }
            Error::LongName { .. } => "give it a shorter name",
            Error::WrongKey(_) | Error::WrongContext => "associated data must be the same as when sealing",
            Error::NotAuthentic(Flaw::Signature) => "do not use it: somebody other than the signer wrote or changed it",
            Error::NotAuthentic(Flaw::Magic) => "seal it first, or check that it was transferred as binary",
            Error::NotAuthentic(Flaw::Empty | Flaw::Truncated { .. }) => {
                "fetch the file again: the transfer was not complete"
            }
            Error::NotAuthentic(Flaw::OtherFile { .. }) => {
                "somebody swapped, renamed or replaced it; if it opens on its own, its content is authentic and its \
                 name unchecked"
            }
            Error::NotAuthentic(Flaw::SignatureFile) => return None,
            Error::NotAuthentic(_) => "do not use output from before the error; fetch the file again from its source",
            Error::Unsupported(Unsupported::Suite(CHACHA)) => {
                "use a Sealwright that was built with the feature `chacha`; if that cannot open it, it was changed: \
                 nothing was authenticated yet"
            }
            Error::Unsupported(Unsupported::Signed) => {
                "use a Sealwright that was built with the feature `signatures`; if that cannot open it, it was \
                 changed: nothing was authenticated yet"
            }
            Error::Unsupported(_) => {
                "a newer Sealwright may open it; otherwise it was changed: nothing was authenticated yet"
            }
            Error::KeyFile { why: KeyFault::Readable, .. } => "chmod 600 it",
            Error::KeyAsName => "for a file of that name, put ./ in front",
            Error::Enc(error) => return error.hint(),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        costs::{Ceiling, Costs},
        enc::error::EncError,
        error::KeyKind,
    };

    /// The library is called from command lines with different options, and from other languages.
    #[test]
    fn hints_name_no_options() {
        let path = || "a".into();
        let (public, raw) = (KeyKind::Public, KeyKind::Raw);
        let place = String::new;
        for error in [
            Error::Exists(path()),
            Error::BlockDevice(path()),
            Error::OtherName { name: path(), wanted: path() },
            Error::BadOutput { path: path(), why: OutputFault::OwnOutput },
            Error::Link(path()),
            Error::SameFile(path()),
            Error::TooCostly { asked: Costs::default(), ceiling: Ceiling::default() },
            Error::NotForRecipients,
            Error::NotARecipient,
            Error::IsATree,
            Error::Armored,
            Error::TooManyEntries,
            Error::LongName { name: path(), len: 256 },
            Error::IsAList,
            Error::NoEntry(path()),
            Error::NoneOpens,
            Error::WrongKey("key"),
            Error::OtherSigner(place()),
            Error::NotAuthentic(Flaw::SignatureFile),
            Error::KeyKind { wanted: public, given: KeyKind::Secret },
            Error::KeyKind { wanted: raw, given: KeyKind::Passphrase },
            Error::KeyFile { place: place(), why: KeyFault::OtherKind(public) },
            Error::KeyFile { place: place(), why: KeyFault::PublicForRaw },
            Error::BadKey { place: place(), why: KeyFault::OtherKind(KeyKind::Signing) },
            Error::KeyAsName,
            Error::Enc(EncError::NoSalt),
            Error::Enc(EncError::NotBase64(0)),
        ] {
            let hint = error.hint().unwrap_or_default();
            assert!(!hint.split([' ', '`', '(']).any(|word| word.starts_with('-')), "{error}: {hint}");
        }
    }
}
