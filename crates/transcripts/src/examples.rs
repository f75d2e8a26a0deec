//! Checks that every example in every help page works. The examples of a page run in order, in a folder prepared for
//! that page.

use std::path::Path;

use crate::{Sandbox, have, terminal};

/// How to run the examples of a program.
#[derive(Debug)]
pub struct Examples<'a> {
    /// The program's name.
    pub program: &'a str,
    /// For some pages, a shell script that adds files to the folder. Every folder contains `letter.txt`, `photos`,
    /// `secret`, `my.key` and `vectors`.
    pub prepared: &'a [(&'a str, &'a str)],
    /// Prepares the folder of every page.
    pub prepare: fn(&Sandbox),
    /// Examples that are not run here: how they begin, and the reason, such as the test that runs them.
    pub not_run: &'a [(&'a str, &'a str)],
    /// The least number of examples that must have run.
    pub at_least: usize,
}

impl Examples<'_> {
    /// Runs the examples of every page.
    ///
    /// # Panics
    /// If an example fails, a page has no example, fewer than `at_least` examples ran, or no example begins as one that
    /// is not run.
    pub fn check(&self, vectors: &Path) {
        let (mut run, mut skipped, mut left_out) = (0, 0, vec![false; self.not_run.len()]);
        for page in self.pages("") {
            let help = self.help(&page);
            let (_, examples) =
                help.split_once("Example:\n").unwrap_or_else(|| panic!("`{page}` has no example\n{help}"));
            let sandbox = self.sandbox(&page, vectors);
            for line in examples.lines().map_while(|line| line.strip_prefix("    ")) {
                let program = line.split_whitespace().next().unwrap();
                if let Some(at) = self.not_run.iter().position(|(begin, _)| line.starts_with(begin)) {
                    eprintln!("not run here: {line}: {}", self.not_run[at].1);
                    (skipped, left_out[at]) = (skipped + 1, true);
                } else if !program.starts_with("sealwright") && !have(program) {
                    skipped += 1;
                } else {
                    let (printed, code) = terminal::shell(line, &sandbox.path(""));
                    assert_eq!(code, 0, "the help of `{} {page}` says: {line}\n{printed}", self.program);
                    run += 1;
                }
            }
        }
        eprintln!("{run} examples run, {skipped} skipped");
        assert!(run >= self.at_least, "{run} examples");
        let stale: Vec<&str> =
            self.not_run.iter().zip(&left_out).filter(|(_, is)| !**is).map(|((begin, _), _)| *begin).collect();
        assert!(stale.is_empty(), "no example of `{}` begins so: {stale:?}", self.program);
    }

    /// Every page that describes options, named by its verb: `smp run`.
    fn pages(&self, verb: &str) -> Vec<String> {
        let help = self.help(verb);
        let Some((_, commands)) = help.split_once("\nCommands:\n") else { return vec![verb.to_owned()] };
        let verbs = commands.lines().take_while(|line| line.starts_with("  "));
        let verbs = verbs.filter_map(|line| line.split_whitespace().next()).filter(|verb| *verb != "help");
        let inner = verbs.flat_map(|inner| self.pages(format!("{verb} {inner}").trim()));
        // A page that only lists verbs has no examples of its own.
        let own = verb.is_empty().then(String::new);
        own.into_iter().chain(inner).collect()
    }

    fn help(&self, verb: &str) -> String {
        let (printed, code) = terminal::shell(&format!("{} {verb} --help", self.program), Path::new("/"));
        assert_eq!(code, 0, "{printed}");
        printed
    }

    fn sandbox(&self, page: &str, vectors: &Path) -> Sandbox {
        let sandbox = Sandbox::new();
        sandbox.ok("key new -o my.key");
        sandbox.write("letter.txt", "Dear reader,\n");
        sandbox.write("secret", "a passphrase\n");
        sandbox.write("photos/1", crate::text(3000));
        std::os::unix::fs::symlink(vectors, sandbox.path("vectors")).unwrap();
        (self.prepare)(&sandbox);
        if let Some((_, script)) = self.prepared.iter().find(|(prepared, _)| *prepared == page) {
            let (printed, code) = terminal::shell(script, &sandbox.path(""));
            assert_eq!(code, 0, "{printed}");
        }
        sandbox
    }
}
