//! Records side by side, in huge pages where the system gives them: a record at random then costs one miss, not two.

use core::marker::PhantomData;

use bytemuck::Pod;
use memmap2::MmapMut;
use zeroize::Zeroize;

use crate::error::SessionError;

/// A fixed number of records, zero at first. Memory is taken when a record is first written. Wiped.
pub(crate) struct Slab<R> {
    memory: MmapMut,
    records: u32,
    /// Records behind this one were never written.
    used: u32,
    record: PhantomData<fn() -> R>,
}

impl<R: Pod> Slab<R> {
    /// Room for `records` records.
    pub(crate) fn new(records: u32) -> Result<Self, SessionError> {
        let bytes = size_of::<R>().checked_mul(records.max(1) as usize).ok_or(SessionError::NoMemory)?;
        let memory = MmapMut::map_anon(bytes).map_err(|_| SessionError::NoMemory)?;
        // Where the system does not give huge pages, small ones do.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Ok(Slab { memory, records, used: 0, record: PhantomData })
    }

    /// How many records there are.
    pub(crate) fn len(&self) -> u32 {
        self.records
    }

    /// Bytes of them all, written or not.
    pub(crate) fn bytes(&self) -> u64 {
        self.memory.len() as u64
    }

    #[inline(always)]
    pub(crate) fn at(&self, slot: u32) -> Option<&R> {
        if slot >= self.records {
            return None;
        }
        let at = slot as usize * size_of::<R>();
        Some(bytemuck::from_bytes(&self.memory[at..at + size_of::<R>()]))
    }

    #[inline(always)]
    pub(crate) fn at_mut(&mut self, slot: u32) -> Option<&mut R> {
        if slot >= self.records {
            return None;
        }
        let at = slot as usize * size_of::<R>();
        Some(bytemuck::from_bytes_mut(&mut self.memory[at..at + size_of::<R>()]))
    }

    /// All records, for who looks at many.
    #[inline(always)]
    pub(crate) fn all_mut(&mut self) -> &mut [R] {
        let bytes = self.records as usize * size_of::<R>();
        bytemuck::cast_slice_mut(&mut self.memory[..bytes])
    }

    /// Notes that a record will be written.
    pub(crate) fn claim(&mut self, slot: u32) {
        self.used = self.used.max(slot + 1);
    }
}

impl<R> Drop for Slab<R> {
    fn drop(&mut self) {
        self.memory[..self.used as usize * size_of::<R>()].zeroize();
    }
}
