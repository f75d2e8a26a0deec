//! Implements `Sessions`, the trait that servers use, for the table of any scheme.

use crate::{
    error::SessionError,
    grant::Grant,
    material::{Flow, Material},
    record::{End, Life, Record},
    replay::Past,
    scheme::{KeyId, Scheme},
    sessions::{FrameJob, Memory, Sessions, sealed::Sealed},
    spec::Spec,
    table::{Table, Traces},
};

impl<S: Scheme> Sealed for Table<S> {}
impl<S: Scheme> Sessions for Table<S> {
    fn spec(&self) -> Spec {
        self.plan.spec
    }

    fn slots(&self) -> u32 {
        self.records.len()
    }

    fn live(&self) -> u32 {
        self.live
    }

    fn admit(&mut self, slot: u32, session: u32, material: &Material) -> Result<Grant, SessionError> {
        let life = self.records.at(slot).ok_or(SessionError::Unknown)?.life();
        let next = life.epoch.checked_add(1);
        // Keys derived from the material alone differ in each epoch, so their epoch number may wrap.
        let epoch = next.or((!self.scheme.keys_by_epoch()).then_some(0)).ok_or(SessionError::Exhausted)?;
        let id = KeyId { slot, epoch };
        let mut flows = Box::<[Flow; 2]>::default();
        self.scheme.flows(id, material, &mut flows)?;
        self.forget(slot);
        self.traces = self.traces.max(Traces::OfAdmission);
        self.records.claim(slot);
        let record = self.records.at_mut(slot).ok_or(SessionError::Unknown)?;
        record.restart(Life { epoch, live: 1 });
        record.allow(self.scheme.allowance());
        let [received, sent] = self.plan.side.directions().map(|direction| &flows[direction as usize]);
        self.scheme.keep(id, record, [received, sent]);
        self.live += 1;
        Ok(Grant { spec: self.plan.spec, session, epoch, flows })
    }

    fn epoch(&self, slot: u32) -> Option<u16> {
        let life = self.records.at(slot)?.life();
        (life.live == 1).then_some(life.epoch)
    }

    fn remove(&mut self, slot: u32) {
        self.forget(slot);
    }

    fn revoke(&mut self, slot: u32) -> Vec<u32> {
        if slot >= self.records.len() {
            return Vec::new();
        }
        self.forget(slot);
        let together = self.scheme.revoke(slot);
        let is_live = |slot: &u32| self.records.at(*slot).is_some_and(|record| record.life().live == 1);
        let left: Vec<u32> = together.filter(is_live).collect();
        for &slot in &left {
            self.forget(slot);
        }
        left
    }

    fn open(&mut self, slot: u32, frame: &mut [u8]) -> Result<(), SessionError> {
        self.one(slot, 0, frame, End::Receive)
    }

    fn seal(&mut self, slot: u32, session: u32, frame: &mut [u8]) -> Result<(), SessionError> {
        self.one(slot, session, frame, End::Send)
    }

    #[inline]
    fn touch(&self, slot: u32) {
        if let Some(record) = self.records.at(slot) {
            record.fetch(End::Receive);
            record.fetch(End::Send);
        }
    }

    fn open_all(&mut self, buffer: &mut [u8], jobs: &mut [FrameJob]) {
        self.all(buffer, jobs, End::Receive);
    }

    fn seal_all(&mut self, buffer: &mut [u8], jobs: &mut [FrameJob]) {
        self.all(buffer, jobs, End::Send);
    }

    fn blocks_left(&self, slot: u32) -> Option<u64> {
        let record = self.records.at(slot)?;
        (record.life().live == 1).then(|| record.blocks_left())
    }

    fn memory(&self) -> Memory {
        Memory {
            record: size_of::<S::Client>() + self.pasts.as_ref().map_or(0, |_| size_of::<Past>()),
            slots: self.records.len(),
            live: self.live,
            reserved: self.records.bytes() + self.pasts.as_ref().map_or(0, |pasts| pasts.bytes()),
            heap: self.scheme.heap_bytes(),
            shared: self.scheme.shared_bytes() + self.lanes.as_deref().map_or(0, size_of_val) as u64,
        }
    }
}
