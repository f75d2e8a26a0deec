//! All changes in one program, in which an environment variable selects one: one build, and one run of the tests for
//! each change. The changes are those of cargo-mutants. Changes that cannot be selected at run time are built alone:
//! those of constants, and those that compile only without the rest of the function.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    ops::Range,
    path::{Path, PathBuf},
    slice,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    changes::{Change, list},
    places::{Place, places},
    programs::{Built, Fault, Program, build, split},
    run::{Ended, run},
    switch::{MODULE, switch},
};

/// How many changes are tested in parallel.
const AT_A_TIME: usize = 2;

/// Which bytes of a text serve which changes.
type Parts = Vec<(Range<usize>, Vec<usize>)>;

/// The time that the tests take without a change.
const LONG: Duration = Duration::from_secs(3600);

const NONE_BUILT: &str = "no test program was built";
const NONE_RUNS: &str = "no test runs: the names of tests select none";

/// The result of each change, in lists with the names of cargo-mutants.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) caught: Vec<String>,
    pub(super) timeout: Vec<String>,
    pub(super) unviable: Vec<String>,
    pub(super) missed: Vec<String>,
    /// With the reasons.
    pub(super) not_run: Vec<String>,
}

impl Outcome {
    fn note(&mut self, name: &str, ended: Ended) {
        match ended {
            Ended::Passed(_) => {
                println!("   not noticed: {name}");
                self.missed.push(name.to_owned());
            }
            Ended::Failed => self.caught.push(name.to_owned()),
            Ended::Hung => self.timeout.push(name.to_owned()),
            Ended::NotRun(why) => self.not_run.push(format!("{name}: {why}")),
        }
    }
}

/// What hung did so because of its change only if the tests, in the same place at the same time, end without it in half
/// the time.
fn if_it_hangs(ended: Ended, unchanged: impl FnOnce() -> Result<usize, String>) -> Ended {
    match ended {
        Ended::Hung => unchanged().map_or_else(|why| Ended::NotRun(format!("it hangs, and {why}")), |_| Ended::Hung),
        other => other,
    }
}

/// The sources that are changed, and how they are built and tested.
pub(super) struct Bench {
    tree: PathBuf,
    target: PathBuf,
    /// Arguments of cargo, with the package.
    cargo: Vec<String>,
    /// The arguments of the test programs, such as which tests run.
    tests: Vec<String>,
    changes: Vec<Change>,
    /// The original contents of the files that are written.
    originals: BTreeMap<String, String>,
    /// The roots of the crate: they get the module that knows which change is made.
    roots: BTreeSet<String>,
}

impl Bench {
    /// For the package, its folder below the tree, the words for cargo-mutants that say which changes, and those for
    /// `cargo test`.
    pub(super) fn new(
        [tree, target]: [&Path; 2],
        [package, folder]: [&str; 2],
        which: &[String],
        [cargo, programs]: [&[String]; 2],
    ) -> Result<Bench, String> {
        let changes = list(tree, which)?;
        let roots = ["src/lib.rs", "src/main.rs"].map(|root| format!("{folder}/{root}"));
        let roots: BTreeSet<String> = roots.into_iter().filter(|root| tree.join(root).is_file()).collect();
        let mut originals = BTreeMap::new();
        for file in changes.iter().map(|change| &change.file).chain(&roots) {
            let text = fs::read_to_string(tree.join(file)).map_err(|error| format!("{file}: {error}"))?;
            originals.insert(file.clone(), text);
        }
        let (words, mut tests) = split(cargo);
        tests.extend(programs.iter().skip(1).cloned());
        let cargo = ["--package", package].map(str::to_owned).into_iter().chain(words).collect();
        Ok(Bench { tree: tree.to_owned(), target: target.to_owned(), cargo, tests, changes, originals, roots })
    }

