//! GSCM: clients share the schedule of their cluster and store two secondary keys for each direction.
//!
//! `gscm(x)` is the paper's (3.2), **for research only**: members of the cluster can forge what is sent to others, and
//! with 128-bit keys find their keys. `gscm-h` puts the second key into the last round and gives each client a GHASH
//! key of its own, computed for each packet. One cache line for receiving, one for sending.

use core::ops::Range;

use sealwright::{
    Block, Isa,
    mode::multi_buffer::{Frame, HashKeys, Keys, MultiBuffer, PACKETS},
};

use crate::{
    error::SessionError,
    ghash::Hash,
    material::{Direction, Flow, Material, Side},
    packet::Keyed,
    record::{End, Secondary},
    scheme::{INVARIANT, KeyId, Scheme, Stream},
    schemes::cluster::{Clusters, Shared},
    sessions::Plan,
    spec::{Spec, Strategy},
};

pub(crate) struct Gscm {
    isa: Isa,
    spec: Spec,
    side: Side,
    /// `None` for `gscm-h`.
    strategy: Option<Strategy>,
    /// The round key that K2 replaces.
    second: usize,
    pub(crate) clusters: Clusters,
}

impl Gscm {
    pub(crate) fn new(plan: &Plan, strategy: Option<Strategy>) -> Self {
        let Plan { spec, slots, side, isa, cluster, .. } = *plan;
        let tables = strategy.unwrap_or(Strategy::Clmul);
        let clusters = Clusters::new(isa, spec, tables, slots, cluster, plan.secret.as_ref());
        Gscm { isa, spec, side, strategy, second: spec.second().expect(INVARIANT), clusters }
    }

    /// What a client shares with its cluster, for one end.
    #[inline]
    fn shared(&self, slot: u32, end: End) -> &Shared {
        &self.clusters.of(slot).directions[self.side.directions()[end as usize] as usize]
    }

    /// The secondary keys of a client, for one end.
    #[inline]
    fn secondary(client: &Secondary, end: End) -> &[Block; 2] {
        match end {
            End::Receive => &client.rx_keys,
            End::Send => &client.tx_keys,
        }
    }
}

impl Scheme for Gscm {
    type Client = Secondary;

    fn isa(&self) -> Isa {
        self.isa
    }

    fn flows(&mut self, id: KeyId, material: &Material, flows: &mut [Flow; 2]) -> Result<(), SessionError> {
        let (isa, paper) = (self.isa, self.spec.hashes_by_cluster());
        let (_, number) = self.clusters.place(id.slot);
        let cluster = self.clusters.join(id)?;
        for (flow, direction) in flows.iter_mut().zip(Direction::BOTH) {
            flow.key = *cluster.directions[direction as usize].key;
            cluster.secondary(isa, (number, id.epoch), direction, &mut flow.secondary);
            flow.prefix = if paper { material.nonce(direction) } else { [0; 4] };
            flow.base = if paper { material.iv(direction) } else { Stream::of_epoch(id.epoch).base };
        }
        Ok(())
    }

    fn keep(&mut self, _: KeyId, client: &mut Secondary, [received, sent]: [&Flow; 2]) {
        (client.rx_prefix, client.rx_base, client.rx_keys) = (received.prefix, received.base, received.secondary);
        (client.tx_prefix, client.tx_base, client.tx_keys) = (sent.prefix, sent.base, sent.secondary);
    }

    #[inline]
    fn stream(&self, client: &Secondary, end: End) -> Stream {
        match end {
            End::Receive => Stream { prefix: client.rx_prefix, base: client.rx_base },
            End::Send => Stream { prefix: client.tx_prefix, base: client.tx_base },
        }
    }

    fn keyed<'a>(&'a self, slot: u32, client: &'a Secondary, end: End) -> Keyed<'a> {
        let shared = self.shared(slot, end);
        let [k1, k2] = Self::secondary(client, end);
        let schedule = shared.schedule.clone().replaced(0, k1).replaced(self.second, k2);
        Keyed { schedule, hash: self.strategy.map_or(Hash::Own, |strategy| shared.hash(strategy)) }
    }

    fn keys_by_epoch(&self) -> bool {
        true
    }

    fn side_by_side(&self) -> bool {
        matches!(self.strategy, None | Some(Strategy::Clmul))
    }

    #[inline]
    fn stage(&self, _: u32, client: &Secondary, end: End, lanes: &mut MultiBuffer, packet: usize) {
        let [k1, k2] = Self::secondary(client, end);
        lanes.key(packet, [k1, k2]);
    }

    fn run(&self, slots: &[u32], end: End, lanes: &mut MultiBuffer, frames: &mut [Frame<'_>; PACKETS]) {
        let Some(&first) = slots.first() else { return };
        let together = self.clusters.together(first);
        let (shared, made, seal) = (self.shared(first, end), self.strategy.is_none(), end == End::Send);
        if slots.iter().all(|slot| together.contains(slot)) {
            let hash = if made { HashKeys::Made } else { HashKeys::Shared(&shared.h) };
            return lanes.run(self.isa, frames, Keys::Shared(&shared.schedule, self.second), hash, seal);
        }
        for (packet, &slot) in slots.iter().enumerate() {
            let shared = self.shared(slot, end);
            lanes.schedule(packet, shared.schedule.blocks());
            lanes.substitute(packet, self.second);
            lanes.hash_key(packet, &shared.h);
        }
        let keys = if self.spec.long { Keys::Kept15 } else { Keys::Kept11 };
        lanes.run(self.isa, frames, keys, if made { HashKeys::Made } else { HashKeys::Kept }, seal);
    }

    fn allowance(&self) -> u32 {
        self.clusters.allowance()
    }

    fn remove(&mut self, slot: u32, blocks: u64) {
        self.clusters.spend(slot, blocks);
    }

    fn revoke(&mut self, slot: u32) -> Range<u32> {
        self.clusters.forget(slot)
    }

    fn shared_bytes(&self) -> u64 {
        self.clusters.bytes()
    }
}
