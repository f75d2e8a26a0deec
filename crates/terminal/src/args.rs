//! Arguments that several verbs share.

use clap::{Args, ValueEnum};

/// How progress is shown.
#[derive(Args, Debug)]
pub struct ProgressArgs {
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Progress on standard error
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub progress: ProgressFormat,
}

impl ProgressArgs {
    /// The format, where `--quiet` has the last word.
    pub fn format(&self) -> ProgressFormat {
        if self.quiet { ProgressFormat::None } else { self.progress }
    }
}

/// The formats of `--progress`. Variants have no help of their own, which would make the help twice as long.
#[allow(missing_docs, reason = "clap would print the comments in every help page")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressFormat {
    Auto,
    Json,
    None,
}
