//! A model of the control plane: what it must answer to whom, given what was requested before. The model knows names,
//! not numbers: a name's address is whatever the relay says first, and stays the same while the name owns it.

use std::collections::{BTreeMap, BTreeSet};

use rustls::pki_types::{CertificateDer, ServerName};

use super::super::{
    protocol::{MAX_LINE, Request, Response},
    tls,
};
use crate::address::Address;

/// The most sessions, and those that have numbers from the start.
pub(super) const SESSIONS: usize = 4;
const PLAIN: [&str; 2] = ["alice", "bob"];
const WILD: &str = "*.load.test";

/// Who asks: owners of certificates with these names (the third may have no session), and of one from another
/// authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Alice,
    Load,
    Eve,
    Stranger,
    Bob,
}

/// What the relay must answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Opened(String),
    Found(String),
    Absent(String),
    Refused(&'static str),
}

/// The part of the configuration that changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    pub(super) revoked: Vec<String>,
    /// Whether `*.load.test` may have sessions.
    pub(super) wild: bool,
    /// Whether alice and the other names of `load.test` form one tenant and bob another, with a rule that lets alice
    /// and bob speak.
    pub(super) tenants: bool,
    /// The most sessions of one certificate.
    pub(super) share: usize,
}

impl Rules {
    pub(super) fn allowed(&self) -> Vec<String> {
        PLAIN.into_iter().chain(self.wild.then_some(WILD)).map(str::to_owned).collect()
    }

    fn allows(&self, name: &str) -> bool {
        PLAIN.contains(&name) || self.wild && is_load(name)
    }

    fn is_revoked(&self, name: &str) -> bool {
        self.revoked.iter().any(|revoked| revoked == name)
    }
}

fn is_load(name: &str) -> bool {
    name.split_once('.').is_some_and(|(first, rest)| !first.is_empty() && rest == "load.test")
}

#[derive(Default)]
pub(super) struct Model {
    pub(super) rules: Rules,
    /// The names that own numbers, with their addresses once known.
    owners: BTreeMap<String, Option<Address>>,
    /// The names whose sessions are open, and who opened them.
    pub(super) open: BTreeMap<String, Who>,
    /// Requests refused, and sessions opened.
    pub(super) denied: u64,
    pub(super) opened: u64,
}

impl Model {
    /// Changes the rules: names that are no longer allowed are removed, and spelled-out names get numbers while there
    /// are any.
    pub(super) fn set(&mut self, rules: Rules) {
        self.owners.retain(|name, _| rules.allows(name) && !rules.is_revoked(name));
        self.open.retain(|name, _| self.owners.contains_key(name));
        for name in PLAIN {
            if !rules.is_revoked(name) && self.owners.len() < SESSIONS {
                self.owners.entry(name.into()).or_default();
            }
        }
        self.rules = rules;
    }

    /// The answer to a line from this client, whose certificate is `certificate`.
    pub(super) fn answer(&mut self, who: Who, certificate: &CertificateDer<'_>, line: &[u8]) -> Expected {
        let expected = match serde_json::from_slice(line) {
            Ok(Request::Open(name)) => self.open(who, certificate, name.to_ascii_lowercase()),
            Ok(Request::Find(name)) => self.find(who, name.to_ascii_lowercase()),
            Err(_) => Expected::Refused("unknown request"),
        };
        self.denied += u64::from(matches!(expected, Expected::Refused(_)));
        expected
    }

    fn open(&mut self, who: Who, certificate: &CertificateDer<'_>, name: String) -> Expected {
        if !tls::names(certificate, &name) {
            return Expected::Refused("your certificate does not name this client");
        }
        let sessions = self.open.values().filter(|opener| **opener == who).count();
        if self.open.get(&name) != Some(&who) && sessions >= self.rules.share {
            return Expected::Refused("this certificate has all the sessions that it may have");
        }
        if !self.owners.contains_key(&name) {
            if self.rules.is_revoked(&name) {
                return Expected::Refused("this name was revoked");
            }
            if !self.rules.allows(&name) {
                return Expected::Refused("this relay does not know that name");
            }
            if self.owners.len() >= SESSIONS {
                return Expected::Refused("all sessions of this relay are taken");
            }
            self.owners.insert(name.clone(), None);
        }
        self.open.insert(name.clone(), who);
        self.opened += 1;
        Expected::Opened(name)
    }

    fn find(&self, who: Who, name: String) -> Expected {
        let asks = match who {
            Who::Alice => !self.rules.is_revoked("alice"),
            Who::Load => self.rules.wild,
            Who::Bob => true,
            Who::Eve | Who::Stranger => false,
        };
        if !asks {
            return Expected::Refused("your certificate names no client of this relay");
        }
        let may = match who {
            Who::Alice => PLAIN.contains(&&*name) || is_load(&name),
            Who::Load => name == "alice" || is_load(&name),
            _ => PLAIN.contains(&&*name),
        };
        if self.rules.tenants && !may {
            return Expected::Refused("no rule of this relay lets you speak to this client");
        }
        if self.owners.contains_key(&name) {
            return Expected::Found(name);
        }
        if self.rules.is_revoked(&name) {
            return Expected::Refused("this name was revoked");
        }
        // No certificate can have any other name, so no client has it
        let possible = matches!(ServerName::try_from(&*name), Ok(ServerName::DnsName(_)));
        if possible && self.rules.allows(&name) {
            Expected::Absent(name)
        } else {
            Expected::Refused("this relay does not know that name")
        }
    }

    /// Compares an answer with the expected one, and records new addresses.
    pub(super) fn check(&mut self, expected: &Expected, answer: &Response) {
        match (expected, answer) {
            (Expected::Opened(name), Response::Opened { session, generation, .. }) => {
                self.has(name, Address { session: *session, generation: *generation });
            }
            (Expected::Found(name), Response::Found(address)) => self.has(name, *address),
            (Expected::Absent(name), Response::Absent(told)) => assert_eq!(name, told),
            (Expected::Refused(why), Response::Refused(told)) => assert_eq!(why, told),
            _ => panic!("{expected:?} must be answered, not {answer:?}"),
        }
    }

    fn has(&mut self, name: &str, address: Address) {
        let Some(known) = self.owners.get_mut(name) else { return };
        assert_eq!(*known.get_or_insert(address), address, "{name} has another address");
        let all: Vec<u32> = self.owners.values().flatten().map(|address| address.session).collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "two names with one number");
    }
}

/// The lines of a text, cut at the longest length, and whether the last one is complete.
pub(super) fn lines(mut text: &[u8]) -> (Vec<&[u8]>, bool) {
    let (mut lines, mut whole) = (Vec::new(), true);
    while !text.is_empty() {
        let most = &text[..text.len().min(MAX_LINE)];
        let len = most.iter().position(|byte| *byte == b'\n').map_or(most.len(), |at| at + 1);
        whole = len == MAX_LINE || text[len - 1] == b'\n';
        lines.push(&text[..len]);
        text = &text[len..];
    }
    (lines, whole)
}
