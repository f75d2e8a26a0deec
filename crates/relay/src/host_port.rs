//! Addresses in configurations: a host and a port.

use std::net::{Ipv4Addr, Ipv6Addr};

use rustls::pki_types::ServerName;

/// Splits `text` into host and port. The host is returned as written: a DNS name, an IPv4 address, or an IPv6 address
/// in brackets. The port, from 1, may be missing.
pub(crate) fn host_port(text: &str) -> Option<(&str, Option<u16>)> {
    let host_len = match text.strip_prefix('[') {
        Some(_) => text.find(']')? + 1,
        None => text.find(':').unwrap_or(text.len()),
    };
    let (host, port) = text.split_at(host_len);
    let is_host = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => host.parse::<Ipv4Addr>().is_ok() || matches!(ServerName::try_from(host), Ok(ServerName::DnsName(_))),
    };
    if !is_host || port.is_empty() {
        return is_host.then_some((host, None));
    }
    // A sign is not a digit, although `parse` accepts one
    let digits = port.strip_prefix(':').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let port = digits.parse().ok().filter(|&port| port > 0)?;
    Some((host, Some(port)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_names_or_addresses_and_ports_are_digits() {
        assert_eq!(host_port("relay.example:7600"), Some(("relay.example", Some(7600))));
        assert_eq!(host_port("relay.example"), Some(("relay.example", None)));
        assert_eq!(host_port("127.0.0.1:65535"), Some(("127.0.0.1", Some(65535))));
        assert_eq!(host_port("[2001:db8::7]:1"), Some(("[2001:db8::7]", Some(1))));
        assert_eq!(host_port("[::1]"), Some(("[::1]", None)));
        for wrong in [
            "",
            ":",
            ":7600",
            "::1",
            "2001:db8::7",
            "[::1",
            "[::1:7600",
            "[]:1",
            "[host]:1",
            "[127.0.0.1]:1",
            "[::1]1",
            "[::1]]:1",
            "[[::1]]:1",
            "host:",
            "host:0",
            "host:65536",
            "host:+1",
            "host: 1",
            "host:1:2",
            "a b:1",
            "a/b:1",
            "1.2.3:1",
            "*.x:1",
            "host]:1",
        ] {
            assert_eq!(host_port(wrong), None, "{wrong}");
        }
    }
}
