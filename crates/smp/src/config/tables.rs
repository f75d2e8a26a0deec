//! The tables of the settings, apart from those of schemes and engines.

use serde::{Deserialize, Serialize};

use crate::{protocol::Protocol, topology::TopologyKind};

/// Processors and chips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Machine {
    /// Processors, 2 to 64.
    pub processors: usize,
    /// Chips that they are spread over evenly; 0 is one chip a processor. Transfers within a chip stay in the clear.
    pub chips: usize,
    /// Lines that a processor may have asked for at a time, 1 to 64: its MSHRs. With 1 it waits for each.
    pub mshrs: usize,
    /// Bytes of a line, 64 or 128.
    pub line: usize,
    /// Cycles of a synchronisation: arriving at a barrier, asking for a lock, being woken.
    pub sync: u64,
    /// The process that all processors run, as associated data of every transfer.
    pub process: u8,
    /// Seed of keys, first counters and jitter.
    pub seed: u64,
    /// References after which counting begins, where the program does not bound its region of interest itself.
    pub warm_up: u64,
}

/// Several processes, each of which runs the workload in an address space of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Processes {
    /// How many, 1 to 16.
    pub count: usize,
    /// Cycles after which a processor changes to the next process that can run, once its access and the instructions before that
    /// are done; 0 changes only when a process waits for others.
    pub quantum: u64,
    /// Cycles of a change.
    pub switch: u64,
}

/// A first-level cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Level {
    /// Bytes.
    pub bytes: usize,
    /// Ways.
    pub ways: usize,
    /// Cycles of a hit, which the processor waits for.
    pub hit: u64,
}

/// The second-level cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SecondLevel {
    /// Bytes.
    pub bytes: usize,
    /// Ways.
    pub ways: usize,
    /// Cycles of a hit.
    pub hit: u64,
}

/// How the bus is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BusMode {
    /// Address and data phases apart: other requests pass while data is awaited.
    #[default]
    Split,
    /// Held from the address to the data.
    Atomic,
}

/// Who is served next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arbiter {
    /// Each in turn after the one served last.
    #[default]
    RoundRobin,
    /// The lowest number.
    Fixed,
}

/// The bus. Figures are those of GEMS where it has them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bus {
    /// Split or atomic.
    pub mode: BusMode,
    /// How caches are kept coherent: mosi, mesi or moesi.
    pub protocol: Protocol,
    /// Who is served next.
    pub arbiter: Arbiter,
    /// Cycles from controller to arbiter.
    pub issue: u64,
    /// Cycles to decide.
    pub arbitration: u64,
    /// Cycles that an address holds its part of the bus. A line that is written back holds it as well, and not the data lines.
    pub address: u64,
    /// Bytes a cycle in the data phase.
    pub width: u64,
    /// Bytes of a data message's header.
    pub header: u64,
    /// Cycles of the way, apart from holding the bus.
    pub flight: u64,
    /// Cycles of an owner to find its line.
    pub response: u64,
    /// Cycles after which a refused access is tried again.
    pub retry: u64,
    /// Whether tags, counters and messages of a scheme take their room on the bus.
    pub tags: bool,
    /// Cycles after which a requestor asks its peer to send again; 0 waits for ever.
    pub timeout: u64,
    /// The most by which nodes may see an address at different times; 0 is a snoop in one cycle.
    pub skew: u64,
}

/// What connects the nodes: the bus, or links between neighbours with a directory at each line's home node. Cycles of a
/// node's own work (issue, response, retry, timeout) and the protocol are those of the bus's table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Interconnect {
    /// bus, ring or mesh.
    pub kind: TopologyKind,
    /// Nodes in a row of a mesh; 0 makes it as square as it can be.
    pub columns: usize,
    /// Bytes that a link carries a cycle, each way.
    pub width: u64,
    /// Bytes of a message without a line: a request, a forwarded request, an invalidation, an acknowledgement.
    pub command: u64,
    /// Bytes of the header of a message with a line.
    pub header: u64,
    /// Cycles of a hop, through link and router, apart from holding the link.
    pub latency: u64,
    /// Cycles of a home to look a line up in its directory.
    pub directory: u64,
    /// Cycles for which each request, write-back or line that is given back keeps its home from others; 0 keeps none waiting.
    pub occupancy: u64,
}

/// Memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Memory {
    /// Cycles to answer.
    pub latency: u64,
    /// Up to this many cycles more, at random by the machine's seed.
    pub jitter: u64,
    /// Banks that work at the same time; 0 is a memory that answers every request after `latency`.
    pub banks: usize,
    /// Bytes of a bank's open row.
    pub row: u64,
    /// Cycles from a bank's turn to its line, if the line is in the open row.
    pub row_hit: u64,
    /// The same if another row is open, or none.
    pub row_miss: u64,
    /// Protection of what lies in memory.
    pub protect: Protect,
    /// Counter blocks that the controller keeps at hand, where memory is protected.
    pub counter_cache: usize,
}

/// Protection of what lies in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protect {
    /// None, as in the thesis.
    #[default]
    None,
    /// AES in XTS, as SEV has it: no counters, no MAC.
    Xts,
    /// The same with a MAC of 28 bits for each line, as TDX has it.
    XtsMac,
    /// Split counters, AES-GCM lines, and a Merkle tree over the counters, as SGX has it.
    Tree,
}

impl Protect {
    /// Every protection.
    pub const ALL: [Protect; 4] = [Protect::None, Protect::Xts, Protect::XtsMac, Protect::Tree];

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Protect::None => "none",
            Protect::Xts => "xts",
            Protect::XtsMac => "xts-mac",
            Protect::Tree => "tree",
        }
    }
}

impl Default for Machine {
    fn default() -> Self {
        Machine { processors: 4, chips: 0, mshrs: 1, line: 64, sync: 20, process: 32, seed: 1, warm_up: 0 }
    }
}
impl Default for Processes {
    fn default() -> Self {
        Processes { count: 1, quantum: 0, switch: 1000 }
    }
}
impl Default for Level {
    fn default() -> Self {
        Level { bytes: 64 << 10, ways: 4, hit: 4 }
    }
}
impl Default for SecondLevel {
    fn default() -> Self {
        SecondLevel { bytes: 1 << 20, ways: 4, hit: 10 }
    }
}
impl Default for Bus {
    fn default() -> Self {
        Bus {
            mode: BusMode::Split,
            protocol: Protocol::Mosi,
            arbiter: Arbiter::RoundRobin,
            issue: 2,
            arbitration: 3,
            address: 2,
            width: 10,
            header: 8,
            flight: 4,
            response: 12,
            retry: 10,
            tags: false,
            timeout: 0,
            skew: 0,
        }
    }
}
impl Default for Interconnect {
    fn default() -> Self {
        Interconnect {
            kind: TopologyKind::Bus,
            columns: 0,
            width: 16,
            command: 8,
            header: 8,
            latency: 4,
            directory: 6,
            occupancy: 0,
        }
    }
}
impl Default for Memory {
    fn default() -> Self {
        Memory {
            latency: 160,
            jitter: 0,
            banks: 0,
            row: 8192,
            row_hit: 100,
            row_miss: 160,
            protect: Protect::None,
            counter_cache: 256,
        }
    }
}
