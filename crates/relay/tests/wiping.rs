//! What a relay leaves in memory of the data that it carried and of the keys that it issued.
#![allow(clippy::unwrap_used)]

#[path = "common/output.rs"]
mod output;
#[path = "common/trial.rs"]
mod trial;

use std::{
    collections::HashSet,
    hint::black_box,
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    path::Path,
    sync::Arc,
};

use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use sealwright_relay::{Address, Count, NodeLayout, Relay, Settings};
use sealwright_session::{Client, Material, Plan, table};
use sealwright_transcripts::{WANTED, in_memory, until};
use zeroize::Zeroize;

/// A client and its connection.
struct Peer {
    address: Address,
    keys: Client,
    stream: TcpStream,
}

impl Peer {
    fn new(relay: &Relay, index: u32) -> Peer {
        let address = Address { session: relay.layout().session(index), generation: 1 };
        let keys = Client::new(relay.admit(address, Material::random().unwrap()).unwrap());
        Peer { address, keys, stream: TcpStream::connect(relay.address()).unwrap() }
    }

    /// Sends the bytes of which this is the inverse, and keeps no copy.
    fn send(&mut self, to: Address, inverted: &[u8; WANTED]) {
        let mut data = [0; 4 + WANTED];
        data[..4].copy_from_slice(&to.generation.to_be_bytes());
        data[4..].iter_mut().zip(inverted).for_each(|(byte, not)| *byte = !black_box(*not));
        let frame = self.keys.seal(to.session, &data).unwrap();
        data.zeroize();
        // The client's plaintext is not the relay's: wipe what sealing left of it on this stack, or it would be found
        overwrite_stack();
        self.stream.write_all(&frame).unwrap();
    }
}

#[inline(never)]
fn overwrite_stack() {
    black_box(&mut [0_u8; 64 << 10]);
}

fn relay(settings: Settings) -> Relay {
    let (layout, plan) = (NodeLayout::new(0, 2), Plan::new("gcm-on64".parse().unwrap(), 2));
    let tables = (0..layout.shards()).map(|_| table(plan.clone()).unwrap()).collect();
    Relay::start("127.0.0.1:0".parse().unwrap(), 0, settings, tables).unwrap()
}

fn random() -> [u8; WANTED] {
    let mut bytes = [0; WANTED];
    getrandom::fill(&mut bytes).unwrap();
    bytes
}

/// A single test: concurrent ones would find each other's data.
#[test]
fn nothing_is_left_of_what_passed_through() {
    let known = random();
    let text: Vec<u8> = known.iter().map(|byte| !black_box(*byte)).collect();
    assert!(in_memory(&known) > 0, "the search does not see what is there");
    drop(text);
    frames();
    grants();
}

fn frames() {
    let inverted = random();
    let whole = relay(Settings::default());
    let of = |what: Count| whole.counts().of(what);
    let [mut alice, mut bob, mut carol] = [0, 1, 2].map(|index| Peer::new(&whole, index));
    // Bob is on another worker than alice and carol
    for (at, peer) in [&mut bob, &mut carol].into_iter().enumerate() {
        let hello = random();
        peer.send(peer.address, &hello);
        until("a hello", || of(Count::Forwarded) == 1 + at as u64);
    }
    for (at, to) in [bob.address, carol.address].into_iter().enumerate() {
        alice.send(to, &inverted);
        until("a frame", || of(Count::Forwarded) == 3 + at as u64);
        assert_eq!(in_memory(&inverted), 0, "of a frame for {to:?}");
    }
    // A former owner of bob's number, on another worker, and one of carol's
    for (at, to) in [bob.address, carol.address].into_iter().enumerate() {
        alice.send(Address { generation: 9, ..to }, &inverted);
        until("a frame for nobody", || of(Count::WrongDestination) == 1 + at as u64);
        assert_eq!(in_memory(&inverted), 0, "of a frame for a former owner of {to:?}");
    }
    let limited = relay(Settings::default().session_rate(1));
    let of = |what: Count| limited.counts().of(what);
    let mut eager = Peer::new(&limited, 0);
    let nobody = Address { generation: 9, ..eager.address };
    let mut sent = 0;
    // Each is dropped; the last one because it exceeds the session's share
    while of(Count::Share) == 0 {
        eager.send(nobody, &inverted);
        sent += 1;
        until("a frame for nobody", || of(Count::Share) + of(Count::WrongDestination) == sent);
    }
    assert_eq!(in_memory(&inverted), 0, "of a frame beyond its share");
}

/// Gives the program that runs as a client the relay's port and the folder with its certificate. It is a process of its
/// own, so that its copies of keys are not found here.
const CLIENT: &str = "SEALWRIGHT_WIPING_CLIENT";

/// Opens sessions in another process, and outputs the inverse of a part of each grant in the form in which it came.
#[test]
#[ignore = "run as a child by the other test"]
fn a_client_of_the_other_test() {
    let told = std::env::var(CLIENT).unwrap();
    let (port, folder) = told.split_once(' ').unwrap();
    let folder = Path::new(folder);
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(folder.join("authority.pem")).unwrap()).unwrap();
    let chain = vec![CertificateDer::from_pem_file(folder.join("alice.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(folder.join("alice.key")).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_protocol_versions(&[&rustls::version::TLS13]).unwrap();
    let config = Arc::new(config.with_root_certificates(roots).with_client_auth_cert(chain, key).unwrap());
    for _ in 0..8 {
        let connection = ClientConnection::new(config.clone(), "localhost".try_into().unwrap()).unwrap();
        let stream = TcpStream::connect(("localhost", port.parse().unwrap())).unwrap();
        let mut stream = BufReader::new(StreamOwned::new(connection, stream));
        stream.get_mut().write_all(b"{\"open\":\"alice\"}\n").unwrap();
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        let (_, grant) = line.split_once("\"grant\":\"").unwrap_or_else(|| panic!("{line}"));
        let (grant, _) = grant.split_once('"').unwrap();
        // Keys of both directions, in hexadecimal or shorter
        assert!(grant.len() > 160, "{} characters", grant.len());
        // Within the first key
        let inverted: Vec<u8> = grant.as_bytes()[20..20 + WANTED].iter().map(|byte| !byte).collect();
        println!("\ngranted {}", base16ct::lower::encode_string(&inverted));
    }
}

/// The keys as they were formatted for a client.
fn grants() {
    let directory = trial::folder(&["alice"], "\"alice\"");
    // Less memory is searched faster
    trial::edit(directory.path(), |text| text.replace("sessions = 100000", "sessions = 16\nthreads = 1"));
    let (server, _log) = trial::serve(directory.path());
    let client = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_client_of_the_other_test", "--ignored", "--nocapture"])
        .env(CLIENT, format!("{} {}", server.addresses().control.port(), directory.path().join("trial").display()))
        .output()
        .unwrap();
    let said = String::from_utf8(client.stdout).unwrap();
    let granted: Vec<[u8; WANTED]> = said
        .lines()
        .filter_map(|line| line.strip_prefix("granted "))
        .map(|digits| base16ct::lower::decode_vec(digits).unwrap().try_into().unwrap())
        .collect();
    assert_eq!(granted.len(), 8, "{said} {}", String::from_utf8_lossy(&client.stderr));
    let different: HashSet<_> = granted.iter().collect();
    assert_eq!(different.len(), 8, "what is looked for are keys");
    // Each connection has a thread, which wipes its response once that is written
    until("the end of the connections", || granted.iter().map(in_memory).sum::<usize>() == 0);
}
