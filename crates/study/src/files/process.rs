//! Measurements of whole processes. Each program's output is first checked by decrypting it; then the programs are
//! measured in interleaved rounds.

use std::{collections::BTreeMap, fs, io, path::PathBuf, process::Command};

use sealwright_measure::{Candidate, Comparison, Counted, Interval, Meter, Process};

use super::{
    grid::{Direction, Point, SIZES, Size},
    programs::{Program, Programs},
};
use crate::{
    corpus::{self, Content},
    progress::Progress,
};

/// The seed for all files of the grid.
const SEED: u64 = 2019;

/// The CPU and wall time of a program at a point of the grid, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    /// User and system time together, which is exact.
    pub(super) cpu: Interval,
    /// Mean user time. The paper uses user time; a single reading of it is mostly chance, because the kernel counts it
    /// in ticks.
    pub(super) user_mean: f64,
    /// The spread of single readings of user time: the share that is zero.
    pub(super) user_zero: f64,
    /// Wall time.
    pub(super) wall: Interval,
    /// Number of runs.
    pub(super) runs: usize,
}

/// A program, a file and a direction.
pub(super) type Place = (Program, Content, Size, Direction);

/// The files of the grid, and all measurements of programs on them.
pub(super) struct Trials<'a> {
    pub(super) programs: &'a Programs,
    pub(super) used: BTreeMap<Place, Used>,
    /// Size of the encrypted file minus size of the text, in bytes.
    pub(super) overhead: BTreeMap<(Program, Size), i64>,
}

impl<'a> Trials<'a> {
    /// Writes the files of the grid to disk.
    pub(super) fn new(programs: &'a Programs, kinds: &[Content]) -> io::Result<Trials<'a>> {
        let trials = Trials { programs, used: BTreeMap::new(), overhead: BTreeMap::new() };
        for &kind in kinds {
            for size in SIZES {
                fs::write(trials.plain(kind, size), corpus::file(kind, size.0 as usize, SEED))?;
            }
        }
        Ok(trials)
    }

    fn plain(&self, kind: Content, size: Size) -> PathBuf {
        self.programs.path(&format!("{}.{}", size.0, kind.extension()))
    }

    fn sealed(&self, program: Program, kind: Content, size: Size) -> PathBuf {
        self.programs.path(&format!("{}.{}.{}", size.0, kind.extension(), program.name().replace([' ', ','], "-")))
    }

    /// Encrypts and decrypts a file once with `program`, and checks that the result equals the file.
    pub(super) fn check(&mut self, program: Program, kind: Content, size: Size) -> io::Result<()> {
        let (plain, sealed) = (self.plain(kind, size), self.sealed(program, kind, size));
        let back = self.programs.path("back");
        self.programs.once(program, Direction::Encrypt, &plain, &sealed)?;
        self.programs.once(program, Direction::Decrypt, &sealed, &back)?;
        let plain = fs::read(plain)?;
        if fs::read(&back)? != plain {
            return Err(io::Error::other(format!("{} did not give back {size} of {kind}", program.name())));
        }
        self.overhead.insert((program, size), fs::metadata(&sealed)?.len() as i64 - plain.len() as i64);
        fs::remove_file(back)
    }

    /// Tries `program` on every size of these kinds. If it is not there, or if it is another project's and fails, it is
    /// missing, and the reason is returned.
    pub(super) fn missing(&mut self, program: Program, kinds: &[Content]) -> io::Result<Option<(Program, String)>> {
        if !self.programs.has(program) {
            return Ok(Some((program, "not found".to_owned())));
        }
        let mut files = kinds.iter().flat_map(|&kind| SIZES.map(|size| (kind, size)));
        match files.try_for_each(|(kind, size)| self.check(program, kind, size)) {
            Err(error) if !program.ours() => Ok(Some((program, error.to_string()))),
            tried => tried.map(|()| None),
        }
    }

    /// Measures `places`, which have the same size and direction, in one comparison.
    pub(super) fn compare(
        &mut self,
        meter: &Meter,
        places: &[Place],
        progress: &mut Progress<'_>,
    ) -> io::Result<Comparison> {
        let mut processes: Vec<Process<Box<dyn FnMut() -> Command + '_>>> = Vec::new();
        for (number, place) in places.iter().enumerate() {
            let &(program, kind, size, direction) = place;
            let (plain, sealed) = (self.plain(kind, size), self.sealed(program, kind, size));
            let input = if direction == Direction::Encrypt { plain } else { sealed };
            let output = self.programs.path(&format!("out.{number}"));
            let programs = self.programs;
            let command = move || {
                // The output file must not exist, as when the paper's author ran the commands
                let _ = fs::remove_file(&output);
                programs.command(program, direction, &input, &output)
            };
            processes.push(Process::new(name(place), Counted::Cpu, Box::new(command)));
        }
        let mut candidates: Vec<&mut dyn Candidate> = processes.iter_mut().map(|p| p as &mut dyn Candidate).collect();
        let found = progress.compare(meter, &mut candidates)?;
        for ((place, process), trial) in places.iter().zip(&processes).zip(&found.trials) {
            // The first run is a warm-up
            let runs = process.runs().get(1..).unwrap_or_default();
            let ms = |time: std::time::Duration| time.as_secs_f64() * 1e3;
            let wall: Vec<f64> = runs.iter().map(|run| ms(run.wall)).collect();
            let user: Vec<f64> = runs.iter().map(|run| ms(run.user)).collect();
            let Some(wall) = Interval::of(&wall, found.seed) else { continue };
            let used = Used {
                cpu: trial.interval.scale(1e3),
                user_mean: user.iter().sum::<f64>() / user.len() as f64,
                user_zero: user.iter().filter(|&&user| user == 0.0).count() as f64 / user.len() as f64,
                wall,
                runs: runs.len(),
            };
            self.used.insert(*place, used);
        }
        Ok(found)
    }
}

/// The name of a place as a candidate of a comparison.
pub(super) fn name(&(program, kind, size, direction): &Place) -> String {
    format!("{}, {direction} {size} {kind}", program.name())
}

/// The grid point for the times of `program` in `mode`.
pub(super) fn point(&(_, kind, size, direction): &Place, mode: super::grid::Mode) -> Point {
    Point { kind, size, mode, direction }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A gpg that answers and then cannot encrypt, and a `sealwright` that fails.
    #[test]
    fn an_optional_program_that_fails_is_missing_with_its_reason() {
        let mut programs = Programs::find(Some(std::path::Path::new("/bin/false"))).unwrap();
        programs.pretend_gpg();
        // Its key folder is a file
        fs::remove_dir_all(programs.path("gpg")).unwrap_or_default();
        fs::write(programs.path("gpg"), "").unwrap();
        let mut trials = Trials::new(&programs, &[Content::Text]).unwrap();
        let (program, why) = trials.missing(Program::Gpg, &[Content::Text]).unwrap().unwrap();
        assert_eq!(program, Program::Gpg);
        assert!(!why.is_empty() && why != "not found", "{why}");
        assert!(trials.missing(Program::Seal, &[Content::Text]).is_err(), "it must be there");
    }
}
