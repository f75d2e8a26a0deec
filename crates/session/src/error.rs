//! Why a frame, a client or a table was refused.

use thiserror::Error;

/// Why a frame or a client was refused. The payload of a refused frame contains no plaintext: it is wiped, or still in
/// the form in which it arrived and so chosen by its sender.
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
    /// Too short for a frame, or its length differs from the one in its header.
    #[error("the frame is cut short")]
    Short,
    /// Longer than [`MAX_FRAME`](crate::frame::MAX_FRAME).
    #[error("the frame is longer than a frame may be")]
    Oversize,
    /// The header does not belong to this version.
    #[error("the bytes are not a frame")]
    Malformed,
    /// The slot has no session.
    #[error("there is no such session")]
    Unknown,
    /// It belongs to another epoch: it was sealed before the session got its present keys.
    #[error("the frame was sealed under the session's old keys")]
    Stale,
    /// Its number was received before, or is older than the replay window.
    #[error("the frame was seen before")]
    Replayed,
    /// The tag does not match.
    #[error("the frame is not authentic")]
    Forged,
    /// The key has encrypted its limit of 2^32 blocks (fewer in a large cluster, see
    /// [`Plan::cluster`](crate::Plan::cluster)), or the slot has used all its epochs.
    #[error("the session's keys are used up")]
    Exhausted,
    /// The main keys of the session's cluster have encrypted 2^48 blocks: [`revoke`](crate::Sessions::revoke) gives it
    /// new ones.
    #[error("the keys that the session's cluster shares are used up")]
    WornCluster,
    /// The operating system has no more memory.
    #[error("the system has no more memory")]
    NoMemory,
    /// The operating system's random source failed.
    #[error("the system gives no random bytes")]
    NoRandomness,
}

impl SessionError {
    /// All variants.
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
        SessionError::NoRandomness,
    ];

    /// The error as one word, for the name of a counter.
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
            SessionError::NoRandomness => "no_randomness",
        }
    }
}
