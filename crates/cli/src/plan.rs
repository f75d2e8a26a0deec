//! Turns the given files and directories into tasks, one for each file.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
};

use sealwright_file::{Found, list::NAME, output::mode_of};
use sealwright_terminal::{CommandError, shown};

pub(crate) use crate::task::{FileTask, Listed, Place, no_output};
use crate::{
    args::FileArgs,
    identity::{directory, identity},
    names::{Direction, is_stdin, is_stdout, left_out, not_seal, renamed, unpacks},
};

/// A directory whose sealed files have, or will have, a manifest.
#[derive(Debug)]
pub(crate) struct Root {
    /// The directory that contains the sealed files.
    pub(crate) path: PathBuf,
    /// The given directory in which it was found.
    pub(crate) named: PathBuf,
    /// The directory for its outputs, if they are not written beside the files.
    pub(crate) output: Option<PathBuf>,
}

/// Everything that is to be done, determined before the first byte is read, so that outputs can never become inputs.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) tasks: Vec<FileTask>,
    /// Directories to create, each with the mode of the one that it mirrors; in order, so that parents come first.
    pub(crate) directories: BTreeMap<PathBuf, u32>,
    pub(crate) roots: Vec<Root>,
    /// Every manifest that was found, including those that do not count because one above does. They are regular files.
    pub(crate) manifests: Vec<PathBuf>,
    /// Existing directories that are sealed into: files sealed there before are not sealed again.
    targets: HashSet<(u64, u64)>,
    /// The given directories without a manifest of their own, and whether there are manifests below them.
    pub(crate) unlisted: BTreeMap<PathBuf, bool>,
    /// All sealed files that were found below roots, whatever happens to them.
    pub(crate) found: HashSet<Listed>,
    /// Messages about what was left out.
    pub(crate) skipped: Vec<String>,
    /// Errors of planning. They do not prevent other tasks.
    pub(crate) failures: Vec<CommandError>,
}

impl Plan {
    /// Resolves the arguments to tasks, and checks for conflicts.
    pub(crate) fn new(args: &FileArgs, direction: Direction) -> Result<Plan, CommandError> {
        let mut plan = Plan::unchecked(args, direction)?;
        plan.refuse_collisions();
        Ok(plan)
    }

    /// The same without the check for conflicts, for callers that remove tasks first.
    pub(crate) fn unchecked(args: &FileArgs, direction: Direction) -> Result<Plan, CommandError> {
        let mut plan = Plan::default();
        args.refuse_file_as_directory()?;
        let output_is_stdout = args.output.as_deref().is_some_and(is_stdout);
        if args.inputs.is_empty() || args.inputs.len() == 1 && is_stdin(&args.inputs[0]) {
            // An empty list of names, in a script, must not result in an empty backup that looks successful.
            if args.each {
                return Err(CommandError::usage("--each needs the names of directories"));
            }
            // A sealed directory contains its name.
            if args.directory.is_some() && direction == Direction::Seal {
                return Err(CommandError::usage("standard input has no name to use in a directory").hint("use -o OUT"));
            }
            if args.remove {
                return Err(CommandError::usage("--remove: standard input cannot be removed"));
            }
            let output = match (&args.output, &args.directory) {
                (Some(path), _) if !output_is_stdout => Place::File(path.clone()),
                (None, Some(directory)) => Place::Inside(directory.clone()),
                _ => Place::Stream,
            };
            if let Some(directory) = &args.directory {
                plan.make(directory, 0o777);
            }
            plan.tasks.push(FileTask::new(Place::Stream, output));
            return Ok(plan);
        }
        if args.inputs.iter().any(|path| is_stdin(path)) {
            return Err(CommandError::usage("standard input (`-`) cannot be one of several inputs"));
        }
        if args.remove && output_is_stdout {
            return Err(CommandError::usage("--remove needs an output that is a file"));
        }
        if args.inputs.len() > 1 && args.output.is_some() {
            return Err(CommandError::usage("-o names one output, but there are several inputs")
                .hint("-C DIR writes them all into a directory"));
        }
        plan.targets = targets(args, direction);
        for input in &args.inputs {
            let planned = match fs::metadata(input) {
                Err(error) => Err(CommandError::io(input, &error)),
                Ok(metadata) if metadata.is_dir() => plan.add_tree(input, &metadata, args, direction),
                Ok(metadata) => plan.add_file(input, &metadata, args, direction),
            };
            plan.failures.extend(planned.err());
        }
        plan.found = plan.tasks.iter().filter_map(|task| task.listed.clone()).collect();
        Ok(plan)
    }

