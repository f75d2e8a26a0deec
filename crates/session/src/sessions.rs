//! What a server asks of a table of sessions, whatever the scheme.

use core::{fmt, ops::Range};

use sealwright::Isa;

use crate::{
    error::SessionError,
    grant::Grant,
    material::{Material, Secret, Side},
    spec::Spec,
};

/// A frame in a buffer, to be opened or sealed with others.
///
/// ```
/// use sealwright_session::{Client, FrameJob, Material, Plan, table};
///
/// let mut relay = table(Plan::new("gcm-on64".parse()?, 10))?;
/// let (mut buffer, mut jobs) = (Vec::new(), Vec::new());
/// for slot in 0..4 {
///     let mut client = Client::new(relay.admit(slot, slot, &Material::random()?)?);
///     let frame = client.seal(9, b"hello")?;
///     jobs.push(FrameJob::new(buffer.len()..buffer.len() + frame.len(), slot, slot));
///     buffer.extend(frame); // as they arrived
/// }
/// relay.open_all(&mut buffer, &mut jobs);
/// assert!(jobs.iter().all(FrameJob::done));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FrameJob {
    /// Where the frame starts in the buffer.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Whose keys.
    pub slot: u32,
    /// The session's number, for the header that sealing writes.
    pub session: u32,
    /// What became of it; none before.
    pub outcome: Option<Result<(), SessionError>>,
}

impl FrameJob {
    /// The frame in these bytes of the buffer, under the keys of `slot`.
    pub fn new(frame: Range<usize>, slot: u32, session: u32) -> Self {
        FrameJob { start: frame.start, end: frame.end, slot, session, outcome: None }
    }

    /// Whether it was opened, or sealed.
    pub fn done(&self) -> bool {
        self.outcome == Some(Ok(()))
    }
}

/// What a table shall be.
///
/// ```
/// use sealwright::Isa;
/// use sealwright_session::{Plan, table};
///
/// let plan = Plan { isa: "portable".parse::<Isa>()?, ..Plan::new("gcm-on64-256".parse()?, 1000) };
/// assert_eq!(table(plan)?.slots(), 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scheme.
    pub spec: Spec,
    /// Maximum number of sessions.
    pub slots: u32,
    /// Which end of them the table holds.
    pub side: Side,
    /// What keys are derived from that clients do not bring along; none for a random one, which is what a server wants. Two tables of the same secret
    /// and scheme that admit the same clients in the same order are each other's ends. A secret must not serve twice on one
    /// side, as after a restart if it was stored: the same keys would come again, with the same nonces.
    pub secret: Option<Secret>,
    /// The most clients of a cluster: slots `n c` to `n c + n - 1` are cluster `c`. Clients of a cluster of more than [`Plan::CLUSTER`] have
    /// fewer blocks each, so that all have 2^48 together; only the table knows how many, and a client counts 2^32.
    pub cluster: u32,
    /// The level to compute at.
    pub isa: Isa,
    /// Whether late packets are told from replayed ones in a window of 1,080 packets at least, for 128 bytes more a
    /// client; else in one of 56 at least.
    pub wide_window: bool,
}

impl Plan {
    /// Clients of a cluster, unless the plan says otherwise: a budget of 2^48 blocks under its main keys.
    pub const CLUSTER: u32 = 1 << 16;

    /// A server's table of so many sessions, at the best level.
    pub fn new(spec: Spec, slots: u32) -> Self {
        Plan {
            spec,
            slots,
            side: Side::Server,
            secret: None,
            cluster: Self::CLUSTER,
            isa: Isa::best(),
            wide_window: false,
        }
    }
}

/// Where a table's memory goes, in bytes.
///
/// ```
/// use sealwright_session::{Material, Plan, table};
///
/// let mut relay = table(Plan::new("gcm-on64".parse()?, 1000))?;
/// for slot in 0..1000 {
///     relay.admit(slot, slot, &Material::random()?)?;
/// }
/// let memory = relay.memory();
/// assert_eq!((memory.live, memory.record), (1000, 64));
/// assert!(memory.bytes_per_client() < 80.0); // with its place in lists
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Of one record, the wide replay window included.
    pub record: usize,
    /// How many records there are room for.
    pub slots: u32,
    /// How many are used.
    pub live: u32,
    /// Of all records, used or not. The system gives them when they are first used.
    pub reserved: u64,
    /// On the heap for clients: tables, and the list of them.
    pub heap: u64,
    /// Shared by clients: clusters, masters.
    pub shared: u64,
}

impl Memory {
    /// What one of the clients costs: its record, and its part of the heap and of what is shared.
    pub fn bytes_per_client(&self) -> f64 {
        self.record as f64 + (self.heap + self.shared) as f64 / f64::from(self.live.max(1))
    }
}

/// What keeps [`Sessions`] from being implemented outside this crate, so that it may grow.
#[allow(unreachable_pub, reason = "it bounds a public trait")]
pub(crate) mod sealed {
    pub trait Sealed {}
}

