//! The log of fuzzing: the figures of every run, and their sums.

use std::{fs, io::Write, path::Path, process::Command};

use crate::{
    fuzz_targets,
    steps::{Checked, Steps},
};

/// The log: each run adds a line to it.
const LOG: &str = "fuzz/log.csv";
const HEAD: &str = "date,commit,target,seconds,executions,inputs,findings,cpu";

/// The result of a run.
pub(crate) struct Done {
    /// Wall-clock time, and CPU time, which is much less on a busy machine.
    pub(crate) seconds: f64,
    pub(crate) cpu: f64,
    pub(crate) executions: u64,
    pub(crate) inputs: usize,
    pub(crate) finding: Option<String>,
    /// Referees that are not here, and why; not in the log.
    pub(crate) absent: Vec<String>,
}

/// Adds a run to the log.
pub(crate) fn add(steps: &Steps, target: &str, done: &Done) -> Result<(), String> {
    let date = output("date", &["-u", "+%Y-%m-%dT%H:%MZ"]);
    let commit = commit(steps.root());
    let Done { seconds, cpu, executions, inputs, finding, .. } = done;
    let found = u32::from(finding.is_some());
    let line = format!("{date},{commit},{target},{seconds:.0},{executions},{inputs},{found},{cpu:.0}");
    append(&steps.root().join(LOG), &line)
}

/// The commit of the sources, with a `+` if they were changed since. Files that fuzzing writes do not count.
fn commit(root: &Path) -> String {
    let root = root.display().to_string();
    let commit = output("git", &["-C", &root, "rev-parse", "--short", "HEAD"]);
    let but = ["--", ":/", ":(top,exclude)fuzz/log.csv", ":(top,exclude)fuzz/corpus"];
    // Others may use the repository meanwhile, which a refreshed index would lock.
    let status =
        [&["--no-optional-locks", "-C", &root, "status", "--porcelain", "--untracked-files=no"], &but[..]].concat();
    if output("git", &status).is_empty() { commit } else { commit + "+" }
}