    fn add_file(
        &mut self,
        input: &Path,
        metadata: &fs::Metadata,
        args: &FileArgs,
        direction: Direction,
    ) -> Result<(), CommandError> {
        let output = match (&args.output, &args.directory) {
            (Some(output), _) if is_stdout(output) => Place::Stream,
            (Some(output), _) if output.is_dir() => {
                return Err(CommandError::failed("is a directory")
                    .about(output)
                    .hint("-C DIR writes into a directory"));
            }
            (Some(output), _) => Place::File(output.clone()),
            (None, _) if direction == Direction::Open && unpacks(input, metadata) => {
                Place::Inside(args.below().to_owned())
            }
            (None, Some(directory)) => {
                let name = input.file_name().ok_or_else(|| CommandError::failed("has no file name").about(input))?;
                Place::File(directory.join(renamed(Path::new(name), direction).ok_or_else(|| not_seal(input))?))
            }
            // Files beside a device are the system's, so no output is derived there.
            (None, None) if metadata.file_type().is_char_device() || metadata.file_type().is_block_device() => {
                return Err(CommandError::usage("is a device, so no output is written beside it")
                    .about(input)
                    .hint("-o OUT names the output"));
            }
            (None, None) => Place::File(renamed(input, direction).ok_or_else(|| not_seal(input))?),
        };
        if let Some(directory) = &args.directory {
            self.make(directory, 0o777);
        }
        let bytes = metadata.is_file().then_some(metadata.len());
        self.tasks.push(FileTask { bytes, ..FileTask::new(Place::File(input.to_owned()), output) });
        Ok(())
    }

    /// Adds the files of a directory one by one. The outputs keep its structure below the output directory, or each is
    /// beside its input.
    fn add_tree(
        &mut self,
        input: &Path,
        metadata: &fs::Metadata,
        args: &FileArgs,
        direction: Direction,
    ) -> Result<(), CommandError> {
        if !args.each && direction == Direction::Seal {
            return self.add_packed(input, args);
        }
        if !args.each {
            return Err(CommandError::failed("is a directory")
                .about(input)
                .hint("--each processes every file in it separately"));
        }
        let mut root = match (&args.output, &args.directory) {
            (Some(output), _) if is_stdout(output) => {
                return Err(CommandError::usage("a directory cannot be written to standard output").about(input));
            }
            (Some(output), _) => Some(output.clone()),
            // `-C out` keeps the directory's own name; `.` and `..` have none.
            (None, Some(directory)) => {
                self.make(directory, 0o777);
                let root = input.file_name().map_or_else(|| directory.clone(), |name| directory.join(name));
                if root != *directory && root.is_symlink() {
                    return Err(is_link(&root));
                }
                Some(root)
            }
            (None, None) => None,
        };
        let own = Some((metadata.dev(), metadata.ino()));
        // The directory itself is not another place.
        if direction == Direction::Seal && root.as_deref().is_some_and(|root| directory(root) == own) {
            root = None;
        }
        // As with `* -C out`.
        let is_target = || args.directory.as_deref().is_some_and(|target| directory(target) == own);
        if direction == Direction::Seal && root.is_some() && args.inputs.len() > 1 && is_target() {
            self.skipped.push(is_written_into(input));
            return Ok(());
        }
        let listing = (direction == Direction::Seal).then(|| self.sealed_root(input, root.as_deref()));
        let roots = self.roots.len();
        self.walk(input, input, metadata, root.as_deref(), direction, listing);
        // A manifest in a subdirectory says nothing about files that are missing beside it. Only manifests that the
        // walk found count: one that appears afterwards lists none of these files.
        if direction == Direction::Open && !self.roots[roots..].iter().any(|root| root.path == input) {
            self.unlisted.insert(input.to_owned(), self.roots.len() > roots);
        }
        Ok(())
    }

