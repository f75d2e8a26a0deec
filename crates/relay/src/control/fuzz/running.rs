//! A running relay whose control plane gets other rules.

use std::{
    io::{Read, Write},
    net::Shutdown,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use sealwright_session::{Client, Grant, Plan, frame::HEADER, table};

use super::{
    super::{
        Access, ControlServer, ControlStats, Limits, Names, OpenLimits, Rate, Shared,
        protocol::{Request, Response},
    },
    ControlFuzz, line,
    model::{Model, Rules, SESSIONS, Who},
    peer::{Peer, connect, rest},
};
use crate::{
    address::Address,
    data::{Relay, Settings},
    log::Log,
    policy::{Policy, Rule, Tenant},
};

/// Inputs served by one relay: the epochs of a session are limited, and so are the requests of one connection.
pub(super) const INPUTS: u32 = 60;
pub(super) const LONG: Duration = Duration::from_secs(3600);
pub(super) const SHORT: Duration = Duration::from_millis(20);

pub(super) struct Running {
    pub(super) control: ControlServer,
    pub(super) relay: Arc<Relay>,
    pub(super) stats: Arc<ControlStats>,
    /// The connection of a well-behaved client.
    bob: Peer,
    pub(super) inputs: u32,
}

fn policy(tenants: bool) -> Policy {
    let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let tenant = |name: &str, names: &[&str]| Tenant { name: name.into(), names: list(names) };
    let all = vec![tenant("acme", &["alice", "*.load.test"]), tenant("bolt", &["bob"])];
    let rule = Rule { from: list(&["alice"]), to: list(&["bob"]), one_way: false };
    if tenants { Policy::new(all, vec![rule]).expect("one rule") } else { Policy::open() }
}

fn limits(share: usize, time: Duration) -> Limits {
    let rate = Rate { per_second: 1e9, per_second_from_one: 1e9, at_once: 64, at_once_from_one: 64 };
    let open = OpenLimits { sessions: share as u32, by_certificate: 1e12, of_session: 1e12 };
    Limits { rate, time, lifetime: LONG, open }
}

impl Running {
    pub(super) fn start(fuzz: &ControlFuzz) -> Running {
        let any = "127.0.0.1:0".parse().expect("an address");
        let sessions =
            table(Plan::new("gcm-on64".parse().expect("a scheme"), SESSIONS as u32)).expect("there is memory");
        let relay = Arc::new(Relay::start(any, 0, Settings::default(), vec![sessions]).expect("a relay"));
        let stats = Arc::new(ControlStats::default());
        let log = Arc::new(Log::to(std::io::sink()));
        let shared = Shared { relay: relay.clone(), directory: None, frames: (None, 1), stats: stats.clone(), log };
        let names = Names::new(&vec![(None, Vec::new())], SESSIONS as u32, SESSIONS as u32, u32::MAX - 20);
        let control = ControlServer::start(any, shared, fuzz.tls.clone(), names, Policy::open(), limits(1, LONG));
        let control = control.expect("a control plane");
        let mut bob = Peer::new(control.address(), &fuzz.clients[Who::Bob as usize].0);
        bob.shake_hands(None);
        let mut running = Running { control, relay, stats, bob, inputs: 0 };
        // Its first answer shows that its handshake is counted
        let nobody = running.ask_bob(&line(&Request::Find("alice".into())));
        assert!(matches!(nobody, Response::Refused(_)), "nobody is allowed yet");
        running
    }

    /// Bob's answer to a line.
    pub(super) fn ask_bob(&mut self, line: &[u8]) -> Response {
        let records = self.bob.seal(line);
        self.bob.send(&records);
        self.bob.answers(1).pop().expect("bob is answered")
    }

    pub(super) fn set(&self, fuzz: &ControlFuzz, model: &mut Model, rules: Rules, time: Duration) {
        let allowed = vec![(None, rules.allowed())];
        let access = Access { allowed, revoked: rules.revoked.clone(), policy: policy(rules.tenants) };
        self.control.reload(fuzz.tls.clone(), access, limits(rules.share, time), &|| ());
        model.set(rules);
    }

    /// Removes all sessions and names.
    pub(super) fn clear(&self, fuzz: &ControlFuzz) {
        let access = Access { allowed: vec![(None, Vec::new())], revoked: Vec::new(), policy: Policy::open() };
        self.control.reload(fuzz.tls.clone(), access, limits(1, LONG), &|| ());
        assert!(
            self.control.list().is_empty() && self.control.gauge().read().numbers == 0,
            "names are gone, and still here"
        );
    }
}

pub(super) fn read(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

/// Sends any bytes over a connection, in pieces: a byte with the length, then the piece.
pub(super) fn strangers(running: &Running, mut bytes: &[u8]) {
    let before = read(&running.stats.handshakes);
    let mut stream = connect(running.control.address());
    while let Some((&len, more)) = bytes.split_first() {
        let (piece, more) = more.split_at(more.len().min(len.into()));
        let _ = stream.write_all(piece);
        bytes = more;
    }
    let _ = stream.shutdown(Shutdown::Write);
    let said = rest(&mut stream);
    // An alert, or the relay's part of a handshake that is not completed
    assert!(said.is_empty() || matches!(said[0], 21 | 22), "a stranger is answered");
    assert_eq!(read(&running.stats.handshakes), before, "a stranger shook hands");
}

/// Checks that a client can send itself a frame under the last of these grants, and not under the earlier ones.
pub(super) fn echo(relay: &Relay, address: Address, grants: &[Grant]) {
    const TEXT: &[u8] = b"still here";
    let data = [&address.generation.to_be_bytes()[..], TEXT].concat();
    let mut stream = connect(relay.address());
    // Each grant is used several times here, as by a client that kept an old one.
    let again = |grant: &Grant| Grant::from_bytes(&mut grant.to_bytes()).expect("the same grant");
    let mut clients: Vec<Client> = grants.iter().map(|grant| Client::new(again(grant))).collect();
    for client in &mut clients {
        let frame = client.seal(address.session, &data).expect("a new client has keys");
        stream.write_all(&frame).expect("the relay takes frames");
    }
    let mut frame = vec![0; HEADER + Address::LEN + TEXT.len() + 16];
    stream.read_exact(&mut frame).expect("a frame");
    let last = clients.last_mut().expect("there is one");
    assert_eq!(last.open(&mut frame), Ok((address.session, &data[..])));
}
