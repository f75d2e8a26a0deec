//! An array of records, in huge pages if the system provides them: a random access then costs one miss instead of two.

use core::marker::PhantomData;

use bytemuck::Pod;
use memmap2::MmapMut;
use zeroize::Zeroize;

use crate::error::SessionError;

/// Bytes that are wiped at once.
const WIPED_BYTES: usize = 64 << 10;

/// A fixed number of records, initially zero. Memory is taken when a record is first written. Wiped when dropped.
pub(crate) struct Slab<R> {
    memory: MmapMut,
    records: u32,
    /// One bit per region: whether a record in it was written. Other regions are not touched, and take no memory.
    written: Box<[u64]>,
    record: PhantomData<fn() -> R>,
}

impl<R: Pod> Slab<R> {
    /// Room for `records` records.
    pub(crate) fn new(records: u32) -> Result<Self, SessionError> {
        let bytes = size_of::<R>().checked_mul(records.max(1) as usize).ok_or(SessionError::NoMemory)?;
        let memory = MmapMut::map_anon(bytes).map_err(|_| SessionError::NoMemory)?;
        // If the system does not provide huge pages, small ones are used.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        let written = vec![0; bytes.div_ceil(WIPED_BYTES).div_ceil(64)].into();
        Ok(Slab { memory, records, written, record: PhantomData })
    }

    /// The number of records.
    pub(crate) fn len(&self) -> u32 {
        self.records
    }

    /// Bytes of all records, written or not.
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

    /// All records, for loops over many of them.
    #[inline(always)]
    pub(crate) fn all_mut(&mut self) -> &mut [R] {
        let bytes = self.records as usize * size_of::<R>();
        bytemuck::cast_slice_mut(&mut self.memory[..bytes])
    }

    /// Notes that this record will be written, so that its region is wiped on drop.
    pub(crate) fn claim(&mut self, slot: u32) {
        let at = slot as usize * size_of::<R>();
        for region in at / WIPED_BYTES..=(at + size_of::<R>().max(1) - 1) / WIPED_BYTES {
            self.written[region / 64] |= 1 << (region % 64);
        }
    }
}

impl<R> Drop for Slab<R> {
    fn drop(&mut self) {
        for (at, region) in self.memory.chunks_mut(WIPED_BYTES).enumerate() {
            if self.written[at / 64] >> (at % 64) & 1 == 1 {
                // In words: byte by byte takes eight times as long
                let (head, words, tail) = bytemuck::pod_align_to_mut::<u8, u64>(region);
                head.zeroize();
                words.zeroize();
                tail.zeroize();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Whether the regions in which these records lie would be wiped, and only those.
    #[test]
    fn what_was_written_is_known_by_its_region() {
        type Record = [u64; 12];
        let mut slab = Slab::<Record>::new(10_000).unwrap();
        // The second lies in two regions
        for slot in [3, 682, 9_999] {
            slab.claim(slot);
        }
        let known = |region: usize| slab.written[region / 64] >> (region % 64) & 1 == 1;
        let regions = 10_000 * size_of::<Record>() / WIPED_BYTES;
        assert_eq!((0..=regions).filter(|&region| known(region)).collect::<Vec<_>>(), [0, 1, regions]);
    }
}
