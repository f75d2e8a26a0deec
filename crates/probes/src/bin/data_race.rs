//! Two threads add to one number without a lock: a planted fault for the thread sanitizer. `cargo xtask sanitize
//! threads` starts it.

use std::{
    cell::UnsafeCell,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread,
};

struct Shared(UnsafeCell<u64>);

// SAFETY: not sound, on purpose: only the test of the sanitizer runs this.
unsafe impl Sync for Shared {}

fn main() {
    static RACED: Shared = Shared(UnsafeCell::new(0));
    // The standard library's own locks are no fault.
    static LOCKED: Mutex<u64> = Mutex::new(0);
    // Both threads run when they race, and nothing orders them, as the lock of a barrier would.
    static THERE: AtomicU32 = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    *LOCKED.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1;
                }
                THERE.fetch_add(1, Relaxed);
                while THERE.load(Relaxed) < 2 {
                    thread::yield_now();
                }
                for _ in 0..1000 {
                    // SAFETY: as above.
                    unsafe { *RACED.0.get() += 1 };
                }
            });
        }
    });
}
