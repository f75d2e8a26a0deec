//! A bench that was measured by several processes. The addresses of code and buffers are constant within a process and
//! differ between processes, so each process is one sample of their effect.

use sealwright_measure::{Interval, interval::median};

use super::row::{Limit, OURS, Report, Row};

impl Report {
    /// Combines the reports of several processes that measured the same. Figures are geometric means of the processes'
    /// medians; intervals treat processes as samples ([`Interval::of_starts`]). Ratios refer to the peer with the
    /// greatest median over all processes, because the best peer may differ between processes. Rows that are not in
    /// every report are left out. `None` if there are no reports.
    pub fn of_starts(reports: &[Report]) -> Option<Report> {
        let (first, others) = reports.split_first()?;
        if others.is_empty() {
            return Some(first.clone());
        }
        let seconds = reports.iter().map(|report| report.seconds).sum();
        let rows = first.rows.iter().filter_map(|row| row_of(row, reports)).collect();
        let limits = first.limits.iter().filter_map(|limit| limit_of(limit, others)).collect();
        Some(Report { rows, limits, seconds, starts: reports.len() as u32, ..first.clone() })
    }
}

/// The interval of the medians of the processes. It is computed from logarithms, because the figures are rates and
/// ratios, so its ends are positive.
fn over(medians: &[f64]) -> Option<Interval> {
    let logarithms: Vec<f64> = medians.iter().map(|median| median.ln()).collect();
    Some(Interval::of_starts(&logarithms, &vec![1; medians.len()], 1)?.map(f64::exp))
}

/// Whether both rows are from the same comparison.
fn compared(a: &Row, b: &Row) -> bool {
    (&a.suite, a.bytes, a.direction, a.way) == (&b.suite, b.bytes, b.direction, b.way)
}

/// The rows of the same implementation in the same comparison, one for each process; `None` if a process has none.
fn in_all<'a>(row: &Row, reports: &'a [Report]) -> Option<Vec<&'a Row>> {
    let same = |other: &&Row| {
        compared(other, row) && (&other.implementation, &other.level) == (&row.implementation, &row.level)
    };
    reports.iter().map(|report| report.rows.iter().find(same)).collect()
}

/// The rows of the peer that was fastest over all processes in the comparison of `row`.
fn best_peer<'a>(row: &Row, reports: &'a [Report]) -> Option<Vec<&'a Row>> {
    let peers = reports.first()?.rows.iter().filter(|other| compared(other, row) && other.implementation != OURS);
    let peers = peers.filter_map(|peer| in_all(peer, reports));
    let speed = |rows: &[&Row]| median(&rows.iter().map(|row| row.gbps).collect::<Vec<_>>()).unwrap_or(0.0);
    peers.max_by(|a, b| speed(a).total_cmp(&speed(b)))
}

fn row_of(row: &Row, reports: &[Report]) -> Option<Row> {
    let rows = in_all(row, reports)?;
    let all = |figure: &dyn Fn(&Row) -> Option<f64>| -> Option<Interval> {
        over(&rows.iter().map(|row| figure(row)).collect::<Option<Vec<f64>>>()?)
    };
    let speed = all(&|row| Some(row.gbps))?;
    // In each process both ratios refer to that process's best peer, which cancels out in the quotient
    let ratio = best_peer(row, reports).and_then(|best| {
        let ratios = rows.iter().zip(best).map(|(row, best)| Some(row.ratio_to_best_peer? / best.ratio_to_best_peer?));
        over(&ratios.collect::<Option<Vec<f64>>>()?)
    });
    Some(Row {
        gbps: speed.median,
        low: speed.low,
        high: speed.high,
        ratio_to_best_peer: ratio.map(|ratio| ratio.median),
        ratio_low: ratio.map(|ratio| ratio.low),
        ratio_high: ratio.map(|ratio| ratio.high),
        of_limit: all(&|row| row.of_limit).map(|share| share.median),
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

    /// Adds peers with these speeds. Ratios refer to the best peer of the process, as in a real report.
    fn with_peers(gbps: f64, peers: &[(&str, f64)]) -> Report {
        let best = peers.iter().map(|(_, gbps)| *gbps).fold(0.0, f64::max);
        let mut report = report(gbps, Some(gbps / best), "a");
        let ours = report.rows[0].clone();
        report.rows.extend(peers.iter().map(|&(name, gbps)| {
            let ratio_to_best_peer = Some(gbps / best);
            Row { implementation: name.to_owned(), level: "auto".to_owned(), gbps, ratio_to_best_peer, ..ours.clone() }
        }));
        report
    }

    /// A row with the same speed in every process has the same ratio, even if the best peer differs between processes.
    #[test]
    fn ratios_are_to_one_peer_in_all_processes() {
        let reports: Vec<Report> = [("x", 10.0, 9.0), ("x", 10.0, 11.0), ("x", 10.0, 8.0)]
            .map(|(name, x, y)| with_peers(12.0, &[(name, x), ("y", y)]))
            .to_vec();
        let all = Report::of_starts(&reports).unwrap();
        let ratio = |who: &str| all.rows.iter().find(|row| row.who() == who).unwrap().ratio().unwrap();
        let [ours, best] = ["sealwright avx2", "x"].map(ratio);
        for (found, expected) in [(ours, 1.2), (best, 1.0)] {
            assert!([found.median, found.low, found.high].iter().all(|one| (one - expected).abs() < 1e-9), "{found:?}");
        }
        let other = ratio("y");
        assert!(other.low < other.median && other.median < 1.0 && other.median > 0.9, "{other:?}");
    }

    #[test]
    fn processes_that_differ_make_an_interval_as_wide_as_they_differ() {
        let reports: Vec<Report> =
            [10.0, 11.0, 12.0, 11.0, 11.0].into_iter().map(|gbps| with_peers(gbps, &[("x", 10.0)])).collect();
        let all = Report::of_starts(&reports).unwrap();
        let row = &all.rows[0];
        assert_eq!((all.starts, all.seconds, all.rows.len()), (5, 5.0, 2));
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