/// A table of sessions, each in a slot. Who has a session's number knows its slot.
///
/// A process that is forked, or that goes on from a snapshot of itself or of its virtual machine, has a copy of the table, and must not seal
/// with it: both would use the same nonces. It admits its clients anew, into a table of its own.
///
/// Dropping a table, and [`remove`](Self::remove), overwrite what is left of keys on the stack: that takes up to 48 KiB of it.
///
/// This trait is sealed: methods may be added to it. `Debug` shows no secrets.
///
/// ```
/// use sealwright_session::{Client, Material, SessionError, Sessions, Plan, table};
///
/// /// Gives a client new keys before the old ones are used up.
/// fn renew(relay: &mut dyn Sessions, slot: u32) -> Result<Option<Client>, SessionError> {
///     if relay.blocks_left(slot).is_some_and(|blocks| blocks > 1 << 20) {
///         return Ok(None);
///     }
///     Ok(Some(Client::new(relay.admit(slot, slot, &Material::random()?)?)))
/// }
/// let mut relay = table(Plan::new("gcm-on64".parse()?, 10))?;
/// assert!(renew(&mut *relay, 3)?.is_some());
/// assert!(renew(&mut *relay, 3)?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Sessions: sealed::Sealed + fmt::Debug + Send {
    /// The scheme.
    fn spec(&self) -> Spec;

    /// How many slots there are.
    fn slots(&self) -> u32;

    /// How many of them are used.
    fn live(&self) -> u32;

    /// Puts a client into a slot, or gives the one that is there new keys: its epoch goes up by one, its numbers start
    /// over, its old keys are wiped. `session` is noted in the grant alone.
    ///
    /// # Errors
    /// [`SessionError::Unknown`] if there is no such slot; [`SessionError::Exhausted`] after 65,535 epochs of the slot, where keys are made
    /// of its number and epoch (`gcm-derived`, `gscm-h`, `gscm(x)`); [`SessionError::WornCluster`] after 2^48 blocks of its cluster (then
    /// [`revoke`](Self::revoke) gives the cluster new keys); [`SessionError::NoRandom`].
    fn admit(&mut self, slot: u32, session: u32, material: &Material) -> Result<Grant, SessionError>;

    /// The epoch of the keys of a slot, as its grant has it; none if it is empty.
    fn epoch(&self, slot: u32) -> Option<u16>;

    /// Forgets a session and wipes its keys: in the table, and what packets left of them on the stack of this thread. What other threads
    /// that used the table have on theirs stays.
    fn remove(&mut self, slot: u32);

    /// Forgets a session whose client must not be trusted any more. Where clients share keys, all who shared this
    /// one's are forgotten too, and their slots returned: they need to be admitted anew, under new keys.
    fn revoke(&mut self, slot: u32) -> Vec<u32>;

    /// Opens a whole frame in place. What it was sealed for must be checked by whoever knows the session's slot.
    ///
    /// # Errors
    /// [`SessionError`]; no payload can then be read from it.
    fn open(&mut self, slot: u32, frame: &mut [u8]) -> Result<(), SessionError>;

    /// Seals a frame in place whose payload is there: writes the header, for the session's number, and the tag.
    ///
    /// # Errors
    /// [`SessionError`]; the frame is as it was.
    fn seal(&mut self, slot: u32, session: u32, frame: &mut [u8]) -> Result<(), SessionError>;

    /// Asks for a record, so that it is there when it is needed: many of these at once wait for memory together.
    fn touch(&self, slot: u32);

    /// Opens many frames, anywhere in one buffer, faster than one by one. Each job has its outcome afterwards. Of
    /// frames of one session, the first comes first.
    fn open_all(&mut self, buffer: &mut [u8], jobs: &mut [FrameJob]);

    /// Seals many frames likewise.
    fn seal_all(&mut self, buffer: &mut [u8], jobs: &mut [FrameJob]);

    /// How many of 2^32 blocks, or of the fewer that a client of a great cluster has, the keys of a slot have left, the lesser number
    /// of both directions; none if it is empty. Admit the client anew well before they end. What the other end sealed and never arrived
    /// is not known here: that end may have fewer left.
    fn blocks_left(&self, slot: u32) -> Option<u64>;

    /// Where the memory goes.
    fn memory(&self) -> Memory;
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_job_is_done_once_it_went_well() {
        let mut job = FrameJob::new(3..9, 1, 2);
        assert_eq!((job.start, job.end, job.slot, job.session, job.done()), (3, 9, 1, 2, false));
        job.outcome = Some(Err(SessionError::Forged));
        assert!(!job.done());
        job.outcome = Some(Ok(()));
        assert!(job.done());
    }

    #[test]
    fn what_a_client_costs() {
        let memory = Memory { record: 64, slots: 10, live: 4, reserved: 640, heap: 100, shared: 300 };
        assert_eq!(memory.bytes_per_client(), 164.0);
        assert_eq!(Memory { live: 0, ..memory }.bytes_per_client(), 464.0);
    }

    #[test]
    fn a_cluster_has_as_many_clients_as_the_documents_say() {
        assert_eq!(Plan::new("gscm-h".parse().unwrap(), 1).cluster, 65_536);
    }
}
