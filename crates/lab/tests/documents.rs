//! Every command in README.md and docs/*.md does what the document says.
//!
//! Commands stand in fenced blocks marked `console`: `$ ` starts one, the lines below are all that it prints, `[..]` being any
//! part of a line. The blocks of a document follow each other in one directory, in which there is `vectors`; a comment `<!-- $ COMMAND -->` prepares
//! it unseen. Words behind `console` say what a block cannot promise: `varies`, and only success counts; `long`, and
//! it is not run; `needs=PROGRAM`, and it is run where that is there; `elsewhere=TEST`, which runs it.
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use sealwright_transcripts::{have, terminal};

/// A block of commands, or one that prepares for them.
#[derive(Debug, PartialEq)]
struct Block<'a> {
    marks: &'a str,
    text: String,
}

#[test]
fn every_command_of_every_document_does_what_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut wrong = String::new();
    let (mut run, mut skipped) = (0, 0);
    for path in documents(&root) {
        let (text, name) = (fs::read_to_string(&path).unwrap(), path.file_name().unwrap().display().to_string());
        wrong.extend(outside(&text).map(|line| format!("{name}: mark the block `console`: {line}\n")));
        let directory = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root.join("vectors"), directory.path().join("vectors")).unwrap();
        for Block { marks, text } in blocks(&text) {
            let mark = |word: &str| marks.split_whitespace().find_map(|mark| mark.strip_prefix(word));
            let commands = text.lines().filter(|line| line.starts_with("$ ")).count();
            let elsewhere = mark("elsewhere=");
            assert!(elsewhere.is_none_or(|test| root.join(test).exists()), "{name}: {marks}");
            if elsewhere.is_some() || mark("long").is_some() || mark("needs=").is_some_and(|program| !have(program)) {
                eprintln!("skipped: {name}, {marks}: {}", text.lines().next().unwrap_or_default());
                skipped += commands;
                continue;
            }
            let said = terminal::replay(&text, directory.path());
            let right = match mark("varies") {
                Some(_) => !said.lines().any(|line| line.starts_with("? ")),
                None => terminal::fits(&text, &said),
            };
            if !right {
                wrong += &format!("--- {name}\n{}", terminal::difference(&text, &said));
            }
            run += commands;
        }
    }
    eprintln!("{run} commands run, {skipped} skipped");
    assert!(wrong.is_empty(), "- the document says, + the terminal said\n{wrong}");
    assert!(run > 5, "{run} commands");
}

fn documents(root: &Path) -> Vec<PathBuf> {
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = docs.chain([root.join("README.md")]).collect();
    all.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    all.sort();
    all
}

/// The blocks of commands, and the comments that prepare for them, in their order.
fn blocks(document: &str) -> Vec<Block<'_>> {
    let mut found: Vec<Block<'_>> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in document.lines() {
        match (line.strip_prefix("```"), fence) {
            (Some(_), Some(_)) => fence = None,
            (Some(marks), None) => {
                fence = Some(marks);
                if marks.split_whitespace().next() == Some("console") {
                    found.push(Block { marks, text: String::new() });
                }
            }
            (None, Some(marks)) if marks.starts_with("console") => {
                let text = &mut found.last_mut().unwrap().text;
                // A comment behind a command is for the reader alone
                *text += &format!("{line}\n");
            }
            (None, None) => {
                if let Some(command) = line.strip_prefix("<!-- $ ").and_then(|rest| rest.strip_suffix(" -->")) {
                    found.push(Block { marks: "", text: format!("$ {command}\n") });
                }
            }
            _ => {}
        }
    }
    found
}

/// Commands that stand where no test would find them.
fn outside(document: &str) -> impl Iterator<Item = &str> {
    let mut fence: Option<&str> = None;
    document.lines().filter(move |line| {
        if let Some(marks) = line.strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(marks) };
            return false;
        }
        let command = ["$ ", "sealwright ", "cargo "].iter().any(|begin| line.trim_start().starts_with(begin));
        let code = fence.is_some() || line.starts_with("    ");
        command && code && !fence.is_some_and(|marks| marks.starts_with("console"))
    })
}

#[test]
fn blocks_are_found_and_commands_outside_too() {
    let text = "a\n```console varies\n$ b\nc\n```\n<!-- $ d -->\n```\n$ e\n```\n    cargo f\n";
    let block = |marks, text: &str| Block { marks, text: text.into() };
    assert_eq!(blocks(text), [block("console varies", "$ b\nc\n"), block("", "$ d\n")]);
    assert_eq!(outside(text).collect::<Vec<_>>(), ["$ e", "    cargo f"]);
}
