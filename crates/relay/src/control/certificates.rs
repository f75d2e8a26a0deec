//! What each certificate has of this relay: its open sessions, and how often it may open some.

use std::{
    borrow::Borrow,
    collections::HashMap,
    hash::{Hash, Hasher},
    sync::Arc,
    time::{Duration, Instant},
};

use rustls::pki_types::CertificateDer;

/// The certificate that a session was opened with, and those between it and its authority.
pub(crate) type Chain = Arc<Vec<CertificateDer<'static>>>;

/// How often one certificate may open sessions, and how many it may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OpenLimits {
    /// The most sessions of one certificate.
    pub(crate) sessions: u32,
    /// The most openings a minute with one certificate; as many may come at once.
    pub(crate) by_certificate: f64,
    /// The most openings a minute of one session; likewise.
    pub(crate) of_session: f64,
}

/// A share of so many events a minute, of which as many may come at once: what is kept is until when it is used up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Minute(Option<Instant>);

impl Minute {
    /// Takes one event, if there is one left.
    pub(crate) fn take(&mut self, per_minute: f64, now: Instant) -> bool {
        let begin = self.0.map_or(now, |used| used.max(now));
        let there = begin - now < Duration::from_secs(60);
        if there {
            self.0 = Some(begin + Duration::from_secs_f64((60.0 / per_minute).min(1e9)));
        }
        there
    }
}

/// By the certificate of the client itself.
#[derive(Debug)]
struct ByLeaf(Chain);

fn leaf(chain: &Chain) -> &[u8] {
    chain.first().map_or(&[], |certificate| certificate.as_ref())
}

impl Borrow<[u8]> for ByLeaf {
    fn borrow(&self) -> &[u8] {
        leaf(&self.0)
    }
}

impl Hash for ByLeaf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        leaf(&self.0).hash(state);
    }
}

impl PartialEq for ByLeaf {
    fn eq(&self, other: &ByLeaf) -> bool {
        leaf(&self.0) == leaf(&other.0)
    }
}

impl Eq for ByLeaf {}

/// The certificates with open sessions, each once.
#[derive(Debug, Default)]
pub(crate) struct Certificates {
    uses: HashMap<ByLeaf, Uses>,
    /// Bytes of the certificates: to add them up takes long, and others wait meanwhile.
    bytes: u64,
}

/// Whether a certificate may open a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    May,
    /// It has all the sessions that it may have.
    HasAll,
    /// It opened too many of late.
    TooOften,
}

#[derive(Debug, Default)]
struct Uses {
    sessions: u32,
    /// Numbers that were used up with it: nobody can have them any more.
    used_up: u32,
    opened: Minute,
}

impl Certificates {
    /// Whether a certificate may open one more session, or, if it has this one already, open it anew.
    pub(crate) fn may_open(&mut self, chain: &Chain, anew: bool, limits: &OpenLimits, now: Instant) -> Opening {
        if !anew && self.has_all(chain, limits) {
            return Opening::HasAll;
        }
        let uses = self.uses.get_mut(leaf(chain));
        let in_time = uses.is_none_or(|uses| uses.opened.take(limits.by_certificate, now));
        if in_time { Opening::May } else { Opening::TooOften }
    }

    /// Whether a certificate has all the sessions that it may have, or has used their numbers up.
    pub(crate) fn has_all(&self, chain: &Chain, limits: &OpenLimits) -> bool {
        self.uses.get(leaf(chain)).map_or(0, |uses| uses.sessions.saturating_add(uses.used_up)) >= limits.sessions
    }

    /// A session was opened. Returns the chain that all sessions of this certificate share.
    pub(crate) fn opened(&mut self, chain: &Chain) -> Chain {
        let chain = self.known(chain);
        self.uses.entry(ByLeaf(chain.clone())).or_default().sessions += 1;
        chain
    }

    /// A number was used up with this certificate: it stays a part of what that may have.
    pub(crate) fn used_up(&mut self, chain: &Chain) {
        let chain = self.known(chain);
        self.uses.entry(ByLeaf(chain)).or_default().used_up += 1;
    }

    /// The chain that is kept, this one if there is none yet.
    fn known(&mut self, chain: &Chain) -> Chain {
        let known = self.uses.get_key_value(leaf(chain)).map(|(known, _)| known.0.clone());
        known.unwrap_or_else(|| {
            self.bytes += chain_bytes(chain);
            chain.clone()
        })
    }

    /// A session has ended.
    pub(crate) fn closed(&mut self, chain: &Chain) {
        let Some(uses) = self.uses.get_mut(leaf(chain)) else { return };
        uses.sessions -= 1;
        if (uses.sessions, uses.used_up) == (0, 0)
            && let Some((known, _)) = self.uses.remove_entry(leaf(chain))
        {
            self.bytes -= chain_bytes(&known.0);
        }
    }

