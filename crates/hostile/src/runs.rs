//! The output of runs and sweeps of the simulator, which `smp stats` and `smp plot` read.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use sealwright_smp::{Stats, settings};
use sealwright_study::{
    figure::PlotKind,
    plot::{Question, Rows, drawing, figure},
};
use serde_json::{Value, json};

use crate::{edits::edited, results::text_stays_text};

/// The output of two runs, and names of columns.
struct Genuine {
    runs: [Value; 2],
    names: Vec<String>,
}

static GENUINE: LazyLock<Genuine> = LazyLock::new(|| {
    let runs = ["clear", "gcm"].map(|scheme| {
        let text = format!("[workload]\nkernel = \"fft\"\nsize = 8\n[scheme]\nname = \"{scheme}\"\n");
        let stats = settings::run(&text).unwrap().stats.in_all();
        let config =
            json!({ "scheme": { "name": scheme }, "machine": { "processors": 4, "seed": 1 }, "bus": { "width": 16 } });
        json!({ "config": config, "stats": stats.json() })
    });
    let stats = Stats::from_json(&runs[0]["stats"]).unwrap();
    let more = ["slowdown", "scheme.name", "processors", "seed", "machine", "file", "", "workload", "bus.width", "a.b"];
    let names = more.into_iter().map(str::to_owned).chain(stats.leaves().into_iter().map(|(name, _)| name)).collect();
    Genuine { runs, names }
});

/// The statistics of a document, and their differences from those of another, read either way.
fn compared(a: &Value, b: &Value) {
    for part in ["config", "stats"] {
        let read = |tree: &Value| tree.get(part).and_then(Stats::from_json);
        let (Some(a), Some(b)) = (read(a), read(b)) else { continue };
        assert!(a.differences(&a).is_empty(), "nothing differs from itself");
        let names = |a: &Stats, b: &Stats| -> BTreeSet<String> {
            let found = a.differences(b);
            assert!(found.iter().all(|found| found.a != found.b), "what differs is told: {found:?}");
            found.into_iter().map(|found| found.name).collect()
        };
        // Of two leaves of one name the first is meant
        let values = |stats: &Stats| -> BTreeMap<String, Value> { stats.leaves().into_iter().rev().collect() };
        let (ours, theirs) = (values(&a), values(&b));
        let unequal = ours.keys().chain(theirs.keys()).filter(|name| ours.get(*name) != theirs.get(*name));
        assert_eq!(names(&a, &b), unequal.cloned().collect());
        assert_eq!(names(&a, &b), names(&b, &a));
        assert_eq!(Stats::from_json(&serde_json::from_str(&a.json().to_string()).unwrap()).as_ref(), Some(&a));
        assert!(a.text().lines().count() >= a.leaves().len() && a.explained().lines().count() >= a.leaves().len());
    }
}

/// The request: a byte for each column, and one for everything else.
fn question([x, y, by, over, how]: [u8; 5]) -> Question {
    let name = |byte: u8| GENUINE.names[usize::from(byte) % GENUINE.names.len()].clone();
    let value = ["clear", "gcm", "4", ""][usize::from(over & 3)].to_owned();
    Question {
        x: name(x),
        y: name(y),
        by: (how & 1 != 0).then(|| name(by)),
        over: (how & 2 != 0).then(|| (name(over >> 2), value.clone())),
        only: if how & 4 != 0 { vec![(name(by), value)] } else { Vec::new() },
        kind: [None, Some(PlotKind::Lines), Some(PlotKind::Bars), Some(PlotKind::Dots)][usize::from(how >> 3 & 3)],
        title: (how & 32 != 0).then(|| "\"><i>sealwright</i>".to_owned()),
        log_x: how & 64 != 0,
        log_y: how & 128 != 0,
    }
}

/// Takes arbitrary bytes, a genuine output with changes, or a table of runs with other cells as the output of a run or
/// a sweep: the result is a figure in which words stay text and coordinates are numbers, or an error; and statistics
/// that differ from those of another run, and not from themselves.
pub(crate) fn smp_runs(bytes: &[u8]) {
    drawn(bytes);
}

/// The drawing, if there is one.
fn drawn(bytes: &[u8]) -> Option<String> {
    let (&[how, x, y, by, over, asked], bytes) = bytes.split_first_chunk()?;
    let [first, second] = &GENUINE.runs;
    let text = match how % 3 {
        0 => String::from_utf8_lossy(bytes).into_owned(),
        1 => {
            let changed = edited(first, bytes);
            compared(&changed, second);
            format!("{changed}\n{second}\n")
        }
        _ => {
            let trees = GENUINE.runs.each_ref().map(|run| Stats::from_json(&run["stats"]).unwrap());
            let csv = Stats::csv(&trees);
            let mut lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
            let words = [
                "",
                "0",
                "-1",
                "1e308",
                "5e-324",
                "nan",
                "inf",
                "\"a,b\"",
                "\"<i>sealwright</i>\"",
                "gcm",
                "1e-9",
                "x\n",
            ];
            for &[row, at, word] in bytes.as_chunks::<3>().0 {
                let row = usize::from(row) % lines.len();
                let at = usize::from(at) % lines[row].len();
                lines[row][at] = words[usize::from(word) % words.len()];
            }
            lines.into_iter().map(|line| line.join(",") + "\n").collect()
        }
    };
    if how % 3 == 0
        && let (Some(a), b) = (serde_json::from_str(&text).ok(), second)
    {
        compared(&a, b);
    }
    let mut rows = Rows::default();
    if let Err(error) = rows.add("a/fuzz.csv", &text) {
        assert!(error.to_string().starts_with("a/fuzz.csv: "), "{error}");
        return None;
    }
    let figure = figure(&rows, &question([x, y, by, over, asked])).ok()?;
    assert!(!figure.series.is_empty() && figure.series.iter().all(|series| !series.points.is_empty()));
    let drawing = drawing(&figure);
    text_stays_text(&drawing);
    Some(drawing)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else the target would show nothing of drawings.
    #[test]
    fn any_question_of_many_is_answered_by_a_drawing() {
        let (mut state, mut drawings, mut titles) = (1_u64, 0, 0);
        for _ in 0..400 {
            let mut bytes = [0; 12];
            for byte in &mut bytes {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                *byte = (state >> 56) as u8;
            }
            bytes[0] |= 1; // a run with changes, or a table
            if let Some(drawing) = drawn(&bytes) {
                drawings += 1;
                titles += usize::from(drawing.contains("&lt;i&gt;sealwright"));
            }
        }
        assert!(
            drawings >= 10 && titles >= 5,
            "{drawings} drawings, {titles} of them with a title that must stay text"
        );
    }
}