    /// The number of the root into which `input` is sealed. Two directories with the same output directory share a
    /// root, because their files have the same manifest.
    fn sealed_root(&mut self, input: &Path, output: Option<&Path>) -> usize {
        let path = output.unwrap_or(input);
        self.roots.iter().position(|root| root.path == path).unwrap_or_else(|| {
            self.roots.push(Root { path: path.into(), named: input.into(), output: None });
            self.roots.len() - 1
        })
    }

    /// Adds a directory that becomes a single sealed file.
    fn add_packed(&mut self, input: &Path, args: &FileArgs) -> Result<(), CommandError> {
        if args.remove {
            return Err(CommandError::usage("--remove does not remove directories").about(input));
        }
        let whole = fs::canonicalize(input).map_err(|error| CommandError::io(input, &error))?;
        // `.` and `..` get the name of the directory that they stand for. A symbolic link keeps its own name, because
        // the output belongs beside the link.
        let named = if input.file_name().is_some() { input } else { &whole };
        let name = named.file_name().ok_or_else(|| CommandError::failed("has no name").about(input))?;
        let sealed = renamed(Path::new(name), Direction::Seal).unwrap_or_default();
        let output = match (&args.output, &args.directory) {
            (Some(output), _) if is_stdout(output) => Place::Stream,
            (Some(output), _) => Place::File(output.clone()),
            (None, Some(directory)) => {
                self.make(directory, 0o777);
                Place::File(directory.join(sealed))
            }
            // Beside the directory.
            (None, None) => Place::File(named.with_file_name(sealed)),
        };
        self.tasks.push(FileTask { tree: true, ..FileTask::new(Place::File(input.to_owned()), output) });
        Ok(())
    }

