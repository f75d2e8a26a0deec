//! Checks the files of a trace before a run, for damage and for synchronisation that would deadlock.

use std::collections::{BTreeMap, BTreeSet};

use super::{Trace, TraceError};
use crate::access::{Access, Operation, Window};

/// Summary of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Number of threads.
    pub threads: usize,
    /// Number of loads, stores and fetches; those that cross a line count twice.
    pub references: u64,
    /// Number of instructions; those with several references count once for each.
    pub instructions: u64,
    /// Number of barriers, locks, unlocks, posts and waits.
    pub synchronisations: u64,
    /// Number of unlocks by threads that did not hold the lock; in a run, two threads may then hold it at once.
    pub strays: u64,
    /// Number of synchronisation calls that cannot be simulated.
    pub unplayed: u64,
    /// Whether the trace bounds a region of interest.
    pub region: bool,
    /// The windows of the trace, with all threads together; empty if it has none.
    pub windows: Vec<Window>,
}

/// What all threads share: windows and synchronisation objects.
#[derive(Default)]
struct Objects {
    windows: BTreeMap<u64, Window>,
    /// Arrivals at barriers, by object and count.
    barriers: BTreeMap<(u64, u64), u64>,
    /// Posts and waits of each semaphore.
    posts: BTreeMap<u64, (u64, u64)>,
    /// Whether a thread begins the region of interest, and the first one that only ends it.
    begins: bool,
    ends: Option<usize>,
}

impl Trace {
    /// Reads every file to its end and checks that the threads can run together.
    ///
    /// # Errors
    /// When a file is damaged; when the threads would certainly deadlock, because a thread waits for its own lock, a
    /// semaphore has more waits than posts, or a barrier never opens; or when a region of interest ends that has not
    /// begun.
    pub fn check(&self, line: usize) -> Result<Summary, TraceError> {
        let mut summary = Summary { threads: self.threads(), ..Summary::default() };
        let mut objects = Objects::default();
        for thread in 0..self.threads() {
            self.look_through(thread, line, &mut summary, &mut objects)?;
        }
        self.judge(&objects)?;
        self.chosen(&objects)?;
        summary.windows = objects.windows.into_values().collect();
        Ok(summary)
    }

    fn look_through(
        &self,
        thread: usize,
        line: usize,
        summary: &mut Summary,
        objects: &mut Objects,
    ) -> Result<(), TraceError> {
        let wrong = |what: String| Err(TraceError::Unplayable(format!("{}: {what}", self.name(thread))));
        let mut source = self.source(line, thread)?;
        let (mut steps, mut held, mut any) = (Vec::new(), BTreeSet::new(), false);
        let (mut begun, mut ended) = (false, false);
        loop {
            source.fill(&mut steps)?;
            if steps.is_empty() {
                break;
            }
            any = true;
            for access in &steps {
                let Access { address, value, kind, .. } = *access;
                summary.references += u64::from(kind.refers());
                summary.instructions += access.instructions();
                summary.synchronisations += u64::from(kind.synchronises());
                match kind {
                    Operation::Load | Operation::Store | Operation::Fetch => {}
                    Operation::RegionBegin if ended && !begun => {
                        return wrong("ends the region of interest before it begins it".to_owned());
                    }
                    Operation::RegionBegin => begun = true,
                    Operation::RegionEnd => ended = true,
                    Operation::Barrier if value > self.threads() as u64 => {
                        return wrong(format!("barrier {address:#x} waits for {value} threads of {}", self.threads()));
                    }
                    Operation::Barrier if value > 0 => *objects.barriers.entry((address, value)).or_default() += 1,
                    // A barrier for all running threads opens at the latest when the others have finished
                    Operation::Barrier => {}
                    Operation::Lock if !held.insert(address) => {
                        return wrong(format!("takes lock {address:#x} twice and would wait for itself"));
                    }
                    Operation::Lock => {}
                    Operation::Unlock => summary.strays += u64::from(!held.remove(&address)),
                    Operation::Post => objects.posts.entry(address).or_default().0 += 1,
                    Operation::Wait => objects.posts.entry(address).or_default().1 += 1,
                }
            }
        }
        summary.unplayed += source.unplayed();
        summary.region |= begun || ended;
        objects.begins |= begun;
        if ended && !begun {
            objects.ends.get_or_insert(thread);
        }
        for Window { window, references, instructions } in source.windows() {
            let all = objects.windows.entry(window).or_insert(Window { window, references: 0, instructions: 0 });
            (all.references, all.instructions) = (all.references + references, all.instructions + instructions);
        }
        if any { Ok(()) } else { wrong("holds no record".to_owned()) }
    }

    /// Chosen windows must exist: otherwise the region of interest would have no bounds, and be the whole run.
    fn chosen(&self, objects: &Objects) -> Result<(), TraceError> {
        let Some(chosen) = self.windows else { return Ok(()) };
        if objects.windows.keys().any(|window| chosen.contains(*window)) {
            return Ok(());
        }
        let mut all = objects.windows.keys();
        let has = match (all.next(), all.next_back()) {
            (None, _) => "only drmemtrace has windows, and only if DynamoRIO recorded some".to_owned(),
            (Some(one), None) => format!("the only one is {one}"),
            (Some(first), Some(last)) => format!("there are {first} to {last}"),
        };
        let name = self.name(0);
        Err(TraceError::Unplayable(format!("{name} and the other threads: no window {chosen}: {has}")))
    }

