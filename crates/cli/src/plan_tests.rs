#![allow(clippy::unwrap_used)]

use clap::Parser;
use tempfile::TempDir;

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    files: FileArgs,
}

fn plan(direction: Direction, line: &[&str]) -> Result<Plan, CommandError> {
    let line = Line::parse_from(std::iter::once("test").chain(line.iter().copied()));
    Plan::new(&line.files, direction)
}

/// A directory with `d/a`, `d/b.seal`, `d/sub/c`, a link and an empty directory.
fn tree() -> TempDir {
    let tree = TempDir::new().unwrap();
    fs::create_dir_all(tree.path().join("d/sub")).unwrap();
    fs::create_dir_all(tree.path().join("d/void")).unwrap();
    for name in ["d/a", "d/b.seal", "d/sub/c"] {
        fs::write(tree.path().join(name), name).unwrap();
    }
    std::os::unix::fs::symlink("a", tree.path().join("d/link")).unwrap();
    tree
}

/// Input and output of each task, relative to the tree.
fn pairs(tree: &TempDir, plan: &Plan) -> Vec<(String, String)> {
    let name = |place: &Place| match place {
        Place::Stream => "-".to_owned(),
        Place::Inside(_) => "inside".to_owned(),
        Place::File(path) => path.strip_prefix(tree.path()).unwrap_or(path).to_string_lossy().into_owned(),
    };
    plan.tasks.iter().map(|task| (name(&task.input), name(&task.output))).collect()
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn nothing_and_a_dash_are_the_standard_streams() {
    let tree = tree();
    for line in [&[][..], &["-"], &["-", "-o", "-"]] {
        assert_eq!(pairs(&tree, &plan(Direction::Seal, line).unwrap()), owned(&[("-", "-")]));
    }
    assert_eq!(pairs(&tree, &plan(Direction::Open, &["-o", "out"]).unwrap()), owned(&[("-", "out")]));
}

#[test]
fn a_name_gains_and_loses_its_extension() {
    let tree = tree();
    let a = tree.path().join("d/a");
    let b = tree.path().join("d/b.seal");
    let sealed = plan(Direction::Seal, &[a.to_str().unwrap()]).unwrap();
    assert_eq!(pairs(&tree, &sealed), owned(&[("d/a", "d/a.seal")]));
    let opened = plan(Direction::Open, &[b.to_str().unwrap()]).unwrap();
    assert_eq!(pairs(&tree, &opened), owned(&[("d/b.seal", "d/b")]));
    let nameless = plan(Direction::Open, &[a.to_str().unwrap()]).unwrap();
    assert!(nameless.tasks.is_empty());
    assert_eq!(nameless.failures.len(), 1);
}

#[test]
fn a_tree_keeps_its_structure_below_the_output() {
    let tree = tree();
    let d = tree.path().join("d");
    let out = tree.path().join("out");
    let plan = plan(Direction::Seal, &["--each", d.to_str().unwrap(), "-C", out.to_str().unwrap()]).unwrap();
    assert_eq!(
        pairs(&tree, &plan),
        owned(&[("d/a", "out/d/a.seal"), ("d/b.seal", "out/d/b.seal.seal"), ("d/sub/c", "out/d/sub/c.seal")])
    );
    assert_eq!(plan.skipped.len(), 1, "{:?}", plan.skipped);
    let made: Vec<_> =
        plan.directories.keys().map(|d| d.strip_prefix(tree.path()).unwrap().to_str().unwrap()).collect();
    assert_eq!(made, ["out", "out/d", "out/d/sub", "out/d/void"]);
}

#[test]
fn a_tree_without_output_is_worked_on_in_place() {
    let tree = tree();
    let d = tree.path().join("d");
    let sealed = plan(Direction::Seal, &["--each", d.to_str().unwrap()]).unwrap();
    assert_eq!(pairs(&tree, &sealed), owned(&[("d/a", "d/a.seal"), ("d/sub/c", "d/sub/c.seal")]));
    let opened = plan(Direction::Open, &["--each", d.to_str().unwrap()]).unwrap();
    assert_eq!(pairs(&tree, &opened), owned(&[("d/b.seal", "d/b")]));
    // Without --each the directory becomes one sealed file, and is not opened.
    let whole = plan(Direction::Seal, &[d.to_str().unwrap()]).unwrap();
    assert_eq!(pairs(&tree, &whole), owned(&[("d", "d.seal")]));
    let unopened = plan(Direction::Open, &[d.to_str().unwrap()]).unwrap();
    assert_eq!((unopened.tasks.len(), unopened.failures.len()), (0, 1));
}

/// A given directory either has a manifest or is reported as unlisted, also if it is given twice or is inside another
/// one.
#[test]
fn a_directory_has_a_manifest_or_is_unlisted() {
    let tree = tree();
    let (d, sub) = (tree.path().join("d"), tree.path().join("d/sub"));
    let line = ["--each", d.to_str().unwrap(), sub.to_str().unwrap()];
    for (manifest, listed, unlisted) in [
        (None, vec![], vec![(&d, false), (&sub, false)]),
        (Some(&sub), vec![&sub, &sub], vec![(&d, true)]),
        (Some(&d), vec![&d, &sub], vec![]),
    ] {
        manifest.into_iter().for_each(|place| fs::write(place.join(NAME), "").unwrap());
        let plan = plan(Direction::Open, &line).unwrap();
        assert_eq!(plan.roots.iter().map(|root| &root.path).collect::<Vec<_>>(), listed);
        assert_eq!(plan.unlisted.iter().map(|(path, below)| (path, *below)).collect::<Vec<_>>(), unlisted);
    }
}

#[test]
fn two_inputs_of_one_name_do_not_share_an_output() {
    let tree = tree();
    fs::write(tree.path().join("d/sub/a"), "another").unwrap();
    let (a, other) = (tree.path().join("d/a"), tree.path().join("d/sub/a"));
    let line = [a.to_str().unwrap(), other.to_str().unwrap(), "-C", "out"];
    let plan = plan(Direction::Seal, &line).unwrap();
    assert_eq!((plan.tasks.len(), plan.failures.len()), (1, 1));
}

#[test]
fn an_output_that_is_an_input_is_refused_by_any_of_its_names() {
    let tree = tree();
    fs::hard_link(tree.path().join("d/a"), tree.path().join("d/same")).unwrap();
    let (a, same) = (tree.path().join("d/a"), tree.path().join("d/same"));
    let plan = plan(Direction::Seal, &[a.to_str().unwrap(), "-f", "-o", same.to_str().unwrap()]).unwrap();
    assert_eq!((plan.tasks.len(), plan.failures.len()), (0, 1));
}

#[test]
fn lines_that_make_no_sense_are_usage_errors() {
    for line in [
        &["-", "-C", "out"][..],
        &["-", "--remove"],
        &["a", "-"],
        &["a", "--remove", "-o", "-"],
        &["a", "b", "-o", "c"],
    ] {
        assert_eq!(plan(Direction::Seal, line).unwrap_err().exit(), sealwright_terminal::Exit::Usage, "{line:?}");
    }
}
