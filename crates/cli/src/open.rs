//! `sealwright open`: sealed files back into what they were.

use clap::Args;
use sealwright_file::{Ceiling, Opening, Work, remove_input};

use crate::{
    ad,
    args::{AdArgs, FileArgs, KeyArgs},
    exit::Exit,
    failure::Failure,
    jobs::{Direction, Job, Place, Plan},
    run,
    secret::{self, Purpose},
    size::{self, Size},
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
pub(crate) struct LowArgs {
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    key: KeyArgs,
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
pub(crate) fn run(args: &LowArgs) -> Result<Exit, Failure> {
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
            .map_err(|error| Failure::from(error).about_unless_named(job.input.name("standard input")))?;
        match &job.input {
            Place::File(path) if args.files.remove => Ok(remove_input(path, &summary)?),
            _ => Ok(()),
        }
    };
    Ok(run::all(plan, &args.files, one))
}
