//! What a server asks of a table of sessions, whatever the scheme.

use core::{fmt, ops::Range};

use sealwright::Isa;

use crate::{
    Grant, Material, Secret, Side, Spec,
    clear::Clear,
    derived::Derived,
    gscm::Gscm,
    on64::On64,
    paper::Paper,
    record::{Keys16, Keys32, On16, On32, Pre16, Pre32},
    scheme::Scheme,
    spec::Kind,
    table::Table,
};

/// Why a frame, or a client, was refused. A frame that was not opened is wiped or still sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refused {
    /// Too short for a frame, or not as long as its header says.
    Short,
    /// Longer than frames may be.
    Oversize,
    /// No header that this version knows.
    Malformed,
    /// No session in this slot.
    Unknown,
    /// Of another epoch: sealed before the session's keys were made anew.
    Stale,
    /// Seen before, or too old to tell.
    Replayed,
    /// The tag does not fit.
    Forged,
    /// The key has encrypted 2^32 blocks, or the slot has had all its epochs.
    Exhausted,
    /// The system gives no memory.
    NoMemory,
    /// The system gives no random bytes.
    NoRandom,
}

impl Refused {
    /// All reasons.
    pub const ALL: [Refused; 10] = [
        Refused::Short,
        Refused::Oversize,
        Refused::Malformed,
        Refused::Unknown,
        Refused::Stale,
        Refused::Replayed,
        Refused::Forged,
        Refused::Exhausted,
        Refused::NoMemory,
        Refused::NoRandom,
    ];

    /// One word, as counters are called.
    pub fn name(self) -> &'static str {
        match self {
            Refused::Short => "short",
            Refused::Oversize => "oversize",
            Refused::Malformed => "malformed",
            Refused::Unknown => "unknown",
            Refused::Stale => "stale",
            Refused::Replayed => "replayed",
            Refused::Forged => "forged",
            Refused::Exhausted => "exhausted",
            Refused::NoMemory => "no_memory",
            Refused::NoRandom => "no_random",
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refused::Short => "the frame is cut short",
            Refused::Oversize => "the frame is longer than frames may be",
            Refused::Malformed => "this is no frame",
            Refused::Unknown => "there is no such session",
            Refused::Stale => "the frame was sealed before the session's keys were made anew",
            Refused::Replayed => "the frame was seen before",
            Refused::Forged => "the frame is not authentic",
            Refused::Exhausted => "the session's keys are used up",
            Refused::NoMemory => "the system gives no more memory",
            Refused::NoRandom => "the system gives no random bytes",
        })
    }
}
impl core::error::Error for Refused {}

/// A frame in a buffer, to be opened or sealed with others.
#[derive(Clone, Debug)]
pub struct Job {
    /// Where the frame starts in the buffer.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Whose keys.
    pub slot: u32,
    /// The session's number, for the header that sealing writes.
    pub session: u32,
    /// What became of it; none before.
    pub outcome: Option<Result<(), Refused>>,
}

impl Job {
    /// The frame in these bytes of the buffer, under the keys of `slot`.
    pub fn new(frame: Range<usize>, slot: u32, session: u32) -> Self {
        Job { start: frame.start, end: frame.end, slot, session, outcome: None }
    }

    /// Whether it was opened, or sealed.
    pub fn done(&self) -> bool {
        self.outcome == Some(Ok(()))
    }
}

/// What a table shall be.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scheme.
    pub spec: Spec,
    /// The most sessions.
    pub slots: u32,
    /// Which end of them the table holds.
    pub side: Side,
    /// What keys are derived from that clients do not bring along; none for a random one. Two tables of the same secret
    /// and scheme that admit the same clients in the same order are each other's ends. A secret must not serve twice on one
    /// side: the same keys would come again, with the same nonces.
    pub secret: Option<Secret>,
    /// The most clients of a cluster: slots `n c` to `n c + n - 1` are cluster `c`.
    pub cluster: u32,
    /// The level to compute at.
    pub isa: Isa,
}

impl Plan {
    /// Clients of a cluster, unless the plan says otherwise: a budget of 2^48 blocks under its main keys.
    pub const CLUSTER: u32 = 1 << 16;

