//! `sealwright man`: a manual page for each verb.

use std::{fs, path::PathBuf};

use clap::{Args, CommandFactory};
use sealwright_file::{Output, OutputOptions};
use sealwright_terminal::{CommandError, Exit, pages, print};

use crate::error::file_error;

const EXAMPLES: &str = "\
Example:
    sealwright man -C man/man1    # then: man -M man sealwright-seal";

/// Write manual pages
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManArgs {
    /// Write a page for each verb into DIR, instead of printing the page of the program
    #[arg(short = 'C', long, value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// Prints the main page of the program `A`, or writes all pages.
pub(crate) fn run<A: CommandFactory>(args: &ManArgs) -> Result<Exit, CommandError> {
    let pages = pages::manual::<A>()?;
    let Some(directory) = &args.directory else {
        print(&pages[0].roff)?;
        return Ok(Exit::Done);
    };
    fs::create_dir_all(directory).map_err(|error| CommandError::io(directory, &error))?;
    for page in &pages {
        let path = directory.join(&page.file);
        // It appears when complete, so that no reader sees a partial page, and is not written through a link.
        let options = OutputOptions::default().force(true);
        let output = Output::derived(path, options).map_err(file_error)?.mode(0o644);
        output.write_all_of(&mut page.roff.as_bytes()).map_err(file_error)?;
    }
    Ok(Exit::Done)
}
