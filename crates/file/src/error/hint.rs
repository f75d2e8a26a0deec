//! What the user may do about an error.

use rustix::io::Errno;

use super::{Error, Flaw, IS_PUBLIC, IS_SECRET, IS_SIGNING, IS_SSH, IS_VERIFYING, LOOSE, NOT_RAW, ONE_NAME, flaw};

impl Error {
    /// A suggestion to the user, if there is one.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Error::Io { place, source, .. }
                if place.starts_with("standard ") && Errno::from_io_error(source) == Some(Errno::BADF) =>
            {
                "it is closed, or it is /dev/null opened for both reading and writing, which looks the same; \
                 use `</dev/null` or `>/dev/null`"
            }
            Error::Exists(_) => "use --force to replace it, or -o or -C to write elsewhere",
            Error::BlockDevice(_) => "--force writes to it all the same",
            Error::EndlessOutput(_) => "seal it to a file",
            Error::OtherName { .. } => "-C DIR unpacks it into DIR all the same",
            Error::BadOutput { why: ONE_NAME, .. } => {
                "upper and lower case may be the same there, or two paths lead to one directory: name another output with -o"
            }
            Error::Link(_) => "seal the file itself, or leave out --remove",
            Error::SameFile(_) => "name another output with -o",
            Error::Moved(_) => "it or a directory above it was replaced meanwhile; nothing was read from it",
            Error::Changed { .. } => "seal a copy, or wait until nothing writes to it",
            Error::TooCostly { .. } => {
                "raise the limit with --max-cost MEMORY[,PASSES[,LANES]] if you trust the source of the file"
            }
            Error::NotForRecipients => {
                "open it and seal it again, with another key or passphrase, or with --recipient, whose keys can be changed later"
            }
            Error::NotARecipient => {
                "nothing was changed; `sealwright inspect` tells how many keys there are of each kind"
            }
            Error::ARecipient(_) => "nothing was changed; leave it out",
            Error::IsATree => "-C DIR names the directory to put it into; --entry PATH opens one file of it",
            Error::Armored => {
                "open it whole; sealed again without --armor, it can be read in part and its keys can be changed"
            }
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
            Error::NotAuthentic(Flaw::Signature) => "do not use it: somebody other than the signer wrote or changed it",
            Error::NotAuthentic(Flaw::Magic) => "seal it first, or check that it was transferred as binary",
            Error::NotAuthentic(Flaw::Suite(flaw::CHACHA)) => {
                "use a Sealwright that was built with the feature `chacha`"
            }
            Error::NotAuthentic(Flaw::Signed) => "use a Sealwright that was built with the feature `signatures`",
            Error::NotAuthentic(Flaw::Version(_) | Flaw::Suite(_) | Flaw::KeySource(_) | Flaw::Content(_)) => {
                "a newer Sealwright may know it; otherwise the file is damaged"
            }
            Error::NotAuthentic(Flaw::Truncated { .. }) => "fetch the file again: the transfer was not complete",
            Error::NotAuthentic(Flaw::SignatureFile) => {
                "`sealwright sign FILE` writes one, FILE.sig; --signer names the key that verifies it"
            }
            Error::NotAuthentic(Flaw::OtherFile { .. }) => {
                "somebody swapped, renamed or replaced it; if it opens on its own, its content is authentic and its \
                 name unchecked"
            }
            Error::NotAuthentic(_) => "do not use output from before the error; fetch the file again from its source",
            Error::KeyKind { wanted: "a passphrase" | "several passphrases", .. } => "use --passphrase",
            Error::KeyKind { wanted: "key pairs", .. } => "use -i with the identity file of one of them",
            Error::KeyKind { wanted: "one of its keys", .. } => {
                "`sealwright inspect` shows which of --identity, --key-file and --passphrase it needs"
            }
            Error::KeyKind { .. } => "use --key-file",
            Error::KeyFile { why: LOOSE, .. } => "chmod 600 it",
            Error::KeyFile { why: IS_PUBLIC | IS_VERIFYING, .. } => {
                "the secret key is in the identity file (-i), or in the file of the signing key (--sign)"
            }
            Error::KeyFile { why: NOT_RAW, .. } => "`seal -R` seals for it, and `open -i` opens with its identity file",
            Error::KeyFile { why: IS_SECRET, .. } | Error::BadKey { why: IS_SECRET, .. } => {
                "-i opens with it; `sealwright key public -i FILE` prints its public key, which seals"
            }
            Error::KeyFile { why: IS_SIGNING, .. } | Error::BadKey { why: IS_SIGNING, .. } => {
                "--sign signs with it; its verification key, for --signer, is in the comment above it"
            }
            Error::KeyFile { why: IS_SSH, .. } | Error::BadKey { why: IS_SSH, .. } => {
                "-i opens with it; -R seals for its public key"
            }
            Error::BadKey { why: IS_PUBLIC, .. } => {
                "-R seals for it; --signer takes the verification key, which `key new --signing` prints"
            }
            Error::BadKey { why: IS_VERIFYING, .. } => {
                "--signer verifies with it; -R takes a public key, which `key new --pair` prints"
            }
            Error::KeyAsName => {
                "others may have seen it in the list of processes; for a file of that name, put ./ in front"
            }
            Error::Enc(error) => return error.hint(),
            _ => return None,
        })
    }
}
