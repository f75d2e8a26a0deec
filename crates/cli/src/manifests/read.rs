//! Reading the manifests of the directories to be opened, before any of their files is.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use sealwright_file::{Commitment, Error, FileId, FileList, Flaw, Opening, list::NAME};
use sealwright_terminal::{CommandError, Exit, say, shown};

use crate::{
    args::FileArgs,
    error::file_error,
    identity::is_there,
    manifests::{
        locks::Locks,
        write::{manifest, sealed_in},
    },
    names::{Direction, renamed},
    plan::{FileTask, Listed, Place, Plan, Root},
};

/// The manifests of the directories to be opened.
#[derive(Debug, Default)]
pub(crate) struct Lists(Vec<Option<Manifest>>);

/// A manifest that was opened.
#[derive(Debug)]
struct Manifest {
    list: FileList,
    /// The identity of its file.
    id: Option<FileId>,
    /// The directory whose files it lists.
    root: PathBuf,
}

impl Manifest {
    /// Removes the manifest if no sealed file is left that it could list.
    fn remove(&self) -> Result<(), CommandError> {
        let path = self.root.join(NAME);
        let is_same = || manifest(&self.root).is_ok_and(|input| input.identity() == self.id);
        if sealed_in(&self.root)?.is_empty() && is_same() {
            fs::remove_file(&path).map_err(|error| CommandError::io(&path, &error))?;
        }
        Ok(())
    }
}

impl Lists {
    /// Opens the manifest of each root and reports which of its files are missing: a directory, link or pipe of that
    /// name is not the file. With `removes`, an earlier run may have removed a file.
    pub(crate) fn open(plan: &mut Plan, opening: &Opening<'_>, removes: bool) -> Lists {
        let mut lists = Vec::new();
        for i in 0..plan.roots.len() {
            let root = &plan.roots[i];
            let opened = manifest(&root.path).and_then(|input| {
                let id = input.identity();
                Ok(Manifest { list: FileList::open(opening, input)?, id, root: root.path.clone() })
            });
            match opened {
                Ok(opened) => {
                    let found = |path: &Path| plan.found.contains(&Listed { root: i, path: path.into() });
                    let gone = opened.list.paths().filter(|path| !found(path));
                    let gone = gone.map(|path| missing(root, path, removes)).collect::<Vec<_>>();
                    plan.failures.extend(gone);
                    lists.push(Some(opened));
                }
                Err(error) => {
                    let error = file_error(error).about_unless_named(&root.path.join(NAME));
                    plan.fail(i, error);
                    lists.push(None);
                }
            }
        }
        Lists(lists)
    }

    /// The number of files in each manifest, with its directory.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&Path, usize)> {
        self.0.iter().flatten().map(|opened| (opened.root.as_path(), opened.list.paths().count()))
    }

    /// Whether the manifest of a root was opened.
    #[cfg(feature = "public-keys")]
    pub(crate) fn is_open(&self, root: usize) -> bool {
        matches!(self.0.get(root), Some(Some(_)))
    }

    /// Whether every entry of a manifest `below` a root agrees with the root's manifest.
    #[cfg(feature = "public-keys")]
    pub(crate) fn agree(&self, root: usize, below: &Path, list: &FileList) -> bool {
        let Some(Some(above)) = self.0.get(root) else { return false };
        list.paths().all(|path| above.list.commitment(&below.join(path)) == list.commitment(path))
    }

    /// Removes the manifests whose files were all opened and removed: they list nothing that exists, and would prevent
    /// the directory from being sealed again.
    pub(crate) fn remove(&self) -> Exit {
        let (mut worst, mut locks) = (Exit::Done, Locks::default());
        let roots: Vec<_> = self.0.iter().flatten().map(|opened| &opened.root).collect();
        // A program that is sealing into the directory needs its manifest.
        for (opened, held) in self.0.iter().flatten().zip(locks.wait_for(&roots)) {
            if let Err(error) = held.map_or_else(|| opened.remove(), Err) {
                say(&error);
                worst = error.exit().max(worst);
            }
        }
        worst
    }

    /// The commitment that the input of a task must have.
    ///
    /// # Errors
    /// If there is a manifest that does not list it.
    pub(crate) fn commitment(&self, task: &FileTask) -> Result<Option<Commitment>, CommandError> {
        let Some(listed) = &task.listed else { return Ok(None) };
        let Some(Some(Manifest { list, .. })) = self.0.get(listed.root) else { return Ok(None) };
        let unlisted = || {
            not_authentic("is not in the manifest of its directory").hint(
                "it was added or renamed; if it opens on its own, its content is authentic and its name unchecked",
            )
        };
        list.commitment(&listed.path).map(Some).ok_or_else(|| unlisted().about(task.input.name("standard input")))
    }

    /// Adds which file it really is, if it is one that the manifest lists under another name.
    pub(crate) fn explain(&self, error: Error, task: &FileTask) -> CommandError {
        let listed = task.listed.as_ref().and_then(|listed| self.0.get(listed.root)?.as_ref());
        let was = match (&error, listed) {
            (Error::NotAuthentic(Flaw::OtherFile { commitment }), Some(opened)) => {
                opened.list.path_of(commitment).map(shown)
            }
            _ => None,
        };
        let failure = file_error(error).about_unless_named(task.input.name("standard input"));
        match was {
            Some(was) => failure.hint(format_args!("it is the file that was sealed as {was}")),
            None => failure,
        }
    }
}

