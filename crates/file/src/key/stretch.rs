//! Deriving a key from a passphrase.

use std::{io, panic::resume_unwind, thread};

use argon2::{Algorithm, Argon2, Block, Version};
use rayon::prelude::*;
use zeroize::{Zeroize, Zeroizing};

use crate::{
    costs::Costs,
    error::Error,
    pool::{cores, pooled},
    secret::Secret,
};

/// Argon2id of `passphrase`, `len` bytes. Its lanes run in parallel on the available cores.
pub(crate) fn argon2id(costs: Costs, passphrase: &[u8], salt: &[u8], len: usize) -> Result<Secret, Error> {
    let lanes = usize::try_from(costs.lanes).unwrap_or(usize::MAX);
    alone(cores().min(lanes), || on_this_thread(costs, passphrase, salt, len))
}

/// As [`argon2id`], but the lanes run in the current thread pool.
fn on_this_thread(costs: Costs, passphrase: &[u8], salt: &[u8], len: usize) -> Result<Secret, Error> {
    let params = costs.params(len).ok_or(Error::Costs(costs))?;
    let mut memory = Memory(Vec::new());
    memory.0.try_reserve_exact(params.block_count()).map_err(|_| Error::NoMemory(costs))?;
    // The memory is first written in parallel, because the page faults of that take time too.
    (0..params.block_count())
        .into_par_iter()
        .with_min_len(PIECE)
        .map(|_| Block::default())
        .collect_into_vec(&mut memory.0);
    let mut key = Zeroizing::new(vec![0; len]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into_with_memory(passphrase, salt, &mut key, &mut memory.0)
        .map_err(|_| Error::Costs(costs))?;
    Ok(key)
}

/// Runs `job` in a pool of its own, and does nothing else until it has ended. A thread of a rayon pool that waits for
/// another pool executes further jobs of its own pool meanwhile. Such a job may need the key that is being derived
/// here, and would wait for its own thread: a deadlock. Therefore a thread outside of all pools waits.
fn alone<T: Send>(threads: usize, job: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    let failed = |error: io::Error| Error::Io { doing: "start", place: "threads".into(), error };
    thread::scope(|scope| {
        let waiter = thread::Builder::new().spawn_scoped(scope, || pooled(threads, job)).map_err(failed)?;
        waiter.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Blocks of Argon2's memory that one thread initialises or wipes at a time: 1 MiB.
const PIECE: usize = 1024;

/// Argon2's memory, wiped on drop: with what is left in it, a passphrase can be tested at a fraction of the cost.
struct Memory(Vec<Block>);

impl Drop for Memory {
    fn drop(&mut self) {
        self.0.par_iter_mut().with_min_len(PIECE).for_each(Zeroize::zeroize);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{sync::mpsc, time::Duration};

    use super::*;
    use crate::Key;

    const LITTLE: Costs = Costs { memory_kib: 256, passes: 2, lanes: 4 };

    #[test]
    fn lanes_side_by_side_make_what_one_after_the_other_makes() {
        let together = argon2id(LITTLE, b"a passphrase", &[7; 32], 32).unwrap();
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let apart = one.install(|| on_this_thread(LITTLE, b"a passphrase", &[7; 32], 32)).unwrap();
        assert_eq!(*together, *apart);
    }

    /// Jobs of one pool that all need the key: a thread that waits for it must not start another of these jobs.
    #[test]
    fn jobs_that_share_a_key_do_not_wait_for_each_other() {
        let (done, wait) = mpsc::channel();
        thread::spawn(move || {
            let key = Key::passphrase("a passphrase").unwrap();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
            pool.scope(|scope| {
                for _ in 0..16 {
                    scope.spawn(|_| drop(key.for_slot(LITTLE).unwrap()));
                }
            });
            done.send(()).unwrap();
        });
        assert!(wait.recv_timeout(Duration::from_secs(60)).is_ok(), "they wait for each other");
    }
}