    /// Adds the files below a directory, which is below the given directory `named`. `listing` is the number of its
    /// root. When opening, that is the outermost directory with a manifest: a manifest from elsewhere that somebody
    /// puts into a subdirectory has no effect.
    fn walk(
        &mut self,
        named: &Path,
        input: &Path,
        metadata: &fs::Metadata,
        output: Option<&Path>,
        direction: Direction,
        mut listing: Option<usize>,
    ) {
        if listing.is_none() && input.join(NAME).exists() {
            listing = Some(self.roots.len());
            self.roots.push(Root { path: input.into(), named: named.into(), output: output.map(Path::to_owned) });
        }
        if let Some(output) = output {
            self.make(output, mode_of(input, metadata) | 0o700);
        }
        let entries = fs::read_dir(input).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.failures.push(CommandError::io(input, &error)),
        };
        // A deterministic order.
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let metadata = match entry.metadata() {
                Ok(metadata) => metadata,
                Err(error) => {
                    self.failures.push(CommandError::io(&path, &error));
                    continue;
                }
            };
            let place = output.map(|output| output.join(entry.file_name()));
            if let Some(link) = place.as_deref().filter(|place| metadata.is_dir() && place.is_symlink()) {
                self.failures.push(is_link(link));
            } else if metadata.is_dir() && output.is_some() && self.is_target(&metadata) {
                self.skipped.push(is_written_into(&path));
            } else if metadata.is_dir() {
                self.walk(named, &path, &metadata, place.as_deref(), direction, listing);
            } else if entry.file_name() == NAME && (direction == Direction::Open || output.is_none()) {
                // A manifest is not a file of the user. That of the directory being sealed is handled elsewhere.
                let why = if !metadata.is_file() {
                    left_out(&path, &metadata, direction, true)
                } else if direction == Direction::Seal && listing.is_none_or(|root| self.roots[root].path != input) {
                    Some("it lists files that are sealed already")
                } else {
                    None
                };
                self.skipped.extend(why.map(|why| format!("{}: skipped, {why}", shown(&path))));
                self.manifests.extend(metadata.is_file().then_some(path));
            } else if let Some(why) = left_out(&path, &metadata, direction, output.is_none()) {
                self.skipped.push(format!("{}: skipped, {why}", shown(&path)));
            } else if let Some(output) = renamed(place.as_deref().unwrap_or(&path), direction) {
                let bytes = Some(metadata.len());
                let listed = self.listed(listing, if direction == Direction::Seal { &output } else { &path });
                let output = match output.parent() {
                    Some(parent) if direction == Direction::Open && unpacks(&path, &metadata) => {
                        Place::Inside(parent.to_owned())
                    }
                    _ => Place::File(output),
                };
                let found = path.strip_prefix(named).ok().map(|below| Found::new(named, below));
                self.tasks.push(FileTask { listed, found, bytes, ..FileTask::new(Place::File(path), output) });
            }
        }
    }

    /// Whether files are sealed into this directory.
    fn is_target(&self, metadata: &fs::Metadata) -> bool {
        self.targets.contains(&(metadata.dev(), metadata.ino()))
    }

    /// The place of a sealed file below a root.
    fn listed(&self, root: Option<usize>, sealed: &Path) -> Option<Listed> {
        let root = root?;
        Some(Listed { root, path: sealed.strip_prefix(&self.roots.get(root)?.path).ok()?.to_owned() })
    }

    /// Removes all tasks of a root, and records the error.
    pub(crate) fn fail(&mut self, root: usize, error: CommandError) {
        self.failures.push(error);
        self.tasks.retain(|task| task.listed.as_ref().is_none_or(|listed| listed.root != root));
    }

    /// Removes everything that was found in a given directory, with its manifests, and records the error.
    pub(crate) fn refuse_all_of(&mut self, named: &Path, error: CommandError) {
        self.failures.push(error);
        self.tasks.retain(|task| task.found.as_ref().is_none_or(|found| found.directory() != named));
        // The remaining roots are renumbered.
        let stays: Vec<bool> = self.roots.iter().map(|root| root.named != named).collect();
        let number = |root: usize| stays[..root].iter().filter(|stays| **stays).count();
        self.tasks
            .iter_mut()
            .filter_map(|task| task.listed.as_mut())
            .for_each(|listed| listed.root = number(listed.root));
        let found = std::mem::take(&mut self.found).into_iter().filter(|listed| stays[listed.root]);
        self.found = found.map(|listed| Listed { root: number(listed.root), ..listed }).collect();
        self.roots.retain(|root| root.named != named);
    }

    fn make(&mut self, directory: &Path, mode: u32) {
        self.directories.entry(directory.to_owned()).or_insert(mode);
    }

    /// Refuses tasks in conflict. Of two inputs with the same output, only the first is kept. An output must not be an
    /// input or a manifest, which `--force` would overwrite.
    pub(crate) fn refuse_collisions(&mut self) {
        let mut taken: HashMap<PathBuf, PathBuf> = HashMap::new();
        let inputs = self.tasks.iter().filter_map(|task| task.input.identity());
        let inputs: HashSet<_> = inputs.chain(self.manifests.iter().filter_map(|path| identity(path))).collect();
        for task in std::mem::take(&mut self.tasks) {
            if let (Place::File(input), Place::File(output)) = (&task.input, &task.output) {
                if let Some(first) = taken.get(output) {
                    let what = format!("would be written to {}, the output of {}", shown(output), shown(first));
                    self.failures.push(
                        CommandError::failed(what).about(input).hint("process them one by one, each with its own -o"),
                    );
                    continue;
                }
                if task.output.identity().is_some_and(|output| inputs.contains(&output)) {
                    self.failures.push(
                        CommandError::usage("is both input and output").about(output).hint("name another output"),
                    );
                    continue;
                }
                taken.insert(output.clone(), input.clone());
            }
            self.tasks.push(task);
        }
    }
}

/// The existing directories into which `--each` seals.
fn targets(args: &FileArgs, direction: Direction) -> HashSet<(u64, u64)> {
    if !args.each || direction != Direction::Seal {
        return HashSet::new();
    }
    let into = args.directory.iter();
    let roots =
        into.clone().flat_map(|into| args.inputs.iter().filter_map(|input| Some(into.join(input.file_name()?))));
    into.chain(&args.output).cloned().chain(roots).filter_map(|target| directory(&target)).collect()
}

/// Why a directory is not sealed.
fn is_written_into(path: &Path) -> String {
    format!("{}: skipped, the outputs are written into it", shown(path))
}

/// Why nothing is written through a symbolic link to a directory, unless the user named it: somebody else could have
/// created the link, so that files elsewhere would be written.
fn is_link(path: &Path) -> CommandError {
    CommandError::failed("is a symbolic link, and outputs are not written through links")
        .about(path)
        .hint("use -C with the directory that it points to")
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
