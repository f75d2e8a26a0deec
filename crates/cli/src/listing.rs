//! The manifests of directories that are sealed file by file: written when all files are sealed, checked before any is opened.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use sealwright_file::{Commitment, Error, FileList, Flaw, Input, Key, Opening, Output, Sealing, list::NAME};
use sealwright_terminal::{CommandError, Exit, say, shown};

use crate::{
    args::FileArgs,
    error::file_error,
    plan::{Direction, FileTask, Listed, Plan, left_out},
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
            let old: Vec<usize> = (0..plan.roots.len()).filter(|&i| plan.roots[i].join(NAME).exists()).collect();
            for root in old {
                old_manifests[root] = Old::Stays;
                let error = CommandError::failed("exists already").about(&plan.roots[root].join(NAME));
                plan.fail(root, error.hint("--force adds to it what is sealed now; -C DIR seals elsewhere"));
            }
        }
        let lists = Mutex::new(vec![FileList::default(); plan.roots.len()]);
        Sealed { roots: plan.roots.clone(), lists, old: old_manifests }
    }

    /// Takes over what the old manifests say of files that stay. One that cannot be opened must not be lost while there are such
    /// files: they would be no part of their directory any more.
    pub(crate) fn keep(&mut self, plan: &mut Plan, keys: &[&Key], ad: &[u8]) {
        let lists = self.lists.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (i, root) in self.roots.iter().enumerate() {
            let path = root.join(NAME);
            if self.old[i] == Old::Stays || !path.exists() {
                continue;
            }
            let mut there = Vec::new();
            sealed_below(root, &mut there);
            let named = there.into_iter().filter_map(|path| Some(path.strip_prefix(root).ok()?.to_owned()));
            let there: Vec<Listed> = named.map(|path| Listed { root: i, path }).collect();
            let open = |key| Input::open(&path).and_then(|input| FileList::open(&Opening::new(key).ad(ad), input));
            let mut opened = Err(Error::NoneOpens);
            for key in keys {
                opened = opened.or_else(|_| open(key));
            }
            match opened {
                Ok(list) => {
                    for Listed { path, .. } in there {
                        list.commitment(&path)
                            .into_iter()
                            .for_each(|commitment| lists[i].add(path.clone(), commitment));
                    }
                    self.old[i] = Old::Kept;
                }
                Err(error) => {
                    let replaced: HashSet<&Listed> =
                        plan.tasks.iter().filter_map(|task| task.listed.as_ref()).collect();
                    if there.iter().all(|file| replaced.contains(file)) {
                        continue;
                    }
                    let error = file_error(error).about_unless_named(&path);
                    plan.fail(i, error.hint("it lists files that stay: give a key that opens it, or use -C DIR"));
                    self.old[i] = Old::Stays;
                }
            }
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
            let written = Output::file(&path, stream::place(args, false)).and_then(|output| list.seal(sealing, output));
            if let Err(error) = written {
                let error = file_error(error).about_unless_named(&path);
                worst = error.exit().max(worst);
                say(error);
            }
        }
        worst
    }
}

/// The sealed files below a directory.
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
            match Input::open(&path).and_then(|input| FileList::open(opening, input)) {
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

/// Where sealed files have no manifest, `must` makes that a failure; otherwise it is said.
pub(crate) fn without(plan: &mut Plan, args: &FileArgs, must: bool) {
    for directory in std::mem::take(&mut plan.unlisted) {
        if must {
            plan.failures.push(missing_manifest(&directory));
            let below = |task: &FileTask| task.input.name("").starts_with(&directory);
            plan.tasks.retain(|task| task.listed.is_some() || !below(task));
        } else if !args.progress.quiet {
            say(format_args!(
                "sealwright: warning: {}: has no manifest, so swapped, renamed or missing files are not noticed",
                shown(&directory)
            ));
        }
    }
}

fn missing(path: &Path) -> CommandError {
    not_authentic("is missing, but the manifest of its directory lists it").about(path)
}

fn missing_manifest(root: &Path) -> CommandError {
    not_authentic("has no manifest")
        .about(root)
        .hint("`seal --each` writes one; without --manifest the files open without it")
}

fn not_authentic(what: &str) -> CommandError {
    CommandError::new(Exit::NotAuthentic, format_args!("not authentic: {what}"))
}
