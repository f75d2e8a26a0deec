//! Gives sessions keys, also when the keys that their cluster shares are used up: the cluster then gets new ones.

use sealwright_session::{Grant, Material, SessionError, Sessions};

use crate::{
    address::Address,
    data::{context::Context, forwarder::Forwarder, inbox::Admitted, io::Io},
    policy::Class,
};

impl Forwarder {
    /// Gives a session keys. If its number has a new owner, frames for the former owner do not reach it.
    ///
    /// # Errors
    /// [`SessionError::Stale`] if the number has had a later owner than this one.
    pub(crate) fn admit(
        &mut self,
        ctx: &Context,
        io: &mut Io,
        slot: u32,
        owner: (Address, Class),
        material: &Material,
    ) -> Result<Admitted, SessionError> {
        let session = owner.0.session;
        self.admit_by(ctx, io, slot, owner, |sessions| sessions.admit(slot, session, material))
    }

    fn admit_by(
        &mut self,
        ctx: &Context,
        io: &mut Io,
        slot: u32,
        (address, class): (Address, Class),
        admit: impl Fn(&mut dyn Sessions) -> Result<Grant, SessionError>,
    ) -> Result<Admitted, SessionError> {
        let generation = self.slots.generation(slot).ok_or(SessionError::Unknown)?;
        if generation != 0 && (address.generation.wrapping_sub(generation) as i32) < 0 {
            return Err(SessionError::Stale);
        }
        let admitted = under_fresh_shared_keys(&mut *self.sessions, slot, admit);
        if admitted.is_ok() {
            self.slots.set_owner(slot, address, class);
        }
        // If the cluster lost its keys, the earlier session in this slot has none either, even though the admission
        // failed
        if admitted.is_ok() || self.sessions.epoch(slot).is_none() {
            self.slots.unbind(ctx, io, slot);
        }
        self.publish(ctx);
        admitted
    }
}

/// Admits a session into this slot. If the keys that its cluster shares are used up, the cluster first gets new ones,
/// and every client that shared the old ones must open its session again.
fn under_fresh_shared_keys(
    sessions: &mut dyn Sessions,
    slot: u32,
    admit: impl Fn(&mut dyn Sessions) -> Result<Grant, SessionError>,
) -> Result<Admitted, SessionError> {
    match admit(sessions) {
        Err(SessionError::WornCluster) => {
            let others = sessions.revoke(slot).len();
            admit(sessions).map(|grant| (grant, others))
        }
        admitted => admitted.map(|grant| (grant, 0)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{
        cell::Cell,
        sync::{
            Arc, OnceLock,
            atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering},
        },
        time::Instant,
    };

    use mio::Poll;
    use sealwright_session::{Plan, table};

    use super::*;
    use crate::{
        data::{
            Counts, Settings, binding::Route, connection::Handle, context::Shared, denials::Denials, slots::Source,
        },
        layout::NodeLayout,
    };

    /// Sessions in three slots of one cluster.
    fn cluster() -> Box<dyn Sessions> {
        let mut sessions = table(Plan::new("gscm-h".parse().unwrap(), 4)).unwrap();
        for slot in 0..3 {
            sessions.admit(slot, slot, &Material::random().unwrap()).unwrap();
        }
        sessions
    }

    /// Wearing out a cluster takes years, so this table reports that it is worn.
    #[test]
    fn a_worn_cluster_gets_other_keys_and_takes_the_client_under_its_number() {
        let mut sessions = cluster();
        let tries = Cell::new(0);
        let admit = |sessions: &mut dyn Sessions| {
            tries.set(tries.get() + 1);
            if tries.get() == 1 {
                return Err(SessionError::WornCluster);
            }
            sessions.admit(1, 1, &Material::random().unwrap())
        };
        let (grant, others) = under_fresh_shared_keys(&mut *sessions, 1, admit).unwrap();
        assert_eq!((grant.session(), others, sessions.live()), (1, 2, 1));
        let (_, others) = under_fresh_shared_keys(&mut *sessions, 1, admit).unwrap();
        assert_eq!((others, sessions.live()), (0, 1), "its keys are good");
        // Any other error takes keys from nobody
        let refused = under_fresh_shared_keys(&mut *sessions, 1, |_| Err(SessionError::Exhausted));
        assert!(matches!(refused, Err(SessionError::Exhausted)) && sessions.live() == 1);
    }

    /// As if the system had no random numbers for the new keys.
    #[test]
    fn what_a_worn_cluster_lost_is_told_although_nobody_is_admitted() {
        let shared = Shared {
            layout: NodeLayout::new(0, 1),
            settings: Settings::default(),
            inboxes: Vec::new(),
            counts: Vec::new(),
            connections: AtomicUsize::new(0),
            addresses: Arc::default(),
            live: vec![AtomicU32::new(3)],
            queues: Vec::new(),
            peers: Vec::new(),
            heard: AtomicU64::new(0),
            denials: Denials::default(),
            remote: OnceLock::new(),
        };
        let mut io = Io::new(Poll::new().unwrap(), None, None, (&Settings::default(), 1)).unwrap();
        let mut forwarder = Forwarder::new(cluster(), &shared, Instant::now());
        let ctx = Context { worker: 0, shared: Arc::new(shared), counts: Counts::default(), now: Instant::now() };
        let bound = Handle::new(5, 1);
        forwarder.slots.bind(&ctx, &mut io, 1, Source::Connection(bound));
        let mut admit = |error: SessionError| {
            let (owner, first) = ((Address { session: 1, generation: 7 }, Class::default()), Cell::new(true));
            let admit =
                |_: &mut dyn Sessions| Err(if first.replace(false) { error } else { SessionError::NoRandomness });
            let refused = forwarder.admit_by(&ctx, &mut io, 1, owner, admit).unwrap_err();
            let live = ctx.shared.live[0].load(Ordering::Relaxed);
            (refused, live, forwarder.slots.route(1), forwarder.slots.generation(1))
        };
        let kept = (SessionError::Exhausted, 3, Route::Connection(bound), Some(0));
        assert_eq!(admit(SessionError::Exhausted), kept, "its session goes on");
        assert_eq!(admit(SessionError::WornCluster), (SessionError::NoRandomness, 0, Route::None, Some(0)));
    }
}
