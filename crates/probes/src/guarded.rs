//! Memory between two inaccessible guard pages: a read or write one byte too far ends the process.

use std::{io, ptr::NonNull};

/// Bytes of a page, on every machine that the tests run on. Larger pages would only move the guards further.
const PAGE: usize = 4096;

/// Memory of some pages between two guard pages.
#[derive(Debug)]
pub struct Guarded {
    /// The first byte after the lower guard.
    first: NonNull<u8>,
    /// Bytes between the guards.
    len: usize,
}

impl Guarded {
    /// Room for at least `len` bytes, up to each guard.
    ///
    /// # Errors
    /// If the system gives no memory.
    pub fn new(len: usize) -> io::Result<Guarded> {
        let len = len.max(1).next_multiple_of(PAGE);
        // SAFETY: an anonymous mapping at an address of the system's choice touches no memory of this program.
        let base = unsafe {
            // Without a reserve, so that a buffer may be longer than memory: pages that nobody touches take none.
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            libc::mmap(std::ptr::null_mut(), len + 2 * PAGE, libc::PROT_NONE, flags, -1, 0)
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let first = base.cast::<u8>().wrapping_add(PAGE);
        // SAFETY: these pages lie within the mapping made above, which nothing else knows.
        if unsafe { libc::mprotect(first.cast(), len, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let first = NonNull::new(first).ok_or_else(|| io::Error::other("a mapping at address zero"))?;
        Ok(Guarded { first, len })
    }

    /// The last `len` bytes: the upper guard begins where they end.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn at_end(&mut self, len: usize) -> &mut [u8] {
        assert!(len <= self.len, "room for {len} bytes");
        self.part(self.len - len, len)
    }

    /// `len` bytes from `offset` on: at 0, the lower guard ends where they begin.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn at(&mut self, offset: usize, len: usize) -> &mut [u8] {
        assert!(offset + len <= self.len, "room for {len} bytes at {offset}");
        self.part(offset, len)
    }

    fn part(&mut self, offset: usize, len: usize) -> &mut [u8] {
        // SAFETY: callers checked that the bytes lie between the guards, where memory is readable and writable and was
        // zeroed by the system; the borrow of `self` keeps other slices of it away.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr().wrapping_add(offset), len) }
    }

    /// Reads one byte at a distance from the first one, without a check. For the test of the guard pages.
    pub fn touch(&self, distance: isize) -> u8 {
        // SAFETY: within the mapping, which lives as long as `self`. On a guard page the process ends, as is wanted.
        unsafe { self.first.as_ptr().wrapping_offset(distance).read_volatile() }
    }

    /// Bytes between the guards.
    pub fn room(&self) -> usize {
        self.len
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let base = self.first.as_ptr().wrapping_sub(PAGE);
        // SAFETY: the mapping made in `new`, whole; no slice of it outlives `self`.
        unsafe { libc::munmap(base.cast(), self.len + 2 * PAGE) };
    }
}
