//! The manifests of directories that are sealed file by file: written when all files are sealed.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use sealwright_file::{
    Commitment, Error, FileId, FileList, Flaw, Found, Input, KeySource, Opening, Output, Sealing,
    list::NAME,
    output::{create_directory, mode_of},
};
use sealwright_terminal::{CommandError, Exit, say, shown};

use crate::{
    args::FileArgs,
    error::file_error,
    identity::is_there,
    manifests::{existing, locks::Locks},
    names::{Direction, left_out},
    plan::{FileTask, Plan},
    stream,
};

/// What was sealed into each root so far.
#[derive(Debug)]
pub(crate) struct Sealed {
    roots: Vec<Root>,
    noted: Mutex<Noted>,
    /// How many tasks have to be done for a new manifest: all of them, and nothing may have failed before.
    wanted: Option<usize>,
    /// So that nobody else seals into the roots meanwhile.
    locks: Locks,
    /// A file that stays was not the one that the manifest listed.
    differs: bool,
}

/// A directory that is sealed into.
#[derive(Debug)]
struct Root {
    path: PathBuf,
    old: Old,
    /// The permission bits of the manifest that there was.
    mode: Option<u32>,
    /// The manifest that was read.
    read: Option<Read>,
}

/// A manifest that was read: which file it is, what it lists, and how many keys open it.
#[derive(Debug)]
struct Read {
    id: Option<FileId>,
    list: FileList,
    keys: usize,
}

#[derive(Debug)]
struct Noted {
    lists: Vec<FileList>,
    /// The tasks that are done.
    done: usize,
}

/// The manifest that a root has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Old {
    /// There is none.
    Gone,
    /// None of its files stays, and it was removed.
    Removed,
    /// What it says of files that stay goes into the new one.
    Kept,
    /// It stays, and nothing is sealed beside it.
    Stays,
}

impl Sealed {
    /// Nothing yet. A root that has a manifest already is not sealed again without --force: half of its files would
    /// then be listed and half not.
    pub(crate) fn new(plan: &mut Plan, args: &FileArgs) -> Sealed {
        let mut roots = Vec::new();
        for i in 0..plan.roots.len() {
            let path = plan.roots[i].path.clone();
            let place = path.join(NAME);
            let refused = if !args.force {
                is_there(&place).then(|| exists(&place))
            } else {
                // Nor is a file sealed, and perhaps removed, whose manifest has no place.
                let checked = Output::check_derived(&place, stream::place(args, false));
                checked.err().map(|error| file_error(error).about_unless_named(&place))
            };
            let old = if refused.is_some() { Old::Stays } else { Old::Gone };
            refused.into_iter().for_each(|refused| plan.fail(i, refused));
            roots.push(Root { path, old, mode: None, read: None });
        }
        let noted = Mutex::new(Noted { lists: vec![FileList::default(); roots.len()], done: 0 });
        Sealed { roots, noted, wanted: None, locks: Locks::default(), differs: false }
    }

    /// Whether a manifest may be missing, or be an old one, where nothing is left to be sealed: an earlier run did not
    /// come to write it.
    pub(crate) fn is_due(&self, plan: &Plan) -> bool {
        // What cannot be looked into is told when it is its turn.
        let any = |root: &Root| sealed_in(&root.path).map_or(true, |sealed| !sealed.is_empty());
        let due = |root: &Root| root.old == Old::Gone && any(root);
        plan.failures.is_empty() && self.roots.iter().any(due)
    }

    /// Takes over what the old manifests say of files that stay. One that cannot be opened must not be lost while
    /// there are such files: they would be no part of their directory any more. A file that none lists, or that is not
    /// the one that is listed, is opened as far as it takes to list it. `openings` say with which keys that may be,
    /// and who must have signed: what a new manifest says, its signer answers for.
    pub(crate) fn keep(&mut self, plan: &mut Plan, openings: &[Opening<'_>], args: &FileArgs) {
        let Sealed { roots, noted, locks, differs, .. } = self;
        let noted = noted.get_mut().unwrap_or_else(PoisonError::into_inner);
        let into: Vec<_> = (0..roots.len()).filter(|i| roots[*i].old != Old::Stays).collect();
        let paths: Vec<_> = into.iter().map(|i| roots[*i].path.clone()).collect();
        paths.iter().for_each(|root| make(root, plan, args));
        for (i, held) in into.into_iter().zip(locks.wait_for(&paths)) {
            let (root, list) = (&mut roots[i], &mut noted.lists[i]);
            let kept = held.map_or(Ok(()), Err).and_then(|()| root.keep(i, list, plan, openings, args, differs));
            root.old = kept.unwrap_or_else(|refused| {
                plan.fail(i, refused);
                Old::Stays
            });
        }
        self.wanted = plan.failures.is_empty().then_some(plan.tasks.len());
    }

    /// Notes that a task's output is there and commits to this.
    pub(crate) fn note(&self, task: &FileTask, commitment: Commitment) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.done += 1;
        if let Some(listed) = &task.listed {
            noted.lists[listed.root].add(listed.path.clone(), commitment);
        }
    }

