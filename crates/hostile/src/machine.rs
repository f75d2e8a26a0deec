//! Input of the simulator: traces and settings.

use std::{collections::BTreeSet, fs, io::Cursor, sync::OnceLock};

use sealwright_smp::{
    Config, Image, Machine, Stats,
    access::{Access, Operation, Source, Steps},
    settings::{self, Settings},
    sweep::{Grid, Journal, Point, points, table},
    trace::{ChampSim, Drmemtrace, Smpt, SynchroTrace},
};
use serde_json::Value;

/// Takes arbitrary bytes as a trace in each format: the result is steps that do not cross a cache line, or an error
/// that names the file.
pub(crate) fn smp_trace(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let line = if choice & 128 == 0 { 64 } else { 128 };
    let input = || Box::new(Cursor::new(bytes.to_vec()));
    let mut source: Box<dyn Source> = match choice % 4 {
        0 => Box::new(Smpt::new(input(), "fuzz", line, 0)),
        1 => Box::new(Drmemtrace::new(input(), "fuzz", line, 1).region("1..2".parse().ok())),
        2 => Box::new(SynchroTrace::new(input(), "fuzz", line, 2)),
        _ => Box::new(ChampSim::new(input(), "fuzz", line, 3)),
    };
    let mut steps = Vec::new();
    loop {
        match source.fill(&mut steps) {
            Err(error) => return assert!(error.0.starts_with("fuzz: ")),
            Ok(()) if steps.is_empty() => return,
            Ok(()) => {}
        }
        for step in steps.iter().filter(|step| !step.kind.synchronises()) {
            assert!(step.address % line as u64 + u64::from(step.size) <= line as u64, "{step:?}");
        }
    }
}

/// Runs a few steps on a machine with these settings, if they are valid. Large machines are skipped, for speed.
fn takes_steps(config: &Config) {
    let small = config.l1.bytes <= 1 << 16 && config.l2.bytes <= 1 << 20 && config.machine.processors <= 4;
    if config.check().is_err() || !small {
        return;
    }
    let steps = |node: u64| {
        let kinds = [Operation::Load, Operation::Store, Operation::Fetch, Operation::Store];
        let step = |i: u64| Access {
            address: (i * 7 + node) % 50 * 8,
            value: i,
            gap: 1,
            kind: kinds[i as usize % 4],
            size: 8,
        };
        Box::new(Steps((0..60).map(step).collect())) as Box<dyn Source>
    };
    let threads = config.machine.processors * config.processes.count;
    let sources = (0..threads as u64).map(steps).collect();
    let mut machine = Machine::new(config, Image::default(), sources).expect("the settings were checked");
    machine.check_values();
    let end = machine.run(100_000).expect("no invariant breaks");
    assert!(end.is_some(), "a few steps end");
}

/// Takes arbitrary text as settings, as a file and line by line: the result is a machine that runs, or an error.
pub(crate) fn smp_config(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(config) = Config::default().merge(text) {
        takes_steps(&config);
    }
    let mut config = Config::default();
    for setting in text.lines() {
        if let Ok(next) = config.set(setting) {
            config = next;
        }
    }
    takes_steps(&config);
}

