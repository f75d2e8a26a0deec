//! Attacks that were tried, and must not succeed.
#![allow(clippy::unwrap_used)]

mod common;

#[path = "common/output.rs"]
mod output;
#[path = "common/trial.rs"]
mod trial;

use std::{
    fs,
    io::{Cursor, Read, Write},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    sync::Arc,
    time::{Duration, Instant},
};

use common::{Client, relay, until};
use output::Shared;
use sealwright_relay::{
    Address, Count, Log, Settings,
    client::{ClientError, Identity, Pipe, Transferred},
    serve::{ServeError, Server, init},
};
use sealwright_session::{Material, SessionError, frame::unsealed};
use trial::{config, edit, folder, identity, named, serve};

/// An input that is slow.
struct Slow(Cursor<Vec<u8>>);

impl Read for Slow {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        std::thread::sleep(Duration::from_millis(5));
        self.0.read(buffer)
    }
}

#[test]
fn a_frame_for_a_former_owner_of_a_number_reaches_nobody() {
    for workers in [1, 2] {
        let relay = relay(workers, 4, Settings::default());
        let mut alice = Client::new(&relay, 0);
        let bob = Client::new(&relay, 1);
        let next = Address { session: bob.session, generation: 7 };
        let grant = relay.admit(next, Material::random().unwrap()).unwrap();
        let mut carol = sealwright_session::Client::new(grant);
        let mut stream = TcpStream::connect(relay.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let frame = carol.seal(next.session, &[&next.generation.to_be_bytes()[..], b"hello"].concat()).unwrap();
        stream.write_all(&frame).unwrap();
        let mut hello = vec![0; unsealed(0, b"....hello").len()];
        stream.read_exact(&mut hello).unwrap();
        assert_eq!(carol.open(&mut hello).unwrap().0, next.session);
        // Frames for bob, then one for carol: only carol's arrives
        let before = relay.counts().of(Count::WrongDestination);
        for _ in 0..10 {
            alice.send(bob.session, b"for bob");
        }
        let frame = alice.sealed_for(next, b"carol");
        alice.stream.write_all(&frame).unwrap();
        let mut frame = vec![0; hello.len()];
        stream.read_exact(&mut frame).unwrap();
        assert_eq!(&carol.open(&mut frame).unwrap().1[4..], b"carol");
        assert_eq!(relay.counts().of(Count::WrongDestination) - before, 10);
        // The former owner cannot come back
        let old = Address { generation: 6, ..next };
        assert!(relay.admit(old, Material::random().unwrap()).is_err());
        relay.remove(old);
        let frame = alice.sealed_for(next, b"again");
        alice.stream.write_all(&frame).unwrap();
        let mut frame = vec![0; hello.len()];
        stream.read_exact(&mut frame).unwrap();
        assert_eq!(&carol.open(&mut frame).unwrap().1[4..], b"again");
    }
}

fn run(me: &Identity, peer: &str, input: Vec<u8>, output: Shared, seconds: u64) -> Result<Transferred, ClientError> {
    let wait = Duration::from_secs(seconds);
    Pipe::new(me, peer, wait).run(Slow(Cursor::new(input)), output, &|_| ())
}

#[test]
fn a_stream_never_reaches_the_client_that_takes_over_a_number() {
    let directory = folder(&["alice", "bob", "dave"], "\"alice\", \"bob\"");
    edit(directory.path(), |text| text.replace("sessions = 100000", "sessions = 2\nthreads = 1"));
    let (server, _) = serve(directory.path());
    let [alice, bob, dave] = ["alice", "bob", "dave"].map(|name| identity(directory.path(), &server, name));
    let bobs = bob.open(&[]).unwrap().address;
    let (at_bob, at_dave) = (Shared::default(), Shared::default());
    std::thread::scope(|scope| {
        let secret = vec![0x5a; 10_000_000];
        let sender = scope.spawn(|| run(&alice, "bob", secret, Shared::default(), 6));
        let receiver = scope.spawn(|| run(&bob, "alice", Vec::new(), at_bob.clone(), 30));
        until("some bytes", || at_bob.0.lock().unwrap().len() > 100_000);
        edit(directory.path(), |text| text.replace("\"bob\"", "\"dave\""));
        server.reload(&config(directory.path())).unwrap();
        let next = scope.spawn(|| run(&dave, "alice", Vec::new(), at_dave.clone(), 3));
        assert!(matches!(next.join().unwrap(), Err(ClientError::NoAnswer(_))));
        let refused = receiver.join().unwrap();
        assert!(matches!(refused, Err(ClientError::Refused(_))), "bob's connection ended: {refused:?}");
        assert!(sender.join().unwrap().is_err(), "alice learns that bob did not receive everything");
    });
    let daves = dave.open(&[]).unwrap().address;
    assert_eq!((daves.session, daves.generation == bobs.generation), (bobs.session, false));
    assert!(at_dave.0.lock().unwrap().is_empty(), "nothing of it reached dave");
}

#[test]
fn looking_up_names_takes_no_numbers_and_needs_a_client() {
    let directory = folder(&["alice", "mallory", "*.load.test"], "\"alice\", \"*.load.test\"");
    edit(directory.path(), |text| text.replace("sessions = 100000", "sessions = 2\nthreads = 1"));
    let (server, _) = serve(directory.path());
    let alice = identity(directory.path(), &server, "alice");
    let many: Vec<String> = (0..500).map(|number| format!("{number}.load.test")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(alice.find(&many).unwrap().iter().all(Option::is_none));
    let mallory = identity(directory.path(), &server, "mallory");
    assert!(matches!(mallory.find(&["alice"]), Err(ClientError::Refused(_))), "its name is not allowed");
    let load = identity(directory.path(), &server, "load.test");
    let session = load.open_many(&["7.load.test".to_owned()]).unwrap().remove(0);
    assert_eq!(alice.find(&["7.load.test"]).unwrap(), [Some(session.address)]);
}

#[test]
fn names_differ_in_more_than_their_case() {
    let directory = folder(&["alice", "bob"], "\"Alice\", \"bob\"");
    let (server, _) = serve(directory.path());
    let alice = identity(directory.path(), &server, "alice");
    let addresses: Vec<Address> =
        ["alice", "ALICE", "aLiCe"].map(|name| named(name, &alice).open(&["BOB"]).unwrap().address).into();
    assert!(addresses.iter().all(|address| *address == addresses[0]), "one certificate, one session");
}

#[test]
fn keys_that_others_can_read_are_refused() {
    let directory = folder(&["alice"], "\"alice\"");
    let (server, _) = serve(directory.path());
    let alice = identity(directory.path(), &server, "alice");
    let open = |name: &str, mode: u32| {
        fs::set_permissions(directory.path().join("trial").join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    open("alice.key", 0o640);
    let refused = alice.open(&[]).unwrap_err();
    assert!(matches!(refused, ClientError::Tls(_)) && refused.hint() == Some("chmod 600"), "{refused}");
    for mode in [0o666, 0o604, 0o620] {
        open("relay.key", mode);
        let refused = Server::start(&config(directory.path()), Arc::new(Log::to(std::io::sink()))).unwrap_err();
        assert!(matches!(refused, ServeError::Tls(_)) && refused.to_string().contains("relay.key"), "{refused}");
        assert!(server.reload(&config(directory.path())).is_err());
    }
}

/// A faulty certificate stays faulty: its client does not retry, which would load the relay.
#[test]
fn who_shows_or_sees_a_wrong_certificate_is_told_at_once() {
    let (directory, elsewhere) = (folder(&["alice"], "\"alice\", \"bob\""), folder(&["alice"], ""));
    let (server, _) = serve(directory.path());
    let alice = identity(directory.path(), &server, "alice");
    let (mut stranger, mut wary) = (identity(elsewhere.path(), &server, "alice"), alice.clone());
    stranger.tls.authority = alice.tls.authority.clone();
    wary.tls.authority = elsewhere.path().join("trial/authority.pem");
    for who in [&stranger, &wary] {
        let start = Instant::now();
        let ended = run(who, "bob", b"text".to_vec(), Shared::default(), 180);
        assert!(matches!(ended, Err(ClientError::Relay { .. })), "{ended:?}");
        assert!(start.elapsed() < Duration::from_secs(90), "{ended:?} after {:?}", start.elapsed());
    }
}

#[test]
fn sessions_end_with_their_lifetime_and_with_their_authority() {
    let directory = folder(&["alice"], "\"alice\"");
    let (server, log) = serve(directory.path());
    let alice = identity(directory.path(), &server, "alice");
    alice.open(&[]).unwrap();
    server.reload(&config(directory.path())).unwrap();
    assert!(!log.text().contains("\"ended\""), "a reload alone ends nothing");
    edit(directory.path(), |text| format!("{text}[limits]\nsession_hours = 0.000001\n"));
    std::thread::sleep(Duration::from_millis(20));
    server.reload(&config(directory.path())).unwrap();
    until("the end of its lifetime", || log.text().contains("its lifetime is over"));
    edit(directory.path(), |text| text.replace("0.000001", "1"));
    server.reload(&config(directory.path())).unwrap();
    alice.open(&[]).unwrap();
    let other = folder(&[], "");
    fs::copy(other.path().join("trial/authority.pem"), directory.path().join("trial/authority.pem")).unwrap();
    server.reload(&config(directory.path())).unwrap();
    until("the end of its certificate", || log.text().contains("its certificate is not valid any more"));
    assert!(alice.open(&[]).is_err());
}

#[test]
fn a_reload_that_needs_a_restart_is_refused_and_changes_nothing() {
    let directory = folder(&["alice", "bob"], "\"alice\"");
    let (server, _) = serve(directory.path());
    edit(directory.path(), |text| {
        text.replace("\"alice\"]", "\"bob\"]").replace("memory_mib = 1024", "memory_mib = 512")
    });
    let refused = server.reload(&config(directory.path())).unwrap_err();
    assert!(refused.to_string().contains("memory_mib"), "{refused}");
    identity(directory.path(), &server, "alice").open(&[]).unwrap();
}

/// A number whose epochs are used up belongs to nobody any more: the client gets another one, and the session under the
/// old one ends. This concerns schemes that derive keys from a number's epoch.
#[test]
fn a_number_that_is_used_up_leaves_no_session_behind() {
    let directory = folder(&["alice"], "\"alice\"");
    edit(directory.path(), |text| text.replace("\"gcm-on64\"", "\"gcm-derived\""));
    let (server, _log) = serve(directory.path());
    let alice = identity(directory.path(), &server, "alice");
    let first = alice.open(&[]).unwrap().address;
    let relay = server.relay();
    let use_up = |session: u32, epochs: u16| {
        let (shard, slot) = relay.layout().locate(session).unwrap();
        let last = relay.change(shard, slot..slot + 1, move |sessions| {
            let material = Material::random().unwrap();
            let last = (0..epochs).map(|_| sessions.admit(slot, session, &material).unwrap()).last().unwrap();
            (last, sessions.admit(slot, session, &material).err())
        });
        let (last, refused) = last.unwrap();
        assert_eq!(refused, Some(SessionError::Exhausted));
        sealwright_session::Client::new(last)
    };
    let mut old = use_up(first.session, u16::MAX - 1);
    // The number that she would get next is used up as well
    let second = first.session + 1;
    use_up(second, u16::MAX);
    relay.remove(Address { session: second, generation: 0 });
    let next = alice.open(&[]).unwrap().address;
    assert_eq!(next.session, second + 1, "nothing but another number is left");
    until("the end of the old session", || relay.live() == 1);
    let mut stream = TcpStream::connect(relay.address()).unwrap();
    let to = [&first.generation.to_be_bytes()[..], b"hello"].concat();
    stream.write_all(&old.seal(first.session, &to).unwrap()).unwrap();
    until("its frame is of nobody", || relay.counts().of(Count::Unknown) == 1);
    assert_eq!(relay.counts().of(Count::Opened), 0);
    edit(directory.path(), |text| text.replace("\"alice\"", ""));
    server.reload(&config(directory.path())).unwrap();
    until("the end of the new session", || relay.live() == 0);
}

#[cfg(feature = "research")]
#[test]
fn a_client_takes_a_scheme_for_research_only_if_it_asked_for_it() {
    let directory = folder(&["alice"], "\"alice\"");
    edit(directory.path(), |text| text.replace("\"gcm-on64\"", "\"gscm(clmul)\"\nresearch = true"));
    let (server, _log) = serve(directory.path());
    let open = || identity(directory.path(), &server, "alice").open(&[]);
    let refused = open().unwrap_err();
    assert!(matches!(refused, ClientError::Research(_)), "{refused}");
    let file = directory.path().join("trial/alice.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("research = true\n{text}")).unwrap();
    assert_eq!(open().unwrap().spec.to_string(), "gscm(clmul)");
}

#[test]
fn a_trial_folder_is_private_and_never_written_over() {
    let directory = folder(&["alice"], "\"alice\"");
    let mode = |name: &str| fs::metadata(directory.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("trial"), mode("trial/alice.key"), mode("trial/authority.key")), (0o700, 0o600, 0o600));
    assert!(init(&directory.path().join("trial"), &[], &[]).is_err());
    assert!(init(&directory.path().join("other"), &[], &["../x".into()]).is_err());
}
