//! The key agreement between both clients, and how long each secret is kept.

use std::{
    io,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use hpke::{
    Deserializable, HpkeError, Kem as _, OpModeR, OpModeS, PskBundle, Serializable,
    aead::{AeadCtxR, AeadCtxS, ChaCha20Poly1305},
    kdf::KdfShake256,
    kem::XWing,
    setup_receiver, setup_sender,
};
use thiserror::Error;
use zeroize::Zeroizing;

pub(super) type Secret = <XWing as hpke::Kem>::PrivateKey;
type Public = <XWing as hpke::Kem>::PublicKey;
type Encapsulated = <XWing as hpke::Kem>::EncappedKey;
pub(super) type Sender = AeadCtxS<ChaCha20Poly1305, KdfShake256, XWing>;
pub(super) type Receiver = AeadCtxR<ChaCha20Poly1305, KdfShake256, XWing>;
/// The pre-shared key of HPKE: the secrets of both encapsulations to long-term keys, or what the previous keys export
/// for their successors.
pub(super) type Psk = Zeroizing<[u8; 64]>;

/// The magic word, followed by the version.
pub(super) const MAGIC: &[u8; 8] = b"SEALE2E2";
pub(super) const MAGIC_WORD: &[u8] = MAGIC.split_at(7).0;
pub(super) const PUBLIC_KEY_BYTES: usize = 1216;
pub(super) const ENCAPSULATED_KEY_BYTES: usize = 1120;
/// Length of the first message of each side.
pub(super) const FIRST_MESSAGE_BYTES: usize = MAGIC.len() + PUBLIC_KEY_BYTES + ENCAPSULATED_KEY_BYTES;
const PSK_ID: &[u8] = b"sealwright end-to-end: both encapsulations";
pub(super) const EXPORT_LABEL: &[u8] = b"sealwright end-to-end: psk";
/// The longest name in bytes, as for DNS names.
const LONGEST_NAME: usize = 255;

pub(super) const DATA: u8 = 0;
pub(super) const END: u8 = 1;
pub(super) const REKEY: u8 = 2;
pub(super) const RECEIPT: u8 = 3;

/// Why a stream cannot be sealed or opened end to end.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndToEndError {
    /// A key has the wrong length or form.
    #[error("the key cannot be used end to end: it must be of a pair made by `sealwright key new --pair`")]
    Key,
    /// A name is too long.
    #[error("a name has more than 255 bytes")]
    Name,
    /// Both ends have one name.
    #[error("a client cannot seal end to end with itself")]
    Oneself,
    /// The other side speaks something else.
    #[error("the other client does not seal end to end")]
    Other,
    /// The other side speaks another version.
    #[error("the other client seals end to end in another version")]
    Version,
    /// A record does not open.
    #[error("not authentic: the other client has another key or name than expected, or the stream was changed")]
    NotAuthentic,
    /// The stream ended before its end.
    #[error("not authentic: the stream was cut")]
    Cut,
    /// The other side's receipt is missing or wrong.
    #[error("not authentic: the other client has not confirmed that it received everything")]
    Unconfirmed,
}

impl From<EndToEndError> for io::Error {
    fn from(error: EndToEndError) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, error)
    }
}

impl From<HpkeError> for EndToEndError {
    fn from(_: HpkeError) -> EndToEndError {
        EndToEndError::NotAuthentic
    }
}

/// Names and public keys of both ends, and our fresh key pair.
pub(super) struct Ends {
    own_public: Vec<u8>,
    peer_public: Vec<u8>,
    /// Our name and the peer's.
    pub(super) names: [String; 2],
    /// Our fresh key.
    fresh: Secret,
    /// Our first message.
    pub(super) first: Vec<u8>,
    /// Bytes of plaintext after which we switch to new keys.
    pub(super) rekey: u64,
}

/// The state that both directions share.
pub(super) struct Shared {
    pub(super) ends: Ends,
    state: Mutex<State>,
    changed: Condvar,
}

