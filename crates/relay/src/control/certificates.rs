//! Limits per certificate: its open sessions, and how often it may open some.

use std::{
    borrow::Borrow,
    collections::HashMap,
    hash::{Hash, Hasher},
    sync::Arc,
    time::{Duration, Instant},
};

use rustls::pki_types::CertificateDer;

/// A client's certificate, followed by the intermediate certificates up to its authority.
pub(crate) type Chain = Arc<Vec<CertificateDer<'static>>>;

/// Limits on opening sessions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OpenLimits {
    /// The most sessions of one certificate.
    pub(crate) sessions: u32,
    /// The most openings per minute with one certificate; as many may come in one burst.
    pub(crate) by_certificate: f64,
    /// The most openings per minute of one session; as many may come in one burst.
    pub(crate) of_session: f64,
}

/// A rate limit of so many events per minute, all of which may come in one burst. Stores the time until which it is
/// used up (GCRA).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Minute(Option<Instant>);

impl Minute {
    /// Takes one event; false if none is left.
    pub(crate) fn take(&mut self, per_minute: f64, now: Instant) -> bool {
        let begin = self.0.map_or(now, |used| used.max(now));
        let there = begin - now < Duration::from_secs(60);
        if there {
            self.0 = Some(begin + Duration::from_secs_f64((60.0 / per_minute).min(1e9)));
        }
        there
    }
}

/// Key of a table: equality and hash are those of the client's own certificate, the first of the chain.
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

/// Certificates with open sessions or used-up numbers, each stored once.
#[derive(Debug, Default)]
pub(crate) struct Certificates {
    uses: HashMap<ByLeaf, Uses>,
    /// Bytes of all certificates, kept up to date: adding them up would take long under the lock.
    bytes: u64,
}

/// The decision on opening a session with a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    May,
    /// It has as many sessions as it may have.
    HasAll,
    /// It opened too many sessions recently.
    TooOften,
}

#[derive(Debug, Default)]
struct Uses {
    sessions: u32,
    /// Numbers whose epochs were used up with this certificate. Nobody can get them any more, so they count as its
    /// sessions.
    used_up: u32,
    opened: Minute,
}

impl Certificates {
    /// Whether a certificate may open one more session, or, if it has the session already (`anew`), open that again.
    pub(crate) fn may_open(&mut self, chain: &Chain, anew: bool, limits: &OpenLimits, now: Instant) -> Opening {
        if !anew && self.has_all(chain, limits) {
            return Opening::HasAll;
        }
        let uses = self.uses.get_mut(leaf(chain));
        let in_time = uses.is_none_or(|uses| uses.opened.take(limits.by_certificate, now));
        if in_time { Opening::May } else { Opening::TooOften }
    }

    /// Whether a certificate has all the sessions that it may have, used-up numbers included.
    pub(crate) fn has_all(&self, chain: &Chain, limits: &OpenLimits) -> bool {
        self.uses.get(leaf(chain)).map_or(0, |uses| uses.sessions.saturating_add(uses.used_up)) >= limits.sessions
    }

    /// Counts an opened session. Returns the chain that all sessions of this certificate share.
    pub(crate) fn opened(&mut self, chain: &Chain) -> Chain {
        let chain = self.known(chain);
        self.uses.entry(ByLeaf(chain.clone())).or_default().sessions += 1;
        chain
    }

    /// Counts a number that was used up with this certificate against its limit of sessions.
    pub(crate) fn used_up(&mut self, chain: &Chain) {
        let chain = self.known(chain);
        self.uses.entry(ByLeaf(chain)).or_default().used_up += 1;
    }

    /// The stored chain of this certificate; stores this one if there is none yet.
    fn known(&mut self, chain: &Chain) -> Chain {
        let known = self.uses.get_key_value(leaf(chain)).map(|(known, _)| known.0.clone());
        known.unwrap_or_else(|| {
            self.bytes += chain_bytes(chain);
            chain.clone()
        })
    }

    /// Counts a session that ended.
    pub(crate) fn closed(&mut self, chain: &Chain) {
        let Some(uses) = self.uses.get_mut(leaf(chain)) else { return };
        uses.sessions -= 1;
        if (uses.sessions, uses.used_up) == (0, 0)
            && let Some((known, _)) = self.uses.remove_entry(leaf(chain))
        {
            self.bytes -= chain_bytes(&known.0);
        }
    }

    /// An estimate of their memory in bytes.
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

    /// Otherwise whoever uses up numbers could use up as many again.
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

    /// So many that some share a bucket of the table, which is full.
    #[test]
    fn certificates_are_not_taken_for_each_other_and_count_as_memory() {
        let many = 1792_u16;
        let mut certificates = Certificates::default();
        for number in 0..many {
            certificates.opened(&Arc::new(vec![number.to_be_bytes().to_vec().into(), vec![9; 6].into()]));
        }
        assert_eq!((certificates.uses.len(), certificates.uses.capacity()), (many.into(), many.into()));
        // The DER bytes of two certificates and their allocations, a table entry and its control byte
        let least = u64::from(many) * (2 + 6 + 2 * 48 + size_of::<(ByLeaf, Uses)>() as u64 + 1);
        assert!((least..2 * least).contains(&certificates.bytes()), "{} of {least}", certificates.bytes());
    }
}
