//! Arguments that several verbs share.

use std::path::{Path, PathBuf};

use clap::Args;
use sealwright_terminal::{CommandError, ProgressArgs, ProgressFormat};

/// The source of the key. It is never the command line or the environment, because other processes can read both.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct KeySourceArgs {
    /// Read the key from FILE, made by `sealwright key new`; can be repeated
    #[arg(long, value_name = "FILE", help_heading = "Key")]
    pub(crate) key_file: Vec<PathBuf>,
    /// Read a key file from file descriptor N
    #[arg(long, value_name = "N", help_heading = "Key")]
    pub(crate) key_fd: Option<u32>,
    /// Ask for a passphrase on the terminal
    #[arg(short, long, help_heading = "Key")]
    pub(crate) passphrase: bool,
    /// Read the passphrase, one line, from file descriptor N
    #[arg(long, value_name = "N", help_heading = "Key")]
    pub(crate) passphrase_fd: Option<u32>,
    /// Run CMD; the first line that it prints is the passphrase
    #[arg(long, value_name = "CMD", help_heading = "Key")]
    pub(crate) passphrase_command: Option<String>,
}

/// Data that is authenticated with the text but not stored in the file.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct AdArgs {
    /// Bind the file to TEXT: it opens only with the same TEXT
    #[arg(long, value_name = "TEXT", help_heading = "Associated data")]
    pub(crate) ad: Option<String>,
    /// Bind the file to the content of FILE
    #[arg(long, value_name = "FILE", help_heading = "Associated data")]
    pub(crate) ad_file: Option<PathBuf>,
}

/// The input files and their outputs.
#[derive(Args, Debug)]
pub(crate) struct FileArgs {
    /// Files to read; `-` or no file means standard input
    #[arg(value_name = "IN")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Write to OUT; `-` means standard output, even if it is a terminal
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Write all outputs into DIR
    #[arg(short = 'C', long, value_name = "DIR", conflicts_with = "output", help_heading = "Output")]
    pub(crate) directory: Option<PathBuf>,
    /// Process every file in the given directories separately and recursively; symbolic links are not followed
    #[arg(long)]
    pub(crate) each: bool,
    /// Replace existing output files; a directory is never replaced
    #[arg(short, long, help_heading = "Output")]
    pub(crate) force: bool,
    /// Delete each input after its output is safely on disk
    #[arg(long, help_heading = "Output")]
    pub(crate) remove: bool,
    /// Do not wait for the disk; a power failure can then lose outputs
    #[arg(long, conflicts_with = "remove", help_heading = "Output")]
    pub(crate) no_sync: bool,
    /// Use N threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
}

impl FileArgs {
    /// Those of a walk through directories that writes nothing.
    pub(crate) fn each_in(directories: Vec<PathBuf>, quiet: bool) -> FileArgs {
        FileArgs {
            inputs: directories,
            output: None,
            directory: None,
            each: true,
            force: false,
            remove: false,
            no_sync: false,
            threads: None,
            progress: ProgressArgs { quiet, progress: ProgressFormat::None },
        }
    }

    /// Refuses a file that was named with -C.
    pub(crate) fn refuse_file_as_directory(&self) -> Result<(), CommandError> {
        match self.directory.as_deref().filter(|path| path.exists() && !path.is_dir()) {
            Some(file) => {
                Err(CommandError::failed("is not a directory").about(file).hint("-C names a directory, -o a file"))
            }
            None => Ok(()),
        }
    }

    /// Where a sealed directory is unpacked.
    pub(crate) fn below(&self) -> &Path {
        self.directory.as_deref().unwrap_or(Path::new("."))
    }
}
