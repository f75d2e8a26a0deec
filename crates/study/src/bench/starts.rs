//! One bench measured by several processes: where code and buffers lie stays the same while a process runs, and differs
//! between processes, so a process is one sample of that.

use sealwright_measure::Interval;

use super::row::{Limit, Report, Row};

impl Report {
    /// One report of those of several processes that measured the same: figures are geometric means of the processes' medians,
    /// and intervals take processes as samples ([`Interval::of_starts`]). What is not in all of them is left out. `None` of none.
    pub fn of_starts(reports: &[Report]) -> Option<Report> {
        let (first, others) = reports.split_first()?;
        if others.is_empty() {
            return Some(first.clone());
        }
        let seconds = reports.iter().map(|report| report.seconds).sum();
        let rows = first.rows.iter().filter_map(|row| row_of(row, others)).collect();
        let limits = first.limits.iter().filter_map(|limit| limit_of(limit, others)).collect();
        Some(Report { rows, limits, seconds, starts: reports.len() as u32, ..first.clone() })
    }
}

/// The interval of one median a process. Of logarithms, since figures are rates and ratios: so it has no end below zero.
fn over(medians: &[f64]) -> Option<Interval> {
    let logarithms: Vec<f64> = medians.iter().map(|median| median.ln()).collect();
    Some(Interval::of_starts(&logarithms, &vec![1; medians.len()], 1)?.map(f64::exp))
}

fn row_of(row: &Row, others: &[Report]) -> Option<Row> {
    let names = |row: &Row| (row.suite.clone(), row.bytes, row.direction, row.way, row.who());
    let same = |report: &'_ Report| report.rows.iter().find(|other| names(other) == names(row)).cloned();
    let others: Vec<Row> = others.iter().map(same).collect::<Option<_>>()?;
    let all = |figure: fn(&Row) -> Option<f64>| -> Option<Interval> {
        over(&std::iter::once(row).chain(&others).map(figure).collect::<Option<Vec<f64>>>()?)
    };
    let (speed, ratio) = (all(|row| Some(row.gbps))?, all(|row| row.ratio_to_best_peer));
    Some(Row {
        gbps: speed.median,
        low: speed.low,
        high: speed.high,
        ratio_to_best_peer: ratio.map(|ratio| ratio.median),
        ratio_low: ratio.map(|ratio| ratio.low),
        ratio_high: ratio.map(|ratio| ratio.high),
        of_limit: all(|row| row.of_limit).map(|share| share.median),
        ..row.clone()
    })
}

fn limit_of(limit: &Limit, others: &[Report]) -> Option<Limit> {
    let names = |limit: &Limit| (limit.what, limit.suite.clone(), limit.direction, limit.bytes);
    let same = |report: &Report| {
        report.limits.iter().find(|other| names(other) == names(limit)).map(|limit| limit.gbps.median)
    };
    let others: Vec<f64> = others.iter().map(same).collect::<Option<_>>()?;
    let medians: Vec<f64> = std::iter::once(limit.gbps.median).chain(others).collect();
    Some(Limit { gbps: over(&medians)?, ..limit.clone() })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use sealwright_measure::Machine;

    use super::{
        super::{row::Direction, way::Way},
        *,
    };

    fn report(gbps: f64, ratio: Option<f64>, suite: &str) -> Report {
        let row = Row {
            suite: suite.to_owned(),
            bytes: 64,
            direction: Direction::Seal,
            way: Way::OneKey,
            implementation: "sealwright".to_owned(),
            level: "avx2".to_owned(),
            gbps,
            low: gbps * 0.999,
            high: gbps * 1.001,
            ratio_to_best_peer: ratio,
            ratio_low: ratio,
            ratio_high: ratio,
            of_limit: None,
        };
        let machine = Machine::here(["avx2"]);
        Report { rows: vec![row], seconds: 1.0, ..Report::of(machine) }
    }

    #[test]
    fn processes_that_differ_make_an_interval_as_wide_as_they_differ() {
        let reports: Vec<Report> =
            [10.0, 11.0, 12.0, 11.0, 11.0].into_iter().map(|gbps| report(gbps, Some(gbps / 10.0), "a")).collect();
        let all = Report::of_starts(&reports).unwrap();
        let row = &all.rows[0];
        assert_eq!((all.starts, all.seconds, all.rows.len()), (5, 5.0, 1));
        assert!((row.gbps - 10.98).abs() < 0.01 && (row.ratio_to_best_peer.unwrap() - 1.098).abs() < 0.001);
        assert!(row.high - row.low > 1.0 && row.low < 10.7 && row.high > 11.3, "{row:?}");
        assert!(all.tables()[0].to_text().contains("5 processes"));
    }

    #[test]
    fn one_process_stays_as_it_is_and_what_is_not_in_all_is_left_out() {
        let one = report(10.0, None, "a");
        assert_eq!(Report::of_starts(std::slice::from_ref(&one)), Some(one.clone()));
        assert_eq!(Report::of_starts(&[]), None);
        assert!(Report::of_starts(&[one.clone(), report(10.0, None, "b")]).unwrap().rows.is_empty());
        assert_eq!(Report::of_starts(&[one, report(10.0, Some(1.0), "a")]).unwrap().rows[0].ratio_to_best_peer, None);
    }
}
