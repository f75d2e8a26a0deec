//! Two threads that add to one number without a lock: a fault for the thread sanitizer to see. `cargo xtask sanitize threads` starts it.

use std::{cell::UnsafeCell, sync::Mutex, thread};

struct Shared(UnsafeCell<u64>);

// SAFETY: not sound, and meant so: nothing but the test of the sanitizer runs this.
unsafe impl Sync for Shared {}

fn main() {
    static RACED: Shared = Shared(UnsafeCell::new(0));
    // The standard library's own locks are no fault.
    static LOCKED: Mutex<u64> = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    *LOCKED.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1;
                }
                // SAFETY: as above.
                unsafe { *RACED.0.get() += 1 };
            });
        }
    });
}
