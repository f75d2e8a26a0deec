//! `sealwright open`: opens sealed files.

use std::path::{Path, PathBuf};

use clap::Args;
use sealwright_file::{Content, Error, Work, tree::Unpacking};
use sealwright_terminal::{CommandError, Exit};

#[cfg(feature = "signatures")]
use crate::keys::signing::SignerArgs;
use crate::{
    args::FileArgs,
    error::file_error,
    keys::unlock::UnlockArgs,
    manifests::{self, read::Lists},
    names::{self, Direction, renamed},
    plan::{FileTask, Place, Plan},
    preflight, protected_inputs,
    range::{self, Range},
    run, stream,
};

const EXAMPLES: &str = "\
A file appears under its name only when all of it is verified. Standard output receives only verified
bytes, but may end early: check the exit code before you use them. With --signer, a file whose text goes to a pipe or
a device is read twice, so that no text by another signer is written; if the input itself is a pipe, its text is
written before the signature is verified.

The text of a sealed file is written to the file's own directory. A sealed directory is unpacked into the working
directory, or with --each beside its file; its name must match the name of its file. -C chooses another place for
both, and accepts any name.

Example:
    sealwright open --key-file my.key letter.txt.seal          # writes letter.txt
    sealwright open --key-file my.key --each sealed/photos -C opened  # every .seal file below sealed/photos/
    sealwright open --key-file my.key photos.tar.seal -o - | tar -x
    sealwright open --key-file my.key holiday.seal -C opened   # a directory: writes opened/holiday/...
    sealwright open --key-file my.key holiday.seal --entry holiday/1 -o one
    sealwright open -i my.id --range 1000..2000 log.seal -o -      # reads no more than that";

/// Open sealed files
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct OpenArgs {
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    unlock: UnlockArgs,
    #[cfg(feature = "signatures")]
    #[command(flatten)]
    signer: SignerArgs,
    /// With -o: write only bytes A to B of the text, B not included, counted from 0; either may be left out. The text
    /// must have a byte A; B may be past its end
    #[arg(long, value_name = "A..B", value_parser = range::parse, conflicts_with_all = ["remove", "each", "preserve"], help_heading = "Output")]
    range: Option<Range>,
    /// Open only the file at PATH in a sealed directory, without reading the others
    #[arg(long, value_name = "PATH", conflicts_with_all = ["remove", "each", "range", "preserve"], help_heading = "Output")]
    entry: Option<PathBuf>,
    /// With --each: refuse directories without a manifest of their files
    #[arg(long, help_heading = "Output")]
    manifest: bool,
    /// Give outputs the permission bits of the sealed file instead of 0600
    #[arg(long, help_heading = "Output")]
    preserve: bool,
}

/// The error for options that apply only to single files.
fn refused_for_trees(args: &OpenArgs, name: &Path) -> Option<CommandError> {
    let refused = |what: &str, hint: &str| Some(CommandError::usage(what).about(name).hint(hint));
    if args.files.remove {
        return refused("--remove does not remove sealed directories", "leave it out, and remove the file by hand");
    }
    if args.range.is_some() {
        return refused("--range is for sealed files: this is a directory", "--entry PATH -o OUT opens one file of it");
    }
    None
}

/// The error for an existing directory: `--force` replaces files only, because a directory may contain more than was
/// sealed.
fn exists(directory: &Path) -> CommandError {
    CommandError::failed("exists already")
        .about(directory)
        .hint("-C DIR unpacks elsewhere; a directory is never replaced, not even with --force")
}

/// The files other than the sealed ones that must not be replaced or removed.
fn in_use(args: &OpenArgs) -> Result<Vec<PathBuf>, CommandError> {
    #[cfg(feature = "signatures")]
    let signers = args.signer.files();
    #[cfg(not(feature = "signatures"))]
    let signers = &[];
    args.unlock.files(signers)
}

