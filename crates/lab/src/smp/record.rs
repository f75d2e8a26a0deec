//! `sealwright-lab smp record`: records a trace of a multithreaded program.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;
use sealwright_smp::record::{self, RecordError, Recording};
use sealwright_terminal::{CommandError, Exit, ProgressArgs, os_message, print, shown};
use serde_json::json;

use crate::status::Status;

const EXAMPLES: &str = "\
Example:
    sealwright-lab smp record -o sort -- sort --parallel=2 -S 64M words.txt    # sort starts threads for 150000 lines

The program runs in QEMU user mode, about ten times slower than natively. Each of its threads is recorded in a file of
its own (sort.0.smpt.zst, sort.1.smpt.zst, ...); `sealwright-lab smp run --trace sort` runs them.";

/// Record a trace of a multithreaded program for `smp run`
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RecordArgs {
    /// Write the files PREFIX.0.smpt.zst and so on [default: the name of the program]
    #[arg(short, long, value_name = "PREFIX")]
    output: Option<PathBuf>,
    /// Replace an existing trace
    #[arg(short, long)]
    force: bool,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
    /// The program and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

pub(super) fn run(args: &RecordArgs) -> Result<Exit, CommandError> {
    let Some((name, arguments)) = args.command.split_first() else {
        return Err(CommandError::usage("nothing to record"));
    };
    let program = found(name)?;
    let prefix = args.output.clone().or_else(|| program.file_name().map(PathBuf::from));
    let Some(prefix) = prefix else { return Err(CommandError::usage("the program has no name").hint("-o PREFIX")) };
    let recording = Recording {
        program,
        arguments: arguments.to_vec(),
        prefix: prefix.clone(),
        cache: record::cache(),
        replace: args.force,
    };
    let status = Status::new(&args.progress);
    let tell = &mut |records: u64| status.now(format!("{records} records"), || json!({ "records": records }));
    let recorded = recording.run(tell).map_err(failed)?;
    drop(status);
    let records: u64 = recorded.records.iter().sum();
    let threads = recorded.files.len();
    print(&if args.json {
        let files: Vec<_> = recorded.files.iter().map(|file| file.display().to_string()).collect();
        format!("{}\n", json!({ "files": files, "records": recorded.records, "exit": recorded.code }))
    } else {
        format!("{threads} threads, {records} records: sealwright-lab smp run --trace {}\n", shown(&prefix))
    })?;
    match recorded.code {
        Some(0) => {}
        Some(code) => eprintln!("sealwright-lab: the program ended with {code}"),
        None => eprintln!("sealwright-lab: the program was ended by a signal"),
    }
    Ok(Exit::Done)
}

/// Finds a program in the same way as the shell.
fn found(name: &OsString) -> Result<PathBuf, CommandError> {
    let path = PathBuf::from(name);
    if path.components().count() > 1 || path.is_absolute() {
        return if path.is_file() { Ok(path) } else { Err(CommandError::failed("no such program").about(&path)) };
    }
    record::on_path(name).ok_or_else(|| {
        let failure = CommandError::failed("no such program on the PATH").about(&path);
        if path.is_file() { failure.hint(format_args!("./{}", shown(&path))) } else { failure }
    })
}

fn failed(cause: RecordError) -> CommandError {
    match cause {
        RecordError::Missing(missing) => CommandError::failed(&missing.what).hint(&missing.hint),
        RecordError::Io(what, error) => CommandError::failed(format_args!("{what}: {}", os_message(&error))),
        RecordError::Exists(path) => CommandError::failed("exists already").about(&path).hint("--force replaces it"),
        RecordError::Shared(path) => {
            let hint = format!("chmod go-w {} if it is yours, else XDG_CACHE_HOME=FOLDER", shown(&path));
            CommandError::failed(RecordError::Shared(path)).hint(hint)
        }
        RecordError::Closed(_) => CommandError::failed(cause).hint("link it with the shared libc: gcc without -static"),
        RecordError::Program(_) => CommandError::failed(cause),
    }
}
