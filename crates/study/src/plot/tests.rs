#![allow(clippy::unwrap_used)]
use super::*;

/// A short example of a sweep's table: settings, then statistics. The scheme's name is also a statistic, even if it is
/// not varied.
const SWEEP: &str = "\
bus.width,scheme.name,machine.seed,bus.commands,cycles
8,clear,1,10,1000
8,clear,2,10,2000
8,gcm,1,10,1100
8,gcm,2,10,2400
16,clear,1,10,500
16,clear,2,10,500
16,gcm,1,10,510
16,gcm,2,10,520
";

fn rows(text: &str) -> Rows {
    let mut rows = Rows::default();
    rows.add("dir/table.csv", text).unwrap();
    rows
}

fn ask(x: &str, y: &str, by: Option<&str>) -> Question {
    Question { x: x.into(), y: y.into(), by: by.map(str::to_owned), ..Question::default() }
}

/// The name of a series, and its points: x as text, and mean, low and high.
type Series = (String, Vec<(String, [f64; 3])>);

fn drawn(figure: &Figure) -> Vec<Series> {
    let point = |point: &Point| (figure.x.reading(&point.x), [point.y.median, point.y.low, point.y.high]);
    figure.series.iter().map(|one| (one.name.clone(), one.points.iter().map(point).collect())).collect()
}

#[test]
fn a_swept_setting_makes_lines_with_intervals_over_seeds() {
    let figure = figure(&rows(SWEEP), &ask("width", "slowdown", Some("scheme"))).unwrap();
    assert_eq!((figure.kind, figure.x.title().as_str()), (PlotKind::Lines, "bus.width"));
    assert_eq!(figure.y.title(), "slowdown over scheme.name=clear (%)");
    // The differences by seed are 10 and 20 per cent, then 2 and 4
    let [(name, points)] = &drawn(&figure)[..] else { panic!("the base is no series") };
    let [(_, eight), (_, sixteen)] = &points[..] else { panic!("{points:?}") };
    assert_eq!((name.as_str(), figure.series[0].colour), ("gcm", colour::GCM));
    assert!((eight[0] - 15.0).abs() < 1.0 && eight[1] < eight[0] && eight[0] < eight[2], "{eight:?}");
    assert!((sixteen[0] - 3.0).abs() < 0.5, "{sixteen:?}");
    let svg = drawing(&figure);
    assert_eq!(svg.matches("class=\"ends\"").count(), 2);
    assert!(svg.starts_with("<svg xmlns") && svg.contains("class=\"line\"") && svg.contains(">gcm</text>"), "{svg}");
}

#[test]
fn words_make_bars_and_rows_can_be_chosen() {
    let only = vec![("machine.seed".to_owned(), "1".to_owned()), ("bus.width".to_owned(), "8".to_owned())];
    let question = Question { only, ..ask("scheme.name", "cycles", None) };
    let figure = figure(&rows(SWEEP), &question).unwrap();
    assert_eq!((figure.kind, figure.y.title().as_str()), (PlotKind::Bars, "cycles"));
    let expected = [("clear", 1000.0), ("gcm", 1100.0)].map(|(x, y)| (x.to_owned(), [y; 3]));
    assert_eq!(drawn(&figure), [("cycles".to_owned(), expected.to_vec())]);
    assert_eq!(drawing(&figure).matches("<rect class=\"bar\"").count(), 3, "two bars and the legend's");
}

