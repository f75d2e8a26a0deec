//! What the user may do about an error of `sealwright-file`, in the words of the command line.

use std::io;

use sealwright_file::{Error, Flaw, KeyFault, KeyKind, enc::EncError};

/// A hint that names options or verbs, or else the library's own.
pub(crate) fn hint(error: &Error) -> Option<&'static str> {
    Some(match error {
        // Among the inputs it would be standard input.
        Error::Io { doing: "open", place, error } if place == "-" && error.kind() == io::ErrorKind::NotFound => {
            "standard input is /dev/stdin here, and --key-fd 0 reads a key file from it"
        }
        Error::Exists(_) => "use --force to replace it, or -o or -C to write elsewhere",
        Error::BlockDevice(_) => "--force writes to it all the same",
        Error::OtherName { .. } => "-C DIR unpacks it into DIR all the same",
        Error::Link(_) => "seal the file itself, or leave out --remove",
        Error::SameFile(_) => "name another output with -o",
        Error::TooCostly { .. } => {
            "raise the limit with --max-cost MEMORY[,PASSES[,LANES]] if you trust the source of the file"
        }
        Error::NotForRecipients => {
            "open it and seal it again, with another key or passphrase, or with --recipient, whose keys can be changed later"
        }
        Error::NoSlots => {
            "nothing was changed; add another key too, with --add, --add-file, --add-key-file or --add-passphrase"
        }
        Error::NotARecipient => "nothing was changed; `sealwright inspect` tells how many keys there are of each kind",
        Error::IsATree => "-C DIR names the directory to put it into; --entry PATH opens one file of it",
        Error::TooManyEntries | Error::LongPath { .. } => {
            "seal its directories one by one, or each file by itself with --each"
        }
        Error::LongName { .. } => "give it a shorter name, or seal the files by themselves with --each",
        Error::IsAList => "`sealwright open --each` with the directory opens the files and checks their names",
        Error::NoEntry(_) => "`sealwright inspect --list` with a key lists what there is",
        Error::NoneOpens => {
            "-i names a file with a secret key, --key-file one with a raw key; --passphrase asks for a passphrase"
        }
        Error::WrongKey(_) | Error::WrongContext => {
            "nothing was written; associated data must be the same as when sealing"
        }
        Error::OtherSigner(_) => "--signer names a file with the verification key of the expected signer",
        Error::NotAuthentic(Flaw::SignatureFile) => {
            "`sealwright sign FILE` writes one, FILE.sig; --signer names the key that verifies it"
        }
        Error::KeyKind { wanted: KeyKind::Passphrase, .. } => "use --passphrase",
        Error::KeyKind { wanted: KeyKind::Secret, .. } => "use -i with its identity file",
        Error::KeyKind { wanted: KeyKind::Raw, .. } => "use --key-file",
        Error::KeyFile { why: KeyFault::OtherKind(KeyKind::Public | KeyKind::Verification), .. } => {
            "the secret key is in the identity file (-i), or in the file of the signing key (--sign)"
        }
        Error::KeyFile { why: KeyFault::PublicForRaw, .. } => {
            "`seal -R` seals for it, and `open -i` opens with its identity file"
        }
        Error::KeyFile { why: KeyFault::OtherKind(kind), .. }
        | Error::BadKey { why: KeyFault::OtherKind(kind), .. } => match kind {
            KeyKind::Secret => "-i opens with it; `sealwright key public -i FILE` prints its public key, which seals",
            KeyKind::Signing => "--sign signs with it; its verification key, for --signer, is in the comment above it",
            KeyKind::Ssh => "-i opens with it; -R seals for its public key",
            KeyKind::Public => "-R seals for it; --signer takes the verification key, which `key new --signing` prints",
            KeyKind::Verification => "--signer verifies with it; -R takes a public key, which `key new --pair` prints",
            _ => return error.hint(),
        },
        Error::KeyAsName => {
            "others may have seen it in the list of processes; for a file of that name, put ./ in front"
        }
        Error::Enc(EncError::NoSalt) => {
            "it may have been encrypted with -K and -iv, with -S (give the same -S) or with -a"
        }
        Error::Enc(EncError::NotBase64(_)) => "leave out -a",
        other => return other.hint(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a public key is needed, no hint asks for a raw key.
    #[test]
    fn hints_are_about_the_key_that_is_needed() {
        let hint = |wanted, given| hint(&Error::KeyKind { wanted, given });
        assert_eq!(hint(KeyKind::Public, KeyKind::Secret), None);
        assert_eq!(hint(KeyKind::Raw, KeyKind::Passphrase), Some("use --key-file"));
        assert_eq!(hint(KeyKind::Passphrase, KeyKind::Raw), Some("use --passphrase"));
    }
}
