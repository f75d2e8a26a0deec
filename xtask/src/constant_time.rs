//! `cargo xtask constant-time`: runs the kernels of the release build under valgrind, with secrets marked as undefined,
//! so that it reports each branch and each address that depends on one. The program is
//! `crates/probes/src/bin/constant_time.rs`. Then times are compared statistically at every level, and the kernels'
//! machine code is searched, also at levels that valgrind cannot run.

use std::{path::Path, process::Command};

use crate::{
    generated, lab, levels,
    steps::{Checked, Steps},
    tables::Apart,
};

/// A program with table-based GHASH in its kernels, which the search must find.
const PLANTED: &str = "constant-time";

pub(crate) fn run(steps: &mut Steps, words: &[String]) {
    if let Some(word) = words.first() {
        return steps.fail("constant time", &format!("{word}: it takes no words\n   hint: cargo xtask constant-time"));
    }
    let words = ["build", "--release", "--package", "sealwright-probes"];
    if steps.cargo("the kernels, released", &words, &[]) {
        steps.check("constant time", check);
        steps.check("times", times);
        steps.check("generated code with planted tables", |steps| search(&steps.release(PLANTED), Kind::Planted));
        // A program that was built earlier would say nothing about these sources
        if steps.cargo("release binaries", lab::BUILD, &[]) {
            let name = "generated code of the release program";
            steps.check(name, |steps| search(&steps.release("sealwright"), Kind::Research));
        }
    }
    // In a folder of its own: what is built with its names and lines is not what others look for in `dist`.
    let target = steps.target().join("constant-time");
    let folder = target.display().to_string();
    let kept = [
        ("CARGO_TARGET_DIR", &folder[..]),
        ("CARGO_PROFILE_DIST_STRIP", "none"),
        ("CARGO_PROFILE_DIST_DEBUG", "line-tables-only"),
    ];
    let words = ["build", "--profile", "dist", "--locked", "--package", "sealwright-cli"];
    if steps.cargo("the program as it is installed", &words, &kept) {
        let program = target.join("dist/sealwright");
        steps.check("generated code of the program as it is installed", |_| search(&program, Kind::Installed));
    }
}

/// A program that is searched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It has tables and comparisons that must be found.
    Planted,
    /// It has tables for research.
    Research,
    /// It has no code whose time depends on secrets.
    Installed,
}

fn check(steps: &Steps) -> Checked {
    let suppressions = format!("--suppressions={}", steps.root().join("crates/probes/verdict.supp").display());
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--error-limit=no", "--num-callers=8", &suppressions]).arg(steps.release(PLANTED));
    let run = match command.output() {
        Ok(run) => run,
        Err(error) => return Checked::Cannot(format!("valgrind: {error}")),
    };
    let out = String::from_utf8_lossy(&run.stdout);
    print!("{out}");
    let wrong: Vec<String> = out.lines().filter(|line| line.ends_with("WRONG")).map(str::to_owned).collect();
    if !run.status.success() {
        print!("{}", String::from_utf8_lossy(&run.stderr));
        return Checked::Wrong(if wrong.is_empty() { vec![run.status.to_string()] } else { wrong });
    }
    judged(wrong, out.lines().last().unwrap_or("nothing was printed"), &levels::here())
}

/// `last` names the levels that ran. Of those with vector kernels, valgrind can run one: without it, only slices are
/// checked.
fn judged(wrong: Vec<String>, last: &str, below_best: &[&str]) -> Checked {
    let ran = last.strip_prefix("levels that ran: ").and_then(|rest| rest.split_once(';')).map_or("", |(ran, _)| ran);
    let sse = ran.split(", ").any(|level| level == "sse");
    if wrong.is_empty() && cfg!(target_arch = "x86_64") && !below_best.is_empty() && !sse {
        return Checked::Partly(
            last.to_owned(),
            vec!["this machine has sse, but it did not run under valgrind".into()],
        );
    }
    Checked::of(wrong, last.to_owned())
}

/// Compares the times of every mode, at every level, for two kinds of secrets.
fn times(steps: &Steps) -> Checked {
    let run = match Command::new(steps.release("timing")).arg("10000").output() {
        Ok(run) => run,
        Err(error) => return Checked::Cannot(format!("timing: {error}")),
    };
    let out = String::from_utf8_lossy(&run.stdout);
    print!("{out}");
    let last = out.lines().last().unwrap_or("nothing was printed").to_owned();
    match run.status.code() {
        Some(0) => Checked::Right(last),
        Some(4) => Checked::Cannot(format!("the machine is too busy: {last}")),
        _ => Checked::Wrong(vec![last, String::from_utf8_lossy(&run.stderr).into_owned()]),
    }
}

fn search(program: &Path, kind: Kind) -> Checked {
    if !cfg!(target_arch = "x86_64") {
        return Checked::Cannot("it reads the instructions of x86-64".into());
    }
    let options = ["--disassemble", "--no-show-raw-insn", "--demangle"];
    let code = match Command::new("objdump").args(options).arg(program).output() {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        Ok(output) => return Checked::Wrong(vec![String::from_utf8_lossy(&output.stderr).into_owned()]),
        Err(error) => return Checked::Cannot(format!("objdump: {error}; it comes with binutils")),
    };
    let found = generated::search(&code);
    for (level, kinds) in &found.leaving {
        let kinds: Vec<String> = kinds.iter().map(|(what, times)| format!("{what}: {times}")).collect();
        println!("{level:8} leaves vector registers: {}", kinds.join("; "));
    }
    println!("{} reads of tables in functions whose time depends on secrets, as their names say", found.vartime);
    let right = format!("{} functions, {} instructions", found.functions, found.instructions);
    let levels = found.leaving.len();
    let apart = match Apart::in_program(found.wrong, program) {
        Ok(apart) => apart,
        Err(why) => return Checked::Wrong(vec![why]),
    };
    let mut wrong: Vec<String> = apart.others.iter().map(|place| place.what.clone()).collect();
    if levels < generated::LEVELS.len() {
        wrong.push("the search does not see the kernels of all levels".into());
    }
    if kind == Kind::Installed && (found.vartime > 0 || !apart.tables.is_empty()) {
        wrong.push("it has tables that only research may have".into());
    }
    if kind == Kind::Planted {
        let unseen = generated::LEVELS.iter().filter(|level| !apart.tables.iter().any(|place| place.is_of(level)));
        wrong.extend(unseen.map(|level| format!("the search does not see the tables that are planted at {level}")));
        if found.planted.len() < 2 {
            wrong.push("the search does not see both comparisons that are planted".into());
        }
    }
    let tables = match kind {
        Kind::Installed => "no tables".to_owned(),
        Kind::Planted | Kind::Research => format!("{} places, all in tables for research", apart.tables.len()),
    };
    Checked::of(wrong, format!("{right}; {tables}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn vector_kernels_that_did_not_run_under_valgrind_are_told() {
        let both = "levels that ran: portable, sse; not here: avx2, avx512, neon";
        let slices = "levels that ran: portable; not here: sse, avx2, avx512, neon";
        assert!(matches!(judged(vec![], both, &["portable"]), Checked::Right(_)));
        assert!(matches!(judged(vec![], slices, &["portable"]), Checked::Partly(..)));
        assert!(matches!(judged(vec![], slices, &[]), Checked::Right(_)), "a machine without these instructions");
        assert!(matches!(judged(vec!["WRONG".into()], slices, &["portable"]), Checked::Wrong(_)));
    }
}
