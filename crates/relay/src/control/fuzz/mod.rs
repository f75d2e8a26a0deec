//! Fuzz target: the control plane over a connection. Strangers get nothing but TLS alerts; each line of a client is
//! answered as a model says, in order; a record that was changed, repeated, dropped or sent too early ends the
//! connection; afterwards exactly those sessions are open that were requested, and another client is still served.

mod files;
mod model;
mod peer;
mod running;

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use rustls::{
    ClientConfig,
    pki_types::{CertificateDer, pem::PemObject},
};
use sealwright_session::Grant;

pub use self::files::{FilesFuzz, expire, revoke};
use self::{
    model::{Expected, Model, Rules, Who, lines},
    peer::Peer,
    running::{INPUTS, LONG, Running, SHORT, echo, read, strangers},
};
use super::{
    protocol::{MAX_LINE, Request, Response},
    server::MAX_REQUESTS,
    tls::{ServerTls, TlsFiles},
};
use crate::address::Address;

/// Clients of a relay, each with its certificate, and the files of the relay itself.
pub struct ControlFuzz {
    tls: ServerTls,
    clients: Vec<(Arc<ClientConfig>, CertificateDer<'static>)>,
    running: Mutex<Option<Running>>,
}

impl std::fmt::Debug for ControlFuzz {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ControlFuzz").finish_non_exhaustive()
    }
}

/// Names in requests.
const NAMES: [&str; 16] = [
    "alice",
    "bob",
    "0.load.test",
    "1.load.test",
    "2.load.test",
    "3.load.test",
    "ALICE",
    "X.Load.Test",
    "eve",
    "load.test",
    "*.load.test",
    "1.2.load.test",
    "",
    "alice.",
    "a b.load.test",
    "\u{e9}\n\".load.test",
];

/// The files of one name in a folder made by `serve --init`.
pub(crate) fn trial_files(folder: &Path, name: &str) -> TlsFiles {
    let file = |ending: &str| folder.join(format!("{name}.{ending}"));
    TlsFiles { authority: folder.join("authority.pem"), certificate: file("pem"), key: file("key"), crl: None }
}

impl ControlFuzz {
    /// Takes two folders made by `serve --init`: the relay's, with alice, bob, eve and `*.load.test`, and one of
    /// another authority, with alice.
    pub fn new(ours: &Path, theirs: &Path) -> ControlFuzz {
        let files =
            |folder: &Path, name: &str| TlsFiles { authority: ours.join("authority.pem"), ..trial_files(folder, name) };
        let clients = [(ours, "alice"), (ours, "load.test"), (ours, "eve"), (theirs, "alice"), (ours, "bob")];
        let client = |(folder, name)| {
            let files = files(folder, name);
            let certificate = CertificateDer::from_pem_file(&files.certificate).expect("a certificate");
            (files.client().expect("a client's files"), certificate)
        };
        let tls = files(ours, "relay").server().expect("the relay's files");
        ControlFuzz { tls, clients: clients.into_iter().map(client).collect(), running: Mutex::new(None) }
    }

    /// The first byte says who connects, how, and how the connection ends; the second selects the configuration.
    pub fn run(&self, bytes: &[u8]) {
        let Some((&[how, rules], rest)) = bytes.split_first_chunk() else { return };
        let mut kept = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        // A relay on which an input failed is not used again
        let mut running = kept.take().unwrap_or_else(|| Running::start(self));
        let who = [Who::Alice, Who::Load, Who::Eve, Who::Stranger][usize::from(how >> 2 & 3)];
        let rules = Rules {
            wild: rules & 1 == 0,
            tenants: rules & 2 == 2,
            share: 1 + usize::from(rules >> 2 & 3),
            revoked: Vec::new(),
        };
        if how & 3 == 0 {
            strangers(&running, rest);
        } else {
            Talk { fuzz: self, running: &mut running, model: Model::default(), who, asked: 0, grant: None }
                .whole(how, rules, rest);
        }
        running.clear(self);
        running.inputs += 1;
        *kept = Some(running).filter(|running| running.inputs < INPUTS);
    }
}

/// One client's connection, and what the relay must answer.
struct Talk<'a> {
    fuzz: &'a ControlFuzz,
    running: &'a mut Running,
    model: Model,
    who: Who,
    /// Lines sent over this connection.
    asked: usize,
    /// The address and the grants of the last session; only the last grant is valid.
    grant: Option<(Address, Vec<Grant>)>,
}

