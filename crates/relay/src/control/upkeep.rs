//! What is done from time to time: sessions end whose time is over, revoked certificates are read, denials are logged.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use rustls::pki_types::CertificateDer;

use crate::{
    address::Address,
    control::{
        names::{Number, OpenSession},
        server::Inner,
    },
};

/// How often certificates and lifetimes of open sessions are checked.
const CHECK: Duration = Duration::from_secs(30);
/// How often denials are logged.
const TICK: Duration = Duration::from_secs(1);

impl Inner {
    /// Works until the control plane stops.
    pub(super) fn check_until_stopped(&self) {
        let mut checked = Instant::now();
        while !self.stop.load(Ordering::Relaxed) {
            std::thread::park_timeout(TICK);
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            self.log_denials();
            self.forget_moved();
            if checked.elapsed() >= CHECK {
                checked = Instant::now();
                self.refresh_revocations();
                self.check_sessions();
            }
        }
    }

    /// Logs who spoke to whom and may not.
    fn log_denials(&self) {
        let denials = self.shared.relay.denials();
        if denials.is_empty() {
            return;
        }
        let lines: Vec<_> = {
            let current = self.current();
            let mut owners = HashMap::new();
            for (name, number, open) in current.names.open_sessions() {
                let address = self.address(number);
                if denials.iter().any(|(from, to)| *from == address || *to == address) {
                    owners.insert(address, (name.to_owned(), open.from));
                }
            }
            let line = |(from, to)| (from, owners.get(&from).cloned(), owners.get(&to).cloned());
            denials.into_iter().map(line).collect()
        };
        for (from, sender, receiver) in lines {
            let (name, address) = sender.unzip();
            let about = [
                ("name", name.into()),
                ("session", from.session.into()),
                ("from", address.map(|address| address.to_string()).into()),
                ("to", receiver.map(|(name, _)| name).into()),
                ("why", "no rule lets it send there".into()),
            ];
            self.shared.log.say("denied", &about);
        }
    }

    /// Reads the list of revoked certificates again if its file has changed.
    fn refresh_revocations(&self) {
        let tls = self.current().tls.clone();
        match tls.refreshed() {
            Ok(None) => {}
            Ok(Some(fresh)) => {
                let mut current = self.current();
                // A reload may have changed the files meanwhile
                if !Arc::ptr_eq(&current.tls.config, &tls.config) {
                    return;
                }
                current.tls = fresh;
                drop(current);
                self.shared.log.say("revocations-read", &[]);
            }
            Err(error) => self.shared.log.say("reload-failed", &[("why", error.to_string().into())]),
        }
    }

    /// Ends what is under an address, and tells other nodes.
    pub(super) fn end(&self, name: &str, address: Address) {
        self.shared.relay.remove(address);
        self.shared.directory.iter().for_each(|directory| directory.closed(name, address));
    }

    /// Names that were opened at other nodes give back their numbers here, and their certificates' shares.
    fn forget_moved(&self) {
        let Some(directory) = &self.shared.directory else { return };
        for (name, address) in directory.take_moved() {
            let mut current = self.current();
            let number = current.names.find(&name).ok().filter(|number| self.address(*number) == address);
            // It may be back
            if let Some(number) = number.filter(|_| directory.find(&name) != Some(address)) {
                current.names.closed(&name, number);
            }
        }
    }

    /// Ends sessions whose lifetime is over, or whose certificate has expired or comes from another authority.
    pub(super) fn check_sessions(&self) {
        let ended: Vec<(String, Number, Instant, &str)> = {
            let current = self.current();
            // Many sessions may have one certificate
            let mut checked: HashMap<*const Vec<CertificateDer<'_>>, bool> = HashMap::new();
            let mut why = |open: &OpenSession| {
                if open.since.elapsed() > current.limits.lifetime {
                    return Some("its lifetime is over");
                }
                let valid =
                    checked.entry(Arc::as_ptr(&open.chain)).or_insert_with(|| current.tls.is_valid(&open.chain));
                (!*valid).then_some("its certificate is not valid any more")
            };
            let sessions = current.names.open_sessions();
            let one =
                |(name, number, open): (&str, _, &OpenSession)| Some((name.to_owned(), number, open.since, why(open)?));
            sessions.filter_map(one).collect()
        };
        for (name, number, since, why) in ended {
            let address = self.address(number);
            {
                // While nobody opens it again, whose keys this would take
                let mut current = self.current();
                if !current.names.closed_since(&name, number, since) {
                    continue;
                }
                self.end(&name, address);
            }
            let about = [("name", name.into()), ("session", address.session.into()), ("why", why.into())];
            self.shared.log.say("ended", &about);
        }
    }
}
