use super::*;

#[test]
fn what_runs_beside_others_has_begun_before_it_is_waited_for() {
    let names: Vec<&str> = test().map(|step| step.name).collect();
    let at = |name| names.iter().position(|found| *found == name);
    assert!(at("unit").is_some() && at("unit") < at("sizes"), "{names:?}");
    assert!(at("unit") < at("levels") && names.last() == Some(&"rtl"), "{names:?}");
    assert!(names.starts_with(&["fmt", "layers", "files", "links", "examples", "supply"]), "{names:?}");
    assert!(!names.contains(&"sanitize"));
}

#[test]
fn a_command_has_its_part_of_the_help() {
    let fuzz = entry("fuzz").expect("a command");
    assert!(fuzz.starts_with("fuzz       the fuzz targets compile. `fuzz"), "{fuzz}");
    assert!(fuzz.contains("--seconds N") && fuzz.contains("\n           planted fault"), "{fuzz}");
    assert!(entry("install-c").is_some_and(|entry| entry.starts_with("install-c PREFIX  builds")));
    assert!(help().contains("\n  constant-time  the kernels"));
    assert_eq!(entry("another"), None);
}
