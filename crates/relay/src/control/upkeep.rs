//! What is done from time to time: sessions end whose time is over, revoked certificates are read, denials are logged.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use rustls::pki_types::CertificateDer;

use crate::{
    address::Address,
    control::{
        names::{Number, OpenSession},
        server::Inner,
        tls::Standing,
    },
};

/// How often certificates and lifetimes of open sessions are checked.
const CHECK: Duration = Duration::from_secs(30);
/// How often denials are logged.
const TICK: Duration = Duration::from_secs(1);
/// Why the session of a client ends that the authority does not vouch for any more: others may not share keys with it.
const NOT_TRUSTED: &str = "its certificate is not valid any more";
/// Why the session of a client ends that is trusted as before.
const AT_ANOTHER_TIME: &str = "its certificate is not valid at this time";
const TOO_OLD: &str = "its lifetime is over";

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
            let asked = self.check_soon.swap(false, Ordering::Relaxed);
            if asked || checked.elapsed() >= CHECK {
                checked = Instant::now();
                self.refresh_revocations();
                self.check_sessions(&|| ());
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

    /// Ends sessions whose lifetime is over, or whose certificate has expired, was revoked, or comes from another
    /// authority. Those who shared keys with one that is not trusted any more must open their sessions again. `alive` is
    /// called after each certificate and each end.
    pub(super) fn check_sessions(&self, alive: &dyn Fn()) {
        // Many sessions may have one certificate. Verifying takes long, and others wait for what is current
        let (tls, chains) = {
            let current = self.current();
            let chains =
                current.names.open_sessions().map(|(_, _, open)| (Arc::as_ptr(&open.chain), open.chain.clone()));
            (current.tls.clone(), chains.collect::<HashMap<_, _>>())
        };
        let mut standings = HashMap::new();
        for (at, chain) in &chains {
            standings.insert(*at, tls.standing(chain));
            alive();
        }
        self.end_sessions(&standings, alive);
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
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{
        cell::Cell,
        sync::{
            Mutex,
            atomic::AtomicU32,
            mpsc::{channel, sync_channel},
        },
    };

    use rustls::pki_types::pem::PemObject;

    use super::*;
    use crate::{
        control::{
            access::Access,
            certificates::Chain,
            fuzz::{revoke, trial_files},
            server::Limits,
            tls::TlsFiles,
            trial_control::{limits, start},
        },
        policy::Policy,
    };

    /// Alice has a session.
    fn open(inner: &Inner, chain: Chain) {
        let mut current = inner.current();
        let number = current.names.number_to_open("alice", &chain, &limits().open, Instant::now()).unwrap();
        let open = OpenSession { since: Instant::now(), from: [127, 0, 0, 1].into(), chain, epoch: 1 };
        assert!(current.names.opened("alice", number, open).is_ok());
    }

    /// She alone may have one.
    fn access() -> Access {
        let allowed = vec![(None, vec!["alice".to_owned()])];
        Access { allowed, revoked: Vec::new(), policy: Policy::open() }
    }

    /// On the thread of a reload, which feeds the watchdog meanwhile, certificates are verified only where others are trusted,
    /// and each is told of.
    #[test]
    fn a_reload_verifies_nothing_while_nobody_is_trusted_less() {
        let folder = tempfile::tempdir().unwrap();
        let trial = folder.path().join("trial");
        crate::serve::init(&trial, &[], &["alice".into()]).unwrap();
        revoke(&trial, 1, &[]).unwrap();
        let files = TlsFiles { crl: Some(trial.join("authority.crl")), ..trial_files(&trial, "relay") };
        let (here, verified, told) = (std::thread::current().id(), Arc::new(AtomicU32::new(0)), Cell::new(0));
        let tls = || {
            let verified = verified.clone();
            let count = move || {
                verified.fetch_add(u32::from(std::thread::current().id() == here), Ordering::Relaxed);
            };
            files.server().unwrap().with_before(count)
        };
        let control = start(tls(), &["alice"]);
        // The thread that reads the list too must not be the first
        control.inner.stop.store(true, Ordering::Relaxed);
        open(&control.inner, Chain::new(vec![CertificateDer::from_pem_file(trial.join("alice.pem")).unwrap()]));
        let reload = |limits: Limits| {
            let before = told.get();
            control.reload(tls(), access(), limits, &|| told.set(told.get() + 1));
            (verified.load(Ordering::Relaxed), told.get() - before, control.list().len())
        };
        assert_eq!(reload(limits()), (0, 2, 1));
        revoke(&trial, 2, &[]).unwrap();
        assert_eq!(reload(limits()), (1, 3, 1), "another list");
        let at_once = reload(Limits { lifetime: Duration::ZERO, ..limits() });
        assert_eq!(at_once, (1, 3, 0), "lifetimes count at once");
    }

    /// Another thread has read the list and is still verifying: who reloads is not answered before her session has ended.
    #[test]
    fn a_reload_trusts_no_check_that_has_not_ended() {
        let folder = tempfile::tempdir().unwrap();
        let trial = folder.path().join("trial");
        crate::serve::init(&trial, &[], &["alice".into()]).unwrap();
        revoke(&trial, 1, &[]).unwrap();
        let files = TlsFiles { crl: Some(trial.join("authority.crl")), ..trial_files(&trial, "relay") };
        let ((verifying, verified), (go_on, may)) = (channel(), sync_channel::<()>(0));
        let (verifying, may) = (Mutex::new(verifying), Mutex::new(may));
        let before = move || {
            let _ = verifying.lock().unwrap().send(());
            let _ = may.lock().unwrap().recv();
        };
        let control = start(files.server().unwrap().with_before(before), &["alice"]);
        control.inner.stop.store(true, Ordering::Relaxed);
        let inner = control.inner.clone();
        open(&inner, Chain::new(vec![CertificateDer::from_pem_file(trial.join("alice.pem")).unwrap()]));
        revoke(&trial, 2, &["alice"]).unwrap();
        let checking = std::thread::spawn(move || {
            inner.refresh_revocations();
            inner.check_sessions(&|| ());
        });
        verified.recv().unwrap();
        control.reload(files.server().unwrap(), access(), limits(), &|| ());
        assert_eq!(control.list().len(), 0, "she was revoked");
        go_on.send(()).unwrap();
        checking.join().unwrap();
    }

    /// While certificates are verified, which may take seconds, clients open sessions and operators get answers.
    #[test]
    fn nobody_waits_while_certificates_are_verified() {
        let folder = tempfile::tempdir().unwrap();
        crate::serve::init(&folder.path().join("trial"), &[], &["alice".into()]).unwrap();
        let ((verifying, verified), (go_on, may)) = (channel(), sync_channel::<()>(0));
        let (verifying, may) = (Mutex::new(verifying), Mutex::new(may));
        let before = move || {
            let _ = verifying.lock().unwrap().send(());
            let _ = may.lock().unwrap().recv();
        };
        let tls = trial_files(&folder.path().join("trial"), "relay").server().unwrap().with_before(before);
        let control = start(tls, &["alice"]);
        let inner = control.inner.clone();
        // A certificate that no authority signed
        open(&inner, Chain::new(vec![vec![0].into()]));
        let checking = std::thread::spawn(move || inner.check_sessions(&|| ()));
        verified.recv().unwrap();
        assert_eq!(control.list().len(), 1, "an answer, before the certificate is verified");
        go_on.send(()).unwrap();
        checking.join().unwrap();
        assert_eq!(control.list().len(), 0, "then its session has ended");
    }
}
