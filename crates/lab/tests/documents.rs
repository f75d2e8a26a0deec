//! Every command in the documents (`*.md` at the root and below `docs`) does what the document says.
//!
//! Commands are in fenced blocks marked `console`. `$ ` starts a command, and the lines below it are all that it
//! prints; `[..]` stands for any part of a line. The blocks of a document run one after the other in one directory,
//! which contains `vectors`. A comment `<!-- $ COMMAND -->` runs a command that readers do not see. Words after
//! `console` limit what is checked: with `varies`, only success counts; with `long`, the block is not run; with
//! `needs=PROGRAM`, it is run if that program is installed; `elsewhere=TEST` names the test that runs it.
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use sealwright_transcripts::{have, terminal};

/// A block of commands, or a command that readers do not see.
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
        let (text, name) =
            (fs::read_to_string(&path).unwrap(), path.strip_prefix(&root).unwrap().display().to_string());
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
    let inside = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let mut all = inside(root);
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        let (more, files): (Vec<_>, Vec<_>) = inside(&folder).into_iter().partition(|path| path.is_dir());
        folders.extend(more);
        all.extend(files);
    }
    all.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    all.sort();
    all
}

/// The blocks of commands and the hidden commands, in order.
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

/// Commands outside of blocks marked `console`, which this test would not run.
fn outside(document: &str) -> impl Iterator<Item = &str> {
    let mut fence: Option<&str> = None;
    document.lines().filter(move |whole| {
        if let Some(marks) = whole.strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(marks) };
            return false;
        }
        let line = whole.trim_start();
        // In names of settings and titles of tables, the program's name is not followed by a verb
        let verb = |rest: &str| rest.starts_with(|c: char| c.is_ascii_lowercase()) && !rest.starts_with("at ");
        let program = ["sealwright ", "sealwright-lab "].iter().find_map(|name| line.strip_prefix(name));
        let command = line.starts_with("$ ") || line.starts_with("cargo ") || program.is_some_and(verb);
        let code = fence.is_some() || whole.starts_with("    ");
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
