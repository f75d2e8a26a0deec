#![allow(clippy::unwrap_used)]
use super::*;

const GRID: &str = "[workload]\nkernel = \"fft\"\nsize = 8\n[vary]\nscheme.name = [\"clear\", \"gcm\"]\nmachine.processors = [2, 4]\n\"bus.width\" = [10, 20]\n";

#[test]
fn a_grid_file_is_crossed_in_the_order_of_names() {
    let points = points(GRID).unwrap();
    assert_eq!(points.len(), 8);
    let names: Vec<&str> = points[0].varied.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["bus.width", "machine.processors", "scheme.name"]);
    let values: Vec<&str> = points[1].varied.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, ["10", "2", "gcm"]);
    let one = Settings::parse(&points[7].settings).unwrap();
    assert_eq!((one.config.bus.width, one.config.machine.processors), (20, 4));
    let keys: std::collections::BTreeSet<_> = points.iter().map(|point| point.key("program")).collect();
    assert_eq!(keys.len(), 8, "each run has a key of its own");
}

#[test]
fn a_wrong_grid_says_which_combination() {
    for (grid, why) in [
        ("[workload]\nkernel = \"fft\"\n", "nothing to sweep"),
        ("vary = 3\n", "`vary` must be a table"),
        ("[vary]\nbus.width = 3\n", "vary.bus.width is not a list"),
        ("[vary]\nbus.width = []\n", "vary.bus.width is not a list"),
        ("[vary]\nbus.width = [8, 0]\n", "bus.width=0: bus.width, bus.address"),
        ("[vary]\nbus.address = [0]\n", "bus.address=0: bus.width, bus.address"),
        ("[vary]\nmachine.seed = [1, 2, 1]\n", "machine.seed has the value 1 twice"),
        (
            "[vary]\nengines.model = [\"window\"]\nengines.interval = [1]\n",
            "engines.model and engines.interval are both varied",
        ),
        ("[vary]\nbus = [8]\n", "bus=8: invalid type"),
        ("[vary]\nbus.with = [8]\n", "bus.with=8: unknown field `with`"),
        ("[vary]\nbus.width = [8]\n\"bus.width\" = [16]\n", "bus.width is varied twice"),
        ("[vary]\n\"bus\" = [{ width = 8 }]\n\"bus.width\" = [16, 32]\n", "bus.width is varied, and so is all of bus"),
    ] {
        let found = points(grid).unwrap_err().to_string();
        assert!(found.contains(why), "{found}");
    }
    // Deep enough that tables within tables would take all of the stack
    let deep = vec!["a"; 100_000].join(".");
    let over = Grid::over(&Settings::default(), &[(deep.clone(), vec!["1".into()])]).map(drop);
    for found in [points(&format!("[vary]\n\"{deep}\" = [1]\n")).map(drop), over] {
        let found = found.unwrap_err().to_string();
        assert!(found.contains("at most 8 parts, not 100000") && found.len() < 200, "{found}");
    }
    let nine = points("[vary]\na.b.c.d.e.f.g.h.i = [1]\n").unwrap_err().to_string();
    assert!(nine.contains("vary.a.b.c.d.e.f.g.h.i: a setting has at most 8 parts, not 9"), "{nine}");
    let eight = points("[vary]\na.b.c.d.e.f.g.h = [1]\n").unwrap_err().to_string();
    assert!(eight.contains("unknown field `a`"), "{eight}");
    let many = format!("[vary]\nbus.width = {0:?}\nbus.issue = {0:?}\n", (1..400).collect::<Vec<_>>());
    assert!(points(&many).unwrap_err().to_string().contains("more than 100000 runs"));
}

/// A preset's interval of an engine does not make all its models equal.
#[test]
fn a_varied_model_counts_on_a_machine_that_has_an_interval() {
    let base = Settings::parse("preset = \"modern-server\"\n[workload]\nkernel = \"fft\"\nsize = 8\n").unwrap();
    let axes = [("engines.model".to_owned(), vec!["window".to_owned(), "iterative".to_owned()])];
    let grid = Grid::over(&base, &axes).unwrap();
    let file = points("preset = \"modern-server\"\n[vary]\nengines.model = [\"window\", \"iterative\"]\n").unwrap();
    for point in (0..grid.count()).map(|number| grid.point(number).unwrap()).chain(file) {
        let engines = Settings::parse(&point.settings).unwrap().config.engines;
        assert_eq!((engines.interval, engines.latency), (None, Some(40)), "{}", point.name());
    }
}

