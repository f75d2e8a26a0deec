//! Neither encryption nor tags, but everything else: frames, numbers, records. The other schemes are compared with it.

use sealwright::{Block, Isa};

use crate::{
    error::SessionError,
    material::{Flow, Material},
    packet::{Keyed, Packet},
    record::{End, Numbers, Record},
    scheme::{KeyId, Scheme, Stream},
};

pub(crate) struct Clear {
    pub(crate) isa: Isa,
}

impl Scheme for Clear {
    type Client = Numbers;

    fn isa(&self) -> Isa {
        self.isa
    }

    fn flows(&mut self, id: KeyId, _: &Material, flows: &mut [Flow; 2]) -> Result<(), SessionError> {
        flows.iter_mut().for_each(|flow| flow.base = Stream::of_epoch(id.epoch).base);
        Ok(())
    }

    fn keep(&mut self, _: KeyId, _: &mut Numbers, _: [&Flow; 2]) {}

    #[inline]
    fn stream(&self, client: &Numbers, _: End) -> Stream {
        Stream::of_epoch(client.life().epoch)
    }

    fn keyed<'a>(&'a self, _: u32, _: &'a Numbers, _: End) -> Keyed<'a> {
        unreachable!("nothing is encrypted")
    }

    /// Frames take the same path as those of the other schemes. Nothing is computed, so that tags stay zero.
    fn side_by_side(&self) -> bool {
        true
    }

    #[inline]
    fn seal(&self, _: u32, _: &Numbers, _: Packet<'_>) -> Block {
        [0; 16]
    }

    #[inline]
    fn open(&self, _: u32, _: &Numbers, packet: Packet<'_>, tag: &Block) -> bool {
        let genuine = *tag == [0; 16];
        if !genuine {
            packet.text.fill(0);
        }
        genuine
    }
}
