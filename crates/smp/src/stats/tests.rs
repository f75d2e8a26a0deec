use super::*;

#[test]
fn one_tree_three_shapes() {
    let mut stats = Stats::default();
    stats.put("bus.busy", 0.5);
    stats.put("bus.lines", 12);
    stats.put("name", "a,b");
    assert_eq!(stats.number("bus.lines"), 12.0);
    assert_eq!(stats.text(), "bus.busy   0.500000\nbus.lines  12\nname       a,b\n");
    let mut other = Stats::default();
    other.put("extra", 1);
    let differ = |name: &str, a: &str, b: &str| Difference { name: name.into(), a: a.into(), b: b.into(), more: None };
    assert_eq!(
        other.differences(&stats),
        [
            differ("extra", "1", ""),
            differ("bus.busy", "", "0.500000"),
            differ("bus.lines", "", "12"),
            differ("name", "", "a,b"),
        ]
    );
    assert_eq!(Stats::csv(&[stats, other]), "bus.busy,bus.lines,name,extra\n0.500000,12,\"a,b\",\n,,,1\n");
}

#[test]
fn values_that_are_printed_alike_differ_still() {
    let tree = |value: Value| Stats::from_json(&serde_json::json!({ "share": value })).unwrap();
    let differ = |a: Value, b: Value| {
        let found = tree(a).differences(&tree(b));
        found.into_iter().map(|found| (found.a, found.b)).collect::<Vec<_>>()
    };
    let pair = |a: &str, b: &str| vec![(a.to_owned(), b.to_owned())];
    assert_eq!(differ(1e-7.into(), 2e-7.into()), pair("1e-7", "2e-7"));
    assert_eq!(differ(0.1.into(), 0.100_000_01.into()), pair("0.1", "0.10000001"));
    assert_eq!(differ(0.1.into(), 0.2.into()), pair("0.100000", "0.200000"));
    assert_eq!(differ(1.into(), "1".into()), pair("1", "\"1\""));
    assert_eq!(differ(0.1.into(), 0.1.into()), []);
    let found = tree("".into()).differences(&Stats::default());
    assert_eq!((&found[0].a[..], &found[0].b[..]), ("\"\"", ""), "nothing is not an empty word");
}

#[test]
fn words_of_several_lines_are_cells_of_one_row() {
    let tree = |word: &str| Stats::from_json(&serde_json::json!({ "b": 1, "name": word })).unwrap();
    let trees = ["a\nb", "a\r", ""].map(tree);
    assert_eq!(Stats::csv(&trees), "b,name\n1,\"a\nb\"\n1,\"a\r\"\n1,\n");
    let rows: Vec<_> = trees.into_iter().map(|tree| ([("x".to_owned(), "y".to_owned())], tree)).collect();
    let expected = "x,b,name\ny,1,\"a\nb\"\ny,1,\"a\r\"\ny,1,\n";
    assert_eq!(crate::sweep::table(&rows), expected);
    let lone = Stats::from_json(&serde_json::json!({ "name": "" })).unwrap();
    assert_eq!(Stats::csv(&[lone]), "name\n\"\"\n", "an empty line would be no row");
}

/// A tree from a file may have a name twice, as `a.b` and as `b` within `a`: the first is meant, as everywhere.
#[test]
fn of_two_leaves_of_one_name_the_first_counts() {
    let tree = |first: u64| Stats::from_json(&serde_json::json!({ "a": { "b": first }, "a.b": 2 })).unwrap();
    assert_eq!(Stats::csv(&[tree(1), tree(3)]), "a.b\n1\n3\n");
    assert!(tree(1).differences(&tree(3)).iter().all(|found| (&found.a[..], &found.b[..]) == ("1", "3")));
}
