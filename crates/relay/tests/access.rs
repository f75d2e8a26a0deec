//! Access control: tenants and rules, revoked names and certificates, and what operators see of them.
#![allow(clippy::unwrap_used)]

#[path = "common/output.rs"]
mod output;
#[path = "common/peer.rs"]
mod peer;
#[path = "common/trial.rs"]
mod trial;

use std::{
    fs,
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use peer::Peer;
use sealwright_relay::{
    Count,
    client::ClientError,
    control::fuzz::{expire, revoke},
    serve::{Server, add},
};
use sealwright_session::{Material, Sessions};
use sealwright_transcripts::until;
use trial::{config, edit, folder, identity, serve};

/// Whether the relay has closed a connection, over which it sent nothing.
fn closed(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

fn reload(server: &Server, directory: &Path) {
    server.reload(&config(directory)).unwrap();
}

#[test]
fn tenants_do_not_speak_unless_a_rule_says_so() {
    for threads in [1, 2] {
        let names = ["1.acme.test", "2.acme.test", "1.bolt.test", "hub"];
        let directory = folder(&names, "\"*.acme.test\", \"*.bolt.test\", \"hub\"");
        let tenants = "[tenants]\nacme = [\"*.acme.test\"]\nbolt = [\"*.bolt.test\"]\n";
        edit(directory.path(), |text| format!("threads = {threads}\n{text}{tenants}"));
        let (server, log) = serve(directory.path());
        let [one, two, bolt, hub] = names.map(|name| identity(directory.path(), &server, name));
        let [mut one_there, mut two_there, mut bolt_there, mut hub_there] =
            [&one, &two, &bolt, &hub].map(|identity| Peer::new(identity.open(&[]).unwrap()));
        let (to_two, to_bolt) = (two_there.session.address, bolt_there.session.address);
        // Within a tenant
        assert_eq!(one.find(&["2.acme.test"]).unwrap(), [Some(to_two)]);
        one_there.send(to_two, b"within");
        assert_eq!(two_there.receive().1, b"within");
        // Across tenants, neither look-ups nor frames are allowed
        let refused = one.find(&["1.bolt.test"]).unwrap_err();
        assert!(matches!(&refused, ClientError::Refused(why) if why.contains("no rule")), "{refused}");
        assert!(hub.find(&["1.bolt.test"]).is_err(), "names of no tenant are not of every tenant");
        for _ in 0..10 {
            one_there.send(to_bolt, b"across");
        }
        hub_there.send(to_bolt, b"across");
        until("denials", || server.relay().counts().of(Count::Denied) == 11);
        until("their reason", || log.text().contains("\"to\":\"1.bolt.test\""));
        let line = log.text().lines().find(|line| line.contains("\"to\":\"1.bolt.test\"")).unwrap().to_owned();
        assert!(line.contains("\"event\":\"denied\"") && line.contains("\"from\":\"127.0.0.1\""), "{line}");
        // A rule lets them speak, while all stay connected
        let rules = "[[rules]]\nfrom = [\"1.acme.test\"]\nto = [\"*.bolt.test\"]\n\
                     [[rules]]\nfrom = [\"hub\"]\nto = [\"*.bolt.test\"]\none_way = true\n";
        edit(directory.path(), |text| format!("{text}{rules}"));
        reload(&server, directory.path());
        assert_eq!(one.find(&["1.bolt.test"]).unwrap(), [Some(to_bolt)]);
        one_there.send(to_bolt, b"by a rule");
        assert_eq!(bolt_there.receive(), (one_there.session.address, b"by a rule".to_vec()));
        bolt_there.send(one_there.session.address, b"and back");
        assert_eq!(one_there.receive().1, b"and back");
        hub_there.send(to_bolt, b"one way");
        assert_eq!(bolt_there.receive().1, b"one way");
        bolt_there.send(hub_there.session.address, b"not back");
        two_there.send(to_bolt, b"not this one");
        until("denials", || server.relay().counts().of(Count::Denied) == 13);
        // Without tenants everybody may speak again, including sessions opened before
        edit(directory.path(), |text| text.split("[tenants]").next().unwrap().to_owned());
        reload(&server, directory.path());
        two_there.send(to_bolt, b"free");
        assert_eq!(bolt_there.receive().1, b"free");
    }
}

/// Frames are in transit between two workers while the rules are reloaded.
#[test]
fn a_reload_that_changes_no_rule_drops_no_frame() {
    let names = ["1.acme.test", "2.acme.test"];
    let directory = folder(&names, "\"*.acme.test\"");
    edit(directory.path(), |text| format!("threads = 2\n{text}[tenants]\nacme = [\"*.acme.test\"]\n"));
    let (server, _) = serve(directory.path());
    let [mut one, mut two] = names.map(|name| Peer::new(identity(directory.path(), &server, name).open(&[]).unwrap()));
    let worker = |peer: &Peer| server.relay().layout().locate(peer.session.address.session).unwrap().0;
    assert_ne!(worker(&one), worker(&two));
    let ([over, ended], to) = ([const { AtomicBool::new(false) }; 2], two.session.address);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                one.send(to, b"traffic");
            }
            // A slow receiver may have missed one
            while !ended.load(Ordering::Relaxed) {
                one.send(to, b"the last");
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let receiver = scope.spawn(|| {
            while two.receive().1 != b"the last" {}
            ended.store(true, Ordering::Relaxed);
        });
        for _ in 0..10 {
            std::thread::sleep(Duration::from_millis(30));
            reload(&server, directory.path());
        }
        over.store(true, Ordering::Relaxed);
        receiver.join().unwrap();
    });
    let counts = server.relay().counts();
    assert!(counts.of(Count::Forwarded) > 100, "{counts:?}");
    assert_eq!([Count::Denied, Count::RulesChanged].map(|what| counts.of(what)), [0, 0]);
}