    /// About how many bytes they take.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes + (self.uses.capacity() * (size_of::<(ByLeaf, Uses)>() + 1)) as u64
    }
}

fn chain_bytes(chain: &Chain) -> u64 {
    chain.iter().map(|one| one.len() as u64 + 48).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(byte: u8) -> Chain {
        Arc::new(vec![CertificateDer::from(vec![byte; 4]), CertificateDer::from(vec![9; 4])])
    }

    #[test]
    fn a_certificate_has_so_many_sessions_and_openings_and_no_more() {
        let limits = OpenLimits { sessions: 3, by_certificate: 30.0, of_session: 1.0 };
        let (mut certificates, start) = (Certificates::default(), Instant::now());
        let mut opened = 0;
        while certificates.may_open(&chain(1), false, &limits, start) == Opening::May {
            let shared = certificates.opened(&chain(1));
            assert_eq!(Arc::strong_count(&shared), 2, "one copy of it is kept");
            opened += 1;
        }
        assert_eq!(opened, 3);
        let mut may = |byte, anew, at| certificates.may_open(&chain(byte), anew, &limits, at);
        assert_eq!((may(1, false, start), may(2, false, start)), (Opening::HasAll, Opening::May), "another one");
        let anew = (0..100).filter(|_| may(1, true, start) == Opening::May).count();
        assert_eq!(anew, 28, "two openings were counted above");
        assert_eq!(may(1, true, start), Opening::TooOften, "a minute later it may");
        assert_eq!(may(1, true, start + Duration::from_secs(3)), Opening::May, "30 a minute");
        for _ in 0..3 {
            certificates.closed(&chain(1));
        }
        assert!(certificates.uses.is_empty() && certificates.bytes == 0);
        assert_eq!(certificates.may_open(&chain(1), false, &limits, start), Opening::May);
    }

    #[test]
    fn a_share_may_be_as_small_as_a_number_can_be() {
        let (mut share, now) = (Minute::default(), Instant::now());
        assert!(share.take(1e-300, now) && !share.take(1e-300, now + Duration::from_secs(1_000_000)));
    }

    #[test]
    fn what_has_ended_makes_room_for_as_many() {
        let limits = OpenLimits { sessions: 2, by_certificate: 1e6, of_session: 1.0 };
        let (mut certificates, now) = (Certificates::default(), Instant::now());
        let none = OpenLimits { sessions: 0, ..limits };
        assert_eq!(certificates.may_open(&chain(1), false, &none, now), Opening::HasAll);
        [1, 1].iter().for_each(|&byte| drop(certificates.opened(&chain(byte))));
        assert_eq!(certificates.may_open(&chain(1), false, &limits, now), Opening::HasAll);
        certificates.closed(&chain(1));
        assert_eq!(certificates.may_open(&chain(1), false, &limits, now), Opening::May);
        certificates.opened(&chain(1));
        assert_eq!(certificates.may_open(&chain(1), false, &limits, now), Opening::HasAll, "the other is still open");
    }

    /// Else who uses numbers up could have as many again.
    #[test]
    fn a_number_that_was_used_up_is_a_part_of_what_its_certificate_may_have() {
        let limits = OpenLimits { sessions: 3, by_certificate: 1e6, of_session: 1.0 };
        let (mut certificates, now) = (Certificates::default(), Instant::now());
        for _ in 0..2 {
            certificates.opened(&chain(1));
            certificates.closed(&chain(1));
            certificates.used_up(&chain(1));
        }
        assert_eq!(certificates.may_open(&chain(1), false, &limits, now), Opening::May);
        certificates.opened(&chain(1));
        assert!(certificates.has_all(&chain(1), &limits) && !certificates.has_all(&chain(2), &limits));
        assert_eq!(certificates.may_open(&chain(1), false, &limits, now), Opening::HasAll);
        assert_eq!(certificates.may_open(&chain(1), true, &limits, now), Opening::May, "what it has");
        certificates.closed(&chain(1));
        assert_eq!((certificates.uses.len(), certificates.bytes), (1, chain_bytes(&chain(1))));
    }

    /// So many that some of them share a place in the table, which is full.
    #[test]
    fn certificates_are_not_taken_for_each_other_and_count_as_memory() {
        let many = 1792_u16;
        let mut certificates = Certificates::default();
        for number in 0..many {
            certificates.opened(&Arc::new(vec![number.to_be_bytes().to_vec().into(), vec![9; 6].into()]));
        }
        assert_eq!((certificates.uses.len(), certificates.uses.capacity()), (many.into(), many.into()));
        // Bytes of two certificates and what is known of them, an entry and its byte in the table
        let least = u64::from(many) * (2 + 6 + 2 * 48 + size_of::<(ByLeaf, Uses)>() as u64 + 1);
        assert!((least..2 * least).contains(&certificates.bytes()), "{} of {least}", certificates.bytes());
    }
}