    pub(super) fn outcome(&self) -> Result<Outcome, String> {
        let (places, mut alone) = self.places()?;
        let outcome = Mutex::new(Outcome::default());
        let (programs, order) = self.all(places, &mut alone)?;
        // No change has this number.
        let none = Some(order.len());
        let (start, mut timed, mut tests) = (Instant::now(), Vec::new(), 0);
        for program in programs {
            let start = Instant::now();
            tests += self.unchanged(slice::from_ref(&program), none, AT_A_TIME, LONG)?;
            timed.push((start.elapsed(), program));
        }
        if tests == 0 {
            return Err(NONE_RUNS.into());
        }
        // What takes little time first: often it notices already.
        timed.sort_by_key(|(time, _)| *time);
        let programs: Vec<Program> = timed.into_iter().map(|(_, program)| program).collect();
        // As cargo-mutants has it
        let time = (start.elapsed() * 5).max(Duration::from_secs(20));
        println!("   {} changes in one program, {} to build alone", order.len(), alone.len());
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..AT_A_TIME {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(index) = order.get(number) else { break };
                        let ended = run(&programs, &self.tests, Some(number), time);
                        let ended = if_it_hangs(ended, || self.unchanged(&programs, none, 1, time / 2));
                        let mut outcome = outcome.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                        outcome.note(&self.changes[*index].name, ended);
                    }
                });
            }
        });
        // Failures since then, as by a full disk, are not caused by changes.
        self.unchanged(&programs, none, 1, LONG)?;
        let mut outcome = outcome.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        // What is built alone can take hours: who stops it has this figure.
        let (noticed, hung, not) = (outcome.caught.len(), outcome.timeout.len(), outcome.missed.len());
        println!("   in one program: {noticed} noticed, {hung} noticed because the tests hang, {not} not");
        if !alone.is_empty() {
            // These programs have no choices in them.
            self.plain(time / 2)?;
        }
        for index in alone {
            let change = &self.changes[index];
            self.write(&BTreeMap::from([(&change.file, change.alone(&self.originals[&change.file]))]))?;
            match build(&self.tree, &self.target, &self.cargo)? {
                Built::Faults(_) => outcome.unviable.push(change.name.clone()),
                Built::Programs(programs) if programs.is_empty() => return Err(NONE_BUILT.into()),
                Built::Programs(programs) => {
                    let ended = run(&programs, &self.tests, None, time);
                    outcome.note(&change.name, if_it_hangs(ended, || self.plain(time / 2)));
                }
            }
        }
        self.write(&BTreeMap::new())?;
        Ok(outcome)
    }

    /// Runs programs that make no change, several times at once; how many tests passed in one of them.
    fn unchanged(
        &self,
        programs: &[Program],
        number: Option<usize>,
        at_once: usize,
        time: Duration,
    ) -> Result<usize, String> {
        let ended = thread::scope(|scope| {
            let run = || run(programs, &self.tests, number, time);
            let runs: Vec<_> = (0..at_once).map(|_| scope.spawn(run)).collect();
            runs.into_iter().map(|run| run.join().unwrap_or(Ended::Failed)).collect::<Vec<_>>()
        });
        let mut passed = Err("nothing was run".to_owned());
        for ended in ended {
            match ended {
                Ended::Passed(tests) => passed = Ok(tests),
                other => {
                    return Err(format!("without a change not all tests pass in {time:?}: {other:?}: {programs:?}"));
                }
            }
        }
        passed
    }

    /// Builds the sources as they are, and runs them.
    fn plain(&self, time: Duration) -> Result<usize, String> {
        self.write(&BTreeMap::new())?;
        match build(&self.tree, &self.target, &self.cargo)? {
            Built::Faults(_) => Err("the sources without a change do not compile".into()),
            Built::Programs(programs) => match self.unchanged(&programs, None, 1, time)? {
                0 => Err(NONE_RUNS.into()),
                tests => Ok(tests),
            },
        }
    }

    /// The places at which changes can be selected, and the changes that cannot.
    fn places(&self) -> Result<(BTreeMap<usize, Place>, BTreeSet<usize>), String> {
        let (mut chosen, mut alone) = (BTreeMap::new(), BTreeSet::new());
        for (file, text) in &self.originals {
            let (indices, changes) = self.of(file);
            let mut found = places(text, &changes).map_err(|why| format!("{file}: {why}"))?;
            for (at, index) in indices.into_iter().enumerate() {
                match found.remove(&at) {
                    Some(place) => drop(chosen.insert(index, place)),
                    None => drop(alone.insert(index)),
                }
            }
        }
        Ok((chosen, alone))
    }

    /// The changes of a file, and which of all those are.
    fn of(&self, file: &str) -> (Vec<usize>, Vec<Change>) {
        let of = self.changes.iter().enumerate().filter(|(_, change)| change.file == file);
        of.map(|(index, change)| (index, change.clone())).unzip()
    }

    /// Builds the programs with all changes; those which the compiler does not accept go to those that are built alone.
    /// The changes come in the order of their numbers.
    fn all(
        &self,
        mut chosen: BTreeMap<usize, Place>,
        alone: &mut BTreeSet<usize>,
    ) -> Result<(Vec<Program>, Vec<usize>), String> {
        loop {
            let (mut order, mut texts, mut parts) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
            for (file, text) in &self.originals {
                let (indices, changes) = self.of(file);
                let places =
                    indices.iter().enumerate().filter_map(|(at, index)| Some((at, chosen.get(index)?.clone())));
                let switched = switch(text, &changes, &places.collect(), order.len());
                order.extend(switched.order.iter().map(|at| indices[*at]));
                let own = |(range, of): (Range<usize>, Vec<usize>)| {
                    (range, of.into_iter().map(|at| indices[at]).collect::<Vec<usize>>())
                };
                parts.insert(file.as_str(), switched.parts.into_iter().map(own).collect::<Parts>());
                texts.insert(file, switched.text);
            }
            for root in &self.roots {
                *texts.entry(root).or_insert_with(|| self.originals[root].clone()) += MODULE;
            }
            self.write(&texts)?;
            let faults = match build(&self.tree, &self.target, &self.cargo)? {
                Built::Programs(programs) if programs.is_empty() => return Err(NONE_BUILT.into()),
                Built::Programs(programs) => return Ok((programs, order)),
                Built::Faults(faults) => faults,
            };
            let guilty: BTreeSet<usize> = faults.iter().flat_map(|fault| self.guilty(fault, &parts)).collect();
            if guilty.is_empty() {
                let said: Vec<&str> = faults.iter().map(|fault| fault.said.as_str()).collect();
                return Err(format!("it does not compile, and no change is at fault:\n{}", said.join("\n")));
            }
            println!("   {} changes do not compile with the others", guilty.len());
            chosen.retain(|index, _| !guilty.contains(index));
            alone.extend(guilty);
        }
    }

    /// The changes that an error is about: that of the text to which it points first, or all of the place around.
    fn guilty(&self, fault: &Fault, parts: &BTreeMap<&str, Parts>) -> Vec<usize> {
        let around = |alone: bool| {
            fault.places.iter().find_map(|(file, range)| {
                // The compiler says it as it was called: from the root of the workspace.
                let parts = parts.get(file.as_str())?.iter();
                let around = parts.filter(|(part, of)| {
                    part.start <= range.start && range.end <= part.end && (!alone || of.len() == 1)
                });
                around.min_by_key(|(part, _)| part.len()).map(|(_, of)| of.clone())
            })
        };
        around(true).or_else(|| around(false)).unwrap_or_default()
    }

    /// Writes these texts, and restores all other files.
    fn write(&self, texts: &BTreeMap<&String, String>) -> Result<(), String> {
        for (file, original) in &self.originals {
            let (path, text) = (self.tree.join(file), texts.get(file).unwrap_or(original));
            if fs::read_to_string(&path).is_ok_and(|there| there == *text) {
                continue;
            }
            fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "together_tests.rs"]
mod tests;
