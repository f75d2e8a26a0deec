//! Hints: what in a valid configuration serves some clients badly or not at all.

use std::net::SocketAddr;

use crate::{
    control::Names,
    layout::NodeLayout,
    serve::{budget::ConnectionBudget, config::Config},
};

impl Config {
    /// What to change, of a configuration that [`Config::check`] found good.
    pub fn hints(&self, room: &ConnectionBudget) -> Vec<String> {
        let mut hints: Vec<String> = room.hint.iter().cloned().collect();
        hints.extend(self.slow_return(room));
        hints.extend(self.few_sessions());
        hints.extend(self.unreachable());
        // The files were read successfully before
        hints.extend(self.tls.server().iter().flat_map(|tls| tls.warnings()).map(|(_, what)| what));
        hints
    }

    /// A hint if some names can never have a session, whichever others have one: names that are spelled out keep their
    /// numbers, and each cluster takes a whole run of numbers.
    pub(super) fn few_sessions(&self) -> Option<String> {
        let run = self.cluster() * self.threads;
        let access = self.access();
        let mut names = Names::new(&access.allowed, run, self.sessions, 1);
        names.set(&access.allowed, &access.revoked);
        let (first, count) = names.left_out(&access.allowed)?;
        let who = if count > 1 { format!("{first} and {} more names get", count - 1) } else { format!("{first} gets") };
        let sizes = || access.allowed.iter().map(|(cluster, all)| (cluster, names.needed(all)));
        if let Some((Some(cluster), size)) = sizes().find(|(cluster, size)| cluster.is_some() && *size > run as usize) {
            return Some(format!(
                "{who} no session: clusters.{cluster} has {size} names, and cluster_sessions allows {run} of them"
            ));
        }
        let (all, runs) =
            sizes().fold((0, 0), |(all, runs), (_, size)| (all + size, runs + size.div_ceil(run as usize)));
        let wanted = if self.clusters.is_empty() { all } else { runs * run as usize };
        let each = if self.clusters.is_empty() { "" } else { ", of which each cluster takes cluster_sessions" };
        let what = if wanted <= NodeLayout::SESSIONS as usize {
            format!("set sessions = {wanted}")
        } else {
            "set fewer cluster_sessions".to_owned()
        };
        Some(format!("{who} no session: names listed before take all {} session numbers{each}; {what}", self.sessions))
    }

    /// Hints if clients are told addresses at which nothing listens.
    pub(super) fn unreachable(&self) -> Vec<String> {
        let mut hints = Vec::new();
        // A proxy may listen there and forward
        if self.public.is_some() {
            return hints;
        }
        let (frames, udp) = (self.frames.ip(), self.settings.udp.map(|udp| udp.ip()));
        if let Some(udp) = udp.filter(|udp| *udp != frames && !udp.is_unspecified() && !frames.is_unspecified()) {
            hints.push(format!(
                "clients send datagrams to the host of `frames`, {frames}, but `udp` listens at {udp}: \
                 set both to one host"
            ));
        }
        let both = self.control.ip().is_unspecified() && self.control.is_ipv6();
        let four = |address: &SocketAddr| address.ip().is_unspecified() && address.is_ipv4();
        let alone = [("frames", Some(self.frames)), ("udp", self.settings.udp)];
        let alone = alone.into_iter().filter(|(_, address)| address.as_ref().is_some_and(four));
        if both && (frames.is_unspecified() || frames == self.control.ip()) {
            hints.extend(alone.map(|(what, _)| {
                format!(
                    "clients that reach `control` over IPv6 cannot reach `{what}`, which listens on IPv4 alone: \
                     set it to [::]"
                )
            }));
        }
        hints
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use super::*;

    const TLS: &str = "[tls]\nauthority = 'a.pem'\ncertificate = 'c.pem'\nkey = 'c.key'\n";

    fn read(text: &str) -> Config {
        Config::parse(text, Path::new("/etc/sealwright")).unwrap()
    }

    fn few(text: &str) -> Option<String> {
        read(&format!("frames = '127.0.0.1:1'\ncontrol = '127.0.0.1:2'\nthreads = 2\n{text}")).few_sessions()
    }

    #[test]
    fn names_for_which_no_number_is_left_are_told() {
        let clusters = |lines: &str| few(&format!("clients = ['alice']\n{TLS}[clusters]\n{lines}"));
        assert_eq!(clusters("a = ['a1']"), None);
        let said = clusters("a = ['a1']\nb = ['b1']\nc = ['*.c']").unwrap();
        assert!(
            said.starts_with("b1 and 1 more names get no session") && said.ends_with("set sessions = 262144"),
            "{said}"
        );
        let names = |top: &str| few(&format!("clients = ['a', 'b', 'c', 'd', 'e']\n{top}\n{TLS}"));
        assert_eq!((names("sessions = 5"), names("sessions = 2\nrevoked = ['a', 'c', 'e']")), (None, None));
        let said = names("sessions = 2").unwrap();
        assert_eq!(
            said,
            "c and 2 more names get no session: names listed before take all 2 session numbers; set sessions = 5"
        );
        let large = few(&format!("cluster_sessions = 2\n{TLS}[clusters]\nnorth = ['a', 'b', '*.c']")).unwrap();
        assert!(large.contains("clusters.north has 3 names") && large.contains("allows 2"), "{large}");
        assert_eq!(few(TLS), None);
    }

    #[test]
    fn addresses_that_no_client_can_use_are_told() {
        let told = |frames: &str, control: &str, more: &str| {
            read(&format!("frames = '{frames}:1'\ncontrol = '{control}:2'\n{more}\n{TLS}")).unreachable()
        };
        assert!(told("10.0.0.4", "10.0.0.4", "udp = '10.0.0.5:7'")[0].contains("to the host of `frames`, 10.0.0.4"));
        assert_eq!(told("10.0.0.4", "10.0.0.4", "udp = '0.0.0.0:7'"), [""; 0]);
        assert_eq!(told("10.0.0.4", "10.0.0.4", "udp = '[::]:7'"), [""; 0]);
        assert_eq!(told("10.0.0.4", "10.0.0.4", "udp = '10.0.0.4:7'"), [""; 0]);
        assert_eq!(told("10.0.0.4", "10.0.0.4", "udp = '10.0.0.5:7'\npublic = 'relay.example:9'"), [""; 0]);
        assert!(told("0.0.0.0", "[::]", "")[0].contains("cannot reach `frames`"));
        assert!(told("[::]", "[::]", "udp = '0.0.0.0:7'")[0].contains("cannot reach `udp`"));
        assert_eq!(told("[::]", "[::]", "udp = '[::]:7'"), [""; 0]);
        assert_eq!(told("0.0.0.0", "0.0.0.0", "udp = '0.0.0.0:7'"), [""; 0]);
    }
}