/// A short example of a run's output: FFT of some size.
fn run(scheme: &str, size: u32, seed: u64, cycles: u64) -> String {
    let workload = format!(r#"{{"kernel":"fft","size":{size},"align":false}}"#);
    let machine = format!(r#"{{"scheme":{{"name":"{scheme}"}},"machine":{{"seed":{seed}}},"workload":{workload}}}"#);
    format!(r#"{{"workload":"fft","config":{machine},"stats":{{"cycles":{cycles}}}}}"#)
}

/// The rows of several files.
fn files(texts: &[(&str, &str)]) -> Rows {
    let mut rows = Rows::default();
    texts.iter().for_each(|(file, text)| rows.add(file, text).unwrap());
    rows
}

#[test]
fn runs_of_different_programs_are_not_mixed() {
    let why = |rows: &Rows, question: &Question| figure(rows, question).unwrap_err();
    let (small, large) = (run("clear", 8, 1, 100), run("gcm", 10, 1, 400));
    let both = files(&[("c8.json", &small), ("g10.json", &large)]);
    let found = why(&both, &ask("workload", "cycles", Some("machine.seed")));
    assert!(matches!(&found, PlotError::Mixed { column, .. } if column == "scheme.name"), "{found}");
    let found = why(&both, &ask("workload", "slowdown", Some("scheme")));
    assert!(matches!(found, PlotError::NoBase { .. }), "{found}");
    let same = files(&[("c8.json", &small), ("c10.json", &run("clear", 10, 1, 400))]);
    let found = why(&same, &ask("workload", "cycles", None));
    assert!(matches!(&found, PlotError::Mixed { column, .. } if column == "workload.size"), "{found}");
    // Runs with different seeds from separate files are one point
    let seeds = files(&[("one.json", &small), ("two.json", &run("clear", 8, 2, 200))]);
    assert_eq!(drawn(&figure(&seeds, &ask("workload", "cycles", None)).unwrap())[0].1[0].1[0], 150.0);
    // The same trace in another folder is still the same trace
    let traced = |place: &str, seed: u64| {
        run("clear", 8, seed, 10).replace(r#""align""#, &format!(r#""trace":"{place}","digest":"00ff","align""#))
    };
    let moved = files(&[("here.json", &traced("here/t", 1)), ("there.json", &traced("there/t", 2))]);
    assert_eq!(drawn(&figure(&moved, &ask("workload", "cycles", None)).unwrap())[0].1.len(), 1);
}

#[test]
fn tables_of_different_sweeps_are_not_mixed() {
    let why = |rows: &Rows, question: &Question| figure(rows, question).unwrap_err();
    let table = |cycles: [u64; 2]| {
        format!("bus.width,scheme.name,cycles,scheme.name\n8,clear,{},clear\n8,gcm,{},gcm\n", cycles[0], cycles[1])
    };
    let (fft, radix) = (table([100, 110]), table([1000, 1300]));
    let one = |scheme: &str| Question {
        only: vec![("scheme.name".to_owned(), scheme.to_owned())],
        ..ask("bus.width", "cycles", None)
    };
    let both = files(&[("x/fft.csv", &fft), ("x/radix.csv", &radix)]);
    let found = why(&both, &one("gcm"));
    assert_eq!(found, PlotError::Mixed { column: "file".into(), values: vec!["fft".into(), "radix".into()] });
    let per_file = drawn(&figure(&both, &ask("bus.width", "slowdown", Some("file"))).unwrap());
    let means: Vec<f64> = per_file.iter().map(|(_, points)| points[0].1[0].round()).collect();
    assert_eq!(means, [10.0, 30.0], "each over its own base");
    // A base in another file is accepted only if files are what is compared
    let (clear, gcm) = ("bus.width,cycles\n8,100\n", "bus.width,cycles\n8,150\n");
    let apart = files(&[("clear.csv", clear), ("gcm.csv", gcm)]);
    let over = |over: (&str, &str)| Question {
        over: Some((over.0.to_owned(), over.1.to_owned())),
        ..ask("bus.width", "cycles", None)
    };
    assert_eq!(drawn(&figure(&apart, &over(("file", "clear"))).unwrap())[0].1[0].1[0].round(), 50.0);
    let named = files(&[
        ("a.csv", "bus.width,scheme.name,cycles,scheme.name\n8,clear,100,clear\n"),
        ("b.csv", "bus.width,scheme.name,cycles,scheme.name\n8,gcm,150,gcm\n"),
    ]);
    assert!(matches!(why(&named, &over(("scheme.name", "clear"))), PlotError::NoBase { .. }));
    // The same table twice, and two files with the same name
    let twice = files(&[("x/fft.csv", &fft), ("x/fft.csv", &fft)]);
    assert_eq!(why(&twice, &one("gcm")), PlotError::Twice { column: "bus.width".into(), value: "8".into() });
    let alike = files(&[("x/t.csv", &fft), ("y/t.csv", &radix)]);
    let found = why(&alike, &one("gcm"));
    assert_eq!(found, PlotError::Mixed { column: "file".into(), values: vec!["t".into(), "y/t.csv".into()] });
}

#[test]
fn what_runs_print_is_read_too() {
    let mut rows = Rows::default();
    rows.add("a/plain.json", &run("clear", 8, 1, 200)).unwrap();
    rows.add("sealed.json", &run("gcm", 8, 1, 300)).unwrap();
    let found = drawn(&figure(&rows, &ask("file", "cycles", None)).unwrap());
    assert_eq!(found[0].1, [("plain".to_owned(), [200.0; 3]), ("sealed".to_owned(), [300.0; 3])]);
    let found = drawn(&figure(&rows, &ask("workload", "slowdown", Some("scheme.name"))).unwrap());
    assert_eq!(found, [("gcm".to_owned(), vec![("fft".to_owned(), [50.0; 3])])]);
    let lines = "{\"settings\":{\"bus.width\":\"8\"},\"stats\":{\"cycles\":5}}\n{\"settings\":{\"bus.width\":\"9\"},\"stats\":{\"cycles\":6}}\n";
    let mut rows = Rows::default();
    rows.add("sweep", lines).unwrap();
    assert_eq!(figure(&rows, &ask("bus.width", "cycles", None)).unwrap().kind, PlotKind::Lines);
}

#[test]
fn points_are_drawn_where_they_belong() {
    let table = "x,y\n0,0\n10,50\n20,100\n";
    let svg = drawing(&figure(&rows(table), &ask("x", "y", None)).unwrap());
    let places: Vec<[f64; 2]> = svg
        .split("<circle class=\"mark\"")
        .skip(1)
        .take(3)
        .map(|mark| {
            [" cx=\"", " cy=\""]
                .map(|name| mark.split(name).nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
        })
        .collect();
    let [a, b, c] = places[..] else { panic!("{svg}") };
    // Equal steps have equal distances; larger values are further up and to the right
    assert!((a[0] + c[0] - 2.0 * b[0]).abs() < 0.2 && (a[1] + c[1] - 2.0 * b[1]).abs() < 0.2, "{places:?}");
    assert!(a[0] < c[0] && a[1] > c[1], "{places:?}");
    assert!(places.iter().all(|[x, y]| (0.0..520.0).contains(x) && (0.0..330.0).contains(y)), "{places:?}");
}

#[test]
fn what_cannot_be_drawn_says_why() {
    let why = |text: &str, question: &Question| figure(&rows(text), question).unwrap_err().to_string();
    let over = |value: &str| Some(("scheme.name".to_owned(), value.to_owned()));
    let lines = |kind| Question { kind: Some(kind), ..ask("scheme.name", "cycles", Some("bus.width")) };
    let one = "bus.width,machine.seed,cycles,scheme.name\n8,1,0,clear\n8,2,7,clear\n";
    let cases = [
        (SWEEP, ask("bus.wide", "cycles", None), "there is no column bus.wide"),
        (SWEEP, ask("bus", "cycles", Some("scheme")), ""),
        (SWEEP, ask("bus.width", "cycles", None), "also differ in scheme.name: clear, gcm"),
        (SWEEP, ask("bus.width", "scheme.name", None), "column scheme.name: \"clear\" is not a number"),
        (SWEEP, lines(PlotKind::Lines), "column scheme.name has text such as \"clear\""),
        (
            SWEEP,
            Question { over: over("cbc"), ..ask("bus.width", "cycles", None) },
            "no row has scheme.name=cbc: there are clear, gcm",
        ),
        (one, Question { log_y: true, ..ask("machine.seed", "cycles", None) }, "cycles has 0, but a logarithmic axis"),
        ("a,b\n1,\n", ask("a", "b", None), "column b is empty in every row"),
    ];
    for (text, question, expected) in cases {
        if expected.is_empty() {
            assert_eq!(figure(&rows(text), &question).unwrap().x.name, "bus.width", "the one setting of the bus");
        } else {
            let found = why(text, &question);
            assert!(found.contains(expected), "{found}");
        }
    }
    let near = figure(&rows(SWEEP), &ask("bus.wide", "cycles", None)).unwrap_err();
    assert!(matches!(near, PlotError::Column { near, .. } if near == ["bus.width", "bus.commands"]));
    // A run in the clear with another width is no base
    let lone = "bus.width,scheme.name,cycles,scheme.name\n8,clear,7,clear\n9,gcm,8,gcm\n";
    let found = why(lone, &ask("bus.width", "slowdown", None));
    assert!(
        found.contains("no run with scheme.name=clear has otherwise the same settings as the run with scheme.name=gcm"),
        "{found}"
    );
    let parts = "bus.width,bus.issue,cycles\n8,1,7\n9,2,8\n";
    assert!(why(parts, &ask("bus", "cycles", None)).contains("several columns: bus.width, bus.issue"));
    for (text, expected) in [
        ("", "table.csv: a table without rows"),
        ("a,b\n", "table.csv: a table without rows"),
        ("a,b\n1,2,3\n", "table.csv: CSV error: record 1"),
        ("{\"a\": 1}\n", "object 1 has no stats"),
        ("{\"a\": \n", "table.csv: EOF while parsing"),
    ] {
        let found = Rows::default().add("table.csv", text).unwrap_err().to_string();
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn a_table_has_a_bound_to_its_columns() {
    let table = |columns: usize| {
        let heads: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
        format!("{}\n{}\n", heads.join(","), vec!["1"; columns].join(","))
    };
    // The file's name is one more column
    let mut rows = Rows::default();
    rows.add("a.csv", &table(9_999)).unwrap();
    rows.add("b.csv", &table(9_999)).unwrap();
    let why = Rows::default().add("wide.csv", &table(10_000)).unwrap_err().to_string();
    assert!(why.contains("wide.csv: more than 10000 columns"), "{why}");
    let why = rows.add("c.csv", "other\n1\n").unwrap_err().to_string();
    assert!(why.contains("c.csv: more than 10000 columns"), "{why}");
}

/// Otherwise one wide row and many short ones would take as much memory as that many wide rows.
#[test]
fn a_row_has_no_cells_for_columns_that_it_lacks() {
    let names: String = (0..9_990).map(|column| format!("\"c{column}\":1,")).collect();
    let wide = format!("{{\"settings\":{{{names}\"bus\":1}},\"stats\":{{\"cycles\":1}}}}\n");
    let mut rows = Rows::default();
    rows.add("a.json", &(wide + &"{\"stats\":{}}\n".repeat(5_000) + "{\"stats\":{\"cycles\":7}}\n")).unwrap();
    assert_eq!(rows.cells, 9_993 + 5_000 + 2);
    let question = Question { over: Some(("bus".to_owned(), "1".to_owned())), ..ask("file", "cycles", None) };
    assert!(matches!(figure(&rows, &question), Err(PlotError::NoBase { .. })));
}

#[test]
fn a_table_has_a_bound_to_its_cells() {
    let mut rows = Rows::default();
    rows.add("wide.csv", "a,b,c\n1,2,3\n").unwrap();
    assert_eq!(rows.cells, 4, "one is the name of the file");
    rows.cells = rows::MOST_CELLS - 4;
    rows.add("short.csv", "a,b\n1,\n").unwrap();
    assert_eq!(rows.cells, rows::MOST_CELLS - 2, "what is empty has none");
    rows.add("short.csv", "a\n1\n").unwrap();
    let why = rows.add("more.csv", "a\n1\n").unwrap_err().to_string();
    assert!(why.contains("more.csv: more than 134217728 cells"), "{why}");
}

#[test]
fn bases_that_say_different_things_are_none() {
    let table = |second: &str| {
        rows(&format!(
            "bus.width,scheme.name,cycles,scheme.name\n8,clear,10,clear\n8,clear,{second},clear\n8,gcm,20,gcm\n"
        ))
    };
    let question = ask("bus.width", "slowdown", Some("scheme.name"));
    let why = figure(&table("99"), &question).unwrap_err().to_string();
    assert_eq!(why, "several runs with scheme.name=clear and the same settings differ in cycles: 10, 99");
    assert_eq!(drawn(&figure(&table("10"), &question).unwrap())[0].1[0].1[0], 100.0);
}

/// Points and series are in order of first occurrence, and the result is that of comparing every pair of rows.
#[test]
fn places_and_series_are_in_the_order_in_which_they_come_first() {
    let table = "bus.width,scheme.name,bus.skew,cycles,scheme.name\n\
        9,gcm,1,30,gcm\n8,cbc,1,44,cbc\n9,clear,1,10,clear\n8,clear,1,11,clear\n8,gcm,1,22,gcm\n";
    let words = Question { kind: Some(PlotKind::Bars), ..ask("bus.width", "slowdown", Some("scheme.name")) };
    let found = drawn(&figure(&rows(table), &words).unwrap());
    let point = |x: &str, y: f64| (x.to_owned(), [y; 3]);
    let close: Vec<Series> = found
        .into_iter()
        .map(|(name, points)| (name, points.into_iter().map(|(x, y)| (x, y.map(f64::round))).collect()))
        .collect();
    let expected =
        [("gcm".to_owned(), vec![point("9", 200.0), point("8", 100.0)]), ("cbc".to_owned(), vec![point("8", 300.0)])];
    assert_eq!(close, expected);
}
