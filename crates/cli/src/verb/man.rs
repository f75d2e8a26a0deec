//! `sealwright man`: a manual page for each verb.

use std::{fs, path::PathBuf};

use clap::{Args, CommandFactory};
use sealwright_terminal::{CommandError, Exit, pages, print};

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
        // Renamed when complete, so that no reader sees a partial page.
        let draft = directory.join(format!(".{}.new", page.file));
        fs::write(&draft, &page.roff).and_then(|()| fs::rename(&draft, &path)).map_err(|error| {
            let _ = fs::remove_file(&draft);
            CommandError::io(&path, &error)
        })?;
    }
    Ok(Exit::Done)
}
