//! Instructions from the control plane to the workers of a relay.

use std::{
    sync::mpsc::{Receiver, sync_channel},
    time::Duration,
};

use sealwright_session::{Grant, Material, SessionError, Sessions};

use super::{AdmitError, Relay, StoppedError};
use crate::{
    address::Address,
    data::inbox::{Admitted, Message},
    policy::Class,
};

/// How long to wait for the workers to apply another policy.
const POLICY_TIMEOUT: Duration = Duration::from_secs(5);
/// The most sessions that are revoked in one batch: each pending reply takes memory.
const REVOCATION_BATCH: usize = 1024;

/// A worker, and the channel of its reply: the slots that lost their keys together with a revoked session.
type Lost = (usize, Receiver<Vec<u32>>);

impl Relay {
    /// Gives a client the session of this address, with keys made of `material`, and waits for it. The client loses its
    /// connection until its next authentic frame. Frames for former owners of the number do not reach it.
    ///
    /// # Errors
    /// When the relay has stopped, or the session cannot be made.
    pub fn admit(&self, address: Address, material: Material) -> Result<Grant, AdmitError> {
        self.admit_as(address, Class::default(), material).map(|(grant, _)| grant)
    }

    /// Like [`Relay::admit`], with the class of the client.
    pub(crate) fn admit_as(&self, address: Address, class: Class, material: Material) -> Result<Admitted, AdmitError> {
        let (shard, slot) = self.shared.layout.locate(address.session).ok_or(SessionError::Unknown)?;
        let (reply, answer) = sync_channel(1);
        self.inbox(shard)?.post(Message::Admit { slot, owner: (address, class), material, reply });
        Ok(self.wait(shard, &answer)??)
    }

    /// Ends a session that must not be used any more, closes its connection, and waits for it. Returns how many other
    /// sessions lost their keys because they shared them.
    ///
    /// # Errors
    /// When the relay has stopped.
    pub fn revoke(&self, session: u32) -> Result<usize, StoppedError> {
        match self.ask_to_revoke(session)? {
            Some((shard, answer)) => self.wait(shard, &answer).map(|others| others.len()),
            None => Ok(0),
        }
    }

    /// Revokes many sessions. The workers are told of a whole batch before any reply is awaited, because each reply may
    /// take an iteration. `alive` is called in between. Returns for each session how many others lost their keys.
    pub(crate) fn revoke_all(&self, sessions: &[u32], alive: &dyn Fn()) -> Vec<usize> {
        let mut lost = Vec::with_capacity(sessions.len());
        for some in sessions.chunks(REVOCATION_BATCH) {
            let answers: Vec<_> = some.iter().map(|session| self.ask_to_revoke(*session)).collect();
            for answer in answers {
                // A relay that has stopped has no sessions
                let others = answer.ok().flatten().and_then(|(shard, answer)| self.wait(shard, &answer).ok());
                lost.push(others.map_or(0, |others| others.len()));
            }
            alive();
        }
        lost
    }

    fn ask_to_revoke(&self, session: u32) -> Result<Option<Lost>, StoppedError> {
        let Some((shard, slot)) = self.shared.layout.locate(session) else { return Ok(None) };
        let (reply, answer) = sync_channel(1);
        self.inbox(shard)?.post(Message::Remove { slot, only: None, revoke: true, reply: Some(reply) });
        Ok(Some((shard, answer)))
    }

    /// Ends the session of this address, without waiting for the worker. A later owner of its number stays.
    pub fn remove(&self, address: Address) {
        self.remove_if(address, None);
    }

    /// Ends the session of this address only if its keys still have this epoch: a later opening stays.
    pub(crate) fn remove_keys(&self, address: Address, epoch: u16) {
        self.remove_if(address, Some(epoch));
    }

    fn remove_if(&self, address: Address, epoch: Option<u16>) {
        if let Some((shard, slot)) = self.shared.layout.locate(address.session) {
            let only = Some((address.generation, epoch));
            self.shared.inboxes[shard].post(Message::Remove { slot, only, revoke: false, reply: None });
        }
    }

    /// Revokes the keys that the clusters of these sessions share, whether the sessions are open or not, and waits for
    /// it. Returns how many sessions lost theirs: none in a scheme without shared keys.
    pub(crate) fn revoke_clusters(&self, sessions: &[u32]) -> usize {
        let mut by_worker: Vec<Vec<u32>> = self.shared.inboxes.iter().map(|_| Vec::new()).collect();
        for (worker, slot) in sessions.iter().filter_map(|session| self.shared.layout.locate(*session)) {
            by_worker[worker].push(slot);
        }
        let workers = by_worker.into_iter().enumerate().filter(|(_, slots)| !slots.is_empty());
        let revoked = workers.map(|(worker, slots)| {
            let revoke = move |sessions: &mut dyn Sessions| {
                let (shared, before) = (sessions.spec().clustered(), sessions.live());
                slots.into_iter().filter(|_| shared).for_each(|slot| drop(sessions.revoke(slot)));
                before - sessions.live()
            };
            // A relay that has stopped has no sessions
            self.change(worker, 0..0, revoke).unwrap_or(0)
        });
        revoked.sum::<u32>() as usize
    }

