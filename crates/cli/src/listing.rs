//! The manifests of directories that are sealed file by file: written when all files are sealed, checked before any is opened.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use sealwright_file::{Commitment, Error, FileList, Flaw, Found, Input, Opening, Output, Sealing, list::NAME};
use sealwright_terminal::{CommandError, Exit, say, shown};

use crate::{
    args::FileArgs,
    error::file_error,
    kept,
    names::{Direction, left_out},
    plan::{FileTask, Listed, Plan},
    stream,
};

/// What was sealed into each root so far.
#[derive(Debug)]
pub(crate) struct Sealed {
    roots: Vec<PathBuf>,
    lists: Mutex<Vec<FileList>>,
    old: Vec<Old>,
}

/// The manifest that a root has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Old {
    /// There is none, or none of its files stays.
    Gone,
    /// What it says of files that stay goes into the new one.
    Kept,
    /// It stays, and nothing is sealed beside it.
    Stays,
}

impl Sealed {
    /// Nothing yet. A root that has a manifest already is not sealed again without --force: half of its files would then be
    /// listed and half not.
    pub(crate) fn new(plan: &mut Plan, args: &FileArgs) -> Sealed {
        let mut old_manifests = vec![Old::Gone; plan.roots.len()];
        if !args.force {
            let old: Vec<usize> = (0..plan.roots.len()).filter(|&i| is_there(&plan.roots[i].join(NAME))).collect();
            for root in old {
                old_manifests[root] = Old::Stays;
                let error = CommandError::failed("exists already").about(&plan.roots[root].join(NAME));
                plan.fail(root, error.hint("--force adds to it what is sealed now; -C DIR seals elsewhere"));
            }
        }
        // Nor is a file sealed, and perhaps removed, whose manifest has no place.
        for (root, old) in old_manifests.iter_mut().enumerate().filter(|_| args.force) {
            let path = plan.roots[root].join(NAME);
            if let Err(error) = Output::check_derived(&path, stream::place(args, false)) {
                *old = Old::Stays;
                plan.fail(root, file_error(error).about_unless_named(&path));
            }
        }
        let lists = Mutex::new(vec![FileList::default(); plan.roots.len()]);
        Sealed { roots: plan.roots.clone(), lists, old: old_manifests }
    }

    /// Whether a manifest is missing where nothing is left to be sealed: an earlier run did not come to write it.
    pub(crate) fn is_due(&self, plan: &Plan) -> bool {
        let due = |(root, old): (&PathBuf, &Old)| {
            *old == Old::Gone && !is_there(&root.join(NAME)) && !sealed_in(root).is_empty()
        };
        plan.failures.is_empty() && self.roots.iter().zip(&self.old).any(due)
    }

    /// Takes over what the old manifests say of files that stay. One that cannot be opened must not be lost while there
    /// are such files: they would be no part of their directory any more. Where there is none, each of these files is
    /// opened as far as it takes to list it. `openings` say with which keys that may be, and who must have signed: what
    /// a new manifest says, its signer answers for.
    pub(crate) fn keep(&mut self, plan: &mut Plan, openings: &[Opening<'_>], args: &FileArgs) {
        let lists = self.lists.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (i, root) in self.roots.iter().enumerate() {
            if self.old[i] == Old::Stays {
                continue;
            }
            let (path, there) = (root.join(NAME), sealed_in(root));
            let replaced: HashSet<&Listed> = plan.tasks.iter().filter_map(|task| task.listed.as_ref()).collect();
            let is_replaced = |path: &PathBuf| replaced.contains(&Listed { root: i, path: path.clone() });
            let kept = if is_there(&path) {
                match kept::opened(openings, |opening| FileList::open(opening, manifest(root)?)) {
                    Ok(old) => {
                        let is_here = |path: &Path| {
                            there.contains(path) || plan.found.contains(&Listed { root: i, path: path.into() })
                        };
                        for gone in old.paths().filter(|path| !args.progress.quiet && !is_here(path)) {
                            say(format_args!(
                                "sealwright: warning: {}: is missing; the manifest lists it, the new one will not",
                                shown(&root.join(gone))
                            ));
                        }
                        for path in there {
                            old.commitment(&path)
                                .into_iter()
                                .for_each(|commitment| lists[i].add(path.clone(), commitment));
                        }
                        Ok(Old::Kept)
                    }
                    Err(_) if there.iter().all(is_replaced) => Ok(Old::Gone),
                    Err(error) => Err(kept::refused(error, "it lists files that stay").about_unless_named(&path)),
                }
            } else if plan.failures.is_empty() {
                let stay = there.into_iter().filter(|path| !is_replaced(path)).collect();
                kept::list(&mut lists[i], root, stay, openings, args.progress.quiet).map(|()| Old::Gone)
            } else {
                // None will be written.
                Ok(Old::Gone)
            };
            self.old[i] = kept.unwrap_or_else(|refused| {
                plan.fail(i, refused);
                Old::Stays
            });
        }
    }

    /// Notes that a task's output commits to this.
    pub(crate) fn note(&self, task: &FileTask, commitment: Commitment) {
        if let Some(listed) = &task.listed {
            let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
            lists[listed.root].add(listed.path.clone(), commitment);
        }
    }

    /// Writes the manifests: of what was sealed and of what stays. A new one is written only if every file was sealed.
    pub(crate) fn write(self, sealing: &Sealing<'_>, args: &FileArgs, sealed: Exit) -> Exit {
        let mut worst = sealed;
        let lists = self.lists.into_inner().unwrap_or_else(PoisonError::into_inner);
        for ((root, list), old) in self.roots.iter().zip(lists).zip(self.old) {
            let path = root.join(NAME);
            if old == Old::Stays {
                continue;
            }
            if sealed != Exit::Done && old == Old::Gone {
                // It tells of files that were replaced.
                let removed = args.force && fs::remove_file(&path).is_ok();
                say(format_args!(
                    "sealwright: {}: no manifest was written, because not every file was sealed{}",
                    shown(root),
                    if removed { "; the old one was removed" } else { "" }
                ));
                continue;
            }
            let written =
                Output::derived(&path, stream::place(args, false)).and_then(|output| list.seal(sealing, output));
            if let Err(error) = written {
                let error = file_error(error).about_unless_named(&path);
                worst = error.exit().max(worst);
                say(error);
            }
        }
        worst
    }
}

/// Whether there is anything of this name, be it a link to nothing.
fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// The manifest in a directory. It is a regular file: a named pipe would be waited for.
fn manifest(root: &Path) -> Result<Input, Error> {
    let path = root.join(NAME);
    let failed = |source| Error::Io { doing: "open", place: path.display().to_string(), source };
    let meta = fs::symlink_metadata(&path).map_err(failed)?;
    if !meta.is_file() {
        return Err(Error::NotAuthentic(Flaw::Magic));
    }
    Found::new(root, Path::new(NAME)).open()
}

/// The sealed files in a directory and below, by their paths from there.
fn sealed_in(root: &Path) -> HashSet<PathBuf> {
    let mut found = Vec::new();
    sealed_below(root, &mut found);
    found.into_iter().filter_map(|path| Some(path.strip_prefix(root).ok()?.to_owned())).collect()
}

fn sealed_below(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(meta) if meta.is_dir() => sealed_below(&entry.path(), found),
            Ok(meta) if left_out(&entry.path(), &meta, Direction::Open).is_none() => found.push(entry.path()),
            _ => {}
        }
    }
}

