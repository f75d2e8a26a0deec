//! Which certificates are checked, by which thread, and who has to wait for that.
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

/// Opens a session for alice.
fn open(inner: &Inner, chain: Chain) {
    let mut current = inner.current();
    let number = current.names.number_to_open("alice", &chain, &limits().open, Instant::now()).unwrap();
    let open = OpenSession { since: Instant::now(), from: [127, 0, 0, 1].into(), chain, epoch: 1 };
    assert!(current.names.opened("alice", number, open).is_ok());
}

/// A configuration that allows alice alone.
fn access() -> Access {
    let allowed = vec![(None, vec!["alice".to_owned()])];
    Access { allowed, revoked: Vec::new(), policy: Policy::open() }
}

/// A reload, whose thread feeds the watchdog, verifies certificates only if trust has changed, and reports after each.
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
    // The thread that reads the list must not check first
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

/// The other thread has read the list and is still verifying: a reload must not return before alice's session has
/// ended.
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

/// A chain that was found valid is not verified again before it expires, and stopping the relay does not wait for the
/// rest.
#[test]
fn a_sweep_verifies_what_is_new_and_ends_when_the_relay_does() {
    let folder = tempfile::tempdir().unwrap();
    let trial = folder.path().join("trial");
    let names = ["alice", "bob", "carol"];
    crate::serve::init(&trial, &[], &names.map(String::from)).unwrap();
    let verified = Arc::new(AtomicU32::new(0));
    let count = verified.clone();
    let before = move || {
        count.fetch_add(1, Ordering::Relaxed);
    };
    let control = start(trial_files(&trial, "relay").server().unwrap().with_before(before), &names);
    control.inner.stop.store(true, Ordering::Relaxed);
    for name in names {
        let chain = Chain::new(vec![CertificateDer::from_pem_file(trial.join(format!("{name}.pem"))).unwrap()]);
        let mut current = control.inner.current();
        let number = current.names.number_to_open(name, &chain, &limits().open, Instant::now()).unwrap();
        let open = OpenSession { since: Instant::now(), from: [127, 0, 0, 1].into(), chain, epoch: 1 };
        assert!(current.names.opened(name, number, open).is_ok());
    }
    let after = |sweep: &dyn Fn()| {
        sweep();
        verified.swap(0, Ordering::Relaxed)
    };
    assert_eq!(after(&|| control.inner.sweep(&|| false)), 1, "the relay ends");
    assert_eq!(after(&|| control.inner.check_sessions(&|| ())), 3);
    assert_eq!(after(&|| control.inner.check_sessions(&|| ())), 0, "the same certificates, the same trust");
    assert_eq!(control.list().len(), 3);
    let (gauge, numbers) = (control.gauge(), control.gauge().read().numbers);
    drop(control);
    assert_eq!((gauge.read().numbers, numbers), (3, 3), "sessions live on while the relay drains");
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
    // A certificate without a signature
    open(&inner, Chain::new(vec![vec![0].into()]));
    let checking = std::thread::spawn(move || inner.check_sessions(&|| ()));
    verified.recv().unwrap();
    assert_eq!(control.list().len(), 1, "an answer, before the certificate is verified");
    go_on.send(()).unwrap();
    checking.join().unwrap();
    assert_eq!(control.list().len(), 0, "then its session has ended");
}
