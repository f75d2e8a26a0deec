//! A file with public keys where one with a secret key belongs: told before anything is said of who may read it.

use crate::error::{IS_PUBLIC, IS_VERIFYING};

/// How public keys begin: those of pairs, and of SSH.
const PUBLIC: [&[u8]; 5] = [b"seal1", b"ssh-", b"ecdsa-sha2-", b"sk-ssh-", b"sk-ecdsa-"];
/// How verification keys begin.
const VERIFYING: &[u8] = b"seal-verify1";

/// What a text is by its first line that is not a comment, if it is not secret.
pub(crate) fn public(text: &[u8]) -> Option<&'static str> {
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with(b"#"))?;
    if line.starts_with(VERIFYING) {
        return Some(IS_VERIFYING);
    }
    PUBLIC.iter().any(|start| line.starts_with(start)).then_some(IS_PUBLIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_keys_are_told_by_their_first_line() {
        for (text, kind) in [
            ("seal1qqqq", Some(IS_PUBLIC)),
            ("# Alice\n\n  seal1qqqq\n", Some(IS_PUBLIC)),
            ("ssh-ed25519 AAAA somebody", Some(IS_PUBLIC)),
            ("ecdsa-sha2-nistp256 AAAA", Some(IS_PUBLIC)),
            ("seal-verify1qqqq", Some(IS_VERIFYING)),
            ("# Public key: seal1qqqq\nSEAL-SECRET-KEY-1QQQQ\n", None),
            ("seal-secret-key-1qqqq", None),
            ("-----BEGIN OPENSSH PRIVATE KEY-----", None),
            ("000102030405060708090a0b0c0d0e0f\n", None),
            ("", None),
        ] {
            assert_eq!(public(text.as_bytes()), kind, "{text}");
        }
    }
}
