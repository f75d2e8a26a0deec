//! `sealwright open`: sealed files back into what they were.

use clap::Args;
use sealwright_file::{Ceiling, Opening, Work, remove_input};
use sealwright_terminal::{
    CommandError, Exit,
    size::{self, Size},
};

use crate::{
    ad,
    args::{AdArgs, FileArgs, KeySourceArgs},
    error::file_error,
    jobs::{Direction, Job, Place, Plan},
    run,
    secret::{self, Purpose},
    stream,
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
    /// The most memory a file may ask for to try a passphrase
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size::parse, help_heading = "Key")]
    max_cost: Size,
}

/// Opens everything that was named.
pub(crate) fn run(args: &OpenArgs) -> Result<Exit, CommandError> {
    let plan = Plan::new(&args.files, Direction::Open)?;
    stream::refuse_conflicts(&plan, &args.files, &args.key)?;
    let ad = ad::read(&args.ad)?;
    let ceiling = Ceiling::memory(args.max_cost.kib()?);
    let key = secret::key(&args.key, Purpose::Open)?;
    let one = |job: &Job, work: Work| {
        let output = stream::output(job, &args.files, args.preserve)?;
        let opening = Opening::new(&key).ceiling(ceiling).ad(&ad).work(work);
        let summary = opening
            .open(stream::input(job)?, output)
            .map_err(|error| file_error(error).about_unless_named(job.input.name("standard input")))?;
        match &job.input {
            Place::File(path) if args.files.remove => remove_input(path, &summary).map_err(file_error),
            _ => Ok(()),
        }
    };
    Ok(run::all(plan, &args.files, one))
}