#[test]
fn one_name_is_revoked_and_the_others_of_its_wildcard_stay() {
    let directory = folder(&["*.load.test"], "\"*.load.test\"");
    let (server, _) = serve(directory.path());
    let many = identity(directory.path(), &server, "load.test");
    let open = |number: u32| many.open_many(&[format!("{number}.load.test")]).map(|mut all| Peer::new(all.remove(0)));
    let (mut bad, mut good) = (open(1).unwrap(), open(2).unwrap());
    fs::write(directory.path().join("trial/revoked.txt"), "# out\n1.load.test\n1.LOAD.test # twice\n").unwrap();
    reload(&server, directory.path());
    assert!(closed(&mut bad.stream), "its connection is closed");
    let refused = open(1).err().unwrap();
    assert!(matches!(&refused, ClientError::Refused(why) if why.contains("revoked")), "{refused}");
    assert!(many.find(&["1.load.test"]).is_err());
    let me = good.session.address;
    good.send(me, b"still here");
    assert_eq!(good.receive().1, b"still here");
    fs::write(directory.path().join("trial/revoked.txt"), "").unwrap();
    reload(&server, directory.path());
    open(1).unwrap();
}

#[test]
fn a_certificate_that_its_authority_revoked_loses_its_session() {
    let directory = folder(&["alice", "bob"], "\"alice\", \"bob\"");
    edit(directory.path(), |text| text.replace("[tls]\n", "[tls]\ncrl = \"authority.crl\"\n"));
    fs::write(directory.path().join("trial/authority.crl"), "no list").unwrap();
    assert!(config(directory.path()).check().unwrap_err().to_string().contains("authority.crl"));
    let revocations = |number, names: &[&str]| revoke(&directory.path().join("trial"), number, names).unwrap();
    revocations(1, &[]);
    assert!(config(directory.path()).check().unwrap().connections > 100);
    let (server, log) = serve(directory.path());
    let [alice, bob] = ["alice", "bob"].map(|name| identity(directory.path(), &server, name));
    let (mut alices, mut bobs) = (Peer::new(alice.open(&[]).unwrap()), Peer::new(bob.open(&[]).unwrap()));
    revocations(2, &["alice"]);
    reload(&server, directory.path());
    until("the end of her session", || log.text().contains("its certificate is not valid any more"));
    assert!(closed(&mut alices.stream), "her connection is closed");
    assert!(alice.open(&[]).is_err());
    let me = bobs.session.address;
    bobs.send(me, b"still here");
    assert_eq!(bobs.receive().1, b"still here");
    bob.open(&[]).unwrap();
    // The list is read within 30 seconds without a reload, even while another file is half replaced
    fs::copy(directory.path().join("trial/alice.key"), directory.path().join("trial/relay.key")).unwrap();
    revocations(3, &["alice", "bob"]);
    let start = Instant::now();
    while server.relay().live() > 0 {
        assert!(start.elapsed() < Duration::from_secs(120), "bob goes on");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(log.text().matches("revocations-read").count(), 1, "once for each change that no reload has read");
}

#[test]
fn a_client_is_added_while_the_relay_runs() {
    let directory = folder(&["alice"], "\"alice\"");
    let (server, _) = serve(directory.path());
    let trial = directory.path().join("trial");
    add(&trial, &trial.join("clients.txt"), "carol", "localhost:1").unwrap();
    assert!(add(&trial, &trial.join("clients.txt"), "carol", "localhost:1").is_err(), "twice");
    assert!(add(&trial, &trial.join("clients.txt"), "../carol", "localhost:1").is_err());
    let carol = identity(directory.path(), &server, "carol");
    assert!(matches!(carol.open(&[]), Err(ClientError::Refused(_))), "before the reload");
    reload(&server, directory.path());
    carol.open(&[]).unwrap();
    let other = folder(&[], "");
    fs::copy(other.path().join("trial/authority.key"), trial.join("authority.key")).unwrap();
    let refused = add(&trial, &trial.join("clients.txt"), "dave", "localhost:1").unwrap_err();
    assert!(refused.to_string().contains("authority.key is not the key of authority.pem"), "{refused}");
    // Lost or doubled line ends: the content of the files is not repeated
    let key = fs::read_to_string(trial.join("authority.key")).unwrap();
    let secret = key.lines().nth(1).unwrap();
    let certificate = fs::read_to_string(trial.join("authority.pem")).unwrap();
    for (name, text) in [
        ("authority.key", key.replace('\n', "")),
        ("authority.key", key.replace('\n', "\n\n")),
        ("authority.key", key.replacen("BEGIN PRIVATE KEY-----", "BEGIN PRIVATE KEY----", 1) + &certificate),
        ("authority.pem", (key.clone() + &certificate).replace('\n', "")),
    ] {
        let whole = fs::read(trial.join(name)).unwrap();
        fs::write(trial.join(name), text).unwrap();
        let refused = add(&trial, &trial.join("clients.txt"), "dave", "localhost:1").unwrap_err();
        let said = format!("{refused} {refused:?}");
        let numbers: Vec<String> = secret.bytes().take(8).map(|byte| byte.to_string()).collect();
        assert!(said.contains(name) && !said.contains(&secret[..8]) && !said.contains(&numbers.join(", ")), "{said}");
        fs::write(trial.join(name), whole).unwrap();
    }
}

#[test]
fn health_and_gauges_tell_how_the_relay_is() {
    let directory = folder(&["alice", "*.load.test"], "\"alice\", \"*.load.test\"");
    let (server, _) = serve(directory.path());
    let get = |path: &str| {
        let mut stream = TcpStream::connect(server.addresses().metrics.unwrap()).unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: here\r\n\r\n").as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    assert!(get("/health").starts_with("HTTP/1.1 200") && get("/health").ends_with("\r\n\r\nok\n"));
    let gauge = |name: &str| {
        let text = get("/metrics");
        let line = text.lines().find(|line| line.starts_with(&format!("sealwright_{name} "))).unwrap_or_default();
        line.rsplit(' ').next().unwrap_or_default().parse::<f64>().unwrap_or(-1.0)
    };
    assert_eq!((gauge("sessions"), gauge("session_numbers")), (0.0, 1.0), "alice's number is hers before she comes");
    let names: Vec<String> = (0..100).map(|at| format!("{at}.load.test")).collect();
    identity(directory.path(), &server, "load.test").open_many(&names).unwrap();
    assert_eq!((gauge("sessions"), gauge("session_numbers")), (100.0, 101.0));
    assert!(gauge("name_bytes") > 100.0 * 50.0 && gauge("resident_bytes") > 1e6);
    let version = format!("sealwright_build_info{{version=\"{}\",scheme=\"gcm-on64\"}} 1", env!("CARGO_PKG_VERSION"));
    assert!(get("/metrics").contains(&version));
}

/// The key that a cluster shares, as another client of it would get it: the one with this index.
fn shared_key(server: &Server, index: u32) -> Vec<u8> {
    let (shard, slot) = server.relay().layout().locate(index).unwrap();
    let admit = move |sessions: &mut dyn Sessions| sessions.admit(slot, index, &Material::random().unwrap()).unwrap();
    server.relay().change(shard, 0..0, admit).unwrap().to_bytes()[8..40].to_vec()
}

/// A relay whose clients share keys: eight per cluster, four of them on each worker.
fn sharing(clients: &[&str], allowed: &str) -> tempfile::TempDir {
    let directory = folder(clients, allowed);
    edit(directory.path(), |text| text.replace("\"gcm-on64\"", "\"gscm-h\"\ncluster_sessions = 8\nthreads = 2"));
    directory
}

/// Ends all sessions, and allows them to be opened again.
fn end_all(server: &Server, directory: &Path) {
    edit(directory, |text| format!("{text}[limits]\nsession_hours = 0.000001\n"));
    std::thread::sleep(Duration::from_millis(20));
    reload(server, directory);
    edit(directory, |text| text.split("[limits]").next().unwrap().to_owned());
    reload(server, directory);
}

#[test]
fn who_loses_its_certificate_takes_the_keys_of_its_cluster_along() {
    let directory = sharing(&["alice", "bob"], "\"alice\", \"bob\"");
    edit(directory.path(), |text| text.replace("[tls]\n", "[tls]\ncrl = \"authority.crl\"\n"));
    let trial = directory.path().join("trial");
    revoke(&trial, 1, &[]).unwrap();
    let (server, log) = serve(directory.path());
    let [alice, bob] = ["alice", "bob"].map(|name| identity(directory.path(), &server, name));
    let at = alice.open(&[]).unwrap().address.session + 4;
    let key = shared_key(&server, at);
    end_all(&server, directory.path());
    until("the end of its lifetime", || log.text().contains("its lifetime is over"));
    assert_eq!(shared_key(&server, at), key, "she is still trusted");
    alice.open(&[]).unwrap();
    let mut bobs = Peer::new(bob.open(&[]).unwrap());
    revoke(&trial, 2, &["alice"]).unwrap();
    reload(&server, directory.path());
    until("the end of her session", || log.text().contains("its certificate is not valid any more"));
    assert_ne!(shared_key(&server, at), key);
    // Clients of another worker share other keys
    let me = bobs.session.address;
    bobs.send(me, b"still here");
    assert_eq!(bobs.receive().1, b"still here");
    let other = sharing(&[], "");
    let key = shared_key(&server, at);
    edit(directory.path(), |text| text.replace("crl = \"authority.crl\"\n", ""));
    reload(&server, directory.path());
    assert_eq!(shared_key(&server, at), key);
    alice.open(&[]).unwrap();
    fs::copy(other.path().join("trial/authority.pem"), trial.join("authority.pem")).unwrap();
    reload(&server, directory.path());
    assert_ne!(shared_key(&server, at), key, "another authority vouches for nobody here");
}

/// A client whose certificate has expired is still trusted, so shared keys stay. If the certificate is revoked as well,
/// it is not.
#[test]
fn who_has_a_certificate_that_expires_takes_no_keys_along() {
    let directory = sharing(&["alice", "bob", "carol"], "\"alice\", \"bob\", \"carol\"");
    edit(directory.path(), |text| text.replace("[tls]\n", "[tls]\ncrl = \"authority.crl\"\n"));
    let trial = directory.path().join("trial");
    revoke(&trial, 1, &[]).unwrap();
    let (server, log) = serve(directory.path());
    let open = |name: &str| identity(directory.path(), &server, name).open(&[]).unwrap().address.session;
    let at = open("carol") + 4;
    let key = shared_key(&server, at);
    for (revoked, ended) in
        [(false, "not valid at this time"), (true, "\"event\":\"keys-replaced\",\"others_revoked\":2")]
    {
        expire(&trial, "alice", Duration::from_secs(5)).unwrap();
        let expired = Instant::now() + Duration::from_secs(6);
        open("alice");
        if revoked {
            revoke(&trial, 2, &["alice"]).unwrap();
        }
        std::thread::sleep(expired.saturating_duration_since(Instant::now()));
        reload(&server, directory.path());
        until(ended, || log.text().contains(ended));
        assert_eq!(shared_key(&server, at) == key, !revoked);
        assert_eq!(log.text().contains("keys-replaced"), revoked);
    }
}

#[test]
fn a_name_that_is_revoked_without_a_session_takes_keys_along_too() {
    let directory = sharing(&["alice", "*.load.test"], "\"alice\", \"*.load.test\"");
    let (server, _) = serve(directory.path());
    let load = identity(directory.path(), &server, "load.test");
    let mut opened = load.open_many(&["1.load.test", "2.load.test"].map(str::to_owned)).unwrap();
    let keys = || [4, 5].map(|index| shared_key(&server, index));
    let before = keys();
    let revoke = |names: &str| {
        fs::write(directory.path().join("trial/revoked.txt"), names).unwrap();
        reload(&server, directory.path());
    };
    end_all(&server, directory.path());
    revoke("eve\n");
    assert_eq!(keys(), before, "no wildcard allowed it");
    // It is not recorded which of the two sessions it had
    revoke("eve\n1.load.test\n");
    let after = keys();
    assert!(before.iter().zip(&after).all(|(before, after)| before != after));
    let again = load.open_many(&["2.load.test".to_owned()]).unwrap().remove(0);
    opened.push(again);
    let mut peer = Peer::new(opened.remove(2));
    revoke("eve\n1.load.test # still\n");
    let me = peer.session.address;
    peer.send(me, b"still here");
    assert_eq!(peer.receive().1, b"still here");
    assert_eq!(keys(), after);
}

#[test]
fn a_cluster_that_is_gone_leaves_no_keys_to_the_next_one() {
    let directory = sharing(&["alice", "*.one.test", "*.two.test"], "\"alice\"");
    let clusters = |text: &str| {
        edit(directory.path(), |before| {
            let (before, tls) = before.split_once("[tls]").unwrap();
            let before = before.split_once("[clusters]").map_or(before, |(before, _)| before);
            format!("{before}{text}[tls]{tls}")
        });
    };
    clusters("[clusters]\none = [\"*.one.test\"]\n");
    let (server, _) = serve(directory.path());
    let open = |name: &str| identity(directory.path(), &server, name).open_many(&[format!("1.{name}")]);
    let at = open("one.test").unwrap()[0].address.session;
    // Its workers share no keys with each other
    let keys = || [at + 4, at + 5].map(|index| shared_key(&server, index));
    let before = keys();
    end_all(&server, directory.path());
    clusters("");
    reload(&server, directory.path());
    clusters("[clusters]\ntwo = [\"*.two.test\"]\n");
    reload(&server, directory.path());
    assert_eq!(open("two.test").unwrap()[0].address.session, at, "it has the run of the one before");
    assert!(before.iter().zip(keys()).all(|(before, after)| *before != after));
}
