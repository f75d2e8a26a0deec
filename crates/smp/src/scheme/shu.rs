//! Settings of the schemes. What is not set is as the scheme's own paper has it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::engine::Model;

/// A scheme by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Name {
    /// Nothing is sealed.
    #[default]
    Clear,
    /// The thesis: AES-GCM, pads kept ready for each ordered pair.
    Gcm,
    /// The thesis's reading of SENSS: feedback masks a node, authenticated on the way.
    Cbc,
    /// SENSS as its authors have it: one chain for the group, more masks, authenticated in the background.
    Senss,
    /// I2SEMS: counters from a global controller, keystream kept and predicted.
    I2sems,
    /// CXL.cachemem IDE: AES-GCM-256 a link, a MAC for several flits.
    CxlIde,
    /// PCIe IDE: AES-GCM-256 a link, a MAC for one or several packets.
    PcieIde,
}

impl Name {
    /// Every scheme, the base first.
    pub const ALL: [Name; 7] =
        [Name::Clear, Name::Gcm, Name::Cbc, Name::Senss, Name::I2sems, Name::CxlIde, Name::PcieIde];

    /// Its name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Name::Clear => "clear",
            Name::Gcm => "gcm",
            Name::Cbc => "cbc",
            Name::Senss => "senss",
            Name::I2sems => "i2sems",
            Name::CxlIde => "cxl-ide",
            Name::PcieIde => "pcie-ide",
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How the IV of GCM is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Iv {
    /// Source 8, destination 8, epoch 16, counter 64 bits: cannot repeat.
    #[default]
    Pair,
    /// The thesis, with the sender's number beside the counter: repeats across receivers.
    FaithfulSender,
    /// The thesis, with the receiver's number: repeats across senders.
    FaithfulReceiver,
}

/// Who shares a chain of masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Everybody one: every transfer moves it.
    Group,
    /// Each sender one, which everybody follows; a receiver has one ring of masks for all senders.
    Node,
    /// Each ordered pair one.
    Pair,
}

/// Where a MAC of the chains is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mac {
    /// Before the line may be used.
    Critical,
    /// Beside the lines, by a unit of its own.
    Background,
}

/// When a link's receiver releases what is not yet authenticated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flits {
    /// Only after the MAC held.
    #[default]
    Containment,
    /// At once; a false MAC comes to light later.
    Skid,
}

/// Settings of whatever scheme is chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shu {
    /// The scheme.
    pub scheme: Name,
    /// Whether lines are truly sealed and opened, beside their timing.
    pub functional: bool,
    /// The AES unit.
    pub engine: Model,
    /// Its cycles a line; else 320, and 80 for SENSS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<u64>,
    /// Its cycles from one line's begin to the next; else as the engine's name says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<u64>,
    /// Cycles to xor a pad or mask.
    pub xor: u64,
    /// Cycles of GHASH on the way of a line to its use.
    pub ghash: u64,
    /// Pads kept ready for each ordered pair at each end.
    pub pads: usize,
    /// Layout of the IV.
    pub iv: Iv,
    /// Grows with every start of the machine, so that counters may begin anew.
    pub epoch: u16,
    /// Whether commands of the address bus are authenticated, and lines bound to their place in the bus's order.
    pub commands: bool,
    /// Masks a chain; else 2, and 8 for SENSS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masks: Option<usize>,
    /// Lines to a MAC; else 1, and 100 for SENSS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authenticate: Option<u64>,
    /// Where the MAC is made; else critical, and background for SENSS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mac: Option<Mac>,
    /// Who shares a chain; else a node, and the group for SENSS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Processes whose chains are kept at once, for the storage alone.
    pub processes: usize,
    /// I2SEMS: counters that a sender is handed at a time.
    pub range: u64,
    /// I2SEMS: keystreams that a receiver keeps ready for each sender.
    pub window: u64,
    /// IDE: release before or after the MAC.
    pub release: Flits,
    /// CXL IDE: flits to a MAC; else 5 in containment and 128 in skid, or 2 and 32 with flits of 256 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flits: Option<u64>,
    /// CXL IDE: bytes of a flit, 68 or 256.
    pub flit: u64,
    /// CXL IDE: whether a sender that falls idle ends the epoch early.
    pub early: bool,
    /// PCIe IDE: packets to a MAC, 1, 2, 4 or 8.
    pub aggregation: u64,
}

impl Default for Shu {
    fn default() -> Self {
        Shu {
            scheme: Name::Clear,
            functional: true,
            engine: Model::Pipelined,
            latency: None,
            interval: None,
            xor: 1,
            ghash: 4,
            pads: 5,
            iv: Iv::Pair,
            epoch: 1,
            commands: false,
            masks: None,
            authenticate: None,
            mac: None,
            scope: None,
            processes: 100,
            range: 64,
            window: 8,
            release: Flits::Containment,
            flits: None,
            flit: 68,
            early: true,
            aggregation: 1,
        }
    }
}

impl Shu {
    fn published(&self) -> bool {
        self.scheme == Name::Senss
    }

    /// Cycles a line.
    pub fn latency(&self) -> u64 {
        self.latency.unwrap_or(if self.published() { 80 } else { 320 })
    }

    /// Masks a chain.
    pub fn masks(&self) -> usize {
        self.masks.unwrap_or(if self.published() { 8 } else { 2 })
    }

    /// Lines to a MAC.
    pub fn authenticate(&self) -> u64 {
        self.authenticate.unwrap_or(if self.published() { 100 } else { 1 })
    }

    /// Where the MAC is made.
    pub fn mac(&self) -> Mac {
        self.mac.unwrap_or(if self.published() { Mac::Background } else { Mac::Critical })
    }

    /// Who shares a chain.
    pub fn scope(&self) -> Scope {
        self.scope.unwrap_or(if self.published() { Scope::Group } else { Scope::Node })
    }

    /// Flits to a MAC.
    pub fn flits(&self) -> u64 {
        self.flits.unwrap_or(match (self.flit, self.release) {
            (256, Flits::Containment) => 2,
            (256, Flits::Skid) => 32,
            (_, Flits::Containment) => 5,
            (_, Flits::Skid) => 128,
        })
    }

    /// Looks for settings that make no scheme.
    pub(crate) fn check(&self) -> Result<(), String> {
        let most = 1 << 16;
        let ranges = [
            ("shu.masks", self.masks() as u64, 1),
            ("shu.authenticate", self.authenticate(), 1),
            ("shu.range", self.range, 1),
            ("shu.flits", self.flits(), 1),
            ("shu.pads", self.pads as u64, 0),
            ("shu.window", self.window, 0),
            ("shu.latency", self.latency(), 0),
            ("shu.interval", self.interval.unwrap_or(0), 0),
            ("shu.processes", self.processes as u64, 1),
        ];
        for (name, value, least) in ranges {
            if value < least || value > most {
                return Err(format!("{name} is {value}, not {least} to {most}"));
            }
        }
        if ![68, 256].contains(&self.flit) {
            return Err(format!("shu.flit is {}, not 68 or 256", self.flit));
        }
        if ![1, 2, 4, 8].contains(&self.aggregation) {
            return Err(format!("shu.aggregation is {}, not 1, 2, 4 or 8", self.aggregation));
        }
        Ok(())
    }
}
