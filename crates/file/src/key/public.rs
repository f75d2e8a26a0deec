//! Recognises the kind of a key by how its text begins, so that a key of the wrong kind is reported as such, before the
//! permissions of its file are.

#[cfg(feature = "public-keys")]
use super::Key;
use crate::error::KeyKind;

/// Prefixes of keys as text, in either case.
const KINDS: [(&str, KeyKind); 4] = [
    ("seal1", KeyKind::Public),
    ("seal-verify1", KeyKind::Verification),
    ("seal-secret-key-1", KeyKind::Secret),
    ("seal-signing-key-1", KeyKind::Signing),
];
/// The start of SSH public keys.
const SSH_PUBLIC: [&[u8]; 4] = [b"ssh-", b"ecdsa-sha2-", b"sk-ssh-", b"sk-ecdsa-"];
/// The start of an OpenSSH private key.
const SSH_PRIVATE: &[u8] = b"-----BEGIN OPENSSH PRIVATE KEY-----";
/// The first line of our secret key files, a comment: code that reads a raw key reads only a part of that line.
const COMMENTS: [(&[u8], KeyKind); 2] =
    [(b"# Public key: seal1", KeyKind::Secret), (b"# Verification key: seal-verify1", KeyKind::Signing)];

/// The first line that is not a comment.
fn first(text: &[u8]) -> Option<&[u8]> {
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    lines.find(|line| !line.is_empty() && !line.starts_with(b"#"))
}

/// The kind of a line that begins like one of our keys or an OpenSSH private key. Only the beginning is examined.
pub(crate) fn kind(line: &[u8]) -> Option<KeyKind> {
    if line.starts_with(SSH_PRIVATE) {
        return Some(KeyKind::Ssh);
    }
    let begins = |start: &str| line.get(..start.len()).is_some_and(|line| line.eq_ignore_ascii_case(start.as_bytes()));
    KINDS.iter().find(|(start, _)| begins(start)).map(|(_, kind)| *kind)
}

/// The kind of a text by its first line, if that is public.
pub(crate) fn public(text: &[u8]) -> Option<KeyKind> {
    let line = first(text)?;
    if SSH_PUBLIC.iter().any(|start| line.starts_with(start)) {
        return Some(KeyKind::Public);
    }
    kind(line).filter(|kind| matches!(*kind, KeyKind::Public | KeyKind::Verification))
}

/// The kind of a text, or of the start of one, if it is a secret key but not a raw one.
pub(crate) fn secret(text: &[u8]) -> Option<KeyKind> {
    match first(text) {
        Some(line) => kind(line).filter(|kind| matches!(*kind, KeyKind::Secret | KeyKind::Signing | KeyKind::Ssh)),
        None => COMMENTS.iter().find(|(start, _)| text.starts_with(start)).map(|(_, kind)| *kind),
    }
}

/// Whether a text is a secret key of any kind. Only for those do the file's permissions matter.
#[cfg(feature = "public-keys")]
pub(crate) fn is_secret(text: &[u8]) -> bool {
    secret(text).is_some() || Key::read_from(text, "").is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_by_their_first_line() {
        for (text, open, hidden) in [
            ("seal1qqqq", Some(KeyKind::Public), None),
            ("# Alice\n\n  seal1qqqq\n", Some(KeyKind::Public), None),
            ("SEAL1QQQQ", Some(KeyKind::Public), None),
            ("ssh-ed25519 AAAA somebody", Some(KeyKind::Public), None),
            ("ecdsa-sha2-nistp256 AAAA", Some(KeyKind::Public), None),
            ("seal-verify1qqqq", Some(KeyKind::Verification), None),
            ("# Public key: seal1qqqq\nSEAL-SECRET-KEY-1QQQQ\n", None, Some(KeyKind::Secret)),
            ("# Public key: seal1qqqq", None, Some(KeyKind::Secret)),
            ("# Verification key: seal-verify1qqqq", None, Some(KeyKind::Signing)),
            ("SEAL-SIGNING-KEY-1QQQQ", None, Some(KeyKind::Signing)),
            ("seal-secret-key-1qqqq", None, Some(KeyKind::Secret)),
            ("-----BEGIN OPENSSH PRIVATE KEY-----", None, Some(KeyKind::Ssh)),
            ("SEAL-SECRET-KEY-2QQQQ", None, None),
            ("# a comment", None, None),
            ("000102030405060708090a0b0c0d0e0f\n", None, None),
            ("", None, None),
        ] {
            assert_eq!((public(text.as_bytes()), secret(text.as_bytes())), (open, hidden), "{text}");
        }
    }
}