pub(super) struct State {
    /// Until the agreement: our long-term secret key, and the secret of our encapsulation to the peer's long-term key.
    before: Option<(Secret, Zeroizing<[u8; 32]>)>,
    /// The peer's first message.
    theirs: Option<Vec<u8>>,
    /// The agreed secret, which each direction takes once: to send, to receive.
    agreed: [Option<Psk>; 2],
    pub(super) failed: Option<EndToEndError>,
    /// Bytes of plaintext that we sent, and whether we sent our end.
    pub(super) sent: u64,
    pub(super) end_sent: bool,
    /// Bytes of plaintext that were written, and whether the peer's end arrived.
    pub(super) received: u64,
    pub(super) ended: bool,
    /// The peer's receipt arrived: it has everything that we sent.
    pub(super) confirmed: bool,
}

impl State {
    /// What has not arrived yet, as the error that its absence means.
    pub(super) fn missing(&self) -> Option<EndToEndError> {
        match self {
            State { theirs: None, .. } => Some(EndToEndError::Other),
            State { ended: false, .. } => Some(EndToEndError::Cut),
            State { confirmed: false, .. } => Some(EndToEndError::Unconfirmed),
            _ => None,
        }
    }
}

/// An unambiguous concatenation: each part is preceded by its length.
fn joined(label: &str, parts: &[&[u8]]) -> Vec<u8> {
    let mut all = label.as_bytes().to_vec();
    for part in parts {
        all.extend_from_slice(&(part.len() as u32).to_be_bytes());
        all.extend_from_slice(part);
    }
    all
}

/// The context to which an encapsulation to a long-term key is bound; the sender comes first.
fn own_info(names: [&str; 2], publics: [&[u8]; 2], fresh: &[u8]) -> Vec<u8> {
    let [from, to] = names.map(str::as_bytes);
    joined("sealwright end-to-end: own keys", &[from, to, publics[0], publics[1], fresh])
}

impl Ends {
    /// The context to which the keys of one direction are bound; the sender comes first.
    fn info(&self, theirs: &[u8], sending: bool) -> Vec<u8> {
        let ours = [self.names[0].as_bytes(), &self.own_public, &self.first];
        let peers = [self.names[1].as_bytes(), &self.peer_public, theirs];
        let (from, to) = if sending { (ours, peers) } else { (peers, ours) };
        joined("sealwright end-to-end: fresh keys", &[from[0], to[0], from[1], to[1], from[2], to[2]])
    }
}

