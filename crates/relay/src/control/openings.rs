//! How the session of a name is opened, opened again, and ended.
//!
//! Several clients may open one session concurrently. Each opening gives its number keys of a later epoch, which
//! replace those of the openings before it. The session belongs to the latest epoch, in whatever order the openings are
//! recorded here.

use std::time::Instant;

use super::{Names, Number, NumberError, OpenSession, Owner};
use crate::control::certificates::{Chain, OpenLimits, Opening};

/// Whether an epoch is later than another one; epochs wrap.
fn is_later(epoch: u16, than: u16) -> bool {
    (epoch.wrapping_sub(than) as i16) > 0
}

impl Owner {
    /// Whether keys of this epoch were replaced by later ones.
    fn has_later_than(&self, epoch: u16) -> bool {
        self.latest.is_some_and(|latest| is_later(latest, epoch))
    }
}

impl Names {
    /// Begins to open the session of a name: returns its number, if the limits of this certificate and of the session
    /// allow that. [`Names::opened`], [`Names::not_opened`] or [`Names::taken_back`] must follow.
    pub(crate) fn number_to_open(
        &mut self,
        name: &str,
        chain: &Chain,
        limits: &OpenLimits,
        now: Instant,
    ) -> Result<Number, NumberError> {
        let owner = self.owners.get(name);
        let anew = owner.and_then(|owner| owner.open.as_ref()).is_some_and(|open| open.chain.first() == chain.first());
        match self.certificates.may_open(chain, anew, limits, now) {
            Opening::May => {}
            Opening::HasAll => return Err(NumberError::Share),
            Opening::TooOften => return Err(NumberError::TooOften),
        }
        let number = self.number(name)?;
        let owner = self.owners.get_mut(name).ok_or(NumberError::Unknown)?;
        if !owner.opened.take(limits.of_session, now) {
            return Err(NumberError::TooOften);
        }
        owner.opening += 1;
        Ok(number)
    }

    /// Replaces the number of a session that is being opened, whose epochs are used up. The old number still counts
    /// against the limit of this certificate; otherwise one certificate could use up all numbers.
    pub(crate) fn renew(
        &mut self,
        name: &str,
        number: Number,
        chain: &Chain,
        limits: &OpenLimits,
    ) -> Result<Number, NumberError> {
        self.retire(name, number, chain);
        if !self.owners.contains_key(name) && self.certificates.has_all(chain, limits) {
            return Err(NumberError::Share);
        }
        let number = self.number(name)?;
        self.owners.entry(name.into()).and_modify(|owner| owner.opening += 1);
        Ok(number)
    }

    /// Records that the session of a name was opened under this number. Fails if the name does not own the number any
    /// more, or if another opening has replaced the keys.
    pub(crate) fn opened(&mut self, name: &str, number: Number, mut open: OpenSession) -> Result<(), NumberError> {
        let Some(owner) = self.owners.get_mut(name).filter(|owner| owner.number == number) else {
            // If the name may still have a session, another opening found this number used up and replaced it
            return Err(self
                .find(name)
                .err()
                .filter(|why| *why != NumberError::Absent)
                .unwrap_or(NumberError::Superseded));
        };
        if owner.has_later_than(open.epoch) {
            self.not_opened(name, number);
            return Err(NumberError::Superseded);
        }
        owner.opening = owner.opening.saturating_sub(1);
        owner.latest = Some(open.epoch);
        open.chain = self.certificates.opened(&open.chain);
        let before = owner.open.replace(open);
        before.iter().for_each(|before| self.certificates.closed(&before.chain));
        Ok(())
    }

    /// Like [`Names::opened`], unless sessions that were opened meanwhile are all that this certificate may have: then
    /// the session ends, with any that the name had before, whose keys the new ones have replaced.
    pub(crate) fn opened_within(
        &mut self,
        name: &str,
        number: Number,
        open: OpenSession,
        limits: &OpenLimits,
    ) -> Result<(), NumberError> {
        let owner = self.owners.get(name).filter(|owner| owner.number == number && !owner.has_later_than(open.epoch));
        let before = owner.and_then(|owner| owner.open.as_ref());
        let anew = before.is_some_and(|before| before.chain.first() == open.chain.first());
        if owner.is_some() && !anew && self.certificates.has_all(&open.chain, limits) {
            self.taken_back(name, number, open.epoch);
            return Err(NumberError::Share);
        }
        self.opened(name, number, open)
    }

    /// Records that the session of a name could not be opened under this number.
    pub(crate) fn not_opened(&mut self, name: &str, number: Number) {
        let Some(owner) = self.owners.get_mut(name).filter(|owner| owner.number == number) else { return };
        owner.opening = owner.opening.saturating_sub(1);
        if owner.open.is_none() {
            self.closed(name, number);
        }
    }

    /// Keys of this epoch were issued to a client that may not have them, and are revoked. Returns whether the name's
    /// session ended with them: it did not if a later opening has replaced them.
    pub(crate) fn taken_back(&mut self, name: &str, number: Number, epoch: u16) -> bool {
        let Some(owner) = self.owners.get_mut(name).filter(|owner| owner.number == number) else { return false };
        let ended = !owner.has_later_than(epoch);
        if ended {
            owner.latest = Some(epoch);
            owner.open.take().iter().for_each(|open| self.certificates.closed(&open.chain));
        }
        self.not_opened(name, number);
        ended
    }

    /// Whether a client is opening the session of this name right now.
    #[cfg(test)]
    pub(in crate::control) fn is_being_opened(&self, name: &str) -> bool {
        self.owners.get(name).is_some_and(|owner| owner.opening > 0)
    }

    /// Records that the session of a name under this number has ended. A name that is not spelled out gives its number
    /// back, so that such names cannot use up all numbers over time. Returns false, and changes nothing, if the name
    /// does not own the number or a client is opening it again.
    pub(crate) fn closed(&mut self, name: &str, number: Number) -> bool {
        let owner = self.owners.get_mut(name).filter(|owner| owner.number == number && owner.opening == 0);
        let Some(owner) = owner else { return false };
        owner.open.take().iter().for_each(|open| self.certificates.closed(&open.chain));
        if !self.allowed.spells_out(name) {
            self.disown(name);
            self.give_back(number.index);
        }
        true
    }

    /// The same, provided that the open session is still the one opened at this time.
    pub(crate) fn closed_since(&mut self, name: &str, number: Number, since: Instant) -> bool {
        let open = self.owners.get(name).and_then(|owner| owner.open.as_ref());
        open.is_some_and(|open| open.since == since) && self.closed(name, number)
    }

    /// Takes a number out of use for good: its epochs were used up with this certificate.
    fn retire(&mut self, name: &str, number: Number, chain: &Chain) {
        if self.owners.get(name).is_none_or(|owner| owner.number != number) {
            return;
        }
        self.disown(name);
        if self.used_up.insert(number.index) {
            self.certificates.used_up(chain);
        }
        if self.allowed.spells_out(name) {
            self.moved.insert(name.into());
        }
    }
}

#[cfg(test)]
#[path = "openings_tests.rs"]
mod tests;
