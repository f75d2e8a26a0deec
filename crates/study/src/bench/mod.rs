//! `sealwright-lab bench`: measures Sealwright at each instruction-set level and the libraries that Rust programs use,
//! in one interleaved comparison for each suite, size and direction.
//!
//! Before a size is timed, all libraries must produce identical results ([`BenchError::Disagrees`] names one that does
//! not). Keys are fixed, nonces are counters, and there are 13 bytes of associated data. The tag follows the text.
//! Small messages rotate over 32 KiB. Opening needs an authentic message each time, so for every library it includes
//! the same copy of a sealed message into place. The report also states what this copy costs alone, and how fast the
//! processor can execute AES rounds alone. Details: `docs/MEASURING.md`.

mod check;
mod contest;
mod error;
mod options;
pub mod peer;
mod row;
mod starts;
mod subject;
mod timed;
mod unit;
mod version;
mod way;
mod window;

use std::time::Instant;

use check::Entrant;
use contest::{Contest, Pace};
pub use error::BenchError;
pub use options::Options;
use peer::{Ours, sealing::Peer};
pub use row::{Direction, Limit, Limiting, Participant, Report, Row};
use sealwright::Isa;
use sealwright_measure::{Machine, random::Random};
pub use subject::{Subject, UnknownSubjectError};
pub use way::{UnknownWayError, Way};

use crate::provenance::Provenance;

/// Runs the comparisons that `options` describe, and passes each row to `on_row` as soon as it is known.
///
/// # Errors
/// See [`BenchError`].
pub fn run(options: &Options, on_row: &mut dyn FnMut(&Row)) -> Result<Report, BenchError> {
    options.check()?;
    let start = Instant::now();
    let peers = peer::all();
    let pace = Pace::of(options);
    let machine = Machine::here(Isa::available().iter().map(|isa| isa.name()));
    let mut report = Report {
        peers: participants(&peers),
        absent: peer::absent(),
        quick: options.quick,
        provenance: Provenance::here(&options.commit, None, Vec::new()),
        ..Report::of(machine)
    };
    let ours: Vec<Ours> = Isa::available().into_iter().map(Ours).collect();
    let everybody: Vec<&dyn Peer> =
        ours.iter().map(|ours| ours as &dyn Peer).chain(peers.iter().map(Box::as_ref)).collect();
    for (subject, bytes, way, direction) in options.asked() {
        let entrants = entrants(subject, &everybody);
        if direction == Direction::Seal {
            check::agreement(subject, bytes, &entrants)?;
        }
        let contest = Contest { subject, bytes, direction, way, entrants: &entrants };
        let (rows, limits) = contest.run(&pace)?;
        rows.iter().for_each(&mut *on_row);
        report.rows.extend(rows);
        report.limits.extend(limits);
    }
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

/// All implementations that support the subject, with the same key.
fn entrants<'a>(subject: Subject, everybody: &[&'a dyn Peer]) -> Vec<Entrant<'a>> {
    let mut random = Random::new(1);
    let key: Vec<u8> = (0..subject.key_len()).map(|_| random.bits() as u8).collect();
    everybody.iter().filter_map(|peer| Entrant::new(*peer, subject, &key)).collect()
}

/// The peers with their versions.
fn participants(peers: &[Box<dyn Peer>]) -> Vec<Participant> {
    peers.iter().map(|peer| Participant { name: peer.name().to_owned(), version: peer.version() }).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{error::MOST_BYTES, row::OURS, *};

    #[test]
    fn all_libraries_agree_at_every_kind_of_length() {
        let (ours, peers) = (Isa::available().into_iter().map(Ours).collect::<Vec<_>>(), peer::all());
        let everybody: Vec<&dyn Peer> =
            ours.iter().map(|ours| ours as &dyn Peer).chain(peers.iter().map(Box::as_ref)).collect();
        for subject in Subject::all() {
            let entrants = entrants(subject, &everybody);
            assert!(entrants.iter().any(|entrant| entrant.implementation == OURS));
            let sizes = [1, 15, 16, 17, 64, 256, 1500, 16384, 100_000, 100_001].into_iter();
            for bytes in sizes.filter(|&bytes| subject.takes(bytes)) {
                check::agreement(subject, bytes, &entrants).unwrap();
            }
        }
    }

    #[test]
    fn every_peer_knows_the_default_suite() {
        let default = Options::default().subjects[0];
        for peer in peer::all() {
            assert!(peer.make(default, &vec![1; default.key_len()]).is_some(), "{}", peer.name());
            assert!(peer.make(default, &[1; 5]).is_none(), "{} takes a key of 5 bytes", peer.name());
        }
    }

    #[test]
    fn sizes_that_cannot_be_measured_are_refused() {
        for size in [0, MOST_BYTES + 1] {
            let options = Options { bytes: vec![64, size], ..Options::default() };
            let error = run(&options, &mut |_| {}).unwrap_err();
            assert!(error.to_string().contains(&size.to_string()), "{error}");
        }
    }

    #[test]
    fn nothing_asked_is_an_empty_report() {
        let options = Options { bytes: vec![], ..Options::default() };
        let report = run(&options, &mut |_| {}).unwrap();
        assert!(report.rows.is_empty() && report.tables().is_empty());
        assert!(report.peers.iter().any(|peer| peer.name == "aws-lc-rs" && peer.version.starts_with("1.")));
    }

    #[test]
    fn a_report_names_its_program_and_its_pace() {
        let options = Options { bytes: vec![], quick: true, commit: "abc+".into(), ..Options::default() };
        let report = run(&options, &mut |_| {}).unwrap();
        assert!(report.quick && !report.version.is_empty());
        assert_eq!((&report.provenance.commit[..], report.provenance.program.len()), ("abc+", 64));
    }
}
