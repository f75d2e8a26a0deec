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

    /// Takes over what the old manifests say of files that stay. One that cannot be opened must not be lost while there are such
    /// files: they would be no part of their directory any more. `openings` say with which keys it may open, and who must have
    /// signed it: what a new manifest says, its signer answers for.
    pub(crate) fn keep(&mut self, plan: &mut Plan, openings: &[Opening<'_>], args: &FileArgs) {
        let lists = self.lists.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (i, root) in self.roots.iter().enumerate() {
            let path = root.join(NAME);
            if self.old[i] == Old::Stays || !is_there(&path) {
                continue;
            }
            let mut there = Vec::new();
            sealed_below(root, &mut there);
            let named = there.into_iter().filter_map(|path| Some(path.strip_prefix(root).ok()?.to_owned()));
            let there: HashSet<Listed> = named.map(|path| Listed { root: i, path }).collect();
            let mut opened = Err(Error::NoneOpens);
            for opening in openings {
                let open = || manifest(root).and_then(|input| FileList::open(opening, input));
                // That it is not signed was found out by the key that opens it.
                opened =
                    opened.or_else(|before| open().map_err(|error| if is_of_signer(&before) { before } else { error }));
            }
            match opened {
                Ok(list) => {
                    let replaced = |path: &Path| {
                        let listed = Listed { root: i, path: path.into() };
                        there.contains(&listed) || plan.found.contains(&listed)
                    };
                    for gone in list.paths().filter(|path| !args.progress.quiet && !replaced(path)) {
                        say(format_args!(
                            "sealwright: warning: {}: is missing; the manifest lists it, the new one will not",
                            shown(&root.join(gone))
                        ));
                    }
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
                    let refused = match is_of_signer(&error) {
                        // Not with the library's hint, which names an option of other verbs
                        true => CommandError::new(Exit::from_code(error.exit_code()), error).hint(
                            "it lists files that stay, for which --sign would answer: seal all of them, or use -C DIR",
                        ),
                        false => {
                            file_error(error).hint("it lists files that stay: give a key that opens it, or use -C DIR")
                        }
                    };
                    plan.fail(i, refused.about_unless_named(&path));
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

/// Whether an error says that somebody else, or nobody, signed.
fn is_of_signer(error: &Error) -> bool {
    matches!(error, Error::NotSigned | Error::OtherSigner(_) | Error::NotAuthentic(Flaw::Signature))
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
            plan.failures.push(missing_manifest(directory, *below));
            plan.tasks.retain(|task| !task.input.name("").starts_with(directory));
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
    // Manifests of which nothing is to be opened need no key.
    let refused = |root: &PathBuf| must && unlisted.keys().any(|directory| root.starts_with(directory));
    if plan.tasks.is_empty() && plan.roots.iter().all(refused) {
        plan.roots.clear();
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
