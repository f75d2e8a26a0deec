//! GCM as in the paper: GCM-Pre(x) stores round keys (2.5), GCM-On(x) computes them for each packet (2.6). Both store h
//! and, unless x is 0, tables of its multiples; IVs and nonces start at random and are different for each client (2.2).

use core::marker::PhantomData;

use sealwright::{
    Block, Isa,
    mode::{
        multi_buffer::{Frame, HashKeys, Keys, MultiBuffer, PACKETS},
        multi_key::Schedule,
    },
};

use crate::{
    error::SessionError,
    material::{Direction, Flow, Material},
    packet::Keyed,
    record::{End, On16, On32, Pre16, Pre32, Record},
    scheme::{INVARIANT, KeyId, Scheme, Stream},
    schemes::tables::Tables,
    spec::{Spec, Strategy},
};

/// What distinguishes the paper's two schemes for GCM and their two key lengths: the contents of the record.
pub(crate) trait PaperRecord: Record {
    fn keep(&mut self, end: usize, flow: &Flow, key: &[u8], schedule: &Schedule, h: Block);
    fn schedule(&self, isa: Isa, end: usize) -> Schedule;
    fn h(&self) -> &[Block; 2];
    fn stream(&self, end: usize) -> Stream;
    fn stage(&self, end: usize, lanes: &mut MultiBuffer, packet: usize);
    fn keys() -> Keys<'static>;
}

/// Stages a key.
#[inline]
fn on(lanes: &mut MultiBuffer, packet: usize, halves: &[Block]) {
    if let (Some(first), Some(last)) = (halves.first(), halves.last()) {
        lanes.key(packet, [first, last]);
    }
}

/// Stages round keys.
#[inline]
fn pre(lanes: &mut MultiBuffer, packet: usize, blocks: &[Block]) {
    lanes.schedule(packet, blocks);
}

macro_rules! paper_records {
    ($($record:ident: $keep:expr, $schedule:expr, $stage:expr, $keys:ident;)*) => {
        $(impl PaperRecord for $record {
            fn keep(&mut self, end: usize, flow: &Flow, key: &[u8], schedule: &Schedule, h: Block) {
                let keep: for<'a> fn(&'a [u8], &'a Schedule) -> &'a [u8] = $keep;
                bytemuck::bytes_of_mut(&mut self.keys[end]).copy_from_slice(keep(key, schedule));
                (self.prefixes[end], self.bases[end], self.h[end]) = (flow.prefix, flow.base, h);
            }
            #[inline]
            fn schedule(&self, isa: Isa, end: usize) -> Schedule {
                $schedule(isa, &self.keys[end]).expect(INVARIANT)
            }
            #[inline]
            fn h(&self) -> &[Block; 2] {
                &self.h
            }
            #[inline]
            fn stream(&self, end: usize) -> Stream {
                Stream { prefix: self.prefixes[end], base: self.bases[end] }
            }
            #[inline]
            fn stage(&self, end: usize, lanes: &mut MultiBuffer, packet: usize) {
                lanes.hash_key(packet, &self.h[end]);
                let stage: fn(&mut MultiBuffer, usize, &[Block]) = $stage;
                stage(lanes, packet, bytemuck::cast_slice(&self.keys[end]));
            }
            fn keys() -> Keys<'static> {
                Keys::$keys
            }
        })*
    };
}
paper_records! {
    On16: |key, _| key, |isa, key: &[u8]| Schedule::expand(isa, key), on, Own16;
    On32: |key, _| key, |isa, key: &[u8]| Schedule::expand(isa, key), on, Own32;
    Pre16: |_, schedule| schedule.blocks().as_flattened(), |_, blocks: &[Block]| Schedule::of(blocks), pre, Kept11;
    Pre32: |_, schedule| schedule.blocks().as_flattened(), |_, blocks: &[Block]| Schedule::of(blocks), pre, Kept15;
}

pub(crate) struct Paper<K> {
    isa: Isa,
    spec: Spec,
    tables: Tables,
    record: PhantomData<fn() -> K>,
}

impl<K> Paper<K> {
    pub(crate) fn new(isa: Isa, spec: Spec, strategy: Strategy, slots: u32) -> Self {
        Paper { isa, spec, tables: Tables::new(isa, strategy, slots), record: PhantomData }
    }
}

impl<K: PaperRecord> Scheme for Paper<K> {
    type Client = K;

    fn isa(&self) -> Isa {
        self.isa
    }

    /// Both directions with keys, IVs and nonces from the material.
    fn flows(&mut self, _: KeyId, material: &Material, flows: &mut [Flow; 2]) -> Result<(), SessionError> {
        for (flow, direction) in flows.iter_mut().zip(Direction::BOTH) {
            (flow.prefix, flow.base) = (material.nonce(direction), material.iv(direction));
            flow.key[..self.spec.key_len()].copy_from_slice(&material.key(direction)[..self.spec.key_len()]);
        }
        Ok(())
    }

    fn keep(&mut self, id: KeyId, client: &mut K, flows: [&Flow; 2]) {
        for (end, flow) in flows.into_iter().enumerate() {
            let key = &flow.key[..self.spec.key_len()];
            let schedule = Schedule::expand(self.isa, key).expect(INVARIANT);
            client.keep(end, flow, key, &schedule, schedule.hash_key(self.isa));
        }
        self.tables.keep(id.slot, client.h());
    }

    #[inline]
    fn stream(&self, client: &K, end: End) -> Stream {
        client.stream(end as usize)
    }

    fn keyed<'a>(&'a self, slot: u32, client: &'a K, end: End) -> Keyed<'a> {
        let hash = self.tables.hash(slot, &client.h()[end as usize], end);
        Keyed { schedule: client.schedule(self.isa, end as usize), hash }
    }

    fn side_by_side(&self) -> bool {
        self.tables.strategy() == Strategy::Clmul
    }

    #[inline]
    fn stage(&self, _: u32, client: &K, end: End, lanes: &mut MultiBuffer, packet: usize) {
        client.stage(end as usize, lanes, packet);
    }

    fn run(&self, _: &[u32], end: End, lanes: &mut MultiBuffer, frames: &mut [Frame<'_>; PACKETS]) {
        lanes.run(self.isa, frames, K::keys(), HashKeys::Kept, end == End::Send);
    }

    fn remove(&mut self, slot: u32, _: u64) {
        self.tables.remove(slot);
    }

    fn heap_bytes(&self) -> u64 {
        self.tables.heap_bytes()
    }
}