    fn judge(&self, objects: &Objects) -> Result<(), TraceError> {
        if let Some(thread) = objects.ends.filter(|_| !objects.begins) {
            let name = self.name(thread);
            return Err(TraceError::Unplayable(format!("{name}: ends a region of interest that no thread begins")));
        }
        let name = self.name(0);
        let wrong = |what: String| Err(TraceError::Unplayable(format!("{name} and the other threads: {what}")));
        for ((barrier, count), arrivals) in &objects.barriers {
            if arrivals % count != 0 {
                return wrong(format!(
                    "{arrivals} arrivals at barrier {barrier:#x}, which opens for {count} at a time"
                ));
            }
        }
        for (semaphore, (posts, waits)) in &objects.posts {
            if waits > posts {
                return wrong(format!("{waits} waits for semaphore {semaphore:#x}, but {posts} posts"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::{io, path::Path};

    use super::*;
    use crate::trace::Writer;

    type Records = fn(&mut Writer<Vec<u8>>) -> io::Result<()>;

    fn checked(folder: &Path, threads: [Records; 2]) -> Result<Summary, String> {
        for (thread, records) in threads.into_iter().enumerate() {
            let mut writer = Writer::new(Vec::new());
            records(&mut writer).unwrap();
            std::fs::write(folder.join(format!("t.{thread}.smpt")), writer.into_inner()).unwrap();
        }
        Trace::find(&folder.join("t")).unwrap().check(64).map_err(|error| error.to_string())
    }

    #[test]
    fn a_set_of_files_is_checked_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let good: Records = |w| {
            w.refer(2, false, 64, 3)?;
            w.meet(0, 3, 0x10)?;
            w.meet(0, 5, 0x10)?;
            w.meet(0, 9, 0x20)?;
            w.count(2)?;
            w.meet(1, 1, 0x30)
        };
        let waits: Records = |w| {
            w.meet(0, 11, 0x20)?;
            w.count(2)?;
            w.meet(0, 1, 0x30)
        };
        let summary = checked(folder.path(), [good, waits]).unwrap();
        assert_eq!((summary.threads, summary.references, summary.synchronisations), (2, 1, 6));
        assert_eq!((summary.instructions, summary.region, summary.strays), (4, false, 0));
        let stray = checked(
            folder.path(),
            [good, |w| {
                w.meet(0, 5, 0x10)?;
                w.count(2)?;
                w.meet(0, 1, 0x30)
            }],
        );
        assert_eq!(stray.unwrap().strays, 1, "another thread holds the lock");

        let cases: [(Records, &str); 6] = [
            (|_| Ok(()), "t.1.smpt: holds no record"),
            (
                |w| {
                    w.meet(0, 3, 0x10)?;
                    w.meet(0, 3, 0x10)
                },
                "t.1.smpt: takes lock 0x10 twice",
            ),
            (|w| w.meet(0, 11, 0x99), "1 waits for semaphore 0x99, but 0 posts"),
            (
                |w| {
                    w.count(3)?;
                    w.meet(0, 1, 0x30)
                },
                "t.1.smpt: barrier 0x30 waits for 3 threads of 2",
            ),
            (|w| w.meet(0, 15, 0), "t.1.smpt: ends a region of interest that no thread begins"),
            (
                |w| {
                    w.meet(0, 15, 0)?;
                    w.meet(0, 14, 0)
                },
                "t.1.smpt: ends the region of interest before it begins it",
            ),
        ];
        for (records, why) in cases {
            let found = checked(folder.path(), [waits_for_nobody, records]).unwrap_err();
            assert!(found.contains(why), "{found}");
        }
        // One thread may begin the region, and another one end it
        let apart = checked(folder.path(), [|w| w.meet(0, 14, 0), |w| w.meet(0, 15, 0)]).unwrap();
        assert!(apart.region);
        let found = checked(folder.path(), [good, |w| w.refer(0, false, 64, 3)]).unwrap_err();
        assert!(found.contains("1 arrivals at barrier 0x30, which opens for 2 at a time"), "{found}");
    }

    #[test]
    fn many_locks_held_at_a_time_take_no_longer_than_others() {
        let folder = tempfile::tempdir().unwrap();
        let many: Records = |w| (0..200_000).try_for_each(|lock| w.meet(0, 3, 64 * lock));
        let start = std::time::Instant::now();
        checked(folder.path(), [waits_for_nobody, many]).unwrap();
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }

    fn waits_for_nobody(w: &mut Writer<Vec<u8>>) -> io::Result<()> {
        w.refer(0, false, 64, 3)
    }

    #[test]
    fn damage_is_found_before_anything_runs() {
        let folder = tempfile::tempdir().unwrap();
        for thread in 0..2 {
            std::fs::write(folder.path().join(format!("d.{thread}.smpt")), [1; 12]).unwrap();
        }
        let why = Trace::find(&folder.path().join("d")).unwrap().check(64).unwrap_err().to_string();
        assert!(why.contains("d.0.smpt") && why.contains("within a record"), "{why}");
    }
}