impl Shared {
    /// Generates our fresh key pair and our first message.
    pub(super) fn new(own: &[u8; 32], peer: &[u8], names: [&str; 2], rekey: u64) -> Result<Shared, EndToEndError> {
        let names = names.map(str::to_ascii_lowercase);
        if names[0] == names[1] {
            return Err(EndToEndError::Oneself);
        }
        if names.iter().any(|name| name.len() > LONGEST_NAME) {
            return Err(EndToEndError::Name);
        }
        let key = |_| EndToEndError::Key;
        let own = Secret::from_bytes(own).map_err(key)?;
        let peer_public = peer.to_vec();
        let peer = Public::from_bytes(peer).map_err(key)?;
        let own_public = XWing::sk_to_pk(&own).to_bytes().to_vec();
        let (fresh, fresh_public) = XWing::gen_keypair();
        let fresh_public = fresh_public.to_bytes();
        let info = own_info([&names[0], &names[1]], [&own_public, &peer_public], &fresh_public);
        let (encapsulated, context): (Encapsulated, Sender) =
            setup_sender(&OpModeS::Base, &peer, &info).map_err(key)?;
        let mut ours = Zeroizing::new([0; 32]);
        context.export(EXPORT_LABEL, &mut *ours).map_err(key)?;
        let first = [&MAGIC[..], &fresh_public, &encapsulated.to_bytes()].concat();
        let state = State {
            before: Some((own, ours)),
            theirs: None,
            agreed: [None, None],
            failed: None,
            sent: 0,
            end_sent: false,
            received: 0,
            ended: false,
            confirmed: false,
        };
        let ends = Ends { own_public, peer_public, names, fresh, first, rekey };
        Ok(Shared { ends, state: Mutex::new(state), changed: Condvar::new() })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Processes the peer's first message. Drops the long-term secret key and the intermediate secrets.
    pub(super) fn agree(&self, theirs: Vec<u8>) -> Result<(), EndToEndError> {
        let mut state = self.state();
        let (own, ours) = state.before.take().ok_or(EndToEndError::NotAuthentic)?;
        let (fresh, encapsulated) = theirs[MAGIC.len()..].split_at(PUBLIC_KEY_BYTES);
        let encapsulated = Encapsulated::from_bytes(encapsulated)?;
        let Ends { names, peer_public, own_public, .. } = &self.ends;
        let info = own_info([&names[1], &names[0]], [peer_public, own_public], fresh);
        let context: Receiver = setup_receiver(&OpModeR::Base, &own, &encapsulated, &info)?;
        let mut peers = Zeroizing::new([0; 32]);
        context.export(EXPORT_LABEL, &mut *peers)?;
        let mut both = Zeroizing::new([0; 64]);
        // In the order of the names, so that both sides derive the same secret
        let (first, second) = if names[0] < names[1] { (&ours, &peers) } else { (&peers, &ours) };
        both[..32].copy_from_slice(&**first);
        both[32..].copy_from_slice(&**second);
        state.theirs = Some(theirs);
        state.agreed = [Some(both.clone()), Some(both)];
        self.changed.notify_all();
        Ok(())
    }

    /// Records an error and wakes those that wait for the peer.
    pub(super) fn fail(&self, error: EndToEndError) {
        self.state().failed.get_or_insert(error);
        self.changed.notify_all();
    }

    /// Waits for the agreement and takes its secret for our sending direction.
    pub(super) fn secret_to_send(&self) -> Result<Psk, EndToEndError> {
        let waits = |state: &mut State| state.theirs.is_none() && state.failed.is_none();
        let mut state = self.changed.wait_while(self.state(), waits).unwrap_or_else(PoisonError::into_inner);
        state.agreed[0].take().ok_or(state.failed.unwrap_or(EndToEndError::NotAuthentic))
    }

    /// Takes the agreed secret for our receiving direction.
    pub(super) fn secret_to_receive(&self) -> Result<Psk, EndToEndError> {
        self.state().agreed[1].take().ok_or(EndToEndError::NotAuthentic)
    }

    /// The peer's end arrived, and everything before it was written.
    pub(super) fn ended(&self) {
        self.state().ended = true;
        self.changed.notify_all();
    }

    /// Waits for the peer's end, and returns the content of our receipt.
    pub(super) fn receipt(&self) -> Result<[u8; 8], EndToEndError> {
        let waits = |state: &mut State| !state.ended && state.failed.is_none();
        let state = self.changed.wait_while(self.state(), waits).unwrap_or_else(PoisonError::into_inner);
        if state.ended { Ok(state.received.to_be_bytes()) } else { Err(state.failed.unwrap_or(EndToEndError::Cut)) }
    }

    /// Checks the peer's receipt.
    pub(super) fn confirm(&self, receipt: &[u8]) -> Result<(), EndToEndError> {
        let mut state = self.state();
        state.confirmed = state.end_sent && receipt == state.sent.to_be_bytes();
        if state.confirmed { Ok(()) } else { Err(EndToEndError::Unconfirmed) }
    }

    fn theirs(&self) -> Result<Vec<u8>, EndToEndError> {
        self.state().theirs.clone().ok_or(EndToEndError::Other)
    }

    /// New sending keys, and the encapsulation to the peer's fresh key that announces them.
    pub(super) fn sender(&self, secret: &Psk) -> Result<(Vec<u8>, Sender), EndToEndError> {
        let theirs = self.theirs()?;
        let fresh = Public::from_bytes(&theirs[MAGIC.len()..MAGIC.len() + PUBLIC_KEY_BYTES])?;
        let mode = OpModeS::Psk(PskBundle::new(&secret[..], PSK_ID)?);
        let (encapsulated, context): (Encapsulated, Sender) =
            setup_sender(&mode, &fresh, &self.ends.info(&theirs, true))?;
        Ok((encapsulated.to_bytes().to_vec(), context))
    }

    /// The peer's new sending keys, from its encapsulation to our fresh key.
    pub(super) fn receiver(&self, encapsulated: &[u8], secret: &Psk) -> Result<Receiver, EndToEndError> {
        let theirs = self.theirs()?;
        let encapsulated = Encapsulated::from_bytes(encapsulated)?;
        let mode = OpModeR::Psk(PskBundle::new(&secret[..], PSK_ID)?);
        Ok(setup_receiver(&mode, &self.ends.fresh, &encapsulated, &self.ends.info(&theirs, false))?)
    }
}