/// Refuses directories that contain nothing sealed, such as the mount point of a backup that is not mounted: success
/// must not be reported if nothing was checked.
pub(crate) fn refuse_nothing(plan: &Plan) -> Result<(), CommandError> {
    empty(plan).first().map_or(Ok(()), |directory| Err(holds_nothing(directory)))
}

/// The same if there are other directories, which are opened.
pub(crate) fn leave_out_nothing(plan: &mut Plan) {
    for directory in empty(plan) {
        plan.unlisted.remove(&directory);
        plan.failures.push(holds_nothing(&directory));
    }
}

/// The given directories that contain neither a sealed file nor a manifest; none if their content could not be read.
fn empty(plan: &Plan) -> Vec<PathBuf> {
    let unlisted = plan.unlisted.iter().filter(|(_, below)| !**below && plan.failures.is_empty());
    let mut empty: BTreeSet<&Path> = unlisted.map(|(directory, _)| directory.as_path()).collect();
    for task in &plan.tasks {
        if empty.is_empty() {
            break;
        }
        if let Place::File(path) = &task.input {
            path.ancestors().for_each(|above| _ = empty.remove(above));
        }
    }
    empty.into_iter().map(Path::to_owned).collect()
}

fn holds_nothing(directory: &Path) -> CommandError {
    let error = CommandError::failed("holds no sealed file and no manifest").about(directory);
    error.hint("is it the right directory, and is it mounted?")
}

/// Reports given directories without a manifest: as failures if `must`, otherwise as messages.
pub(crate) fn without(plan: &mut Plan, args: &FileArgs, must: bool) {
    let unlisted = std::mem::take(&mut plan.unlisted);
    for (directory, below) in &unlisted {
        if must {
            let error = missing_manifest(directory, *below);
            // Its subdirectories may have been named separately; those are not refused.
            plan.refuse_all_of(directory, error);
        } else if !args.progress.quiet {
            say(format_args!(
                "sealwright: warning: {}: has no manifest{}",
                shown(directory),
                match below {
                    true => " of its own, so files missing outside the directories that have manifests are not noticed",
                    false => ", so swapped, renamed or missing files are not noticed",
                }
            ));
        }
    }
}

/// The error for a listed file that is missing. With `removes` too it is a failure: somebody who can write to the
/// directory could have put something at the name to which the file would be opened.
fn missing(root: &Root, path: &Path, removes: bool) -> CommandError {
    const WHAT: &str = "is missing, although the manifest of its directory lists it";
    let sealed = root.path.join(path);
    let output = renamed(&root.output.as_ref().unwrap_or(&root.path).join(path), Direction::Open);
    match output.filter(|output| removes && is_there(output)) {
        Some(output) => CommandError::failed(WHAT).about(&sealed).hint(format_args!(
            "{} is there: an earlier run with --remove may have written it and removed the sealed file",
            shown(&output)
        )),
        None => not_authentic(WHAT).about(&sealed),
    }
}

fn missing_manifest(root: &Path, below: bool) -> CommandError {
    not_authentic("has no manifest").about(root).hint(match below {
        true => "there are manifests below: name the directories that have them",
        false => "`seal --each` writes one; without --manifest the files open without it",
    })
}

fn not_authentic(what: &str) -> CommandError {
    CommandError::new(Exit::NotAuthentic, format_args!("not authentic: {what}"))
}