    /// Applies another policy: the classes of these sessions, and `nobody` for all others. Waits until the workers have
    /// it.
    pub(crate) fn set_classes(&self, classes: impl Iterator<Item = (u32, Class)>, nobody: Class) {
        let mut by_worker: Vec<Vec<(u32, Class)>> = self.shared.inboxes.iter().map(|_| Vec::new()).collect();
        for (session, class) in classes {
            if let Some((worker, slot)) = self.shared.layout.locate(session) {
                by_worker[worker].push((slot, class));
            }
        }
        for (inbox, classes) in self.shared.inboxes.iter().zip(by_worker) {
            inbox.post(Message::Classes { classes, nobody });
        }
        // After this the new policy applies everywhere, unless a worker hangs or has ended
        self.responds(POLICY_TIMEOUT);
    }

    /// Sets the class of one session.
    pub(crate) fn set_class(&self, address: Address, class: Class) {
        if let Some((worker, slot)) = self.shared.layout.locate(address.session) {
            self.shared.inboxes[worker].post(Message::Class { slot, address, class });
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_session::{Plan, table};
    use sealwright_transcripts::until;

    use super::*;
    use crate::data::Settings;

    /// If each reply were awaited before the next revocation, thousands of them would each take an iteration of a busy
    /// worker.
    #[test]
    fn a_worker_knows_of_all_that_are_revoked_before_any_is_waited_for() {
        let mut sessions = table(Plan::new("gcm-on64".parse().unwrap(), 9)).unwrap();
        (0..9).for_each(|at| drop(sessions.admit(at, at, &Material::random().unwrap()).unwrap()));
        let relay = Relay::start("127.0.0.1:0".parse().unwrap(), 0, Settings::default(), vec![sessions]).unwrap();
        std::thread::scope(|scope| {
            let busy = relay.occupy_worker();
            let revoking = scope.spawn(|| relay.revoke_all(&(0..8).collect::<Vec<_>>(), &|| ()));
            until("all in the inbox", || relay.shared.inboxes[0].waiting() == 8);
            drop(busy);
            assert_eq!(revoking.join().unwrap(), [0; 8]);
        });
        assert_eq!(relay.live(), 1);
    }

    /// Revoking the keys of one opening leaves the session to a later one.
    #[test]
    fn keys_are_removed_and_not_those_that_replaced_them() {
        let sessions = table(Plan::new("gcm-on64".parse().unwrap(), 9)).unwrap();
        let relay = Relay::start("127.0.0.1:0".parse().unwrap(), 0, Settings::default(), vec![sessions]).unwrap();
        let address = Address { session: relay.layout().session(3), generation: 7 };
        let [first, second] = [(); 2].map(|()| relay.admit(address, Material::random().unwrap()).unwrap().epoch());
        let live_after = |removed: (Address, u16)| {
            relay.remove_keys(removed.0, removed.1);
            // The worker has handled everything that came before its answer
            assert!(relay.responds(Duration::from_secs(60)));
            relay.live()
        };
        assert_eq!(live_after((address, first)), 1);
        assert_eq!(live_after((Address { generation: 8, ..address }, second)), 1);
        assert_eq!(live_after((address, second)), 0);
    }

    #[test]
    fn the_address_that_is_taken_is_the_one_that_is_named() {
        let table = || table(Plan::new("gcm-on64".parse().unwrap(), 1)).unwrap();
        let any = "127.0.0.1:0".parse().unwrap();
        // The port of the second worker's socket is taken
        let (udp, _other) = (0..100)
            .find_map(|_| {
                let other = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
                let taken = other.local_addr().unwrap();
                let first = std::net::SocketAddr::new(taken.ip(), taken.port().checked_sub(1)?);
                std::net::UdpSocket::bind(first).ok().map(|_| (first, other))
            })
            .expect("two ports");
        let settings = Settings { udp: Some(udp), ..Settings::default() };
        let refused = Relay::start(any, 0, settings, vec![table(), table()]).unwrap_err();
        assert_eq!(refused.address.port(), udp.port() + 1);
        assert!(refused.to_string().ends_with(": datagrams: Address already in use"), "{refused}");
        let taken = std::net::TcpListener::bind(any).unwrap();
        let frames = taken.local_addr().unwrap();
        let refused = Relay::start(frames, 0, Settings::default(), vec![table()]).unwrap_err();
        assert_eq!(refused.to_string(), format!("{frames}: Address already in use"));
    }
}
