//! CXL.cachemem IDE: AES-GCM-256 on each link, with a MAC of 96 bits for each epoch of flits.
//!
//! The specification has one MAC for 5 flits of 68 bytes in containment mode and for 128 in skid mode, or for 2 and 32
//! flits of 256 bytes. A flit of 68 bytes has 4 slots of 16 bytes, one of 256 bytes has 15, and a MAC takes one slot. A
//! sender that becomes idle may end an epoch early, with a truncated MAC (CXL 2.0 and 3.0, section 11).

use serde::{Deserialize, Serialize};

use super::{
    unit::Platform,
    ide::Ide,
    registration::{MOST, parameters, register},
    stream::{Rules, Size},
};

/// When a receiver releases a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Release {
    /// Only after the MAC of its epoch has been checked.
    Containment,
    /// At once; tampering is detected later.
    Skid,
}

/// Bytes of a slot; a MAC has one of its own.
const SLOT: u64 = 16;

parameters!(Parameters {
    /// When a line is released: containment (after its MAC) or skid (at once).
    release: Release = Release::Containment;
    /// Bytes of a flit.
    flit: u64 = 68, in [68, 256];
    /// Flits per MAC; 0 stands for the number in the specification for this flit size and mode.
    flits: u64 = 0, in 0..=MOST;
    /// Whether a sender ends the epoch after each line, as on a link that becomes idle.
    early: bool = true;
});

register!(
    "cxl-ide",
    "CXL.cachemem IDE: a link for each node, a MAC for each epoch of flits",
    Parameters,
    build,
    ["cxl-ide": ["scheme.cxl-ide.release=containment"], "cxl-ide, skid": ["scheme.cxl-ide.release=skid"]]
);

fn build(platform: &Platform, parameters: Parameters) -> Ide {
    let Parameters { release, flit, flits, early } = parameters;
    let contained = release == Release::Containment;
    let flits = match (flits, flit, contained) {
        (0, 256, true) => 2,
        (0, 256, false) => 32,
        (0, _, true) => 5,
        (0, _, false) => 128,
        (flits, ..) => flits,
    };
    // A line takes one more slot for its header
    let slots = if flit == 256 { 15 } else { 4 };
    let of = |parts: u64| Size { parts, cycles: (parts * flit).div_ceil(slots * platform.width) };
    let line = of(1 + platform.line as u64 / SLOT);
    Ide::new(platform, Rules {
        line,
        command: of(1),
        epoch: Size { parts: flits * slots, cycles: (flits * flit).div_ceil(platform.width) },
        check_cycles: SLOT.div_ceil(platform.width) + platform.engines.ghash,
        contained,
        early: early && contained,
        mac_bytes: SLOT,
        held_bits: if contained { flits * flit * 8 } else { 0 },
    })
}
