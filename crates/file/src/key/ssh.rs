//! SSH keys, ed25519 and RSA, as recipients and identities. They are not secure against quantum computers.

use curve25519_dalek::{MontgomeryPoint, edwards::CompressedEdwardsY};
use getrandom::SysRng;
use hmac::{Hmac, KeyInit, Mac};
use rsa::{BoxedUint, Oaep, rand_core::UnwrapErr, traits::PublicKeyParts};
use sha2::{Digest, Sha256, Sha512};
use ssh_key::{
    Kdf, PrivateKey, PublicKey,
    private::KeypairData,
    public::{Ed25519PublicKey, KeyData},
};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    error::Error,
    key::{SLOT_KEY, text::wrong},
    secret::{Secret, random},
    slots::SlotKind,
};

/// The first line of an OpenSSH private key file.
pub(crate) const BEGIN: &[u8] = b"-----BEGIN OPENSSH PRIVATE KEY-----";
/// The first lines of private key files in other formats.
const BEGIN_OTHERS: [&[u8]; 4] = [
    b"-----BEGIN RSA PRIVATE KEY-----",
    b"-----BEGIN PRIVATE KEY-----",
    b"-----BEGIN ENCRYPTED PRIVATE KEY-----",
    b"-----BEGIN EC PRIVATE KEY-----",
];
/// The HMAC key with which slot keys are derived.
const ED25519: &[u8] = b"SEALWRIGHT ssh-ed25519 v1";
/// The OAEP label.
const RSA: &[u8] = b"SEALWRIGHT ssh-rsa v1";
/// The minimum length of an RSA modulus, in bits.
const RSA_BITS: usize = 2048;

const UNSUITABLE: &str = "only ssh-ed25519 and ssh-rsa keys can be used";
const SHORT: &str = "an RSA key must have at least 2048 bits";
const BROKEN: &str = "the SSH key is not complete, or damaged";
/// Maximum bcrypt rounds of a passphrase, about a minute. ssh-keygen uses 16 or 24; a file can state any number.
const ROUNDS: u32 = 10_000;
const SLOW: &str = "its passphrase takes more than 10000 rounds of bcrypt";

/// An SSH public key.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct SshPublicKey {
    kind: Public,
    key: PublicKey,
}

#[derive(Clone, PartialEq, Eq)]
enum Public {
    Ed25519(MontgomeryPoint),
    Rsa(Box<rsa::PublicKey>),
}

impl SshPublicKey {
    /// Whether a text looks like an SSH public key.
    pub(super) fn is_meant(text: &str) -> bool {
        ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"].iter().any(|start| text.starts_with(start))
    }

    /// Parses a line like that of `~/.ssh/id_ed25519.pub`.
    pub(super) fn parse(text: &str) -> Result<SshPublicKey, Error> {
        if !text.starts_with("ssh-ed25519 ") && !text.starts_with("ssh-rsa ") {
            return Err(wrong(UNSUITABLE));
        }
        let key = PublicKey::from_openssh(text.trim()).map_err(|_| wrong(BROKEN))?;
        SshPublicKey::of(key)
    }

    /// The key without its comment.
    fn of(key: PublicKey) -> Result<SshPublicKey, Error> {
        let key = PublicKey::new(key.key_data().clone(), "");
        let kind = match key.key_data() {
            KeyData::Ed25519(point) => Public::Ed25519(montgomery(point)?),
            KeyData::Rsa(rsa) => {
                let (n, e) = (rsa.n().as_positive_bytes(), rsa.e().as_positive_bytes());
                let (n, e) = n.zip(e).ok_or_else(|| wrong(BROKEN))?;
                let (n, e) = (BoxedUint::from_be_slice_vartime(n), BoxedUint::from_be_slice_vartime(e));
                let rsa = rsa::PublicKey::new(n, e).map_err(|_| wrong(BROKEN))?;
                if rsa.size() * 8 < RSA_BITS {
                    return Err(wrong(SHORT));
                }
                Public::Rsa(Box::new(rsa))
            }
            _ => return Err(wrong(UNSUITABLE)),
        };
        Ok(SshPublicKey { kind, key })
    }

