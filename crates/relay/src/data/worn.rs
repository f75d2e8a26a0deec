//! Sessions whose cluster's keys are used up: they go on under others.

use sealwright_session::{Grant, SessionError, Sessions};

use crate::data::inbox::Admitted;

/// Admits a session into this slot. Where the keys that its cluster shares are used up, nobody could be admitted any
/// more: the cluster gets others first, and whoever shared the old ones opens its session again.
pub(crate) fn under_fresh_shared_keys(
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
    use std::cell::Cell;

    use sealwright_session::{Material, Plan, table};

    use super::*;

    /// To wear a cluster out takes years, so one says of itself that it is worn.
    #[test]
    fn a_worn_cluster_gets_other_keys_and_takes_the_client_under_its_number() {
        let mut sessions = table(Plan::new("gscm-h".parse().unwrap(), 4)).unwrap();
        for slot in 0..3 {
            sessions.admit(slot, slot, &Material::random().unwrap()).unwrap();
        }
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
        // Another reason takes nobody's keys away
        let refused = under_fresh_shared_keys(&mut *sessions, 1, |_| Err(SessionError::Exhausted));
        assert!(matches!(refused, Err(SessionError::Exhausted)) && sessions.live() == 1);
    }
}
