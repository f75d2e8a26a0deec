//! Shell completions and manual pages, generated from the definition of the arguments.

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::error::CommandError;

/// The date of a page, in roff: there is none, so that a build can be repeated. An empty word would not be written, and
/// the fields after it would move to its place.
const NO_DATE: &str = "\"\"";

/// The completion script of the program `A` for a shell.
pub fn completions<A: CommandFactory>(shell: Shell) -> String {
    let mut command = A::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// A manual page.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its file name: `sealwright-seal.1`.
    pub file: String,
    /// The page in roff format.
    pub roff: String,
}

/// The manual pages of `A`: first the page of the program, then one for each verb.
///
/// # Errors
/// If a page cannot be generated.
pub fn manual<A: CommandFactory>() -> Result<Vec<Page>, CommandError> {
    let mut all = A::command().disable_help_subcommand(true);
    all.build();
    let source = format!("{} {}", all.get_name(), all.get_version().unwrap_or_default());
    let mut pages = Vec::new();
    collect(&all, &source, &mut pages)?;
    Ok(pages)
}

fn collect(command: &Command, source: &str, pages: &mut Vec<Page>) -> Result<(), CommandError> {
    pages.push(page(command, source)?);
    command.get_subcommands().try_for_each(|verb| collect(verb, source, pages))
}

/// The page of `command`. The text after the options (exit codes, tables, examples) keeps its layout.
fn page(command: &Command, source: &str) -> Result<Page, CommandError> {
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let man =
        Man::new(command.clone().after_help(None::<&'static str>)).manual("Sealwright").source(source).date(NO_DATE);
    let file = man.get_filename();
    let mut roff = Vec::new();
    man.render(&mut roff).map_err(CommandError::failed)?;
    let mut roff = String::from_utf8_lossy(&roff).into_owned();
    let (notes, example) = after.split_once("Example:\n").unwrap_or((&after, ""));
    for (head, text) in [("NOTES", notes), ("EXAMPLE", example)] {
        if !text.trim().is_empty() {
            roff += &format!(".SH {head}\n.nf\n{}\n.fi\n", verbatim(text.trim_matches('\n')));
        }
    }
    Ok(Page { file, roff })
}

/// Escapes text so that roff prints it unchanged.
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

    #[derive(clap::Parser)]
    #[command(name = "trial", version = "0.1.0", after_help = "Example:\n    trial")]
    struct Trial;

    /// A regression: every page had an empty section.
    #[test]
    fn what_comes_after_the_options_has_its_own_sections() {
        let pages = manual::<Trial>().map(|pages| pages.into_iter().map(|page| page.roff).collect::<Vec<_>>());
        let pages = pages.unwrap_or_default();
        assert!(pages.len() == 1 && pages[0].contains(".SH EXAMPLE") && !pages[0].contains(".SH EXTRA"), "{pages:?}");
    }

    /// A regression: an empty date was not written, so that the source stood in its place.
    #[test]
    fn a_title_has_all_its_fields() {
        let roff = manual::<Trial>().expect("a page").remove(0).roff;
        let title = roff.lines().find(|line| line.starts_with(".TH ")).expect("a title");
        // Name, section, date, source, manual.
        assert_eq!(title, ".TH trial 1 \"\" \"trial 0.1.0\" Sealwright");
    }

    #[test]
    fn roff_takes_nothing_for_a_command() {
        assert_eq!(verbatim(".a\n b --c\\n\n`d'"), "\\&.a\n b \\-\\-c\\en\n\\(gad\\(aq");
    }
}
