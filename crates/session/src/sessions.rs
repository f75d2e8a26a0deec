//! The interface of a table of sessions, whatever the scheme.

use core::{fmt, ops::Range};

use sealwright::Isa;

use crate::{
    error::SessionError,
    grant::Grant,
    material::{Material, Secret, Side},
    replay::ReplayWindow,
    spec::Spec,
};

/// A frame in a buffer, to be opened or sealed together with others.
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
#[non_exhaustive]
pub struct FrameJob {
    /// Where the frame starts in the buffer.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The slot whose keys are used.
    pub slot: u32,
    /// The session's number, for the header that sealing writes.
    pub session: u32,
    /// The result; `None` before the call.
    pub outcome: Option<Result<(), SessionError>>,
}

impl FrameJob {
    /// The frame in these bytes of the buffer, under the keys of `slot`.
    pub fn new(frame: Range<usize>, slot: u32, session: u32) -> Self {
        FrameJob { start: frame.start, end: frame.end, slot, session, outcome: None }
    }

    /// Whether it was opened or sealed successfully.
    pub fn done(&self) -> bool {
        self.outcome == Some(Ok(()))
    }
}

/// The parameters of a table.
///
/// ```
/// use sealwright_session::{Plan, table};
///
/// let plan = Plan::new("gcm-on64-256".parse()?, 1000).isa("portable".parse()?);
/// assert_eq!(table(plan)?.slots(), 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// The scheme.
    pub spec: Spec,
    /// Maximum number of sessions.
    pub slots: u32,
    /// Which end of the sessions the table represents.
    pub side: Side,
    /// The secret from which keys are derived that clients do not contribute; `None` for a random one, which is right
    /// for a server. Two tables with the same secret and scheme, for opposite sides, that admit the same clients in the
    /// same order are each other's ends. A secret must not be used twice on one side, for example after a restart: the
    /// same keys would return, with the same nonces.
    pub secret: Option<Secret>,
    /// The number of clients of a cluster: slots `n c` to `n c + n - 1` are cluster `c`. In clusters of more than
    /// [`Plan::CLUSTER`], each client may encrypt fewer than 2^32 blocks, so that all of them together encrypt at most
    /// 2^48. Only the table knows this limit: a client counts to 2^32.
    pub cluster: u32,
    /// The instruction-set level to use.
    pub isa: Isa,
    /// By how many packets one may be late.
    pub replay_window: ReplayWindow,
}

impl Plan {
    /// The default number of clients of a cluster, for which 2^32 blocks each are the budget of 2^48 blocks under the
    /// main keys.
    pub const CLUSTER: u32 = 1 << 16;

    /// A server's table with this many slots, at the best level.
    pub fn new(spec: Spec, slots: u32) -> Self {
        Plan {
            spec,
            slots,
            side: Side::Server,
            secret: None,
            cluster: Self::CLUSTER,
            isa: Isa::best(),
            replay_window: ReplayWindow::Narrow,
        }
    }

    /// Sets which end of the sessions the table represents.
    pub fn side(self, side: Side) -> Self {
        Plan { side, ..self }
    }

    /// Sets the secret from which keys are derived, see [`Plan::secret`](field@Self::secret).
    pub fn secret(self, secret: impl Into<Option<Secret>>) -> Self {
        Plan { secret: secret.into(), ..self }
    }

    /// Sets the number of clients of a cluster.
    pub fn cluster(self, cluster: u32) -> Self {
        Plan { cluster, ..self }
    }

    /// Sets the instruction-set level.
    pub fn isa(self, isa: Isa) -> Self {
        Plan { isa, ..self }
    }

    /// Sets by how many packets one may be late.
    pub fn replay_window(self, replay_window: ReplayWindow) -> Self {
        Plan { replay_window, ..self }
    }
}

/// A table's memory in bytes, by purpose.
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
#[non_exhaustive]
pub struct Memory {
    /// One record, including a wide replay window.
    pub record: usize,
    /// The number of slots.
    pub slots: u32,
    /// The number of slots in use.
    pub live: u32,
    /// All records, used or not. The operating system provides the memory when it is first used.
    pub reserved: u64,
    /// Heap memory for clients: GHASH tables, and the list of them.
    pub heap: u64,
    /// Memory that clients share: clusters, master keys.
    pub shared: u64,
}

impl Memory {
    /// The memory per client in use: its record, and its share of the heap and of shared memory.
    pub fn bytes_per_client(&self) -> f64 {
        self.record as f64 + (self.heap + self.shared) as f64 / f64::from(self.live.max(1))
    }
}