    /// Writes the manifests: of what was sealed and of what stays. A new one is written only if every file was sealed.
    /// It opens with as many keys as `keys` says.
    pub(crate) fn write(self, sealing: &Sealing<'_>, keys: usize, args: &FileArgs, mut worst: Exit) -> Exit {
        let noted = self.noted.into_inner().unwrap_or_else(PoisonError::into_inner);
        let all = self.wanted == Some(noted.done);
        for (root, list) in self.roots.iter().zip(noted.lists) {
            let read = root.read.as_ref();
            if root.old == Old::Stays || read.is_some_and(|read| read.list == list) {
                continue;
            }
            if !all && root.old != Old::Kept {
                say(format_args!(
                    "sealwright: {}: no manifest was written, because not every file was sealed{}",
                    shown(&root.path),
                    if root.old == Old::Removed { "; the old one was removed" } else { "" }
                ));
                continue;
            }
            if let Some(read) = read.filter(|read| read.keys > keys && !args.progress.quiet) {
                say(format_args!(
                    "sealwright: warning: {}: {keys} of {} keys can open the new manifest; `rekey --each` adds others",
                    shown(&root.path.join(NAME)),
                    read.keys
                ));
            }
            if let Err(error) = root.write(&list, sealing, args) {
                worst = error.exit().max(worst);
                say(error);
            }
        }
        // It was said; whoever does not read that is told as well.
        if self.differs { Exit::Failed.max(worst) } else { worst }
    }
}