    /// Its SSH encoding.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.key.to_bytes().expect("a key that was read can be written")
    }

    /// As a line of a `.pub` file.
    pub(super) fn to_text(&self) -> String {
        self.key.to_openssh().expect("a key that was read can be written")
    }

    /// A new slot: its kind, with `mark`, and its slot key.
    pub(super) fn encapsulate(&self, mark: [u8; 16]) -> Result<(SlotKind, Secret), Error> {
        match &self.kind {
            Public::Ed25519(point) => {
                let mut ephemeral = Zeroizing::new([0; 32]);
                random(ephemeral.as_mut_slice())?;
                let share = MontgomeryPoint::mul_base_clamped(*ephemeral).to_bytes();
                let shared = Zeroizing::new(point.mul_clamped(*ephemeral).to_bytes());
                let slot_key = slot_key(&shared, &share, &self.to_bytes());
                Ok((SlotKind::SshEd25519 { mark, share }, slot_key))
            }
            Public::Rsa(rsa) => {
                let mut slot_key = Secret::new(vec![0; SLOT_KEY]);
                random(&mut slot_key)?;
                let encrypted = rsa.encrypt(&mut UnwrapErr(SysRng), padding(), &slot_key).map_err(|_| wrong(BROKEN))?;
                Ok((SlotKind::SshRsa { mark, encrypted }, slot_key))
            }
        }
    }
}

/// The secret key of an SSH key pair. Memory is wiped on drop.
pub(super) struct SshSecretKey {
    kind: Private,
    public: SshPublicKey,
}

enum Private {
    Ed25519(Zeroizing<[u8; 32]>),
    Rsa(Box<rsa::PrivateKey>),
}

impl SshSecretKey {
    /// Parses an OpenSSH private key file. `passphrase` is called if the file is encrypted.
    pub(super) fn parse<E: From<Error>>(
        text: &[u8],
        passphrase: impl FnOnce() -> Result<Secret, E>,
    ) -> Result<SshSecretKey, E> {
        let mut key = PrivateKey::from_openssh(text).map_err(|error| match error {
            ssh_key::Error::AlgorithmUnknown | ssh_key::Error::AlgorithmUnsupported { .. } => wrong(UNSUITABLE),
            _ => wrong(BROKEN),
        })?;
        if key.is_encrypted() {
            // The public key is not encrypted, so a key of an unsupported type is refused before the passphrase is
            // asked for.
            SshPublicKey::of(key.public_key().clone())?;
            if matches!(key.kdf(), Kdf::Bcrypt { rounds, .. } if *rounds > ROUNDS) {
                return Err(wrong(SLOW).into());
            }
            key = key.decrypt(passphrase()?.as_slice()).map_err(|_| Error::WrongKey("passphrase"))?;
        }
        let public = SshPublicKey::of(key.public_key().clone())?;
        let kind = match key.key_data() {
            KeypairData::Ed25519(pair) => {
                let mut hash = Sha512::digest(pair.private.as_ref());
                let mut scalar = Zeroizing::new([0; 32]);
                scalar.copy_from_slice(&hash[..32]);
                hash.as_mut_slice().zeroize();
                Private::Ed25519(scalar)
            }
            KeypairData::Rsa(pair) => {
                let (public, private) = (pair.public(), pair.private());
                let numbers = [public.n(), public.e(), private.d(), private.p(), private.q()];
                let numbers: Option<Vec<_>> = numbers
                    .iter()
                    .map(|number| Some(BoxedUint::from_be_slice_vartime(number.as_positive_bytes()?)))
                    .collect();
                let [n, e, d, p, q] = numbers.and_then(|n| <[_; 5]>::try_from(n).ok()).ok_or_else(|| wrong(BROKEN))?;
                let rsa = rsa::PrivateKey::from_components(n, e, d, vec![p, q]).map_err(|_| wrong(BROKEN))?;
                Private::Rsa(Box::new(rsa))
            }
            _ => return Err(wrong(UNSUITABLE).into()),
        };
        Ok(SshSecretKey { kind, public })
    }

    /// Its public key.
    pub(super) fn public(&self) -> &SshPublicKey {
        &self.public
    }

