//! What both clients agree on, and how long each secret is kept.

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
/// The secret of both encapsulations to own keys, or the one that connects new keys with those before.
pub(super) type Psk = Zeroizing<[u8; 64]>;

/// A word, and the version behind it.
pub(super) const MAGIC: &[u8; 8] = b"SEALE2E2";
pub(super) const WORD: &[u8] = MAGIC.split_at(7).0;
pub(super) const PUBLIC: usize = 1216;
pub(super) const ENCAPSULATED: usize = 1120;
/// Bytes of what each side sends first.
pub(super) const FIRST: usize = MAGIC.len() + PUBLIC + ENCAPSULATED;
const PSK_ID: &[u8] = b"sealwright end-to-end: both encapsulations";
pub(super) const EXPORT: &[u8] = b"sealwright end-to-end: psk";
/// The longest name; DNS names are no longer.
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

/// Who we are and with whom we speak.
pub(super) struct Ends {
    own_public: Vec<u8>,
    peer_public: Vec<u8>,
    /// Our name and the peer's.
    pub(super) names: [String; 2],
    /// Our fresh key.
    fresh: Secret,
    /// What we sent first.
    pub(super) first: Vec<u8>,
    /// Bytes after which we take new keys.
    pub(super) rekey: u64,
}

/// What both directions share.
pub(super) struct Shared {
    pub(super) ends: Ends,
    state: Mutex<State>,
    changed: Condvar,
}

pub(super) struct State {
    /// Our own secret key, and what our encapsulation to the peer's own key gave: until there is an agreement.
    before: Option<(Secret, Zeroizing<[u8; 32]>)>,
    /// What the peer sent first.
    theirs: Option<Vec<u8>>,
    /// The agreed secret, for each direction to take once: to send and to receive.
    agreed: [Option<Psk>; 2],
    pub(super) failed: Option<EndToEndError>,
    /// Bytes of text that we sent, and whether our end was.
    pub(super) sent: u64,
    pub(super) end_sent: bool,
    /// Bytes of text that are written, and whether the peer's end came.
    pub(super) received: u64,
    pub(super) ended: bool,
    /// The peer's receipt came: it has all that we sent.
    pub(super) confirmed: bool,
}

impl State {
    /// What has not come yet.
    pub(super) fn missing(&self) -> Option<EndToEndError> {
        match self {
            State { theirs: None, .. } => Some(EndToEndError::Other),
            State { ended: false, .. } => Some(EndToEndError::Cut),
            State { confirmed: false, .. } => Some(EndToEndError::Unconfirmed),
            _ => None,
        }
    }
}

/// Texts one after the other, each with its length.
fn joined(label: &str, parts: &[&[u8]]) -> Vec<u8> {
    let mut all = label.as_bytes().to_vec();
    for part in parts {
        all.extend_from_slice(&(part.len() as u32).to_be_bytes());
        all.extend_from_slice(part);
    }
    all
}

/// What an encapsulation to an own key is bound to: sender first.
fn own_info(names: [&str; 2], publics: [&[u8]; 2], fresh: &[u8]) -> Vec<u8> {
    let [from, to] = names.map(str::as_bytes);
    joined("sealwright end-to-end: own keys", &[from, to, publics[0], publics[1], fresh])
}

impl Ends {
    /// What the keys of one direction are bound to: sender first.
    fn info(&self, theirs: &[u8], sending: bool) -> Vec<u8> {
        let ours = [self.names[0].as_bytes(), &self.own_public, &self.first];
        let peers = [self.names[1].as_bytes(), &self.peer_public, theirs];
        let (from, to) = if sending { (ours, peers) } else { (peers, ours) };
        joined("sealwright end-to-end: fresh keys", &[from[0], to[0], from[1], to[1], from[2], to[2]])
    }
}

impl Shared {
    /// Makes our fresh key and our first message.
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
        context.export(EXPORT, &mut *ours).map_err(key)?;
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

