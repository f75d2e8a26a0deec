//! SSH keys, ed25519 and RSA, used to seal for their holders. They are not safe against quantum computers.

use curve25519_dalek::{MontgomeryPoint, edwards::CompressedEdwardsY};
use getrandom::SysRng;
use hmac::{Hmac, KeyInit, Mac};
use rsa::{BoxedUint, Oaep, RsaPrivateKey, RsaPublicKey, rand_core::UnwrapErr, traits::PublicKeyParts};
use sha2::{Digest, Sha256, Sha512};
use ssh_key::{
    PrivateKey, PublicKey,
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

/// How an OpenSSH private key file begins.
pub(crate) const BEGIN: &[u8] = b"-----BEGIN OPENSSH PRIVATE KEY-----";
/// How other files with private keys begin.
const BEGIN_OTHERS: [&[u8]; 4] = [
    b"-----BEGIN RSA PRIVATE KEY-----",
    b"-----BEGIN PRIVATE KEY-----",
    b"-----BEGIN ENCRYPTED PRIVATE KEY-----",
    b"-----BEGIN EC PRIVATE KEY-----",
];
/// Key of the HMAC that makes slot keys.
const ED25519: &[u8] = b"SEALWRIGHT ssh-ed25519 v1";
/// Label of OAEP.
const RSA: &[u8] = b"SEALWRIGHT ssh-rsa v1";
/// The least bits of an RSA modulus.
const RSA_BITS: usize = 2048;

const UNSUITABLE: &str = "only ssh-ed25519 and ssh-rsa keys can be used";
const SHORT: &str = "an RSA key must have at least 2048 bits";
const BROKEN: &str = "the SSH key is not complete, or damaged";

/// An SSH public key.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct SshPublicKey {
    kind: Public,
    key: PublicKey,
}

#[derive(Clone, PartialEq, Eq)]
enum Public {
    Ed25519(MontgomeryPoint),
    Rsa(Box<RsaPublicKey>),
}

impl SshPublicKey {
    /// Whether a text is meant to be an SSH public key.
    pub(super) fn is_meant(text: &str) -> bool {
        ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"].iter().any(|start| text.starts_with(start))
    }

    /// Reads a line as `~/.ssh/id_ed25519.pub` has it.
    pub(super) fn parse(text: &str) -> Result<SshPublicKey, Error> {
        if !text.starts_with("ssh-ed25519 ") && !text.starts_with("ssh-rsa ") {
            return Err(wrong(UNSUITABLE));
        }
        let key = PublicKey::from_openssh(text.trim()).map_err(|_| wrong(BROKEN))?;
        SshPublicKey::of(key)
    }

    /// Without its comment.
    fn of(key: PublicKey) -> Result<SshPublicKey, Error> {
        let key = PublicKey::new(key.key_data().clone(), "");
        let kind = match key.key_data() {
            KeyData::Ed25519(point) => Public::Ed25519(montgomery(point)?),
            KeyData::Rsa(rsa) => {
                let (n, e) = (rsa.n().as_positive_bytes(), rsa.e().as_positive_bytes());
                let (n, e) = n.zip(e).ok_or_else(|| wrong(BROKEN))?;
                let (n, e) = (BoxedUint::from_be_slice_vartime(n), BoxedUint::from_be_slice_vartime(e));
                let rsa = RsaPublicKey::new(n, e).map_err(|_| wrong(BROKEN))?;
                if rsa.size() * 8 < RSA_BITS {
                    return Err(wrong(SHORT));
                }
                Public::Rsa(Box::new(rsa))
            }
            _ => return Err(wrong(UNSUITABLE)),
        };
        Ok(SshPublicKey { kind, key })
    }

    /// Its bytes as SSH has them.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.key.to_bytes().expect("a key that was read can be written")
    }

    /// As a line of a `.pub` file.
    pub(super) fn to_text(&self) -> String {
        self.key.to_openssh().expect("a key that was read can be written")
    }

    /// A new slot: what stands in it, given the mark, and its slot key.
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
    Rsa(Box<RsaPrivateKey>),
}

impl SshSecretKey {
    /// Reads an OpenSSH private key file. For an encrypted one, `passphrase` is asked for.
    pub(super) fn parse<E: From<Error>>(
        text: &[u8],
        passphrase: impl FnOnce() -> Result<Secret, E>,
    ) -> Result<SshSecretKey, E> {
        let mut key = PrivateKey::from_openssh(text).map_err(|error| match error {
            ssh_key::Error::AlgorithmUnknown | ssh_key::Error::AlgorithmUnsupported { .. } => wrong(UNSUITABLE),
            _ => wrong(BROKEN),
        })?;
        if key.is_encrypted() {
            // What it is for is not secret: a key of no use needs no passphrase.
            SshPublicKey::of(key.public_key().clone())?;
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
                let rsa = RsaPrivateKey::from_components(n, e, d, vec![p, q]).map_err(|_| wrong(BROKEN))?;
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

    /// The slot key, if a slot is for keys of this kind. For what was made for another key, nothing or a useless one.
    pub(super) fn slot_key(&self, kind: &SlotKind) -> Option<Secret> {
        match (&self.kind, kind) {
            (Private::Ed25519(scalar), SlotKind::SshEd25519 { share, .. }) => {
                let shared = Zeroizing::new(MontgomeryPoint(*share).mul_clamped(**scalar).to_bytes());
                // A share of small order would give anybody the slot key.
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

/// Why a file that looks like a private key of another form cannot be read.
pub(crate) fn other_form(text: &[u8]) -> Option<&'static str> {
    let other = BEGIN_OTHERS.iter().any(|begin| text.starts_with(begin));
    other.then_some("it is a private key in PEM: `ssh-keygen -p -f FILE` writes it in OpenSSH's form")
}

fn padding() -> Oaep<Sha256> {
    Oaep::<Sha256>::new_with_label(RSA)
}

/// The u coordinate of an ed25519 public key.
fn montgomery(key: &Ed25519PublicKey) -> Result<MontgomeryPoint, Error> {
    let point = CompressedEdwardsY(key.0).decompress().filter(|point| !point.is_small_order());
    Ok(point.ok_or_else(|| wrong("not a valid public key"))?.to_montgomery())
}

/// Binds what two parties share to what was sent and to the SSH key.
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
