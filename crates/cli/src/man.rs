//! `sealwright man`: a manual page for each verb, made from the arguments themselves.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use sealwright_measure::store::write_atomically;

use crate::{args, exit::Exit, failure::Failure, stream};

const EXAMPLES: &str = "\
Example:
    sealwright man -C man/man1    # then: man -M man sealwright-seal";

/// Write manual pages
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LowArgs {
    /// Write a page for each verb into DIR instead of printing the first
    #[arg(short = 'C', long, value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// Prints the first page, or writes all.
pub(crate) fn run(args: &LowArgs) -> Result<Exit, Failure> {
    let mut all = args::LowArgs::command().disable_help_subcommand(true);
    all.build();
    match &args.directory {
        None => stream::print(&String::from_utf8_lossy(&page(&all)?))?,
        Some(directory) => {
            fs::create_dir_all(directory).map_err(|error| Failure::io(directory, &error))?;
            write(&all, directory)?;
        }
    }
    Ok(Exit::Done)
}

fn write(command: &Command, directory: &Path) -> Result<(), Failure> {
    let path = directory.join(Man::new(command.clone()).get_filename());
    write_atomically(&path, &page(command)?).map_err(|error| Failure::io(&path, &error))?;
    command.get_subcommands().try_for_each(|verb| write(verb, directory))
}

/// The page of `command`. What stands behind the options is laid out already: exit codes, tables, examples.
fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    let mut bare = command.clone();
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    bare = bare.after_help("");
    let man = Man::new(bare).manual("Sealwright").source(concat!("sealwright ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render(&mut page).map_err(Failure::failed)?;
    let (notes, example) = after.split_once("Example:\n").unwrap_or((&after, ""));
    for (head, text) in [("NOTES", notes), ("EXAMPLE", example)] {
        if !text.trim().is_empty() {
            page.extend(format!(".SH {head}\n.nf\n{}\n.fi\n", verbatim(text.trim_matches('\n'))).into_bytes());
        }
    }
    Ok(page)
}

/// Text that roff leaves as it is.
fn verbatim(text: &str) -> String {
    let line = |line: &str| {
        let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq").replace('`', "\\(ga");
        if line.starts_with('.') { format!("\\&{line}") } else { line }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roff_takes_nothing_for_a_command() {
        assert_eq!(verbatim(".a\n b --c\\n\n`d'"), "\\&.a\n b \\-\\-c\\en\n\\(gad\\(aq");
    }
}
