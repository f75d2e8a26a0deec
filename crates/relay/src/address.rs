//! Client addresses: a session's number, and the generation of its owner.

use std::net::{IpAddr, Ipv6Addr};

/// The unit of per-address limits: an IPv4 address, or the /64 network of an IPv6 address.
pub(crate) fn share_of(address: IpAddr) -> IpAddr {
    network(address, 4)
}

/// What one owner may have: an IPv4 address, or the /48 network of an IPv6 address, with 65,536 networks of /64.
pub(crate) fn site_of(address: IpAddr) -> IpAddr {
    network(address, 3)
}

/// An IPv4 address, or so many 16-bit parts of an IPv6 address.
fn network(address: IpAddr, parts: usize) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let mut segments = address.segments();
            segments[parts..].fill(0);
            Ipv6Addr::from(segments).into()
        }
        address => address,
    }
}

/// The address of a client: the number of its session, and the generation of the number.
///
/// A number can pass from one client to another. Its generation then changes, so that a frame for the former owner
/// never reaches its successor: within one run of a relay no pair of number and generation is used twice, and each run
/// starts at a random generation. An address is the first 8 bytes of a frame's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Address {
    /// The number of the session, which determines its node and worker.
    pub session: u32,
    /// The generation of the number.
    pub generation: u32,
}

impl Address {
    /// Bytes of an address.
    pub const LEN: usize = 8;

    /// The bytes of an address: number, then generation, big endian.
    pub fn to_bytes(self) -> [u8; Address::LEN] {
        (u64::from(self.session) << 32 | u64::from(self.generation)).to_be_bytes()
    }

    /// Reads the bytes of an address.
    pub fn from_bytes(bytes: [u8; Address::LEN]) -> Address {
        let both = u64::from_be_bytes(bytes);
        Address { session: (both >> 32) as u32, generation: both as u32 }
    }

    /// The address in front of a payload, and the data behind it.
    pub fn split(payload: &[u8]) -> Option<(Address, &[u8])> {
        payload.split_first_chunk().map(|(address, data)| (Address::from_bytes(*address), data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_its_number_and_its_generation() {
        let address = Address { session: 0x1234_5678, generation: 0x9abc_def0 };
        assert_eq!(address.to_bytes(), [0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0]);
        assert_eq!(Address::split(&[&address.to_bytes()[..], b"data"].concat()), Some((address, &b"data"[..])));
        assert_eq!(Address::split(&[0; 7]), None);
    }
}