    /// The slot key; `None` for slots of another type. For another key's slot: `None`, or a key that does not open it.
    pub(super) fn slot_key(&self, kind: &SlotKind) -> Option<Secret> {
        match (&self.kind, kind) {
            (Private::Ed25519(scalar), SlotKind::SshEd25519 { share, .. }) => {
                let shared = Zeroizing::new(MontgomeryPoint(*share).mul_clamped(**scalar).to_bytes());
                // With a share of small order, anybody could compute the slot key.
                if shared.iter().all(|&byte| byte == 0) {
                    return None;
                }
                Some(slot_key(&shared, share, &self.public.to_bytes()))
            }
            (Private::Rsa(rsa), SlotKind::SshRsa { encrypted, .. }) => {
                let slot_key = rsa.decrypt_blinded(&mut UnwrapErr(SysRng), padding(), encrypted).ok()?;
                Some(Secret::new(slot_key)).filter(|key| key.len() == SLOT_KEY)
            }
            _ => None,
        }
    }
}

/// The error for a private key file in an unsupported format.
pub(crate) fn other_form(text: &[u8]) -> Option<&'static str> {
    let other = BEGIN_OTHERS.iter().any(|begin| text.starts_with(begin));
    other.then_some("it is a private key in PEM: `ssh-keygen -p -f FILE` writes it in OpenSSH's form")
}

fn padding() -> Oaep<Sha256> {
    Oaep::<Sha256>::new_with_label(RSA)
}

/// The Montgomery u-coordinate of an ed25519 public key.
fn montgomery(key: &Ed25519PublicKey) -> Result<MontgomeryPoint, Error> {
    let point = CompressedEdwardsY(key.0).decompress().filter(|point| !point.is_small_order());
    Ok(point.ok_or_else(|| wrong("not a valid public key"))?.to_montgomery())
}

