//! Clusters: what the clients of GSCM share. Two main keys, one for each direction (the paper's CEK and CDK, from the
//! server's point of view), and a users' key, CUK, from which counter mode derives every client's secondary keys (2.3).

use sealwright::{Block, Isa, block::CleanStack, mode::multi_key::Schedule};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    error::SessionError,
    ghash::{Hash, Table},
    material::{Direction, Secret, counter, purpose},
    record::LIMIT,
    scheme::{INVARIANT, KeyId},
    spec::{Spec, Strategy},
};

/// One direction of a cluster.
pub(crate) struct Shared {
    pub(crate) schedule: Schedule,
    pub(crate) h: Block,
    table: Option<Table>,
    /// The main key, which is sent to clients.
    pub(crate) key: Zeroizing<[u8; 32]>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.h.zeroize();
    }
}

impl Shared {
    /// Without keys.
    fn empty(isa: Isa, spec: Spec) -> Self {
        let schedule = Schedule::expand(isa, &[0; 32][..spec.key_len()]).expect(INVARIANT);
        Shared { schedule, h: [0; 16], table: None, key: Zeroizing::default() }
    }

    fn set(&mut self, isa: Isa, spec: Spec, strategy: Strategy, key: &[u8]) {
        self.key.copy_from_slice(key);
        self.schedule.rekey(isa, &key[..spec.key_len()]).expect(INVARIANT);
        self.h = self.schedule.hash_key(isa);
        self.table = Table::new(isa, strategy, &self.h);
    }

    pub(crate) fn hash(&self, strategy: Strategy) -> Hash<'_> {
        Hash::of(strategy, &self.h, self.table.as_ref())
    }
}

/// The block budget of a cluster's main keys. Once clients that have left used it up, the keys admit no new client. The
/// present clients can at most double it, however many they are, so a main key encrypts at most 2^49 blocks, which
/// keeps the odds of outsiders below 2^-31.
const BLOCK_BUDGET: u64 = 1 << 48;

/// The keys of one cluster. All clients that know the main keys form one trust domain.
pub(crate) struct Cluster {
    /// Blocks of clients that have left, and of keys that were replaced.
    spent: u64,
    /// Up, down.
    pub(crate) directions: [Shared; 2],
    users: Schedule,
}

impl Cluster {
    /// A cluster without keys. Moving a value copies its padding, stack contents that wiping would not reach: it is
    /// therefore made on a clean stack, and its keys are computed in place.
    fn boxed(isa: Isa, spec: Spec) -> Box<Self> {
        #[inline(never)]
        fn below(isa: Isa, spec: Spec) -> Box<Cluster> {
            let directions = [0, 1].map(|_| Shared::empty(isa, spec));
            let users = Schedule::expand(isa, &[0; 32]).expect(INVARIANT);
            Box::new(Cluster { spent: 0, directions, users })
        }
        drop::<CleanStack>(CleanStack);
        below(isa, spec)
    }

    /// K1 and K2 of a client in one direction. Its number in the cluster, its epoch and the direction make them unique.
    pub(crate) fn secondary(&self, isa: Isa, (number, epoch): (u32, u16), direction: Direction, keys: &mut [Block; 2]) {
        *keys = [0, 1].map(|j| counter(purpose::SECONDARY, number, u32::from(epoch), direction, j));
        self.users.encrypt(isa, keys);
    }
}

/// The clusters of a table: slots `n c` to `n c + n - 1` are cluster `c`. The keys of a cluster are made when its first
/// client is admitted.
pub(crate) struct Clusters {
    isa: Isa,
    spec: Spec,
    strategy: Strategy,
    /// The number of clients of one cluster.
    most: u32,
    clusters: Vec<Option<Box<Cluster>>>,
    /// The source of main keys: counter mode under a known secret, or the operating system's random source. Boxed: without
    /// a secret, moving its place would copy what the stack held, such as keys of other sessions.
    secret: Option<Box<Schedule>>,
    /// How many times keys were made.
    made: u32,
}

impl Clusters {
    pub(crate) fn new(
        isa: Isa,
        spec: Spec,
        strategy: Strategy,
        slots: u32,
        most: u32,
        secret: Option<&Secret>,
    ) -> Self {
        let most = most.clamp(1, slots.max(1));
        let clusters = (0..slots.div_ceil(most)).map(|_| None).collect();
        Clusters {
            isa,
            spec,
            strategy,
            most,
            clusters,
            secret: secret.map(|secret| Box::new(secret.schedule(isa))),
            made: 0,
        }
    }

    /// The limit of blocks for each client of a full cluster, so that all together do not exceed the budget: 2^32 for
    /// at most 65,536 clients.
    pub(crate) fn allowance(&self) -> u32 {
        u32::try_from(BLOCK_BUDGET / u64::from(self.most)).unwrap_or(LIMIT)
    }

    /// The cluster of a slot, and the slot's index in it.
    #[inline]
    pub(crate) fn place(&self, slot: u32) -> (usize, u32) {
        ((slot / self.most) as usize, slot % self.most)
    }