impl Root {
    /// Lists what stays in it.
    fn keep(
        &mut self,
        number: usize,
        list: &mut FileList,
        plan: &Plan,
        openings: &[Opening<'_>],
        args: &FileArgs,
        differs: &mut bool,
    ) -> Result<Old, CommandError> {
        let quiet = args.progress.quiet;
        let path = self.path.join(NAME);
        let is_listed = is_there(&path);
        // None will be written where something failed.
        if !is_listed && !plan.failures.is_empty() {
            return Ok(Old::Gone);
        }
        let there = sealed_in(&self.path)?;
        let listed = plan.tasks.iter().filter_map(|task| task.listed.as_ref());
        let outputs: HashSet<&Path> =
            listed.filter(|listed| listed.root == number).map(|listed| listed.path.as_path()).collect();
        let stay: Vec<_> = there.iter().filter(|path| !outputs.contains(path.as_path())).cloned().collect();
        if !is_listed {
            existing::list(list, &self.path, stay, None, openings, quiet)?;
            return Ok(Old::Gone);
        }
        if !args.force {
            // Who had the lock wrote it.
            return Err(exists(&path));
        }
        self.mode = manifest(&self.path).ok().and_then(|input| input.mode());
        let read = existing::opened(openings, |opening| {
            let mut input = manifest(&self.path)?;
            let (id, source) = (input.identity(), &input.preamble()?.source);
            let keys = if let KeySource::Recipients(slots) = source { slots.iter().count() } else { 1 };
            Ok(Read { id, list: FileList::open(opening, input)?, keys })
        });
        let old = match read {
            Ok(read) => &self.read.insert(read).list,
            // One that could not be read may open yet.
            Err(error) if stay.is_empty() && existing::is_of_content(&error) => {
                // After an interrupt it would be in the way of the same command, and its files would be those of no
                // manifest.
                fs::remove_file(&path).map_err(|error| CommandError::io(&path, &error))?;
                return Ok(Old::Removed);
            }
            Err(error) => return Err(existing::refused(error, "it lists files that stay").about_unless_named(&path)),
        };
        *differs |= existing::list(list, &self.path, stay, Some(old), openings, quiet)?;
        // Also where little is to be said: if it comes back, perhaps an older one, the manifest does not tell any more.
        let gone = old.paths().filter(|path| !there.contains(*path) && !outputs.contains(path));
        for gone in gone.filter(|path| list.commitment(path).is_none()) {
            say(format_args!(
                "sealwright: warning: {}: is missing; the manifest lists it, the new one will not",
                shown(&self.path.join(gone))
            ));
        }
        // Should one of them not be sealed, it is still what the manifest lists.
        for path in outputs {
            old.commitment(path).into_iter().for_each(|commitment| list.add(path.into(), commitment));
        }
        Ok(Old::Kept)
    }

    /// The permission bits of a new manifest: whoever may read one of the files may read it. It is sealed for the same keys, and without
    /// one it tells no more than its length.
    fn mode_for(&self, list: &FileList) -> u32 {
        let modes = list.paths().filter_map(|path| {
            let path = self.path.join(path);
            let meta = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
            Some(mode_of(&path, &meta) & 0o444)
        });
        modes.fold(0o600, |all, mode| all | mode)
    }

    /// Writes its manifest.
    fn write(&self, list: &FileList, sealing: &Sealing<'_>, args: &FileArgs) -> Result<(), CommandError> {
        let path = self.path.join(NAME);
        // Not everybody asks for the lock, and some file systems have none.
        let now = manifest(&self.path).ok().and_then(|input| input.identity());
        if is_there(&path) && now != self.read.as_ref().and_then(|read| read.id) {
            let error = file_error(Error::Replaced(path));
            return Err(error.hint("another program sealed into this directory: repeat the command with --force"));
        }
        let output = Output::derived(&path, stream::place(args, false));
        let mode = self.mode.unwrap_or_else(|| self.mode_for(list));
        output
            .and_then(|output| list.seal(sealing, output.mode(mode)))
            .map(drop)
            .map_err(|error| file_error(error).about_unless_named(&path))
    }
}

/// Makes `root`, for a lock is on something that is there.
fn make(root: &Path, plan: &Plan, args: &FileArgs) {
    for (directory, mode) in plan.directories.iter().filter(|(directory, _)| root.starts_with(directory)) {
        // Why it cannot be made is said where all directories are made.
        let _ = create_directory(directory, *mode, !args.no_sync);
    }
}

/// Why nothing is sealed beside a manifest.
fn exists(manifest: &Path) -> CommandError {
    let error = CommandError::failed("exists already").about(manifest);
    error.hint("--force adds the newly sealed files to it; -C DIR seals elsewhere")
}

/// The manifest in a directory. It is a regular file: a named pipe would be waited for.
pub(crate) fn manifest(root: &Path) -> Result<Input, Error> {
    let path = root.join(NAME);
    let failed = |source| Error::Io { doing: "open", place: path.display().to_string(), source };
    let meta = fs::symlink_metadata(&path).map_err(failed)?;
    if !meta.is_file() {
        return Err(Error::NotAuthentic(Flaw::Magic));
    }
    Found::new(root, Path::new(NAME)).open()
}

/// The sealed files in a directory and below, by their paths from there. Where not all of them can be seen, that is an
/// error: those that are not seen would be taken for missing.
pub(crate) fn sealed_in(root: &Path) -> Result<HashSet<PathBuf>, CommandError> {
    let mut found = Vec::new();
    sealed_below(root, &mut found)?;
    Ok(found.into_iter().filter_map(|path| Some(path.strip_prefix(root).ok()?.to_owned())).collect())
}

fn sealed_below(directory: &Path, found: &mut Vec<PathBuf>) -> Result<(), CommandError> {
    let failed = |path: &Path, error: &io::Error| match error.kind() {
        // Nothing is in what is not there, or not any more.
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(()),
        _ => Err(CommandError::io(path, error).hint("it must be readable, because the manifest lists its files")),
    };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => return failed(directory, &error),
    };
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return failed(directory, &error),
        };
        match entry.metadata() {
            Ok(meta) if meta.is_dir() => sealed_below(&entry.path(), found)?,
            Ok(meta) if left_out(&entry.path(), &meta, Direction::Open, true).is_none() => found.push(entry.path()),
            Ok(_) => {}
            Err(error) => failed(&entry.path(), &error)?,
        }
    }
    Ok(())
}
