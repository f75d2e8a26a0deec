//! Every command in the documents (`*.md` at the root and below `docs`) does what the document says.
//!
//! Commands are in fenced blocks marked `console`. `$ ` starts a command, and the lines below it are all that it
//! prints; `[..]` stands for any part of a line. The blocks of a document run one after the other in one directory,
//! which contains `vectors`. A comment `<!-- $ COMMAND -->` runs a command that readers do not see. Words after
//! `console` limit what is checked: with `varies`, only success counts; with `long`, the block is not run, but the
//! commands and options in it must exist; with `needs=PROGRAM`, it is run if that program is installed;
//! `elsewhere=TEST` names the test that runs it.
#![allow(clippy::unwrap_used)]

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use sealwright_transcripts::{binaries, finished, have, skipped, terminal};

/// A block of commands, or a command that readers do not see.
#[derive(Debug, PartialEq)]
struct Block<'a> {
    marks: &'a str,
    text: String,
}

#[test]
fn commands_do_what_the_documents_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut wrong = String::new();
    let (mut run, mut long) = (0, 0);
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
            if elsewhere.is_some() {
                continue;
            }
            if let Some(program) = mark("needs=").filter(|program| !have(program)) {
                skipped(format_args!("{name}: {commands} commands, which need {program}"));
                continue;
            }
            if mark("long").is_some() {
                wrong.extend(unknown(&text).map(|word| format!("{name}: {word}\n")));
                long += commands;
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
    skipped(format_args!("{long} commands in blocks marked `long`; {run} others were run"));
    assert!(wrong.is_empty(), "- the document says, + the terminal said\n{wrong}");
    assert!(run > 20 && long > 0, "{run} and {long} commands");
}

/// Commands and options of our programs that do not exist, in a block that is not run.
fn unknown(block: &str) -> impl Iterator<Item = String> {
    let commands = block.lines().filter_map(|line| line.strip_prefix("$ "));
    let parts = commands.flat_map(|line| line.split(['|', ';', '#', '<', '>', '(', ')']));
    parts.flat_map(|part| part.split("&&")).filter_map(|part| {
        let words: Vec<&str> = part.split_whitespace().take_while(|word| *word != "--").collect();
        let (program, words) = match &words[..] {
            ["cargo", "lab", words @ ..] => ("sealwright-lab", words),
            [program @ ("sealwright" | "sealwright-lab"), words @ ..] => (*program, words),
            _ => return None,
        };
        let is_option = |word: &&&str| word.starts_with('-');
        let verbs = words.iter().take_while(|word| word.starts_with(|c: char| c.is_ascii_lowercase()));
        let verbs = verbs.filter(|word| !word.contains(['.', '/'])).collect::<Vec<_>>();
        let help = finished(Command::new(binaries().join(program)).args(verbs).arg("--help").output().unwrap());
        let options = words.iter().filter(is_option).map(|word| word.split('=').next().unwrap_or_default());
        let page = String::from_utf8_lossy(&help.out).into_owned();
        let listed: HashSet<&str> = page.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').collect();
        let strange: Vec<&str> = options.filter(|option| !listed.contains(option)).collect();
        let wrong = help.code != 0 || !strange.is_empty();
        wrong.then(|| format!("{part}: --help ends with {}, and does not have {strange:?}", help.code))
    })
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
fn what_the_programs_do_not_have_is_found() {
    let block = "$ cargo lab study bench --quick  # --no\n--no\n$ a && sealwright key new --pair --nothing | sealwright frob -x\n";
    let found: Vec<String> = unknown(block).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("[\"--nothing\"]") && found[1].contains("ends with 2"), "{found:?}");
}

#[test]
fn blocks_are_found_and_commands_outside_too() {
    let text = "a\n```console varies\n$ b\nc\n```\n<!-- $ d -->\n```\n$ e\n```\n    cargo f\n";
    let block = |marks, text: &str| Block { marks, text: text.into() };
    assert_eq!(blocks(text), [block("console varies", "$ b\nc\n"), block("", "$ d\n")]);
    assert_eq!(outside(text).collect::<Vec<_>>(), ["$ e", "    cargo f"]);
}