/// Opens all inputs.
pub(crate) fn run(args: &OpenArgs) -> Result<Exit, CommandError> {
    // Not declared to clap: an option that conflicts with another would also remove that one's requirement.
    if args.entry.is_some() && args.files.output.is_none() {
        return Err(CommandError::usage("--entry needs -o OUT").hint("-o - writes to standard output"));
    }
    // Otherwise a part of the text would be written under the name of the whole.
    if args.range.is_some() && args.files.output.is_none() {
        return Err(CommandError::usage("--range needs -o OUT").hint("-o - writes to standard output"));
    }
    if args.manifest && !args.files.each {
        return Err(CommandError::usage("--manifest is for directories with --each"));
    }
    if args.manifest {
        names::refuse_files_with_manifest(&args.files.inputs)?;
    }
    protected_inputs::refuse_keys_as_names(&args.files.inputs)?;
    let mut plan = Plan::unchecked(&args.files, Direction::Open)?;
    let in_use = in_use(args)?;
    stream::refuse_conflicts(&plan, &args.files, &in_use)?;
    protected_inputs::refuse(&plan, &args.files, &in_use)?;
    let ad = args.unlock.ad()?;
    if args.files.each && !args.manifest {
        manifests::read::leave_out_nothing(&mut plan);
    }
    manifests::read::without(&mut plan, &args.files, args.manifest);
    plan.refuse_collisions();
    for option in [args.range.map(|_| "--range"), args.entry.as_ref().map(|_| "--entry")].into_iter().flatten() {
        range::refuse_streams(&mut plan, option);
    }
    preflight::check(&mut plan, &args.files, args.unlock.given(), Direction::Open);
    // A manifest is opened even if none of its files exists.
    if plan.tasks.is_empty() && plan.roots.is_empty() {
        args.unlock.refuse_none()?;
        return Ok(run::failures(&plan, &args.files));
    }
    #[cfg(feature = "signatures")]
    let signers = args.signer.read()?;
    let keys = args.unlock.keys()?;
    let threads = run::start(&args.files, &plan)?;
    let opening = args.unlock.opening(&keys, &ad);
    #[cfg(feature = "signatures")]
    let opening = opening.signers(&signers);
    let lists = Lists::open(&mut plan, &opening, args.files.remove);
    let one = |task: &FileTask, work: Work| {
        let mut input = stream::input(task)?;
        let name = task.input.name("standard input");
        let named = |error| file_error(error).about_unless_named(name);
        let is_tree = input.preamble().map_err(named)?.layout.content == Content::Tree;
        let opening = opening.clone().commitment(lists.commitment(task)?).work(work);
        if let Some(entry) = &args.entry {
            let output = stream::output(task, &args.files, args.preserve)?;
            return range::write_entry(entry, task, &opening, output);
        }
        if let Some(error) = refused_for_trees(args, name).filter(|_| is_tree) {
            // What the header says is told only if it is authentic.
            opening.commitment_of(input).map_err(|error| lists.explain(error, task))?;
            return Err(error);
        }
        let directory = match &task.output {
            Place::Inside(directory) => Some(directory.as_path()),
            // The name would be chosen by whoever sent the stream, so a directory is refused, by `Opening::open`.
            Place::Stream => None,
            _ if args.files.output.is_some() => None,
            _ => Some(args.files.below()),
        };
        if let Some(directory) = directory.filter(|_| is_tree) {
            // The directory's name was chosen by whoever sealed it. Unless the user names a directory, it must be the
            // name of the sealed file.
            let own = Path::new(name.file_name().unwrap_or_default());
            let wanted = renamed(own, Direction::Open).unwrap_or_else(|| own.into());
            let named = args.files.directory.is_some() || args.files.output.is_some();
            let wanted = (!named).then_some(wanted.as_os_str());
            let unpacking = Unpacking::new(directory).name(wanted).preserve(args.preserve).sync(!args.files.no_sync);
            return opening.unpack(input, &unpacking).map(drop).map_err(|error| match error {
                Error::Exists(path) => exists(&path),
                other => lists.explain(other, task),
            });
        }
        let output = stream::output(task, &args.files, args.preserve)?;
        if let Some(range) = &args.range {
            return range.write(task, &opening, output);
        }
        let summary = opening.open(input, output).map_err(|error| lists.explain(error, task))?;
        stream::remove(task, &args.files, &summary)
    };
    let exit = run::all(plan, &args.files, threads, one);
    Ok(if exit == Exit::Done && args.files.remove { lists.remove() } else { exit })
}
