//! The automation of the workspace: `cargo xtask test`, the checks that it consists of, and other commands.

mod aarch64;
mod advisories;
mod background;
mod capi;
mod cargo_tree;
mod commands;
mod constant_time;
mod crash;
mod cycles;
mod debian;
mod disassembly;
mod early_exit;
mod examples;
mod files;
mod fuzz;
mod fuzz_keep;
mod fuzz_log;
mod fuzz_said;
mod fuzz_targets;
mod generated;
mod growth;
mod install_c;
mod instrument;
mod java;
mod lab;
mod layers;
mod levels;
mod licence;
mod limit;
mod link_c;
mod links;
mod long;
mod loops;
mod mutants;
mod nginx;
mod notices;
mod packages;
mod programs;
mod provider;
mod python;
mod reproducible;
mod rtl;
mod sanitize;
mod sanitize_std;
mod sbom;
mod searched;
mod sizes;
mod steps;
mod supply;
mod symbols;
mod tables;
mod taint;
mod target_folder;
mod unsafe_table;
mod unused;
mod upstream;
mod vectors;
mod venv;

use std::{
    env, panic,
    path::{Path, PathBuf},
    process::{self, ExitCode},
};

use commands::{Run, STEPS, Step};
use steps::Steps;

/// Steps that test every instruction-set level of this machine, or the best.
const AT_EVERY_LEVEL: [&str; 4] = ["unit", "levels", "vectors", "constant-time"];

/// The workspace's root: that around the current folder, so that this program also serves other clones; otherwise that of
/// its sources.
fn root() -> PathBuf {
    let here = env::current_dir().unwrap_or_default();
    let around = here.ancestors().find(|folder| folder.join("xtask/src/main.rs").is_file());
    let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
    around.or(sources.parent()).unwrap_or(sources).to_path_buf()
}

/// Ends this program without a word where nobody reads what it prints any more, as with `| head`: with the code that shells
/// give to a program which SIGPIPE ended, since not all was checked.
fn end_with_the_reader() {
    let otherwise = panic::take_hook();
    panic::set_hook(Box::new(move |why| {
        if why.to_string().contains("failed printing to stdout: Broken pipe") {
            process::exit(141);
        }
        otherwise(why);
    }));
}

fn main() -> ExitCode {
    end_with_the_reader();
    if let Some(code) = cycles::wrapper().or_else(instrument::wrapper) {
        return code;
    }
    let words: Vec<String> = env::args().skip(1).collect();
    let (command, rest) = words.split_first().map_or((None, &[][..]), |(command, rest)| (Some(&command[..]), rest));
    // `lab` has a help of its own.
    if let Some(command) = command
        && command != "lab"
        && rest.iter().take_while(|word| *word != "--").any(|word| ["-h", "--help"].contains(&word.as_str()))
        && let Some(entry) = commands::entry(command)
    {
        print!("{entry}");
        return ExitCode::SUCCESS;
    }
    let wanted: Vec<&Step> = match command {
        Some("lab" | "install-c") => Vec::new(),
        Some("test") => commands::test().collect(),
        Some("help" | "--help" | "-h") => {
            print!("{}", commands::help());
            return ExitCode::SUCCESS;
        }
        Some(name) => match STEPS.iter().find(|step| step.name == name) {
            Some(step) => vec![step],
            None => {
                eprintln!("cargo xtask {name}: there is no such command\nhint: cargo xtask help");
                return ExitCode::from(2);
            }
        },
        None => {
            eprint!("{}", commands::help());
            return ExitCode::from(2);
        }
    };
    let several = wanted.len() > 1;
    if let (Some(command), Some(word)) = (command, rest.first())
        && wanted.iter().any(|step| several || !step.words)
    {
        eprintln!("cargo xtask {command}: {word}: it takes no words\nhint: cargo xtask {command}");
        return ExitCode::from(2);
    }
    if wanted.iter().any(|step| AT_EVERY_LEVEL.contains(&step.name)) && env::var_os("SEALWRIGHT_ISA").is_some() {
        eprintln!("SEALWRIGHT_ISA is set, so that higher levels would not be tested\nhint: unset SEALWRIGHT_ISA");
        return ExitCode::from(2);
    }
    if let Err(why) = target_folder::settle(&root()) {
        eprintln!("cargo xtask: {why}");
        return ExitCode::FAILURE;
    }
    let steps = Steps::new(root());
    match command {
        Some("lab") => return lab::run(&steps, rest),
        Some("install-c") => return install_c::command(&steps, rest),
        _ => {}
    }
    let mut run = Run::new(steps, rest, several);
    for step in wanted {
        (step.run)(&mut run);
    }
    run.steps.close()
}