    /// Takes the peer's first message. Of the secrets that led to the agreement nothing is kept.
    pub(super) fn agree(&self, theirs: Vec<u8>) -> Result<(), EndToEndError> {
        let mut state = self.state();
        let (own, ours) = state.before.take().ok_or(EndToEndError::NotAuthentic)?;
        let (fresh, encapsulated) = theirs[MAGIC.len()..].split_at(PUBLIC);
        let encapsulated = Encapsulated::from_bytes(encapsulated)?;
        let Ends { names, peer_public, own_public, .. } = &self.ends;
        let info = own_info([&names[1], &names[0]], [peer_public, own_public], fresh);
        let context: Receiver = setup_receiver(&OpModeR::Base, &own, &encapsulated, &info)?;
        let mut peers = Zeroizing::new([0; 32]);
        context.export(EXPORT, &mut *peers)?;
        let mut both = Zeroizing::new([0; 64]);
        // In the order of the names, so that both sides have the same
        let (first, second) = if names[0] < names[1] { (&ours, &peers) } else { (&peers, &ours) };
        both[..32].copy_from_slice(&**first);
        both[32..].copy_from_slice(&**second);
        state.theirs = Some(theirs);
        state.agreed = [Some(both.clone()), Some(both)];
        self.changed.notify_all();
        Ok(())
    }

    /// Whoever waits for an agreement need not.
    pub(super) fn fail(&self, error: EndToEndError) {
        self.state().failed.get_or_insert(error);
        self.changed.notify_all();
    }

    /// Waits for the agreement, and takes its secret for what we send.
    pub(super) fn secret_to_send(&self) -> Result<Psk, EndToEndError> {
        let waits = |state: &mut State| state.theirs.is_none() && state.failed.is_none();
        let mut state = self.changed.wait_while(self.state(), waits).unwrap_or_else(PoisonError::into_inner);
        state.agreed[0].take().ok_or(state.failed.unwrap_or(EndToEndError::NotAuthentic))
    }

    /// Takes the secret of the agreement for what we receive.
    pub(super) fn secret_to_receive(&self) -> Result<Psk, EndToEndError> {
        self.state().agreed[1].take().ok_or(EndToEndError::NotAuthentic)
    }

    /// The peer's end came, and all before it is written.
    pub(super) fn ended(&self) {
        self.state().ended = true;
        self.changed.notify_all();
    }

    /// Waits for the peer's end, and returns what our receipt says.
    pub(super) fn receipt(&self) -> Result<[u8; 8], EndToEndError> {
        let waits = |state: &mut State| !state.ended && state.failed.is_none();
        let state = self.changed.wait_while(self.state(), waits).unwrap_or_else(PoisonError::into_inner);
        if state.ended { Ok(state.received.to_be_bytes()) } else { Err(state.failed.unwrap_or(EndToEndError::Cut)) }
    }

    /// Takes the peer's receipt.
    pub(super) fn confirm(&self, receipt: &[u8]) -> Result<(), EndToEndError> {
        let mut state = self.state();
        state.confirmed = state.end_sent && receipt == state.sent.to_be_bytes();
        if state.confirmed { Ok(()) } else { Err(EndToEndError::Unconfirmed) }
    }

    fn theirs(&self) -> Result<Vec<u8>, EndToEndError> {
        self.state().theirs.clone().ok_or(EndToEndError::Other)
    }

    /// New keys to send with: an encapsulation to the peer's fresh key, and the keys.
    pub(super) fn sender(&self, secret: &Psk) -> Result<(Vec<u8>, Sender), EndToEndError> {
        let theirs = self.theirs()?;
        let fresh = Public::from_bytes(&theirs[MAGIC.len()..MAGIC.len() + PUBLIC])?;
        let mode = OpModeS::Psk(PskBundle::new(&secret[..], PSK_ID)?);
        let (encapsulated, context): (Encapsulated, Sender) =
            setup_sender(&mode, &fresh, &self.ends.info(&theirs, true))?;
        Ok((encapsulated.to_bytes().to_vec(), context))
    }

    /// The peer's new keys, from an encapsulation to our fresh key.
    pub(super) fn receiver(&self, encapsulated: &[u8], secret: &Psk) -> Result<Receiver, EndToEndError> {
        let theirs = self.theirs()?;
        let encapsulated = Encapsulated::from_bytes(encapsulated)?;
        let mode = OpModeR::Psk(PskBundle::new(&secret[..], PSK_ID)?);
        Ok(setup_receiver(&mode, &self.ends.fresh, &encapsulated, &self.ends.info(&theirs, false))?)
    }
}
