//! What is done from time to time: sessions end whose time is over, revoked certificates are read, denials are logged.

use std::{
    cell::Cell,
    collections::{BTreeSet, HashMap},
    sync::{Arc, PoisonError, atomic::Ordering},
    time::{Duration, Instant},
};

use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, UnixTime},
};

use crate::{
    address::Address,
    control::{
        names::{Number, OpenSession},
        server::Inner,
        tls::Standing,
        verified::{ValidChain, Verified},
    },
};

/// How often certificates and lifetimes of open sessions are checked.
const CHECK: Duration = Duration::from_secs(30);
/// How often denials are logged.
const TICK: Duration = Duration::from_secs(1);
/// How often operators are told of certificates that are not valid for long.
const DAY: Duration = Duration::from_secs(86_400);
/// Why the session of a client ends that the authority does not vouch for any more: others may not share keys with it.
const NOT_TRUSTED: &str = "its certificate is not valid any more";
/// Why the session of a client ends that is trusted as before.
const AT_ANOTHER_TIME: &str = "its certificate is not valid at this time";
const TOO_OLD: &str = "its lifetime is over";

impl Inner {
    /// Works until the control plane stops.
    pub(super) fn check_until_stopped(&self) {
        let mut checked = Instant::now();
        let mut warned: Option<(Instant, Arc<ServerConfig>)> = None;
        let ticked = Cell::new(Instant::now());
        // Certificates may be many: what is done each second is done between them too
        let go_on = || {
            if ticked.get().elapsed() >= TICK {
                ticked.set(Instant::now());
                self.tick();
            }
            !self.stop.load(Ordering::Relaxed)
        };
        while !self.stop.load(Ordering::Relaxed) {
            std::thread::park_timeout(TICK);
            if !go_on() {
                return;
            }
            let tls = self.current().tls.clone();
            if warned.as_ref().is_none_or(|(at, by)| at.elapsed() >= DAY || !Arc::ptr_eq(by, &tls.config)) {
                tls.warnings()
                    .into_iter()
                    .for_each(|(event, what)| self.shared.log.say(event, &[("why", what.into())]));
                warned = Some((Instant::now(), tls.config));
            }
            let asked = self.check_soon.swap(false, Ordering::Relaxed);
            if asked || checked.elapsed() >= CHECK {
                checked = Instant::now();
                self.refresh_revocations();
                self.sweep(&go_on);
            }
        }
    }

    fn tick(&self) {
        self.log_denials();
        self.forget_moved();
    }

    /// Logs who spoke to whom and may not.
    fn log_denials(&self) {
        let more = self.denial_log.left_out();
        if more > 0 {
            self.shared.log.say("denied", &[("more", more.into()), ("why", "too many at once to log each one".into())]);
        }
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
            Err(error) => self.shared.log.failed("reload-failed", &error, error.hint()),
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

    /// Ends sessions whose lifetime is over, or whose certificate has expired, was revoked, or comes from another
    /// authority. Those who shared keys with one that is not trusted any more must open their sessions again. `alive` is
    /// called after each certificate and each end.
    pub(super) fn check_sessions(&self, alive: &dyn Fn()) {
        self.sweep(&|| {
            alive();
            true
        });
    }

    /// The same while `go_on` says so, which is asked after each certificate and each end.
    fn sweep(&self, go_on: &dyn Fn() -> bool) {
        // Many sessions may have one certificate. Verifying takes long, and others wait for what is current
        let (tls, chains) = {
            let current = self.current();
            let chains =
                current.names.open_sessions().map(|(_, _, open)| (Arc::as_ptr(&open.chain), open.chain.clone()));
            (current.tls.clone(), chains.collect::<HashMap<_, _>>())
        };
        let before = std::mem::take(&mut *self.verified.lock().unwrap_or_else(PoisonError::into_inner));
        let same = before.tls.is_some_and(|before| tls.trusts_as(&before));
        let (mut standings, mut valid) = (HashMap::new(), HashMap::new());
        for (at, chain) in chains {
            let now = UnixTime::now();
            // What was valid then is so until it expires
            let known = before.chains.get(&at.addr()).filter(|known| same && known.from <= now && now <= known.until);
            if let Some(known) = known {
                valid.insert(at.addr(), known.clone());
                continue;
            }
            let standing = tls.standing(&chain);
            if standing == Standing::Valid
                && let Some(until) = tls.valid_until(&chain)
            {
                valid.insert(at.addr(), ValidChain { _chain: chain, from: now, until });
            }
            standings.insert(at, standing);
            if !go_on() {
                return;
            }
        }
        *self.verified.lock().unwrap_or_else(PoisonError::into_inner) =
            Verified { tls: Some(tls.clone()), chains: valid };
        self.end_sessions(&standings, &|| {
            go_on();
        });
        let mut current = self.current();
        // Else sessions may have been opened by what came after it
        if Arc::ptr_eq(&current.tls.config, &tls.config) {
            current.checked = tls;
        }
    }

    /// Ends sessions whose lifetime is over. Nobody is trusted less than before; which certificates have expired is found
    /// soon, by the thread that has time for it.
    pub(super) fn check_lifetimes(&self, alive: &dyn Fn()) {
        self.check_soon.store(true, Ordering::Relaxed);
        self.end_sessions(&HashMap::new(), alive);
    }

    /// Ends sessions by what their certificates are worth, which stand under their places in memory, and by their age.
    fn end_sessions(&self, standings: &HashMap<*const Vec<CertificateDer<'static>>, Standing>, alive: &dyn Fn()) {
        let ended: Vec<(String, Number, Instant, &str)> = {
            let current = self.current();
            let why = |open: &OpenSession| {
                match standings.get(&Arc::as_ptr(&open.chain)) {
                    // This first: it says that the client is not trusted
                    Some(Standing::NotTrusted) => Some(NOT_TRUSTED),
                    Some(Standing::AtAnotherTime) => Some(AT_ANOTHER_TIME),
                    _ => (open.since.elapsed() > current.limits.lifetime).then_some(TOO_OLD),
                }
            };
            let sessions = current.names.open_sessions();
            let one =
                |(name, number, open): (&str, _, &OpenSession)| Some((name.to_owned(), number, open.since, why(open)?));
            sessions.filter_map(one).collect()
        };
        // Each cluster once, as its sessions are searched through
        let mut clusters = BTreeSet::new();
        for (name, number, since, why) in ended {
            alive();
            let address = self.address(number);
            {
                // While nobody opens it again, whose session this would be
                let mut current = self.current();
                if !current.names.closed_since(&name, number, since) {
                    continue;
                }
                if why == NOT_TRUSTED {
                    let workers = self.shared.relay.layout().shards();
                    clusters.extend(current.names.clusters_known_to(&name, number, workers));
                }
                self.end(&name, address);
            }
            let about = [("name", name.into()), ("session", address.session.into()), ("why", why.into())];
            self.shared.log.say("ended", &about);
        }
        self.replace_keys(clusters);
    }
}

#[cfg(test)]
#[path = "upkeep_tests.rs"]
mod tests;