#[test]
fn an_interrupted_sweep_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let points = points(GRID).unwrap();
    let stats = crate::settings::run(&points[0].settings).unwrap().stats;
    Journal::open(&path, "program").unwrap().keep(&points[0], &stats).unwrap();
    // Interrupted within the next line
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"key\":\"12").unwrap();
    let journal = Journal::open(&path, "program").unwrap();
    assert_eq!(journal.known(&points[0]), Some(&stats));
    assert_eq!(journal.known(&points[1]), None);
    journal.keep(&points[1], &stats).unwrap();
    let journal = Journal::open(&path, "program").unwrap();
    assert!(points[..2].iter().all(|point| journal.known(point).is_some()));
    // Another build of the same version does not take them for its own.
    assert!(points.iter().all(|point| Journal::open(&path, "another").unwrap().known(point).is_none()));
    let rows = [(&points[0], stats.clone()), (&points[1], stats)];
    let table = table(&rows);
    let mut lines = table.lines();
    assert!(lines.next().unwrap().starts_with("bus.width,machine.processors,scheme.name,bus.address_busy"));
    assert!(lines.next().unwrap().starts_with("10,2,clear,"));
}

#[test]
fn a_setting_is_varied_once() {
    let over = |names: &[&str]| {
        let axes: Vec<_> =
            names.iter().map(|name| ((*name).to_owned(), vec!["8".to_owned(), "16".to_owned()])).collect();
        let base = Settings::parse("[workload]\nkernel = \"fft\"\nsize = 8\n").unwrap();
        Grid::over(&base, &axes).map(|grid| grid.count()).map_err(|error| error.to_string())
    };
    assert_eq!(over(&["bus.width", "bus.issue"]), Ok(4));
    assert_eq!(over(&["bus.width", "bus.issue", "bus.width"]), Err("bus.width is varied twice".into()));
    let nested = over(&["scheme.gcm.pads", "scheme.gcm"]);
    assert_eq!(nested, Err("scheme.gcm.pads is varied, and so is all of scheme.gcm".into()));
}

/// A statistic has the name of a setting: its column would come twice.
#[test]
fn each_column_of_a_table_has_a_name_of_its_own() {
    let grid = format!("{GRID}processes.count = [1]\n");
    let points = points(&grid).unwrap();
    let stats = crate::settings::run(&points[0].settings).unwrap().stats;
    let table = table(&[(&points[0], stats)]);
    let (heads, row) = table.split_once('\n').unwrap();
    let heads: Vec<&str> = heads.split(',').collect();
    let names: std::collections::BTreeSet<_> = heads.iter().collect();
    assert_eq!(names.len(), heads.len(), "{heads:?}");
    assert_eq!(heads[..4], ["bus.width", "machine.processors", "processes.count", "scheme.name"]);
    assert!(heads.contains(&"processes.switches") && row.starts_with("10,2,1,clear,"), "{row}");
    assert_eq!(row.trim_end().split(',').count(), heads.len());
}

#[test]
fn what_another_trace_gave_is_not_known() {
    let folder = tempfile::tempdir().unwrap();
    let written = |thread: usize, address: u64| {
        let mut writer = crate::trace::Writer::new(Vec::new());
        writer.refer(0, true, address, 3).unwrap();
        std::fs::write(folder.path().join(format!("t.{thread}.smpt")), writer.into_inner()).unwrap();
    };
    [0, 1].into_iter().for_each(|thread| written(thread, 64));
    let prefix = folder.path().join("t");
    let grid = format!("[workload]\ntrace = {prefix:?}\n[vary]\nbus.width = [8, 16]\n");
    let points = points(&grid).unwrap();
    let path = folder.path().join("journal");
    let open = || Journal::open(&path, "program").unwrap();
    let stats = crate::settings::run(&points[0].settings).unwrap().stats;
    open().keep(&points[0], &stats).unwrap();
    assert_eq!((open().known(&points[0]), open().known(&points[1])), (Some(&stats), None));
    // Another recording of the same name
    written(1, 128);
    assert_eq!(open().known(&points[0]), None);
    written(1, 64);
    assert_eq!(open().known(&points[0]), Some(&stats));
    // Nothing is known of a trace that is not there
    std::fs::remove_file(folder.path().join("t.0.smpt")).unwrap();
    assert_eq!(open().known(&points[0]), None);
}