    /// A server's table of so many sessions, at the best level.
    pub fn new(spec: Spec, slots: u32) -> Self {
        Plan { spec, slots, side: Side::Server, secret: None, cluster: Self::CLUSTER, isa: Isa::best() }
    }
}

/// Where a table's memory goes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Of one record.
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

/// A table of sessions, each in a slot. Who has a session's number knows its slot.
pub trait Sessions: Send {
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
    /// [`Refused::Unknown`] if there is no such slot, [`Refused::Exhausted`] after 65,535 epochs of the slot or 2^48 blocks
    /// of its cluster (then [`revoke`](Self::revoke) gives the cluster new keys), [`Refused::NoRandom`].
    fn admit(&mut self, slot: u32, session: u32, material: &Material) -> Result<Grant, Refused>;

    /// Forgets a session and wipes its keys.
    fn remove(&mut self, slot: u32);

    /// Forgets a session whose client must not be trusted any more. Where clients share keys, all who shared this
    /// one's are forgotten too, and their slots returned: they need to be admitted anew, under new keys.
    fn revoke(&mut self, slot: u32) -> Vec<u32>;

    /// Opens a whole frame in place. What it was sealed for must be checked by whoever knows the session's slot.
    ///
    /// # Errors
    /// [`Refused`]; no payload can then be read from it.
    fn open(&mut self, slot: u32, frame: &mut [u8]) -> Result<(), Refused>;

    /// Seals a frame in place whose payload is there: writes the header, for the session's number, and the tag.
    ///
    /// # Errors
    /// [`Refused`]; the frame is as it was.
    fn seal(&mut self, slot: u32, session: u32, frame: &mut [u8]) -> Result<(), Refused>;

    /// Asks for a record, so that it is there when it is needed: many of these at once wait for memory together.
    fn touch(&self, slot: u32);

    /// Opens many frames, anywhere in one buffer, faster than one by one. Each job has its outcome afterwards. Of
    /// frames of one session, the first comes first.
    fn open_all(&mut self, buffer: &mut [u8], jobs: &mut [Job]);

    /// Seals many frames likewise.
    fn seal_all(&mut self, buffer: &mut [u8], jobs: &mut [Job]);

    /// How many of 2^32 blocks the keys of a slot have left, the lesser number of both directions; none if it is empty.
    /// Admit the client anew well before they end.
    fn blocks_left(&self, slot: u32) -> Option<u64>;

    /// Where the memory goes.
    fn memory(&self) -> Memory;
}

/// Makes a table.
///
/// # Errors
/// [`Refused::NoMemory`] or [`Refused::NoRandom`].
pub fn table(plan: Plan) -> Result<Box<dyn Sessions>, Refused> {
    fn boxed<S: Scheme + 'static>(scheme: S, plan: Plan) -> Result<Box<dyn Sessions>, Refused> {
        Ok(Box::new(Table::new(scheme, plan)?))
    }
    let Plan { spec, slots, side, isa, .. } = plan;
    match (spec.kind, spec.long) {
        (Kind::Clear, _) => boxed(Clear { isa }, plan),
        (Kind::GcmPre(x), false) => boxed(Paper::<Pre16>::new(isa, spec, x, slots), plan),
        (Kind::GcmPre(x), true) => boxed(Paper::<Pre32>::new(isa, spec, x, slots), plan),
        (Kind::GcmOn(x), false) => boxed(Paper::<On16>::new(isa, spec, x, slots), plan),
        (Kind::GcmOn(x), true) => boxed(Paper::<On32>::new(isa, spec, x, slots), plan),
        (Kind::GcmOn64, false) => boxed(On64::<Keys16>::new(isa, spec), plan),
        (Kind::GcmOn64, true) => boxed(On64::<Keys32>::new(isa, spec), plan),
        (Kind::GcmDerived, _) => {
            let secret = plan.secret.clone().map_or_else(Secret::random, Ok)?;
            boxed(Derived::new(isa, spec, side, &secret), plan)
        }
        (Kind::Gscm(x), _) => boxed(Gscm::new(&plan, Some(x)), plan),
        (Kind::GscmH, _) => boxed(Gscm::new(&plan, None), plan),
    }
}
