//! Arguments that several verbs share.

use clap::{Args, ValueEnum};

/// How progress is shown.
#[derive(Args, Debug)]
pub struct ProgressArgs {
    /// Print only results and errors
    #[arg(short, long)]
    pub quiet: bool,
    /// How to report progress on standard error
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub progress: ProgressFormat,
}

impl ProgressArgs {
    /// The format of progress reports; `--quiet` overrides `--progress`.
    pub fn format(&self) -> ProgressFormat {
        if self.quiet { ProgressFormat::None } else { self.progress }
    }
}

/// The formats of `--progress`. The variants have no comments, because clap would print them in every help page.
#[allow(missing_docs, reason = "clap would print the comments in every help page")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressFormat {
    Auto,
    Json,
    None,
}
