//! The files whose keys `sealwright rekey` changes: those that were given, and those in given directories, with their
//! manifests.

use std::{
    collections::{BTreeSet, HashSet},
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use sealwright_file::{
    Commitment, Error, FileList, Found, Opening,
    list::{NAME, claimed},
};
use sealwright_terminal::{CommandError, Exit, say, shown};

use crate::{
    args::FileArgs,
    error::file_error,
    exit_status::Worst,
    manifests::{
        self,
        locks::Locks,
        read::{self, Lists},
    },
    names::Direction,
    plan::{Place, Plan},
};

/// Which files.
#[derive(Args, Debug)]
pub(crate) struct ChosenArgs {
    /// Sealed files, and with --each directories
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Change the keys of every listed file in the given directories, and of their manifests; symbolic links are not
    /// followed
    #[arg(long)]
    pub(crate) each: bool,
    /// Print nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// A file whose keys are to be changed.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) path: PathBuf,
    /// Set if it was found in a directory: how to open it, and its commitment in the manifest, if there is one.
    pub(crate) found: Option<(Found, Option<Commitment>)>,
}

/// All files whose keys are to be changed.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) targets: Vec<Target>,
    /// Their names without links, so that none is taken twice.
    known: HashSet<PathBuf>,
    /// Prevents other programs from sealing into their directories.
    _locks: Locks,
}

impl Chosen {
    /// The given files, and those of given directories. Errors are reported. `adds` says whether keys will be added;
    /// `opening` opens the manifests.
    pub(crate) fn new(args: &ChosenArgs, adds: bool, opening: &Opening<'_>, worst: &mut Worst) -> Chosen {
        let mut locks = Locks::default();
        // All locks are taken before anything in the directories is read.
        let (of, directories): (Vec<_>, Vec<_>) = args.files.iter().flat_map(|path| with_manifests(path, args)).unzip();
        let mut refused = HashSet::new();
        for (path, error) in of.into_iter().zip(locks.wait_for(&directories)) {
            if let Some(error) = error {
                worst.failed(&error);
                refused.insert(path);
            }
        }
        let mut chosen = Chosen { _locks: locks, ..Chosen::default() };
        for path in args.files.iter().filter(|path| !refused.contains(path.as_path())) {
            if !path.is_dir() {
                chosen.take(path.clone(), None);
            } else if let Err(error) = chosen.take_directory(path, args, adds, opening, worst) {
                worst.failed(&error);
            }
        }
        chosen
    }

    fn take(&mut self, path: PathBuf, found: Option<(Found, Option<Commitment>)>) {
        // A name that cannot be resolved is reported separately.
        if fs::canonicalize(&path).map_or(true, |real| self.known.insert(real)) {
            self.targets.push(Target { path, found });
        }
    }

    /// Takes the sealed files of a directory, then its manifests.
    fn take_directory(
        &mut self,
        directory: &Path,
        args: &ChosenArgs,
        adds: bool,
        opening: &Opening<'_>,
        worst: &mut Worst,
    ) -> Result<(), CommandError> {
        if !args.each {
            let error = CommandError::failed("is a directory").about(directory);
            return Err(error.hint("--each changes the keys of every listed file in it, and of its manifest"));
        }
        let walk = FileArgs::each_in(vec![directory.to_owned()], args.quiet);
        let mut plan = Plan::unchecked(&walk, Direction::Open)?;
        // Somebody else could have put files there that he cannot open himself, to be given access to them.
        if let Some(below) = plan.unlisted.get(directory).filter(|_| adds) {
            let error = CommandError::new(Exit::NotAuthentic, "not authentic: has no manifest").about(directory);
            return Err(error.hint(match below {
                true => "there are manifests below: name the directories that have them",
                false => "without one, --each gives nobody new keys: name the files",
            }));
        }
        read::refuse_nothing(&plan)?;
        read::without(&mut plan, &walk, false);
        let lists = Lists::open(&mut plan, opening, false);
        if !args.quiet {
            plan.skipped.iter().for_each(|line| say(format_args!("sealwright: {line}")));
        }
        plan.failures.iter().for_each(|error| worst.failed(error));
        for task in &plan.tasks {
            let (Place::File(path), Some(found)) = (&task.input, &task.found) else { continue };
            match lists.commitment(task) {
                Ok(None) if adds => {
                    let error = CommandError::new(Exit::NotAuthentic, "not authentic: is in no manifest").about(path);
                    worst.failed(&error.hint("its keys were not changed; try again"));
                }
                Ok(listed) => self.take(path.clone(), Some((found.clone(), listed))),
                Err(error) => worst.failed(&error),
            }
        }
        for path in &plan.manifests {
            match manifest(path, &plan, &lists, opening) {
                Ok(Some(found)) => self.take(path.clone(), Some(found)),
                // The manifest above could not be opened, which was reported.
                Ok(None) => {}
                Err(error) => worst.failed(&error),
            }
        }
        Ok(())
    }

    /// The manifests above the files whose keys were changed, except those whose keys were changed too.
    pub(crate) fn left_behind(&self, named: &[PathBuf]) -> BTreeSet<PathBuf> {
        let above = named.iter().flat_map(|path| manifests::above(path));
        above.filter(|(_, real)| !self.known.contains(real)).map(|(name, _)| name).collect()
    }
}

/// The directories with manifests in and below `path`, or the directory of the manifest `path`, each with `path`.
fn with_manifests<'a>(path: &'a Path, args: &ChosenArgs) -> Vec<(&'a Path, PathBuf)> {
    let manifests = if path.is_dir() && args.each {
        let walk = FileArgs::each_in(vec![path.to_owned()], true);
        Plan::unchecked(&walk, Direction::Open).map(|plan| plan.manifests).unwrap_or_default()
    } else if path.file_name().is_some_and(|name| name == NAME) {
        vec![path.to_owned()]
    } else {
        Vec::new()
    };
    let directory = |manifest: PathBuf| {
        let parent = manifest.parent().filter(|parent| !parent.as_os_str().is_empty());
        (path, parent.unwrap_or(Path::new(".")).to_owned())
    };
    manifests.into_iter().map(directory).collect()
}

/// Takes a manifest that was found, unless it contradicts that of the given directory: somebody else could have put it
/// there.
fn manifest(
    path: &Path,
    plan: &Plan,
    lists: &Lists,
    opening: &Opening<'_>,
) -> Result<Option<(Found, Option<Commitment>)>, CommandError> {
    let above = plan.roots.iter().enumerate().find(|(_, root)| path.starts_with(&root.path));
    let Some((number, root)) = above else { return Ok(None) };
    let (Ok(below), Ok(place)) = (path.strip_prefix(&root.named), path.strip_prefix(&root.path)) else {
        return Ok(None);
    };
    if !lists.is_open(number) {
        return Ok(None);
    }
    let found = Found::new(&root.named, below);
    let read = || {
        // Keys are changed only if the file is still the one that was read here.
        let commitment = claimed(found.open()?)?;
        let list = FileList::open(&opening.clone().commitment(Some(commitment)), found.open()?)?;
        Ok::<_, Error>((list, commitment))
    };
    let (list, commitment) = read().map_err(|error| file_error(error).about_unless_named(path))?;
    if !lists.agree(number, place.parent().unwrap_or(Path::new("")), &list) {
        let what = format_args!("does not list what {} lists: its keys were not changed", shown(&root.path.join(NAME)));
        let error = CommandError::new(Exit::NotAuthentic, format_args!("not authentic: {what}")).about(path);
        return Err(error.hint("if it is yours, name its directory"));
    }
    Ok(Some((found, Some(commitment))))
}