    /// The cluster of a slot that was admitted.
    #[inline]
    pub(crate) fn of(&self, slot: u32) -> &Cluster {
        self.clusters[self.place(slot).0]
            .as_deref()
            .expect("a client's cluster has keys as long as the client is there")
    }

    /// The cluster of a slot that is about to be admitted.
    pub(crate) fn join(&mut self, id: KeyId) -> Result<&Cluster, SessionError> {
        let (at, _) = self.place(id.slot);
        if self.clusters[at].is_none() {
            let mut cluster = Cluster::boxed(self.isa, self.spec);
            self.make_keys(&mut cluster)?;
            self.clusters[at] = Some(cluster);
        }
        let cluster = self.of(id.slot);
        if cluster.spent >= BLOCK_BUDGET { Err(SessionError::WornCluster) } else { Ok(cluster) }
    }

    /// Charges to the cluster the blocks that a client's keys encrypted, before the keys are removed.
    pub(crate) fn spend(&mut self, slot: u32, blocks: u64) {
        let (at, _) = self.place(slot);
        if let Some(Some(cluster)) = self.clusters.get_mut(at) {
            cluster.spent += blocks;
        }
    }

    /// The blocks charged to a slot's cluster.
    #[cfg(test)]
    pub(crate) fn spent(&self, slot: u32) -> u64 {
        self.of(slot).spent
    }

    /// The slots of a slot's cluster.
    #[inline]
    pub(crate) fn together(&self, slot: u32) -> core::ops::Range<u32> {
        let first = slot - self.place(slot).1;
        first..first.saturating_add(self.most)
    }

    /// Wipes the keys of a slot's cluster and returns the cluster's slots. New clients will get new keys.
    pub(crate) fn forget(&mut self, slot: u32) -> core::ops::Range<u32> {
        let (at, _) = self.place(slot);
        let Some(cluster) = self.clusters.get_mut(at) else { return 0..0 };
        *cluster = None;
        self.together(slot)
    }

    fn make_keys(&mut self, cluster: &mut Cluster) -> Result<(), SessionError> {
        let mut bytes = Zeroizing::new([[[0u8; 16]; 2]; 3]);
        if let Some(secret) = &self.secret {
            for (key, halves) in bytes.iter_mut().enumerate() {
                *halves = [0, 1].map(|j| counter(purpose::CLUSTER, key as u32, self.made, Direction::Up, j));
            }
            secret.encrypt(self.isa, bytes.as_flattened_mut());
        } else {
            getrandom::fill(bytes.as_flattened_mut().as_flattened_mut()).map_err(|_| SessionError::NoRandomness)?;
        }
        self.made += 1;
        let [directions @ .., users] = &*bytes;
        for (shared, key) in cluster.directions.iter_mut().zip(directions) {
            shared.set(self.isa, self.spec, self.strategy, key.as_flattened());
        }
        cluster.users.rekey(self.isa, users.as_flattened()).expect(INVARIANT);
        Ok(())
    }

    /// Bytes of all clusters.
    pub(crate) fn bytes(&self) -> u64 {
        let one = size_of::<Cluster>() + 2 * self.strategy.table_bytes();
        let there = self.clusters.iter().flatten().count();
        (self.clusters.len() * size_of::<Option<Box<Cluster>>>() + there * one) as u64
    }
}

#[cfg(test)]
mod tests {
    use sealwright::Isa;

    use super::{BLOCK_BUDGET, Clusters};
    use crate::{error::SessionError, scheme::KeyId, spec::Strategy};

    #[test]
    fn a_worn_cluster_takes_nobody_until_it_has_new_keys() {
        let spec = "gscm-h".parse().expect("a scheme");
        let mut clusters = Clusters::new(Isa::best(), spec, Strategy::Clmul, 20, 8, None);
        let id = KeyId { slot: 9, epoch: 1 };
        let old = clusters.join(id).map(|cluster| cluster.directions[0].h);
        clusters.spend(10, BLOCK_BUDGET - 1);
        assert_eq!(clusters.join(id).map(|cluster| cluster.directions[0].h), old);
        clusters.spend(11, 1);
        assert_eq!(clusters.join(id).err(), Some(SessionError::WornCluster));
        assert!(clusters.join(KeyId { slot: 7, epoch: 1 }).is_ok());
        assert_eq!(clusters.forget(9), 8..16);
        assert_ne!(clusters.join(id).map(|cluster| cluster.directions[0].h), old);
    }

    #[test]
    fn clients_of_a_full_cluster_have_the_budget_together() {
        let spec = "gscm-h".parse().expect("a scheme");
        let of = |slots, most| Clusters::new(Isa::best(), spec, Strategy::Clmul, slots, most, None).allowance();
        assert_eq!([of(20, 8), of(1 << 16, 1 << 16), of(1 << 16, u32::MAX)], [u32::MAX; 3]);
        for slots in [(1 << 16) + 1, 2_000_000] {
            let together = u64::from(of(slots, u32::MAX)) * u64::from(slots);
            assert!((BLOCK_BUDGET - u64::from(slots)..=BLOCK_BUDGET).contains(&together), "{together}");
        }
    }
}