/// Keeps [`Sessions`] from being implemented outside this crate, so that methods can be added.
#[allow(unreachable_pub, reason = "it bounds a public trait")]
pub(crate) mod sealed {
    pub trait Sealed {}
}

/// A table of sessions, each in a slot. The caller maps session numbers to slots.
///
/// A process that was forked, or restored from a snapshot of itself or of its virtual machine, holds a copy of the
/// table and must not seal with it, because both would use the same nonces. It must admit its clients again, into a
/// table of its own.
///
/// Dropping a table, [`remove`](Self::remove), [`revoke`](Self::revoke), and [`admit`](Self::admit) to a slot in use
/// overwrite remnants of keys on the stack, which needs up to 48 KiB of stack.
///
/// This trait is sealed: later versions may add methods. `Debug` shows no secrets.
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

    /// The number of slots.
    fn slots(&self) -> u32;

    /// The number of slots in use.
    fn live(&self) -> u32;

    /// Admits a client to a slot, or gives the client in it new keys: the epoch is incremented, packet numbers start
    /// again, and the old keys are wiped. `session` is only stored in the grant. The material must be new: a second client
    /// admitted with it could have the same keys and nonces, and so could this one in its next epoch.
    ///
    /// # Errors
    /// [`SessionError::Unknown`] if there is no such slot; [`SessionError::Exhausted`] after 65,535 epochs of the slot,
    /// in schemes that derive keys from slot and epoch (`gcm-derived`, `gscm-h`, `gscm(x)`);
    /// [`SessionError::WornCluster`] after 2^48 blocks of its cluster (then [`revoke`](Self::revoke) gives the cluster
    /// new keys); [`SessionError::NoRandomness`].
    fn admit(&mut self, slot: u32, session: u32, material: &Material) -> Result<Grant, SessionError>;

    /// The epoch of the keys in a slot, as stated in its grant; `None` if the slot is empty.
    fn epoch(&self, slot: u32) -> Option<u16>;

    /// Removes a session and wipes its keys, in the table and where packets left them on the stack of this thread. The
    /// stacks of other threads that used the table are not wiped.
    fn remove(&mut self, slot: u32);

    /// Removes a session whose client is no longer trusted. If clients share keys, all that shared keys with this one
    /// are removed too, and their slots returned: they must be admitted again, under new keys.
    fn revoke(&mut self, slot: u32) -> Vec<u32>;

    /// Opens a complete frame in place. The caller, who maps sessions to slots, must check what the frame is for.
    ///
    /// # Errors
    /// [`SessionError`]; the plaintext is then not in the frame.
    fn open(&mut self, slot: u32, frame: &mut [u8]) -> Result<(), SessionError>;

    /// Seals a frame in place, whose payload is already in it: writes the header, with the session's number, and the
    /// tag.
    ///
    /// # Errors
    /// [`SessionError`]; the frame is then unchanged.
    fn seal(&mut self, slot: u32, session: u32, frame: &mut [u8]) -> Result<(), SessionError>;

    /// Prefetches a record: several prefetches wait for memory at the same time.
    fn touch(&self, slot: u32);

    /// Opens many frames, anywhere in one buffer, faster than one by one, and sets the outcome of each job. Frames of
    /// one session must be in the order in which they are to be opened.
    fn open_all(&mut self, buffer: &mut [u8], jobs: &mut [FrameJob]);

    /// Seals many frames in the same way.
    fn seal_all(&mut self, buffer: &mut [u8], jobs: &mut [FrameJob]);

    /// How many blocks the keys of a slot may still encrypt, of 2^32 or of the lower limit in a large cluster, in the
    /// direction that has fewer left; `None` if the slot is empty. Admit the client again well before the limit.
    /// Packets of the other end that never arrived are not known here: that end may have fewer blocks left.
    fn blocks_left(&self, slot: u32) -> Option<u64>;

    /// The memory of the table.
    fn memory(&self) -> Memory;
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_plan_has_what_was_set() {
        let of =
            |plan: &Plan| (plan.slots, plan.side, plan.secret.is_some(), plan.cluster, plan.isa, plan.replay_window);
        let plan = Plan::new("gcm-on64".parse().unwrap(), 7);
        assert_eq!(of(&plan), (7, Side::Server, false, Plan::CLUSTER, Isa::best(), ReplayWindow::Narrow));
        let plan = plan.side(Side::Client).secret(Secret::random().unwrap()).cluster(8);
        let plan = plan.isa("portable".parse().unwrap()).replay_window(ReplayWindow::Wide);
        assert_eq!(of(&plan), (7, Side::Client, true, 8, "portable".parse().unwrap(), ReplayWindow::Wide));
        assert!(plan.secret(None).secret.is_none());
    }

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
