//! GCM that stores no keys: they are derived from the server's secret in counter mode, again for each packet. Half a
//! cache line per client. Anyone who learns the server's secret knows the keys of every session, including past ones.

use sealwright::{
    Block, Isa,
    mode::{
        multi_buffer::{Frame, HashKeys, Keys, MultiBuffer, PACKETS},
        multi_key::Schedule,
    },
};
use zeroize::Zeroize;

use crate::{
    error::SessionError,
    ghash::Hash,
    material::{Direction, Flow, Material, Secret, Side, counter, purpose},
    packet::Keyed,
    record::{End, Numbers, Record},
    scheme::{INVARIANT, KeyId, Scheme, Stream},
    spec::Spec,
};

pub(crate) struct Derived {
    isa: Isa,
    spec: Spec,
    side: Side,
    master: Schedule,
}

impl Derived {
    pub(crate) fn new(isa: Isa, spec: Spec, side: Side, secret: &Secret) -> Self {
        Derived { isa, spec, side, master: secret.schedule(isa) }
    }

    /// The key of one direction: the first 16 bytes, or all.
    fn key(&self, id: KeyId, direction: Direction) -> [Block; 2] {
        let mut key = [0, 1].map(|j| counter(purpose::DERIVED, id.slot, u32::from(id.epoch), direction, j));
        self.master.encrypt(self.isa, &mut key[..self.spec.key_len() / 16]);
        key
    }
}

impl Scheme for Derived {
    type Client = Numbers;

    fn isa(&self) -> Isa {
        self.isa
    }

    fn flows(&mut self, id: KeyId, _: &Material, flows: &mut [Flow; 2]) -> Result<(), SessionError> {
        for (flow, direction) in flows.iter_mut().zip(Direction::BOTH) {
            flow.base = Stream::of_epoch(id.epoch).base;
            let mut key = self.key(id, direction);
            flow.key[..self.spec.key_len()].copy_from_slice(&key.as_flattened()[..self.spec.key_len()]);
            key.zeroize();
        }
        Ok(())
    }

    fn keep(&mut self, _: KeyId, _: &mut Numbers, _: [&Flow; 2]) {}

    #[inline]
    fn stream(&self, client: &Numbers, _: End) -> Stream {
        Stream::of_epoch(client.life().epoch)
    }

    fn keyed<'a>(&'a self, slot: u32, client: &'a Numbers, end: End) -> Keyed<'a> {
        let id = KeyId { slot, epoch: client.life().epoch };
        let mut key = self.key(id, self.side.directions()[end as usize]);
        let schedule = Schedule::expand(self.isa, &key.as_flattened()[..self.spec.key_len()]).expect(INVARIANT);
        key.zeroize();
        Keyed { schedule, hash: Hash::Own }
    }

    fn keys_by_epoch(&self) -> bool {
        true
    }

    fn side_by_side(&self) -> bool {
        true
    }

    #[inline]
    fn stage(&self, slot: u32, client: &Numbers, end: End, lanes: &mut MultiBuffer, packet: usize) {
        let (epoch, direction) = (u32::from(client.life().epoch), self.side.directions()[end as usize]);
        let [first, second] = [0, 1].map(|j| counter(purpose::DERIVED, slot, epoch, direction, j));
        lanes.key(packet, [&first, &second]);
    }

    fn run(&self, _: &[u32], end: End, lanes: &mut MultiBuffer, frames: &mut [Frame<'_>; PACKETS]) {
        for half in 0..self.spec.key_len() / 16 {
            self.master.encrypt(self.isa, lanes.halves(half));
        }
        let keys = if self.spec.long { Keys::Own32 } else { Keys::Own16 };
        lanes.run(self.isa, frames, keys, HashKeys::Made, end == End::Send);
    }

    fn shared_bytes(&self) -> u64 {
        size_of::<Self>() as u64
    }
}