/// Whether the table of a run has a row with the varied settings and every statistic, whatever their names and values.
fn read_back(point: &Point, stats: &Stats) {
    let text = table(&[(point, stats.clone())]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    let [row] = &rows[..] else { panic!("{} rows: {text}", rows.len()) };
    let varied = point.varied.len();
    for (at, (name, value)) in point.varied.iter().enumerate() {
        assert_eq!((&heads[at], &row[at]), (&name[..], &value[..]));
    }
    let mut seen = BTreeSet::new();
    for (name, value) in stats.clone().in_all().leaves() {
        // Of two of one name the first is meant
        if !seen.insert(name.clone()) {
            continue;
        }
        let at = (varied..heads.len()).find(|at| heads[*at] == name).unwrap();
        let same = match &value {
            Value::String(word) => &row[at] == word,
            Value::Number(number) if number.is_f64() => {
                let (cell, number) = (row[at].parse::<f64>().unwrap(), number.as_f64().unwrap());
                cell == number || (cell - number).abs() <= 1e-6
            }
            other => {
                let plain = other.to_string();
                row[at] == plain
            }
        };
        assert!(same, "{name}: {:?} of {value}", &row[at]);
    }
    // A table of nothing that is counted has a column without a name
    assert_eq!(heads.len(), varied + seen.len().max(1));
}

/// Takes arbitrary bytes as the journal of a sweep or, if they begin with `=`, as the rest of a line after the key of
/// its first run: a run in it gives a table, and stays in it when another run is stored.
pub(crate) fn sweep_journal(bytes: &[u8]) {
    const PROGRAM: &str = "program";
    const GRID: &str = "[workload]\nkernel = \"fft\"\nsize = 8\n[vary]\nmachine.processors = [2, 4]\n";
    static RUNS: OnceLock<(Vec<Point>, Stats)> = OnceLock::new();
    let (points, stats) = RUNS.get_or_init(|| {
        let points = points(GRID).unwrap();
        let stats = settings::run(&points[0].settings).unwrap().stats;
        (points, stats)
    });
    let folder = crate::folder::folder();
    let path = folder.path().join("journal");
    let start = match bytes.first() {
        Some(b'=') => format!("{{\"key\":\"{}\",\"stats\":", points[0].key(PROGRAM)),
        _ => String::new(),
    };
    let text = [start.as_bytes(), bytes.strip_prefix(b"=").unwrap_or(bytes)].concat();
    fs::write(&path, &text).unwrap();
    let journal = match Journal::open(&path, PROGRAM) {
        Ok(journal) => journal,
        Err(_) => return assert!(str::from_utf8(&text).is_err()),
    };
    let before = journal.known(&points[0]).cloned();
    if let Some(stats) = &before {
        read_back(&points[0], stats);
    }
    journal.keep(&points[1], stats).unwrap();
    let after = Journal::open(&path, PROGRAM).unwrap();
    assert!(after.known(&points[1]) == Some(stats) && after.known(&points[0]) == before.as_ref());
}

/// Takes arbitrary text as the grid of a sweep, or as values for settings of every kind: the result is one run for each
/// combination, whose description gives the same run again, or an error.
pub(crate) fn sweep_grid(bytes: &[u8]) {
    const VARIED: [&str; 12] = [
        "machine.processors",
        "machine.line",
        "bus.width",
        "bus.topology",
        "scheme.name",
        "scheme.pads",
        "l1.bytes",
        "l2.ways",
        "processes.count",
        "workload.size",
        "workload.kernel",
        "workload.trace",
    ];
    let Some((&how, rest)) = bytes.split_first() else { return };
    let Ok(text) = str::from_utf8(rest) else { return };
    let text = if how & 1 == 0 {
        text.to_owned()
    } else {
        let lines = text.lines().map(|line| {
            let (name, values) = line.split_at_checked(1).unwrap_or_default();
            format!("{} = [{values}]\n", VARIED[usize::from(name.bytes().next().unwrap_or_default()) % VARIED.len()])
        });
        format!("[workload]\nkernel = \"fft\"\n[vary]\n{}", lines.collect::<String>())
    };
    // Each combination is looked at: more of them teach nothing
    if text.matches(',').count() > 12 {
        return;
    }
    let Ok(grid) = Grid::parse(&text) else { return };
    let points = points(&text).unwrap();
    assert_eq!(points.len(), grid.count());
    for point in &points {
        let settings = Settings::parse(&point.settings).unwrap();
        assert_eq!(settings.text().unwrap(), point.settings);
        settings.config.check().unwrap();
        assert_eq!(point.varied.len(), points[0].varied.len());
    }
}
