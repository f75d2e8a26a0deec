//! Periodic work: ends sessions whose time is over, reads revocation lists again, logs denials.

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
        certificates::Chain,
        names::{Number, OpenSession},
        server::Inner,
        tls::Standing,
        verified::{ValidChain, Verified},
    },
};

/// The interval between checks of certificates and lifetimes of open sessions.
const SESSION_CHECK_INTERVAL: Duration = Duration::from_secs(30);
/// The interval between logging of denials.
const DENIAL_LOG_INTERVAL: Duration = Duration::from_secs(1);
/// The interval between warnings of certificates that expire soon.
const EXPIRY_LOG_INTERVAL: Duration = Duration::from_secs(86_400);
/// The reason for ending a session whose client is not trusted any more: keys that it shares must be replaced.
const NOT_TRUSTED: &str = "its certificate is not valid any more";
/// The reason for ending a session whose client is trusted as before.
const AT_ANOTHER_TIME: &str = "its certificate is not valid at this time";
const TOO_OLD: &str = "its lifetime is over";

/// The standings of certificate chains, by their address in memory.
type Standings = HashMap<*const Vec<CertificateDer<'static>>, (Chain, Standing)>;

impl Inner {
    /// Works until the control plane stops.
    pub(super) fn check_until_stopped(&self) {
        let mut checked = Instant::now();
        let mut warned: Option<(Instant, Arc<ServerConfig>)> = None;
        let ticked = Cell::new(Instant::now());
        // There may be many certificates to verify: the work of each second is done in between
        let go_on = || {
            if ticked.get().elapsed() >= DENIAL_LOG_INTERVAL {
                ticked.set(Instant::now());
                self.tick();
            }
            !self.stop.load(Ordering::Relaxed)
        };
        while !self.stop.load(Ordering::Relaxed) {
            std::thread::park_timeout(DENIAL_LOG_INTERVAL);
            if !go_on() {
                return;
            }
            let tls = self.current().tls.clone();
            if warned
                .as_ref()
                .is_none_or(|(at, by)| at.elapsed() >= EXPIRY_LOG_INTERVAL || !Arc::ptr_eq(by, &tls.config))
            {
                tls.warnings()
                    .into_iter()
                    .for_each(|(event, what)| self.shared.log.say(event, &[("why", what.into())]));
                warned = Some((Instant::now(), tls.config));
            }
            let asked = self.check_soon.swap(false, Ordering::Relaxed);
            if asked || checked.elapsed() >= SESSION_CHECK_INTERVAL {
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

    /// Logs attempts to send that the rules do not allow.
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

    /// Reads the revocation lists again if their file has changed.
    fn refresh_revocations(&self) {
        let tls = self.current().tls.clone();
        match tls.refreshed() {
            Ok(None) => {}
            Ok(Some(fresh)) => {
                let mut current = self.current();
                // A reload may have replaced the setup meanwhile
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

    /// Ends the session at an address, and tells other nodes.
    pub(super) fn end(&self, name: &str, address: Address) {
        self.shared.relay.remove(address);
        self.shared.directory.iter().for_each(|directory| directory.closed(name, address));
    }

    /// Releases the numbers, and the certificates' share, of names that were opened on other nodes.
    fn forget_moved(&self) {
        let Some(directory) = &self.shared.directory else { return };
        for (name, address) in directory.take_moved() {
            let mut current = self.current();
            let number = current.names.find(&name).ok().filter(|number| self.address(*number) == address);
            // The client may have returned
            if let Some(number) = number.filter(|_| directory.find(&name) != Some(address)) {
                current.names.closed(&name, number);
            }
        }
    }

    /// Ends sessions whose lifetime is over, or whose certificate has expired, was revoked, or is from another
    /// authority. Clients that shared keys with one that is not trusted any more must open their sessions again.
    /// `alive` is called after each certificate and each ended session.
    pub(super) fn check_sessions(&self, alive: &dyn Fn()) {
        self.sweep(&|| {
            alive();
            true
        });
    }

    /// The same, until `go_on` returns false; it is called after each certificate and each ended session.
    fn sweep(&self, go_on: &dyn Fn() -> bool) {
        // Each certificate once, however many sessions it has. Verification is slow and must not hold the lock on the
        // current state
        let (tls, chains) = {
            let current = self.current();
            let chains =
                current.names.open_sessions().map(|(_, _, open)| (Arc::as_ptr(&open.chain), open.chain.clone()));
            (current.tls.clone(), chains.collect::<HashMap<_, _>>())
        };
        let before = std::mem::take(&mut *self.verified.lock().unwrap_or_else(PoisonError::into_inner));
        let same = before.tls.is_some_and(|before| tls.trusts_as(&before));
        // With the chains: in place of one that was freed, another could have its address
        let (mut standings, mut valid) = (Standings::new(), HashMap::new());
        for (at, chain) in chains {
            let now = UnixTime::now();
            // A chain that was valid then stays valid until it expires
            let known = before.chains.get(&at.addr()).filter(|known| same && known.from <= now && now <= known.until);
            if let Some(known) = known {
                valid.insert(at.addr(), known.clone());
                continue;
            }
            let standing = tls.standing(&chain);
            if standing == Standing::Valid
                && let Some(until) = tls.valid_until(&chain)
            {
                valid.insert(at.addr(), ValidChain { _chain: chain.clone(), from: now, until });
            }
            standings.insert(at, (chain, standing));
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
        // Otherwise sessions may have been opened under a newer setup, which this check did not cover
        if Arc::ptr_eq(&current.tls.config, &tls.config) {
            current.checked = tls;
        }
    }

    /// Ends sessions whose lifetime is over, without verifying certificates: trust has not changed, and the background
    /// thread soon finds those that have expired.
    pub(super) fn check_lifetimes(&self, alive: &dyn Fn()) {
        self.check_soon.store(true, Ordering::Relaxed);
        self.end_sessions(&Standings::new(), alive);
    }

    /// Ends sessions because of their certificates' standings (by address of the chain in memory) or their age.
    fn end_sessions(&self, standings: &Standings, alive: &dyn Fn()) {
        let ended: Vec<(String, Number, Instant, &str)> = {
            let current = self.current();
            let why = |open: &OpenSession| {
                match standings.get(&Arc::as_ptr(&open.chain)).map(|(_, standing)| standing) {
                    // First, because it means that shared keys must be replaced
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
        // Each cluster once: revoking its keys visits all of its sessions
        let mut clusters = BTreeSet::new();
        for (name, number, since, why) in ended {
            alive();
            let address = self.address(number);
            {
                // Under the lock, so that the session is not opened again before it is ended
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
