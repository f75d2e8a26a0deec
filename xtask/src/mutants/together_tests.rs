use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::PathBuf,
};

use super::{
    super::changes::{Change, Kind},
    *,
};

const TEXT: &str = r#"
pub const TWO: u8 = 1 + 1;
pub fn sum(a: u8, b: u8) -> u8 { a + b }
pub fn untested(a: u8, b: u8) -> u8 { a + b }
#[cfg(test)]
mod tests {
    #[test]
    fn right() { assert_eq!((super::sum(2, 3), super::TWO), (5, 2)); }
    #[test]
    fn wrong() { assert_eq!(super::sum(2, 3), 6); }
    #[test]
    fn not_beside_itself() {
        let path = std::env::current_dir().unwrap().join("taken");
        std::fs::File::create_new(&path).unwrap();
        std::thread::sleep(std::time::Duration::from_secs(3));
        std::fs::remove_file(path).unwrap();
    }
}
"#;

/// A crate of its own, which is removed.
struct Crate(PathBuf);

impl Crate {
    fn new(name: &str) -> Crate {
        let folder = env::temp_dir().join(format!("sealwright-mutants-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("src")).expect("a folder");
        let manifest = "[package]\nname = \"small\"\nedition = \"2024\"\n[workspace]\n";
        fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
        fs::write(folder.join("src/lib.rs"), TEXT).expect("a root");
        Crate(folder)
    }

    /// With the operators of [`TEXT`] that are `+`, each of which becomes `*`.
    fn bench(&self, test: &str) -> Bench {
        let file = "src/lib.rs".to_owned();
        let change = |(at, (start, what)): (usize, (usize, &str))| Change {
            name: format!("{at}"),
            file: file.clone(),
            kind: Kind::Binary,
            range: start..start + what.len(),
            replacement: "*".into(),
        };
        Bench {
            tree: self.0.clone(),
            target: self.0.join("target"),
            cargo: ["--package", "small", "--lib"].map(str::to_owned).to_vec(),
            tests: vec![test.to_owned()],
            changes: TEXT.match_indices('+').enumerate().map(change).collect(),
            originals: BTreeMap::from([(file.clone(), TEXT.to_owned())]),
            roots: BTreeSet::from([file]),
        }
    }
}

impl Drop for Crate {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn changes_are_noticed_by_tests_that_pass_without_them() {
    let small = Crate::new("score");
    let outcome = small.bench("right").outcome().expect("an outcome");
    let Outcome { mut caught, timeout, unviable, missed, not_run } = outcome;
    caught.sort();
    assert_eq!((caught, missed), (vec!["0".to_owned(), "1".to_owned()], vec!["2".to_owned()]));
    assert_eq!([timeout, unviable, not_run], [const { Vec::<String>::new() }; 3]);
    for (test, why) in [
        ("wrong", "without a change"),
        // Two changes are tried at a time: such a test would fail because of the other one.
        ("not_beside_itself", "without a change"),
        ("none_of_them", "no test runs"),
    ] {
        let said = small.bench(test).outcome().map(|outcome| outcome.caught);
        assert!(said.as_ref().is_err_and(|said| said.contains(why)), "{test}: {said:?}");
    }
}

#[test]
fn a_hang_is_the_change_s_own_only_where_the_tests_are_quick_without_it() {
    assert_eq!(if_it_hangs(Ended::Hung, || Ok(3)), Ended::Hung);
    let slow = if_it_hangs(Ended::Hung, || Err("the machine is slow".into()));
    assert!(matches!(&slow, Ended::NotRun(why) if why.contains("slow")), "{slow:?}");
    for other in [Ended::Passed(1), Ended::Failed, Ended::NotRun(String::new())] {
        assert_eq!(if_it_hangs(other.clone(), || Err("it is not asked".into())), other);
    }
}

#[test]
fn each_end_has_its_list() {
    let mut outcome = Outcome::default();
    for ended in [Ended::Passed(1), Ended::Failed, Ended::Hung, Ended::NotRun("why".into())] {
        outcome.note(&format!("{ended:?}"), ended);
    }
    let Outcome { caught, timeout, unviable, missed, not_run } = outcome;
    assert_eq!([caught, timeout, unviable, missed].concat(), ["Failed", "Hung", "Passed(1)"]);
    assert_eq!(not_run.len(), 1);
    assert!(not_run[0].ends_with(": why"), "{not_run:?}");
}
