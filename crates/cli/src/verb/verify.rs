//! `sealwright verify`: checks sealed files and signatures; writes nothing.

use std::path::{Path, PathBuf};

use clap::Args;
use sealwright_file::{Input, Opening, Summary, list::NAME};
use sealwright_terminal::{CommandError, Exit, say, shown};

use crate::{
    args::FileArgs,
    error::file_error,
    exit_status::Worst,
    keys::unlock::UnlockArgs,
    manifests::{self, read::Lists},
    names::{self, Direction, is_stdin},
    plan::Plan,
    protected_inputs::refuse_keys_as_names,
    stream,
};
#[cfg(feature = "signatures")]
use crate::{detached, keys::signing::SignerArgs};

const EXAMPLES: &str = "\
Every byte is opened, and nothing is written. The exit code is 0 only if every file is authentic and
complete. With --each, the manifests tell which files of a directory were swapped, renamed, replaced by older
ones, added or removed. A directory with neither sealed files nor a manifest is an error.

Example:
    sealwright verify --key-file my.key backup/*.seal
    sealwright verify --key-file my.key --each --manifest sealed/photos  # the whole backup
    sealwright verify --signer my.verify --detached letter.txt     # checks it against letter.txt.sig";

/// Check that sealed files are authentic and complete
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// Sealed files, and with --each directories; `-` or no file means standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Check every sealed file in the given directories, and against their manifests; symbolic links are not followed
    #[arg(long)]
    each: bool,
    /// With --each: refuse directories without a manifest of their files
    #[arg(long, requires = "each")]
    manifest: bool,
    #[command(flatten)]
    unlock: UnlockArgs,
    #[cfg(feature = "signatures")]
    #[command(flatten)]
    signer: SignerArgs,
    #[cfg(feature = "signatures")]
    #[command(flatten)]
    detached: detached::DetachedArgs,
    /// Print nothing but errors
    #[arg(short, long)]
    quiet: bool,
}

/// Opens each file and discards the text; a failure does not stop the rest.
pub(crate) fn run(args: &VerifyArgs) -> Result<Exit, CommandError> {
    let stdin = [PathBuf::from("-")];
    let files = if args.files.is_empty() { &stdin[..] } else { &args.files };
    if args.each && args.files.is_empty() {
        return Err(CommandError::usage("--each needs the names of directories"));
    }
    refuse_keys_as_names(files)?;
    if args.manifest {
        names::refuse_files_with_manifest(files)?;
    }
    #[cfg(feature = "signatures")]
    let beside = args.signer.files().iter().chain(args.detached.signature());
    #[cfg(not(feature = "signatures"))]
    let beside = &[];
    let beside = args.unlock.files(beside)?;
    stream::refuse_two_uses(files.iter().any(|path| is_stdin(path)), &beside)?;
    #[cfg(feature = "signatures")]
    if args.detached.any() {
        if args.each {
            return Err(CommandError::usage("--each is for sealed files, not for detached signatures"));
        }
        return detached::verify(&args.detached, &args.signer, files, args.quiet);
    }
    let ad = args.unlock.ad()?;
    #[cfg(feature = "signatures")]
    let signers = args.signer.read()?;
    let keys = args.unlock.keys()?;
    let opening = args.unlock.opening(&keys, &ad);
    #[cfg(feature = "signatures")]
    let opening = opening.signers(&signers);
    #[cfg(feature = "signatures")]
    let unverified = signers.is_empty();
    #[cfg(not(feature = "signatures"))]
    let unverified = true;
    let mut worst = Worst::new();
    let tell = |worst: &mut Worst, name: &Path, verified: Result<Summary, CommandError>| match verified {
        Ok(_) if args.quiet => {}
        Ok(done) => worst.print(&format!(
            "{}: authentic and complete, {} bytes of text{}\n",
            shown(name),
            done.text,
            signature(&done, unverified)
        )),
        Err(error) => worst.failed(&error),
    };
    for path in files {
        // A directory may have a name that otherwise means standard input.
        if !is_stdin(path) && path.is_dir() {
            let verified =
                if args.each { each(args, path, &opening, &mut worst, tell) } else { Err(is_directory(path)) };
            verified.unwrap_or_else(|error| worst.failed(&error));
            continue;
        }
        let name = if path.as_os_str() == "-" { Path::new("standard input") } else { path };
        let input = if name == path { Input::open(path) } else { Input::stdin() };
        let verified = input.and_then(|input| opening.verify(input));
        tell(&mut worst, name, verified.map_err(|error| file_error(error).about_unless_named(name)));
    }
    Ok(worst.exit())
}

fn is_directory(path: &Path) -> CommandError {
    CommandError::failed("is a directory").about(path).hint("--each checks every sealed file in it")
}

/// Verifies every sealed file in a directory, and, if there is a manifest, that each is the file listed under its name
/// and that none is missing.
fn each(
    args: &VerifyArgs,
    directory: &Path,
    opening: &Opening<'_>,
    worst: &mut Worst,
    tell: impl Fn(&mut Worst, &Path, Result<Summary, CommandError>),
) -> Result<(), CommandError> {
    let walk = FileArgs::each_in(vec![directory.to_owned()], args.quiet);
    let mut plan = Plan::unchecked(&walk, Direction::Open)?;
    if !args.manifest {
        manifests::read::refuse_nothing(&plan)?;
    }
    manifests::read::without(&mut plan, &walk, args.manifest);
    let lists = Lists::open(&mut plan, opening, false);
    if !args.quiet {
        plan.skipped.iter().for_each(|line| say(format_args!("sealwright: {line}")));
        for (root, files) in lists.counts() {
            let files = if files == 1 { "1 file" } else { &format!("{files} files") };
            worst.print(&format!("{}: authentic, lists {files}\n", shown(&root.join(NAME))));
        }
    }
    plan.failures.iter().for_each(|error| worst.failed(error));
    for task in &plan.tasks {
        let verified = lists.commitment(task).and_then(|commitment| {
            let opening = opening.clone().commitment(commitment);
            opening.verify(stream::input(task)?).map_err(|error| lists.explain(error, task))
        });
        tell(worst, task.input.name("standard input"), verified);
    }
    Ok(())
}

/// What is known about the signature of a file that was opened.
fn signature(done: &Summary, unchecked: bool) -> String {
    let Some(id) = done.signer else { return String::new() };
    let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    match unchecked {
        true => format!("; signed by {id}, which is not verified without --signer"),
        false => format!("; signed by {id}"),
    }
}
