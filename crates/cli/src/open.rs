//! `sealwright open`: sealed files back into what they were.

use clap::Args;
use sealwright_file::{Ceiling, Opening, Work, remove_input};
use sealwright_terminal::{CommandError, Exit};

use crate::{
    ad,
    args::{AdArgs, FileArgs, KeySourceArgs},
    ceiling,
    error::file_error,
    plan::{Direction, FileTask, Place, Plan},
    preflight,
    prompt::Purpose,
    run, secret, stream,
};

const EXAMPLES: &str = "\
A file appears under its name only when all of it is proven. Standard output gets only bytes that are
proven, but may end early: look at the exit code before you use them.

Example:
    sealwright open --key-file my.key letter.txt.seal          # writes letter.txt
    sealwright open --key-file my.key -r sealed -C opened      # every .seal file below sealed/
    sealwright open --key-file my.key photos.tar.seal -o - | tar -x";

/// Open sealed files
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct OpenArgs {
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    key: KeySourceArgs,
    #[command(flatten)]
    ad: AdArgs,
    /// Give outputs the sealed file's permission bits instead of 0600
    #[arg(long, help_heading = "Output")]
    preserve: bool,
    /// The most that a file may ask for to try a passphrase: memory, passes, lanes
    #[arg(long, value_name = "MEMORY[,PASSES[,LANES]]", default_value = "1GiB,16,64", value_parser = ceiling::parse, help_heading = "Key")]
    max_cost: Ceiling,
}

/// Opens everything that was named.
pub(crate) fn run(args: &OpenArgs) -> Result<Exit, CommandError> {
    let mut plan = Plan::new(&args.files, Direction::Open)?;
    stream::refuse_conflicts(&plan, &args.files, &args.key)?;
    let ad = ad::read(&args.ad)?;
    preflight::check(&mut plan, &args.files, &args.key, Direction::Open);
    if plan.tasks.is_empty() {
        secret::named(&args.key)?;
        return Ok(run::failures(&plan, &args.files));
    }
    let key = secret::key(&args.key, Purpose::Open)?;
    let one = |task: &FileTask, work: Work| {
        let output = stream::output(task, &args.files, args.preserve)?;
        let opening = Opening::new(&key).ceiling(args.max_cost).ad(&ad).work(work);
        let summary = opening
            .open(stream::input(task)?, output)
            .map_err(|error| file_error(error).about_unless_named(task.input.name("standard input")))?;
        match &task.input {
            Place::File(path) if args.files.remove => remove_input(path, &summary).map_err(file_error),
            _ => Ok(()),
        }
    };
    Ok(run::all(plan, &args.files, one))
}
