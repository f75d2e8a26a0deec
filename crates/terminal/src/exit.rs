//! Exit codes. Scripts rely on them; they are the same for every verb.

use std::process::ExitCode;

/// How a run ended. If a run has several inputs, the highest code is the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything asked for was done.
    Done = 0,
    /// An input, an output, the configuration, a test vector or a study failed, or the sealed file is of a kind that this
    /// build does not read.
    Failed = 1,
    /// The command line is not valid.
    Usage = 2,
    /// The sealed file was changed, cut or extended. A changed header can also give [`Exit::Failed`] or
    /// [`Exit::WrongKey`].
    NotAuthentic = 3,
    /// The key, passphrase or associated data is not the one that sealed the file, or the file's header was changed; or
    /// another key signed it.
    WrongKey = 4,
    /// SIGINT, SIGQUIT, SIGTERM or SIGHUP.
    Interrupted = 130,
}

impl Exit {
    /// The exit code that a library reports. Unknown codes become [`Exit::Failed`].
    pub fn from_code(code: u8) -> Exit {
        match code {
            0 => Exit::Done,
            2 => Exit::Usage,
            3 => Exit::NotAuthentic,
            4 => Exit::WrongKey,
            130 => Exit::Interrupted,
            _ => Exit::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