/// Derives the slot key from the shared secret, the sender's share and the SSH public key.
fn slot_key(shared: &[u8; 32], share: &[u8; 32], ssh_key: &[u8]) -> Secret {
    let mut mac = Hmac::<Sha512>::new_from_slice(ED25519).expect("HMAC takes keys of every length");
    mac.update(shared);
    mac.update(share);
    mac.update(ssh_key);
    let mut whole = mac.finalize().into_bytes();
    let slot_key = Secret::new(whole[..SLOT_KEY].to_vec());
    whole.as_mut_slice().zeroize();
    slot_key
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{Ceiling, Key, KeyFault, KeyKind, key};

    const ED25519_FILE: &[u8] = include_bytes!("../../tests/keys/ed25519");
    const ED25519_PUB: &str = include_str!("../../tests/keys/ed25519.pub");
    const ENCRYPTED: &[u8] = include_bytes!("../../tests/keys/ed25519_encrypted");
    const ENCRYPTED_PUB: &str = include_str!("../../tests/keys/ed25519_encrypted.pub");
    const RSA_FILE: &[u8] = include_bytes!("../../tests/keys/rsa");
    const RSA_PUB: &str = include_str!("../../tests/keys/rsa.pub");
    const RSA_PEM: &[u8] = include_bytes!("../../tests/keys/rsa_pem");
    const RSA_SHORT_PUB: &str = include_str!("../../tests/keys/rsa_short.pub");
    const ECDSA_FILE: &[u8] = include_bytes!("../../tests/keys/ecdsa");
    const ECDSA_PUB: &str = include_str!("../../tests/keys/ecdsa.pub");
    const MARK: [u8; 16] = [5; 16];

    fn public(text: &str) -> SshPublicKey {
        SshPublicKey::parse(text).map_err(|error| error.to_string()).unwrap()
    }

    fn secret(text: &[u8]) -> SshSecretKey {
        let none = || -> Result<Secret, Error> { panic!("no passphrase is needed") };
        SshSecretKey::parse(text, none).map_err(|error| error.to_string()).unwrap()
    }

    fn why<T>(done: Result<T, Error>) -> &'static str {
        match done {
            Err(Error::BadKey { why: KeyFault::Other(why), .. }) => why,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it was taken"),
        }
    }

    /// Type and base64 of a line, without its comment.
    fn without_comment(line: &str) -> String {
        line.split(' ').take(2).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn keys_are_read_and_written() {
        use base64::{Engine, engine::general_purpose::STANDARD};
        for (file, line) in [(ED25519_FILE, ED25519_PUB), (RSA_FILE, RSA_PUB)] {
            let (key, text) = (public(line), without_comment(line));
            assert!(SshPublicKey::is_meant(line) && text.len() < line.trim().len(), "it has a comment");
            assert_eq!(key.to_text(), text);
            assert_eq!(key.to_bytes(), STANDARD.decode(text.split(' ').nth(1).unwrap()).unwrap());
            assert!(public(&text) == key && secret(file).public() == &key);
        }
        assert!(public(ED25519_PUB) != public(RSA_PUB) && public(ED25519_PUB) != public(ENCRYPTED_PUB));
        for meant in ["ssh-", "ssh-dss AAAA", "ecdsa-sha2-nistp256 A", "sk-ssh-ed25519 A", "sk-ecdsa-sha2 A"] {
            assert!(SshPublicKey::is_meant(meant), "{meant}");
        }
        assert!(!SshPublicKey::is_meant("seal1qqqq") && !SshPublicKey::is_meant("a ssh-rsa"));
    }

    #[test]
    fn what_is_no_key_of_use_is_refused() {
        assert_eq!(why(SshPublicKey::parse(ECDSA_PUB)), UNSUITABLE);
        assert_eq!(why(SshPublicKey::parse("ssh-ed25519")), UNSUITABLE);
        assert_eq!(why(SshPublicKey::parse(&RSA_PUB[..100])), BROKEN);
        // The type stated differs from that in the key.
        assert_eq!(why(SshPublicKey::parse(&RSA_PUB.replace("ssh-rsa", "ssh-ed25519"))), BROKEN);
        assert_eq!(why(SshPublicKey::parse(RSA_SHORT_PUB)), SHORT);
        // Public keys of small order: the identity, and a point of order 4.
        for point in [[&[1][..], &[0; 31]].concat(), vec![0; 32]] {
            let key = KeyData::Ed25519(Ed25519PublicKey(point.try_into().unwrap()));
            assert_eq!(why(SshPublicKey::of(key.into())), "not a valid public key");
        }
        let nobody = || -> Result<Secret, Error> { panic!("a key of no use needs no passphrase") };
        assert_eq!(why(SshSecretKey::parse(ECDSA_FILE, nobody)), UNSUITABLE);
        assert_eq!(why(SshSecretKey::parse(&RSA_FILE[..500], nobody)), BROKEN);
    }

    #[test]
    fn an_encrypted_key_needs_its_passphrase() {
        let with = |passphrase: &str| {
            let asked = || Ok::<_, Error>(Secret::new(passphrase.into()));
            SshSecretKey::parse(ENCRYPTED, asked).map(|key| key.public().clone())
        };
        assert!(with("correct horse").is_ok_and(|key| key == public(ENCRYPTED_PUB)));
        assert!(matches!(with("wrong horse"), Err(Error::WrongKey("passphrase"))));
        let of_key = |key: fn() -> Key| Key::ssh(ENCRYPTED, || Ok::<_, Error>(key()));
        let key = of_key(|| Key::passphrase("correct horse").unwrap()).unwrap();
        assert_eq!(key.public_key().unwrap().to_string(), without_comment(ENCRYPTED_PUB));
        assert_eq!((key.kind(), key.is_passphrase(), key.pair_seed()), (KeyKind::Secret, false, None));
        assert!(matches!(of_key(|| Key::raw([7; 32])), Err(Error::KeyKind { given: KeyKind::Raw, .. })));
    }

    #[test]
    fn a_file_that_would_stretch_its_passphrase_for_days_is_refused() {
        use base64::{Engine, engine::general_purpose::STANDARD};
        const END: &str = "-----END OPENSSH PRIVATE KEY-----";
        let text = str::from_utf8(ENCRYPTED).unwrap().trim();
        let body = text.strip_prefix(str::from_utf8(BEGIN).unwrap()).unwrap().strip_suffix(END).unwrap();
        let mut bytes = STANDARD.decode(body.replace('\n', "")).unwrap();
        // After the KDF's name: the lengths of its options and of the salt, the salt, the rounds.
        let at = bytes.windows(6).position(|name| name == b"bcrypt").unwrap() + 6 + 4 + 4 + 16;
        assert_eq!(bytes[at - 20..at - 16], [0, 0, 0, 16]);
        for (rounds, slow) in [(ROUNDS + 1, true), (u32::MAX, true), (1, false)] {
            bytes[at..at + 4].copy_from_slice(&rounds.to_be_bytes());
            let text = STANDARD.encode(&bytes);
            let lines: Vec<&str> = text.as_bytes().chunks(70).map(|line| str::from_utf8(line).unwrap()).collect();
            let file = format!("{}\n{}\n{END}\n", str::from_utf8(BEGIN).unwrap(), lines.join("\n"));
            let mut asked = 0;
            let passphrase = || {
                asked += 1;
                Ok::<_, Error>(Secret::new("correct horse".into()))
            };
            let done = SshSecretKey::parse(file.as_bytes(), passphrase).map(drop);
            match done {
                Err(Error::BadKey { why: KeyFault::Other(SLOW), .. }) => assert!(slow && asked == 0),
                other => assert!(!slow && asked == 1 && matches!(other, Err(Error::WrongKey("passphrase")))),
            }
        }
    }

    /// A share of the secret 01, 02, ... 32, and the slot key, both computed from the public key with Python's
    /// `cryptography`, as docs/FORMAT.md describes.
    #[test]
    fn a_slot_key_of_ed25519_is_what_the_format_says() {
        let bytes = |hex: &str| base16ct::lower::decode_vec(hex).unwrap();
        let share = bytes("07a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c7c").try_into().unwrap();
        let slot_key = secret(ED25519_FILE).slot_key(&SlotKind::SshEd25519 { mark: MARK, share }).unwrap();
        assert_eq!(*slot_key, bytes("b4432e48d96f769c4bcc3eb9d0eac098e0333f23ba190d8a947fae54ebf2d846"));
        // The shared secret for a share of small order is known to everybody.
        for share in [[0; 32], [&[1][..], &[0; 31]].concat().try_into().unwrap()] {
            assert_eq!(secret(ED25519_FILE).slot_key(&SlotKind::SshEd25519 { mark: MARK, share }), None);
        }
    }

    #[test]
    fn a_slot_key_of_rsa_is_what_the_format_says() {
        let Public::Rsa(rsa) = public(RSA_PUB).kind else { panic!("it is RSA") };
        let encrypted = |label: &[u8], slot_key: &[u8]| {
            let padding = Oaep::<Sha256>::new_with_label(label);
            let encrypted = rsa.encrypt(&mut UnwrapErr(SysRng), padding, slot_key).unwrap();
            secret(RSA_FILE).slot_key(&SlotKind::SshRsa { mark: MARK, encrypted })
        };
        assert_eq!(encrypted(b"SEALWRIGHT ssh-rsa v1", &[9; 32]), Some(Secret::new(vec![9; 32])));
        assert_eq!(encrypted(b"SEALWRIGHT ssh-rsa v2", &[9; 32]), None);
        for len in [0, 31, 33] {
            assert_eq!(encrypted(b"SEALWRIGHT ssh-rsa v1", &vec![9; len]), None, "{len} bytes");
        }
    }

    #[test]
    fn a_slot_is_for_one_key() {
        let keys = [ED25519_FILE, RSA_FILE].map(secret);
        for (i, line) in [ED25519_PUB, RSA_PUB].into_iter().enumerate() {
            let recipient: key::PublicKey = line.parse().unwrap();
            assert_eq!((recipient.to_string(), recipient.to_x_wing()), (without_comment(line), None));
            assert_eq!(recipient.to_bytes(), public(line).to_bytes());
            let [(kind, slot_key), (other, second)] = [0, 1].map(|_| recipient.encapsulate(MARK).unwrap());
            assert!(kind.mark() == Some(&MARK) && kind != other && slot_key != second);
            assert_eq!((keys[i].slot_key(&kind), keys[1 - i].slot_key(&kind)), (Some(slot_key.clone()), None));
            let key = Key::ssh([ED25519_FILE, RSA_FILE][i], || -> Result<Key, Error> { panic!("it is not encrypted") });
            assert_eq!(key.unwrap().slot_key(&kind, Ceiling::default()).unwrap(), Some(slot_key));
        }
        assert_eq!(keys[0].slot_key(&SlotKind::Raw), None);
    }

    #[test]
    fn other_forms_are_known() {
        assert!(other_form(RSA_PEM).is_some_and(|why| why.contains("ssh-keygen")));
        assert_eq!((other_form(RSA_FILE), other_form(b"SEAL-SECRET-KEY-1"), other_form(b"")), (None, None, None));
    }
}
