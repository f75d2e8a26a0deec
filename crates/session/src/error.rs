//! Why a frame, a client or a table was refused.

use thiserror::Error;

/// Why a frame, or a client, was refused. Nothing that was sealed can be read from the payload of such a frame: it is wiped, or as it
/// arrived, and then whoever sent it chose what stands there.
///
/// ```
/// use sealwright_session::{Client, Material, Plan, SessionError, table};
///
/// let mut relay = table(Plan::new("gcm-on64".parse()?, 10))?;
/// let mut alice = Client::new(relay.admit(7, 7, &Material::random()?)?);
/// let frame = alice.seal(8, b"hello")?;
/// relay.open(7, &mut frame.clone())?;
/// assert_eq!(relay.open(7, &mut frame.clone()), Err(SessionError::Replayed));
/// assert_eq!(SessionError::Replayed.name(), "replayed"); // of a counter
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// Too short for a frame, or not as long as its header says.
    #[error("the frame is cut short")]
    Short,
    /// Longer than [`MAX_FRAME`](crate::frame::MAX_FRAME).
    #[error("the frame is longer than a frame may be")]
    Oversize,
    /// The header is not one of this version.
    #[error("the bytes are not a frame")]
    Malformed,
    /// No session has this slot.
    #[error("there is no such session")]
    Unknown,
    /// Of another epoch: sealed before the session got its present keys.
    #[error("the frame was sealed under the session's old keys")]
    Stale,
    /// Its number was seen before, or is too old to tell.
    #[error("the frame was seen before")]
    Replayed,
    /// The tag does not match.
    #[error("the frame is not authentic")]
    Forged,
    /// The key has encrypted 2^32 blocks, of a client of a great cluster fewer ([`Plan::cluster`](crate::Plan::cluster)), or the slot has
    /// used all its epochs.
    #[error("the session's keys are used up")]
    Exhausted,
    /// The main keys of the session's cluster have encrypted 2^48 blocks: [`revoke`](crate::Sessions::revoke) gives it
    /// others.
    #[error("the keys that the session's cluster shares are used up")]
    WornCluster,
    /// The system has no more memory.
    #[error("the system has no more memory")]
    NoMemory,
    /// The system gives no random bytes.
    #[error("the system gives no random bytes")]
    NoRandom,
}

impl SessionError {
    /// All reasons.
    pub const ALL: &[SessionError] = &[
        SessionError::Short,
        SessionError::Oversize,
        SessionError::Malformed,
        SessionError::Unknown,
        SessionError::Stale,
        SessionError::Replayed,
        SessionError::Forged,
        SessionError::Exhausted,
        SessionError::WornCluster,
        SessionError::NoMemory,
        SessionError::NoRandom,
    ];

    /// One word, for the name of a counter.
    pub fn name(self) -> &'static str {
        match self {
            SessionError::Short => "short",
            SessionError::Oversize => "oversize",
            SessionError::Malformed => "malformed",
            SessionError::Unknown => "unknown",
            SessionError::Stale => "stale",
            SessionError::Replayed => "replayed",
            SessionError::Forged => "forged",
            SessionError::Exhausted => "exhausted",
            SessionError::WornCluster => "worn_cluster",
            SessionError::NoMemory => "no_memory",
            SessionError::NoRandom => "no_random",
        }
    }
}
