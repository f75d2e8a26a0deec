//! GCM that stores nothing but keys and numbers: round keys and GHASH key are computed for each packet, nonces consist
//! of the epoch and the packet's number. One cache line per client.

use core::marker::PhantomData;

use sealwright::{
    Block, Isa,
    mode::{
        multi_buffer::{self, Frame, HashKeys, MultiBuffer, PACKETS},
        multi_key::Schedule,
    },
};

use crate::{
    error::SessionError,
    ghash::Hash,
    material::{Direction, Flow, Material},
    packet::Keyed,
    record::{End, Keys16, Keys32, Record},
    scheme::{INVARIANT, KeyId, Scheme, Stream},
    spec::Spec,
};

/// A record of two keys, one for each direction.
pub(crate) trait Keys: Record {
    fn key(&self, end: usize) -> &[u8];
    fn key_mut(&mut self, end: usize) -> &mut [u8];
}

macro_rules! keys {
    ($($record:ident),*) => {
        $(impl Keys for $record {
            #[inline]
            fn key(&self, end: usize) -> &[u8] {
                &self.keys[end]
            }
            fn key_mut(&mut self, end: usize) -> &mut [u8] {
                &mut self.keys[end]
            }
        })*
    };
}
keys!(Keys16, Keys32);

pub(crate) struct On64<K> {
    isa: Isa,
    spec: Spec,
    keys: PhantomData<fn() -> K>,
}

impl<K> On64<K> {
    pub(crate) fn new(isa: Isa, spec: Spec) -> Self {
        On64 { isa, spec, keys: PhantomData }
    }
}

impl<K: Keys> Scheme for On64<K> {
    type Client = K;

    fn isa(&self) -> Isa {
        self.isa
    }

    fn flows(&mut self, id: KeyId, material: &Material, flows: &mut [Flow; 2]) -> Result<(), SessionError> {
        for (flow, direction) in flows.iter_mut().zip(Direction::BOTH) {
            flow.base = Stream::of_epoch(id.epoch).base;
            flow.key[..self.spec.key_len()].copy_from_slice(&material.key(direction)[..self.spec.key_len()]);
        }
        Ok(())
    }

    fn keep(&mut self, _: KeyId, client: &mut K, flows: [&Flow; 2]) {
        for (end, flow) in flows.into_iter().enumerate() {
            client.key_mut(end).copy_from_slice(&flow.key[..self.spec.key_len()]);
        }
    }

    #[inline]
    fn stream(&self, client: &K, _: End) -> Stream {
        Stream::of_epoch(client.life().epoch)
    }

    fn keyed<'a>(&'a self, _: u32, client: &'a K, end: End) -> Keyed<'a> {
        let schedule = Schedule::expand(self.isa, client.key(end as usize)).expect(INVARIANT);
        Keyed { schedule, hash: Hash::Own }
    }

    fn side_by_side(&self) -> bool {
        true
    }

    #[inline]
    fn stage(&self, _: u32, client: &K, end: End, lanes: &mut MultiBuffer, packet: usize) {
        let halves: &[Block] = bytemuck::cast_slice(client.key(end as usize));
        if let (Some(first), Some(last)) = (halves.first(), halves.last()) {
            lanes.key(packet, [first, last]);
        }
    }

    fn run(&self, _: &[u32], end: End, lanes: &mut MultiBuffer, frames: &mut [Frame<'_>; PACKETS]) {
        let keys = if self.spec.long { multi_buffer::Keys::Own32 } else { multi_buffer::Keys::Own16 };
        lanes.run(self.isa, frames, keys, HashKeys::Made, end == End::Send);
    }
}
