//! Writing the manifests of directories whose files are sealed one by one, once all files are sealed.

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
    /// The number of tasks that must be done for a new manifest: all of them. `None` if something failed before.
    wanted: Option<usize>,
    /// Prevents other programs from sealing into the roots.
    locks: Locks,
    /// Whether a file that stays was not the one that the manifest listed.
    differs: bool,
}

/// A directory into which files are sealed.
#[derive(Debug)]
struct Root {
    path: PathBuf,
    old: Old,
    /// The permission bits of its old manifest.
    mode: Option<u32>,
    /// Its old manifest, if it was read.
    read: Option<Read>,
}

/// A manifest that was read: the identity of its file, what it lists, and the number of keys that open it.
#[derive(Debug)]
struct Read {
    id: Option<FileId>,
    list: FileList,
    keys: usize,
}

#[derive(Debug)]
struct Noted {
    lists: Vec<FileList>,
    /// The number of tasks that are done.
    done: usize,
}

/// What happens to the manifest that a root has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Old {
    /// There is none.
    Gone,
    /// None of its files stays, so it was removed.
    Removed,
    /// Its entries for files that stay are copied to the new one.
    Kept,
    /// It stays, and nothing is sealed into the directory.
    Stays,
}

impl Sealed {
    /// Nothing is sealed yet. Without --force, a root that has a manifest is refused, because only some of its files
    /// would then be listed.
    pub(crate) fn new(plan: &mut Plan, args: &FileArgs) -> Sealed {
        let mut roots = Vec::new();
        for i in 0..plan.roots.len() {
            let path = plan.roots[i].path.clone();
            let place = path.join(NAME);
            let refused = if !args.force {
                is_there(&place).then(|| exists(&place))
            } else {
                // If the manifest cannot be written, no file must be sealed and perhaps removed.
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

    /// Whether a manifest may be missing or outdated although nothing is left to be sealed, because an earlier run was
    /// interrupted before it wrote the manifest.
    pub(crate) fn is_due(&self, plan: &Plan) -> bool {
        // An unreadable directory is reported when it is processed.
        let any = |root: &Root| sealed_in(&root.path).map_or(true, |sealed| !sealed.is_empty());
        let due = |root: &Root| root.old == Old::Gone && any(root);
        plan.failures.is_empty() && self.roots.iter().any(due)
    }

    /// Copies the entries of old manifests for files that stay. A manifest that cannot be opened must not be lost while
    /// there are such files, because no manifest would list them any more. A file that is not listed, or not the listed
    /// one, is opened as far as is necessary to list it. `openings` determine the permitted keys and the required
    /// signers: whoever signs a new manifest vouches for all its entries.
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

    /// Records that the output of a task exists and has this commitment.
    pub(crate) fn note(&self, task: &FileTask, commitment: Commitment) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.done += 1;
        if let Some(listed) = &task.listed {
            noted.lists[listed.root].add(listed.path.clone(), commitment);
        }
    }

    /// Writes the manifests of what was sealed and of what stays, but only if every file was sealed. `keys` is the
    /// number of keys that open them.
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
        // This was reported, and the exit code shows it too.
        if self.differs { Exit::Failed.max(worst) } else { worst }
    }
}

impl Root {
    /// Lists the files that stay in the root.
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
        // If something failed, no manifest will be written.
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
            // The program that held the lock wrote it.
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
            // Only if its content is at fault: one that could not be read may still open later.
            Err(error) if stay.is_empty() && existing::is_of_content(&error) => {
                // After an interrupt, this manifest would make the same command fail, and the new files would not be
                // listed in any manifest.
                fs::remove_file(&path).map_err(|error| CommandError::io(&path, &error))?;
                return Ok(Old::Removed);
            }
            Err(error) => return Err(existing::refused(error, "it lists files that stay").about_unless_named(&path)),
        };
        *differs |= existing::list(list, &self.path, stay, Some(old), openings, quiet)?;
        // Reported even with `--quiet`: should such a file reappear, perhaps in an older version, the manifest will no
        // longer detect it.
        let gone = old.paths().filter(|path| !there.contains(*path) && !outputs.contains(path));
        for gone in gone.filter(|path| list.commitment(path).is_none()) {
            say(format_args!(
                "sealwright: warning: {}: is missing; the manifest lists it, the new one will not",
                shown(&self.path.join(gone))
            ));
        }
        // If one of these is not sealed after all, its old entry is still valid.
        for path in outputs {
            old.commitment(path).into_iter().for_each(|commitment| list.add(path.into(), commitment));
        }
        Ok(Old::Kept)
    }

    /// The permission bits of a new manifest: it can be read by everybody who can read one of the files. It is sealed
    /// for the same keys; without one, it reveals only its length.
    fn mode_for(&self, list: &FileList) -> u32 {
        let modes = list.paths().filter_map(|path| {
            let path = self.path.join(path);
            let meta = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
            Some(mode_of(&path, &meta) & 0o444)
        });
        modes.fold(0o600, |all, mode| all | mode)
    }

    /// Writes the manifest.
    fn write(&self, list: &FileList, sealing: &Sealing<'_>, args: &FileArgs) -> Result<(), CommandError> {
        let path = self.path.join(NAME);
        // The lock is only advisory, and some file systems have none, so the manifest is compared again.
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

/// Creates `root`, because only an existing directory can be locked.
fn make(root: &Path, plan: &Plan, args: &FileArgs) {
    for (directory, mode) in plan.directories.iter().filter(|(directory, _)| root.starts_with(directory)) {
        // Errors are reported where all directories are created.
        let _ = create_directory(directory, *mode, !args.no_sync);
    }
}

/// The error for a directory that has a manifest already.
fn exists(manifest: &Path) -> CommandError {
    let error = CommandError::failed("exists already").about(manifest);
    error.hint("--force adds the newly sealed files to it; -C DIR seals elsewhere")
}

/// Opens the manifest in a directory. It must be a regular file: opening a named pipe would block.
pub(crate) fn manifest(root: &Path) -> Result<Input, Error> {
    let path = root.join(NAME);
    let failed = |error| Error::Io { doing: "open", place: path.display().to_string(), error };
    let meta = fs::symlink_metadata(&path).map_err(failed)?;
    if !meta.is_file() {
        return Err(Error::NotAuthentic(Flaw::Magic));
    }
    Found::new(root, Path::new(NAME)).open()
}

/// The paths of all sealed files in a directory and below, relative to it. If a part of it cannot be read, that is an
/// error: otherwise its files would be considered missing.
pub(crate) fn sealed_in(root: &Path) -> Result<HashSet<PathBuf>, CommandError> {
    let mut found = Vec::new();
    sealed_below(root, &mut found)?;
    Ok(found.into_iter().filter_map(|path| Some(path.strip_prefix(root).ok()?.to_owned())).collect())
}

fn sealed_below(directory: &Path, found: &mut Vec<PathBuf>) -> Result<(), CommandError> {
    let failed = |path: &Path, error: &io::Error| match error.kind() {
        // A directory that does not exist, or no longer, is empty.
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
