//! The tables of the settings, apart from those of schemes and engines.

use serde::{Deserialize, Serialize};

use crate::{protocol::Protocol, topology::TopologyKind};

/// Processors and chips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Machine {
    /// Processors, 2 to 64.
    pub processors: usize,
    /// Chips, each with the same number of processors; 0 means one chip per processor. Transfers within a chip are not
    /// encrypted.
    pub chips: usize,
    /// Outstanding line requests per processor (MSHRs), 1 to 64. With 1, a processor waits for each line.
    pub mshrs: usize,
    /// Bytes in a cache line, 64 or 128.
    pub line: usize,
    /// Cycles of a synchronisation step: arriving at a barrier, requesting a lock, being woken.
    pub sync: u64,
    /// Whether synchronisation sends lines too: each lock, barrier and semaphore has a line that processors write to
    /// synchronise, and read after they have waited. Without, it takes `sync` alone.
    pub sync_lines: bool,
    /// Number of the first process; the process number is associated data of every transfer.
    pub process: u8,
    /// Seed for keys, initial counters and jitter.
    pub seed: u64,
    /// Number of references before statistics begin, unless the program bounds its own region of interest.
    pub warm_up: u64,
}

/// Several processes, each of which runs the workload in an address space of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Processes {
    /// Number of processes, 1 to 16.
    pub count: usize,
    /// Time slice in cycles, after which a processor switches to the next runnable process, once its current access and
    /// the instructions before it are done; with 0 it switches only when a process waits for others.
    pub quantum: u64,
    /// Cycles of a switch.
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
    /// Latency of a hit in cycles; the processor waits for it.
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
    /// Latency of a hit in cycles.
    pub hit: u64,
}

/// How long a request holds the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BusMode {
    /// Split transactions: the bus is free for other requests between the address and the data phase.
    #[default]
    Split,
    /// Atomic transactions: a request holds the bus from its address until its data.
    Atomic,
}

/// How the arbiter chooses among the waiting nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arbiter {
    /// In turn, starting after the node served last.
    #[default]
    RoundRobin,
    /// The node with the lowest number.
    Fixed,
}

/// The bus. The defaults are those of GEMS where it defines them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bus {
    /// Split or atomic transactions.
    pub mode: BusMode,
    /// Coherence protocol: mosi, mesi or moesi.
    pub protocol: Protocol,
    /// How the arbiter chooses among the waiting nodes.
    pub arbiter: Arbiter,
    /// Cycles from a cache controller to the arbiter.
    pub issue: u64,
    /// Cycles of the arbiter's decision.
    pub arbitration: u64,
    /// Cycles for which a command holds the address bus. Write-backs hold the address bus too, and never the data bus.
    pub address: u64,
    /// Bytes per cycle on the data bus.
    pub width: u64,
    /// Bytes of the header of a data message.
    pub header: u64,
    /// Propagation delay in cycles, in addition to the time that the bus is held.
    pub flight: u64,
    /// Cycles that an owner needs to find the requested line.
    pub response: u64,
    /// Cycles after which a refused access is retried.
    pub retry: u64,
    /// Whether the tags, counters and messages of a scheme take time on the bus.
    pub tags: bool,
    /// Cycles after which a requester asks its peer to send the line again; 0 means never.
    pub timeout: u64,
    /// Largest difference, in cycles, between the times at which nodes see a command; with 0, all see it at once.
    pub skew: u64,
}

/// What connects the nodes: the bus, or links between neighbours with a directory at each line's home node. The
/// latencies of a node itself (issue, response, retry, timeout) and the protocol are taken from the table `bus`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Interconnect {
    /// bus, ring or mesh.
    pub kind: TopologyKind,
    /// Nodes in a row of a mesh; 0 makes it as square as possible.
    pub columns: usize,
    /// Bytes per cycle of a link, each way.
    pub width: u64,
    /// Bytes of a message without a line: a request, a forwarded request, an invalidation, an acknowledgement.
    pub command: u64,
    /// Bytes of the header of a message with a line.
    pub header: u64,
    /// Latency of a hop (link and router) in cycles, in addition to the time that the link is held.
    pub latency: u64,
    /// Cycles of a directory lookup at the home node.
    pub directory: u64,
    /// Cycles for which a request, a write-back or a line returned by its owner occupies its home; with 0, none waits.
    pub occupancy: u64,
}

/// Memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Memory {
    /// Cycles until memory answers a request.
    pub latency: u64,
    /// Maximum of a random delay in cycles, which is added to the latency and depends on `machine.seed`.
    pub jitter: u64,
    /// Number of banks, which work in parallel; with 0, memory answers every request after `latency`.
    pub banks: usize,
    /// Bytes in a row of a bank.
    pub row: u64,
    /// Cycles of a bank to answer if the line is in the open row.
    pub row_hit: u64,
    /// Cycles of a bank to answer if another row is open, or none.
    pub row_miss: u64,
    /// Protection of the contents of memory.
    pub protect: Protect,
    /// Number of counter blocks in the controller's counter cache, if memory is protected.
    pub counter_cache: usize,
}

/// Protection of the contents of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protect {
    /// None, as in the thesis.
    #[default]
    None,
    /// AES-XTS without counters or MACs, as in SEV.
    Xts,
    /// AES-XTS with a MAC of 28 bits for each line, as in TDX.
    XtsMac,
    /// AES-GCM for each line, split counters, and a Merkle tree over the counters, as in SGX.
    Tree,
}

impl Protect {
    /// All kinds of protection.
    pub const ALL: [Protect; 4] = [Protect::None, Protect::Xts, Protect::XtsMac, Protect::Tree];

    /// The name in settings.
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
        Machine {
            processors: 4,
            chips: 0,
            mshrs: 1,
            line: 64,
            sync: 20,
            sync_lines: false,
            process: 32,
            seed: 1,
            warm_up: 0,
        }
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
impl Bus {
    /// Cycles for which a line of `line` bytes holds the data lines, with its header and `tag` bytes of tag or MAC,
    /// which count only with `tags`.
    pub(crate) fn data_cycles(&self, line: usize, tag: u64) -> u64 {
        let tag = if self.tags { tag } else { 0 };
        (line as u64 + self.header + tag).div_ceil(self.width)
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