impl Talk<'_> {
    fn whole(mut self, how: u8, rules: Rules, bytes: &[u8]) {
        let (end, stalls) = (how >> 4 & 3, how >> 4 & 3 == 3);
        let mut bytes = bytes;
        let mut edit = None;
        if how >> 6 == 3
            && let Some((&[flight, high, low, fault], rest)) = bytes.split_first_chunk()
        {
            edit = Some((flight, u16::from_be_bytes([high, low]), fault)).filter(|edit| edit.2 != 0);
            bytes = rest;
        }
        // With a changed record length the relay waits for more, as it does for a client that stalls
        let time = if stalls || edit.is_some() { SHORT } else { LONG };
        self.running.set(self.fuzz, &mut self.model, rules, time);
        let stats = self.running.stats.clone();
        let before = [&stats.handshakes, &stats.denied, &stats.opened].map(read);
        let mut peer = Peer::new(self.running.control.address(), &self.fuzz.clients[self.who as usize].0);
        peer.shake_hands(edit);
        // Otherwise the relay may end the connection at any moment
        let exact = !stalls && edit.is_none();
        let broken = if how & 3 == 1 {
            self.text(&mut peer, end, exact, bytes);
            false
        } else {
            self.requests(&mut peer, exact, bytes)
        };
        match end {
            0 if !broken => {
                peer.say_goodbye();
                peer.send_no_more();
            }
            2 if !broken => peer.say_goodbye(),
            3 => {}
            _ => peer.send_no_more(),
        }
        peer.finish();
        let after = [&stats.handshakes, &stats.denied, &stats.opened].map(read);
        if self.who == Who::Stranger {
            assert_eq!(after, before, "a client of another authority was let in");
        }
        if exact && self.who != Who::Stranger {
            // A record that cannot be opened may arrive together with the end of the handshake, which then counts as
            // failed
            let none = u64::from(broken && self.asked == 0);
            assert!((1 - none..=1).contains(&(after[0] - before[0])), "handshakes");
            assert_eq!([after[1] - before[1], after[2] - before[2]], [self.model.denied, self.model.opened]);
            self.state();
        }
    }

    /// Checks that sessions are open as the model says, that only the last grant is valid, and that bob finds who is
    /// there.
    fn state(&mut self) {
        let listed: Vec<String> = self.running.control.list().into_iter().map(|listed| listed.name).collect();
        assert!(listed.iter().eq(self.model.open.keys()), "{listed:?} are open, not {:?}", self.model.open);
        if let Some((address, grants)) = self.grant.take() {
            echo(&self.running.relay, address, &grants);
        }
        let certificate = &self.fuzz.clients[Who::Bob as usize].1;
        for name in &NAMES[..5] {
            let line = line(&Request::Find((*name).into()));
            let expected = self.model.answer(Who::Bob, certificate, &line);
            self.model.check(&expected, &self.running.ask_bob(&line));
        }
    }

    /// The answers to a text that the relay reads to its end, or to its last line end.
    fn expected(&mut self, text: &[u8], to_its_end: bool) -> Vec<Expected> {
        let (mut lines, whole) = lines(text);
        if !whole && !to_its_end {
            lines.pop();
        }
        let certificate = &self.fuzz.clients[self.who as usize].1;
        let left = MAX_REQUESTS as usize - self.asked;
        self.asked += lines.len().min(left);
        lines.into_iter().take(left).map(|line| self.model.answer(self.who, certificate, line)).collect()
    }

    /// Sends any text at once. An incomplete last line counts if TLS announces the end of the text.
    fn text(&mut self, peer: &mut Peer, end: u8, exact: bool, bytes: &[u8]) {
        let Some((&len, text)) = bytes.split_first() else { return };
        for piece in text.chunks(1 + 4 * usize::from(len)) {
            let records = peer.seal(piece);
            peer.send(&records);
        }
        match end {
            0 | 2 => peer.say_goodbye(),
            3 => {}
            _ => peer.send_no_more(),
        }
        if self.who != Who::Stranger {
            let all = lines(text).0.len();
            let expected = self.expected(text, end != 1 && end != 3);
            // Closing with unread data may discard answers that were in transit
            self.take(peer, &expected, exact && all <= MAX_REQUESTS as usize);
        }
    }

    /// Sends requests, each after the answer to the one before, while the rules change; some records are tampered with.
    /// Returns whether one was.
    fn requests(&mut self, peer: &mut Peer, exact: bool, mut bytes: &[u8]) -> bool {
        let mut line = line(&Request::Find("alice".into()));
        while let Some((&[what, which], rest)) = bytes.split_first_chunk() {
            bytes = rest;
            let name = NAMES[usize::from(which & 15)];
            let mut times = 1;
            match what & 7 {
                0 | 1 => line = self::line(&Request::Open(name.into())),
                2 => line = self::line(&Request::Find(name.into())),
                3 => {
                    let (wild, mut rules) = (which & 4 == 0, self.model.rules.clone());
                    rules.revoked = ["alice", "0.load.test"]
                        .into_iter()
                        .zip([1, 2])
                        .filter(|(_, bit)| which & bit != 0)
                        .map(|(name, _)| name.to_owned())
                        .collect();
                    rules.wild = wild;
                    self.running.set(self.fuzz, &mut self.model, rules, LONG);
                    self.grant = None;
                    continue;
                }
                4 => {
                    let (text, rest) = bytes.split_at(bytes.len().min(which.into()));
                    line = [text, b"\n"].concat();
                    bytes = rest;
                }
                5 => line.splice(0..0, vec![b' '; 32 * usize::from(which)]).for_each(drop),
                6 => line = self::line(&Request::Find("a".repeat(20 * usize::from(which)) + ".load.test")),
                _ => times = usize::from(which),
            }
            line.truncate(2 * MAX_LINE);
            if !line.ends_with(b"\n") {
                line.push(b'\n');
            }
            let mut text = line.repeat(times);
            text.truncate(64 << 10);
            if !text.is_empty() && !text.ends_with(b"\n") {
                text.push(b'\n');
            }
            let records = peer.seal(&text);
            let Some((head, body)) = records.split_first_chunk::<5>() else { continue };
            // Within the first record, but not in its version, which TLS ignores
            let at = usize::from(which) * 7 % usize::from(u16::from_be_bytes([head[3], head[4]])).min(body.len());
            match what >> 3 {
                // Dropped
                1 => {
                    let next = peer.seal(&text);
                    peer.send(&next);
                }
                // Repeated
                2 => {
                    peer.send(&records);
                    self.ask(peer, &text, exact);
                    peer.send(&records);
                }
                // Changed
                3 => {
                    let mut records = records;
                    records[5 + at] ^= 1 << (which & 7);
                    peer.send(&records);
                }
                // Truncated
                4 => peer.send(&records[..at]),
                // Sent too early
                5 => {
                    let next = peer.seal(&text);
                    peer.send(&[next, records].concat());
                }
                _ => {
                    peer.send(&records);
                    self.ask(peer, &text, exact);
                    continue;
                }
            }
            return true;
        }
        false
    }

    fn ask(&mut self, peer: &mut Peer, text: &[u8], exact: bool) {
        if self.who != Who::Stranger {
            let all = self.asked + lines(text).0.len();
            let expected = self.expected(text, false);
            self.take(peer, &expected, exact && all <= MAX_REQUESTS as usize);
        }
    }

    /// Checks that as many answers arrive, or fewer if the connection may have ended.
    fn take(&mut self, peer: &mut Peer, expected: &[Expected], exact: bool) {
        let answers = peer.answers(expected.len());
        assert!(!exact || answers.len() == expected.len(), "{} answers to {} requests", answers.len(), expected.len());
        for (expected, answer) in expected.iter().zip(answers) {
            self.model.check(expected, &answer);
            if let Response::Opened { session, generation, grant, .. } = answer {
                let mut bytes = base16ct::lower::decode_vec(grant).expect("hexadecimal");
                let bytes = <&mut [u8; Grant::LEN]>::try_from(&mut bytes[..]);
                let grant = bytes.ok().and_then(Grant::from_bytes).expect("a grant");
                assert_eq!(grant.session(), session);
                let address = Address { session, generation };
                let mut grants =
                    self.grant.take().filter(|before| before.0 == address).map_or(Vec::new(), |(_, grants)| grants);
                grants.push(grant);
                self.grant = Some((address, grants));
            }
        }
    }
}

fn line(request: &Request) -> Vec<u8> {
    let mut line = serde_json::to_vec(request).expect("a string in an object");
    line.push(b'\n');
    line
}