/// The manifests of the directories to be opened.
#[derive(Debug, Default)]
pub(crate) struct Lists(Vec<Option<FileList>>);

impl Lists {
    /// Opens the manifest of each root and notes which of its files are missing: a directory, a link or a pipe of that name
    /// is not the file.
    pub(crate) fn open(plan: &mut Plan, opening: &Opening<'_>) -> Lists {
        let mut lists = Vec::new();
        for (i, root) in plan.roots.clone().iter().enumerate() {
            let path = root.join(NAME);
            match manifest(root).and_then(|input| FileList::open(opening, input)) {
                Ok(list) => {
                    let found = |path: &Path| plan.found.contains(&Listed { root: i, path: path.into() });
                    let gone = list.paths().filter(|path| !found(path)).map(|path| missing(&root.join(path)));
                    plan.failures.extend(gone.collect::<Vec<_>>());
                    lists.push(Some(list));
                }
                Err(error) => {
                    plan.fail(i, file_error(error).about_unless_named(&path));
                    lists.push(None);
                }
            }
        }
        Lists(lists)
    }

    /// What the input of a task must commit to.
    ///
    /// # Errors
    /// When there is a manifest in which it is not.
    pub(crate) fn commitment(&self, task: &FileTask) -> Result<Option<Commitment>, CommandError> {
        let Some(listed) = &task.listed else { return Ok(None) };
        let Some(Some(list)) = self.0.get(listed.root) else { return Ok(None) };
        let unlisted = || {
            not_authentic("is not in the manifest of its directory")
                .hint("it was added or renamed; opened by itself, it is what it was sealed as")
        };
        list.commitment(&listed.path).map(Some).ok_or_else(|| unlisted().about(task.input.name("standard input")))
    }

    /// Tells which file it is that stands under another's name.
    pub(crate) fn explain(&self, error: Error, task: &FileTask) -> CommandError {
        let listed = task.listed.as_ref().and_then(|listed| self.0.get(listed.root)?.as_ref());
        let was = match (&error, listed) {
            (Error::NotAuthentic(Flaw::OtherFile { commitment }), Some(list)) => list.path_of(commitment).map(shown),
            _ => None,
        };
        let failure = file_error(error).about_unless_named(task.input.name("standard input"));
        match was {
            Some(was) => failure.hint(format_args!("it is the file that was sealed as {was}")),
            None => failure,
        }
    }
}

/// Where a directory that was named has no manifest, `must` makes that a failure; otherwise it is said.
pub(crate) fn without(plan: &mut Plan, args: &FileArgs, must: bool) {
    let unlisted = std::mem::take(&mut plan.unlisted);
    for (directory, below) in &unlisted {
        if must {
            let error = missing_manifest(directory, *below);
            // Not what is below another one that was named, wherever that is
            plan.refuse_all_of(directory, error);
        } else if !args.progress.quiet {
            say(format_args!(
                "sealwright: warning: {}: has no manifest{}",
                shown(directory),
                match below {
                    true => " itself, so what is missing from it beside the directories with manifests is not noticed",
                    false => ", so swapped, renamed or missing files are not noticed",
                }
            ));
        }
    }
}

fn missing(path: &Path) -> CommandError {
    not_authentic("is missing, but the manifest of its directory lists it").about(path)
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
