//! PCIe IDE: AES-GCM-256 on each link, with a MAC of 96 bits for each packet or each aggregate of several packets.
//!
//! A line is a packet with a header. Its receiver holds it until the MAC of its aggregate has been checked; an idle
//! sender ends the aggregate after the time that its packets would have taken (PCIe 6.0, section 6.33).

use super::{
    unit::Platform,
    ide::Ide,
    registration::{parameters, register},
    stream::{MAC, Rules, Size},
};

/// Bytes of the prefix that every protected packet has.
const PREFIX: u64 = 4;

/// Bytes of a packet's header, which the MAC covers too.
const HEADER: u64 = 16;

parameters!(Parameters {
    /// Packets per MAC.
    aggregation: u64 = 1, in [1, 2, 4, 8];
});

register!("pcie-ide", "PCIe IDE: a link for each node, a MAC for one packet or several", Parameters, build);

fn build(platform: &Platform, parameters: Parameters) -> Ide {
    let packet = platform.line as u64 + HEADER + PREFIX;
    let packet_cycles = packet.div_ceil(platform.width);
    let aggregation = parameters.aggregation;
    Ide::new(platform, Rules {
        line: Size { parts: 1, cycles: packet_cycles },
        // A packet without a payload
        command: Size { parts: 1, cycles: (HEADER + PREFIX).div_ceil(platform.width) },
        epoch: Size { parts: aggregation, cycles: aggregation * packet_cycles },
        // Transmission of prefix and MAC, then GHASH, with one more cycle for the header
        check_cycles: (PREFIX + MAC).div_ceil(platform.width) + platform.engines.ghash + 1,
        contained: true,
        early: aggregation == 1,
        mac_bytes: MAC + PREFIX * aggregation,
        held_bits: aggregation * packet * 8,
    })
}