fn output(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

/// Other runs wait meanwhile: two that begin a log must not both write its head.
fn append(log: &Path, line: &str) -> Result<(), String> {
    let failed = |error| format!("{}: {error}", log.display());
    let mut file = fs::OpenOptions::new().create(true).append(true).open(log).map_err(failed)?;
    file.lock().map_err(failed)?;
    let new = file.metadata().map_err(failed)?.len() == 0;
    let text = if new { format!("{HEAD}\n{line}\n") } else { format!("{line}\n") };
    file.write_all(text.as_bytes()).map_err(failed)
}

/// Prints the sums of all runs of these targets as a Markdown table.
pub(crate) fn figures(steps: &Steps, targets: &[String]) -> Checked {
    let text = match fs::read_to_string(steps.root().join(LOG)) {
        Ok(text) => text,
        Err(error) => return Checked::Cannot(format!("{LOG}: {error}")),
    };
    match sums(&text) {
        Ok(sums) => {
            print!("{}", table(&of_each(&sums, targets)));
            Checked::Right(format!("{} in all", hours(&sums)))
        }
        Err(why) => Checked::Wrong(vec![why]),
    }
}

/// The sums of each target. Of one that has not run yet they are 0, so that the table names it.
fn of_each(sums: &[(String, [u64; 4])], targets: &[String]) -> Vec<(String, [u64; 4])> {
    let mut all = sums.to_vec();
    let unknown = |target: &&String| sums.iter().all(|(name, _)| name != *target) && *target != fuzz_targets::PLANTED;
    all.extend(targets.iter().filter(unknown).map(|target| (target.clone(), [0; 4])));
    all.sort_unstable();
    all
}

fn table(sums: &[(String, [u64; 4])]) -> String {
    let head = "| target | runs | CPU seconds | executions | findings |\n|---|---:|---:|---:|---:|\n";
    let row = |(target, [runs, seconds, executions, findings]): &(String, [u64; 4])| {
        format!("| `{target}` | {runs} | {seconds} | {executions} | {findings} |\n")
    };
    head.to_owned() + &sums.iter().map(row).collect::<String>()
}

fn hours(sums: &[(String, [u64; 4])]) -> String {
    let seconds: u64 = sums.iter().map(|(_, of)| of[1]).sum();
    format!("{:.2} CPU hours", seconds as f64 / 3600.0)
}

/// Runs, CPU seconds, executions and findings of each target. The first lines have no CPU seconds; those by the clock
/// stand for them.
fn sums(log: &str) -> Result<Vec<(String, [u64; 4])>, String> {
    let mut sums = std::collections::BTreeMap::<String, [u64; 4]>::new();
    for (at, line) in log.lines().enumerate().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (target, seconds, executions, findings) = match fields[..] {
            [_, _, target, seconds, executions, _, findings] => (target, seconds, executions, findings),
            [_, _, target, _, executions, _, findings, cpu] => (target, cpu, executions, findings),
            _ => return Err(format!("{LOG}, line {}: it must have the fields {HEAD}", at + 1)),
        };
        let sum = sums.entry(target.to_owned()).or_default();
        for (sum, field) in sum.iter_mut().zip(["1", seconds, executions, findings]) {
            *sum += field.parse::<u64>().map_err(|error| format!("{LOG}, line {}: {field}: {error}", at + 1))?;
        }
    }
    Ok(sums.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, process::Command, sync::Barrier, thread};

    use super::{HEAD, LOG, append, commit, hours, of_each, sums, table};
    use crate::fuzz_targets::targets;

    #[test]
    fn runs_beside_each_other_write_whole_lines_under_one_head() {
        for round in 0..20 {
            let log = std::env::temp_dir().join(format!("sealwright-fuzz-log-{}-{round}", std::process::id()));
            let start = Barrier::new(8);
            thread::scope(|scope| {
                for run in 0..8 {
                    let (log, start) = (&log, &start);
                    scope.spawn(move || {
                        start.wait();
                        for _ in 0..5 {
                            append(log, &format!("d,c,t{run},9,10,3,0,1")).expect("a line");
                        }
                    });
                }
            });
            let text = fs::read_to_string(&log).expect("the log");
            fs::remove_file(&log).expect("it is there");
            assert_eq!(text.lines().filter(|line| *line == HEAD).count(), 1, "{text}");
            let wanted: Vec<_> = (0..8).map(|run| (format!("t{run}"), [5, 5, 50, 0])).collect();
            assert_eq!(sums(&text), Ok(wanted));
        }
    }

    #[test]
    fn the_page_on_assurance_has_the_figures_of_the_log() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let read = |path: &str| fs::read_to_string(root.join(path)).expect("it is there");
        let (sums, page) = (sums(&read(LOG)).expect("figures"), read("docs/ASSURANCE.md"));
        let all = of_each(&sums, &targets(&root).expect("the targets"));
        assert!(page.contains(&table(&all)), "`cargo xtask fuzz figures` prints the table of docs/ASSURANCE.md");
        assert_eq!(page.matches(&hours(&sums)).count(), page.matches("CPU hours").count(), "{}", hours(&sums));
        assert!(page.contains(&format!("{} fuzz targets", all.len())), "{} targets", all.len());
    }

    #[test]
    fn the_page_on_assurance_says_what_each_target_reads() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let page = fs::read_to_string(root.join("docs/ASSURANCE.md")).expect("the page");
        let (_, rows) = page.split_once("\n| target | input |\n|---|---|\n").expect("a table of targets");
        let (rows, _) = rows.split_once("\n\n").expect("its end");
        let mut named = Vec::new();
        for row in rows.lines() {
            let [names, input] = row.trim_matches('|').split('|').collect::<Vec<_>>()[..] else {
                panic!("two columns are expected: {row}");
            };
            assert!(input.contains(char::is_alphabetic), "{row}");
            named.extend(names.split(',').map(|name| name.trim().trim_matches('`').to_owned()));
        }
        named.sort_unstable();
        let mut targets = targets(&root).expect("the targets");
        targets.retain(|name| name != "planted");
        assert_eq!(named, targets);
    }

    #[test]
    fn sources_that_were_changed_are_no_commit() {
        if super::output("git", &["--version"]).is_empty() {
            return sealwright_transcripts::skipped("git is not installed");
        }
        let root = std::env::temp_dir().join(format!("sealwright-fuzz-commit-{}", std::process::id()));
        fs::create_dir_all(root.join("fuzz")).expect("a folder");
        let git = |words: &[&str]| {
            let who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
            let mut git = Command::new("git");
            // Not the repository of a git hook that runs this
            for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
                git.env_remove(name);
            }
            git.arg("-C").arg(&root).args(who).args(words);
            assert!(git.output().expect("git").status.success(), "{words:?}");
        };
        let write = |file: &str, text: &str| fs::write(root.join(file), text).expect("a file");
        git(&["init", "--quiet"]);
        write("source.rs", "");
        write(LOG, "");
        git(&["add", "."]);
        git(&["commit", "--quiet", "--message", "a"]);
        let clean = commit(&root);
        assert!(clean.len() >= 7 && !clean.ends_with('+'), "{clean}");
        write(LOG, "a line\n");
        write("notes.txt", "");
        assert_eq!(commit(&root), clean);
        write("source.rs", "fn changed() {}\n");
        assert_eq!(commit(&root), format!("{clean}+"));
        fs::remove_dir_all(root).expect("it was made here");
    }

    /// By name, in the text about fuzzing or in the table of what was found: not only among all targets, or in the
    /// sums.
    #[test]
    fn the_page_tells_of_each_target_that_found_something() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let page = fs::read_to_string(root.join("docs/ASSURANCE.md")).expect("the page");
        let (_, page) = page.split_once("\n## Fuzzing\n").expect("its section");
        let (section, _) = page.split_once("\n## ").expect("the next one");
        let of_targets = |part: &&str| part.trim_start().starts_with("| target |");
        let told: String = section.split("\n\n").filter(|part| !of_targets(part)).collect();
        assert!(told.len() < section.len() / 2, "the tables of targets were not found");
        let sums = sums(&fs::read_to_string(root.join(LOG)).expect("the log")).expect("its lines");
        for (target, _) in sums.iter().filter(|(_, [.., findings])| *findings > 0) {
            let named = [format!("`{target}`"), format!("`{target}/")].iter().any(|name| told.contains(name));
            assert!(named, "{target} found something, of which docs/ASSURANCE.md does not tell");
        }
    }

    #[test]
    fn a_target_that_has_not_run_is_in_the_table() {
        let sums = [("open".to_owned(), [2, 90, 1500, 0])];
        let all = of_each(&sums, &["enc", "open", "planted"].map(str::to_owned));
        assert_eq!(all, [("enc".to_owned(), [0; 4]), sums[0].clone()]);
    }

    #[test]
    fn runs_add_up() {
        let log = "head\nd,c,open,60,1000,3,0\nd,c,enc,60,50,3,1\nd,c,open,99,500,4,0,30\n";
        assert_eq!(sums(log), Ok(vec![("enc".into(), [1, 60, 50, 1]), ("open".into(), [2, 90, 1500, 0])]));
        assert!(sums("head\nd,c,open,60\n").is_err());
        assert!(sums("head\nd,c,open,x,1000,3,0\n").is_err());
    }
}
