//! What headers alone show, for worker 0 of two, with two sessions, on node 3.

use std::{
    net::{IpAddr, Ipv4Addr, TcpListener},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, AtomicUsize},
    },
    time::Instant,
};

use mio::net::TcpStream;
use sealwright_session::frame::FrameKind;

use super::*;
use crate::{
    data::{
        connection::Handle, context::Shared, count::Counts, denials::Denials, settings::Settings, shares::Addresses,
    },
    frame_stream::FrameStream,
};

const OURS: u32 = 0x3000_0000;
const OURS_TOO: u32 = 0x3000_0002;
const OF_THE_OTHER_WORKER: u32 = 0x3000_0001;
const NOBODYS: u32 = 0x3000_0004;
const OF_ANOTHER_NODE: u32 = 0x2000_0000;
/// The longest frame.
const LONGEST: usize = 64;

fn local() -> Local {
    Local { layout: NodeLayout::new(3, 2), worker: 0, slots: 2 }
}

/// A frame of so many bytes.
fn frame(session: u32, bytes: usize) -> Vec<u8> {
    let len = (bytes - HEADER - TAG) as u16;
    let mut frame = Header { kind: FrameKind::Data, phase: 0, len, session, seq: 7 }.write().to_vec();
    frame.resize(bytes, 9);
    frame
}

/// A worker, and a connection to it.
struct Bench(Context, Connection);

impl Bench {
    fn new() -> Bench {
        let shared = Shared {
            layout: local().layout,
            settings: Settings { max_frame: LONGEST, ..Settings::default() },
            inboxes: Vec::new(),
            counts: Vec::new(),
            connections: AtomicUsize::new(0),
            addresses: Arc::default(),
            live: Vec::new(),
            queues: Vec::new(),
            peers: Vec::new(),
            heard: AtomicU64::new(0),
            denials: Denials::default(),
            remote: OnceLock::new(),
        };
        let now = Instant::now();
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let stream = TcpStream::connect(listener.local_addr().expect("an address")).expect("loopback");
        let (place, _) = Arc::<Addresses>::default().place(IpAddr::from(Ipv4Addr::LOCALHOST));
        let connection = Connection::new(FrameStream::new(stream), Handle::new(0, 0), place, true, now);
        Bench(Context { worker: 0, shared: Arc::new(shared), counts: Counts::default(), now }, connection)
    }

    /// Start, end, slot and session of each frame, and the result of parsing.
    fn parse(&mut self, buffer: &[u8]) -> (Vec<(usize, usize, u32, u32)>, String) {
        let (mut jobs, mut bad) = (Vec::new(), 0);
        let dropped = self.0.counts.dropped();
        let parsed = parse(&mut self.0, local(), &mut self.1, buffer, (&mut jobs, &mut bad));
        assert_eq!(u64::from(bad), self.0.counts.dropped() - dropped, "what is bad is counted both ways");
        let parsed = match parsed {
            Parsed::Until(at) => format!("until {at}"),
            Parsed::Elsewhere { worker, start } => format!("elsewhere, {worker} from {start}"),
            Parsed::Malformed => "malformed".into(),
        };
        (jobs.iter().map(|job| (job.start, job.end, job.slot, job.session)).collect(), parsed)
    }

    /// Checks the counters.
    fn counted<const N: usize>(&self, wanted: [(Count, u64); N]) {
        for &what in Count::ALL {
            let wanted = wanted.iter().find(|(which, _)| *which == what).map_or(0, |(_, times)| *times);
            assert_eq!(self.0.counts.of(what), wanted, "{what:?}");
        }
    }
}

#[test]
fn frames_follow_each_other() {
    let mut bench = Bench::new();
    let whole = [frame(OURS, 40), frame(OURS_TOO, LONGEST)].concat();
    let jobs = vec![(0, 40, 0, OURS), (40, 104, 1, OURS_TOO)];
    assert_eq!(bench.parse(&whole), (jobs.clone(), "until 104".into()));
    bench.counted([(Count::Arrived, 2)]);
    // An incomplete third frame, with a complete header or without
    for cut in [1, HEADER - 1, HEADER, HEADER + 1, 49] {
        let buffer = [&whole[..], &frame(OURS, 50)[..cut]].concat();
        assert_eq!(bench.parse(&buffer), (jobs.clone(), "until 104".into()), "{cut}");
    }
    assert_eq!(bench.parse(b""), (vec![], "until 0".into()));
    let other = [&whole[..], b"GET / HTTP/1.1\r\n\r\n"].concat();
    assert_eq!(bench.parse(&other), (jobs, "malformed".into()));
}

#[test]
fn bad_frames_are_passed_over() {
    let mut bench = Bench::new();
    // The first frame determines the worker of the connection.
    let bad = [frame(OURS, 39), frame(OF_THE_OTHER_WORKER, 40), frame(NOBODYS, 40), frame(OF_ANOTHER_NODE, 40)];
    let buffer = [bad.concat(), frame(OURS, 41)].concat();
    assert_eq!(bench.parse(&buffer), (vec![(159, 200, 0, OURS)], "until 200".into()));
    bench.counted([(Count::Arrived, 5), (Count::Short, 1), (Count::Misplaced, 1), (Count::Unknown, 2)]);
}

#[test]
fn too_long_frames_are_skipped_wherever_they_are_cut() {
    let whole = [frame(OURS, 40), frame(OURS, LONGEST + 1), frame(OURS_TOO, 40)].concat();
    for cut in 40 + HEADER..105 {
        for again in cut..105 {
            let mut bench = Bench::new();
            let (first, second) = (bench.parse(&whole[..cut]), bench.parse(&whole[cut..again]));
            assert_eq!(first, (vec![(0, 40, 0, OURS)], format!("until {cut}")), "{cut}");
            assert_eq!(second, (vec![], format!("until {}", again - cut)), "{cut} {again}");
            let rest = 105 - again;
            assert_eq!(
                bench.parse(&whole[again..]),
                (vec![(rest, rest + 40, 1, OURS_TOO)], format!("until {}", rest + 40))
            );
            bench.counted([(Count::Arrived, 3), (Count::Oversize, 1)]);
        }
    }
}

/// The first frame determines the worker as soon as its header has arrived.
#[test]
fn a_connection_moves_once_and_before_its_first_frame() {
    let theirs = frame(OF_THE_OTHER_WORKER, 40);
    for cut in HEADER..=40 {
        let mut bench = Bench::new();
        assert_eq!(bench.parse(&theirs[..HEADER - 1]), (vec![], "until 0".into()));
        assert_eq!(bench.parse(&theirs[..cut]), (vec![], "elsewhere, 1 from 0".into()), "{cut}");
        bench.counted([]);
        assert_eq!(bench.parse(&theirs[..cut]), (vec![], format!("until {}", if cut == 40 { 40 } else { 0 })));
    }
    for first in [frame(OURS, 40), frame(OURS, LONGEST + 1), frame(OURS, 39), frame(OF_ANOTHER_NODE, 40)] {
        let mut bench = Bench::new();
        let buffer = [&first[..], &theirs].concat();
        assert_eq!(bench.parse(&buffer).1, format!("until {}", buffer.len()));
        assert_eq!(bench.0.counts.of(Count::Misplaced), 1);
    }
}

#[test]
fn a_datagram_is_one_frame() {
    let read = |bytes: &[u8]| local().datagram(bytes, LONGEST);
    assert_eq!((read(&frame(OURS, 40)), read(&frame(OURS_TOO, LONGEST))), (Ok((0, OURS)), Ok((1, OURS_TOO))));
    assert_eq!(read(&frame(OURS, LONGEST + 1)), Err(Count::Oversize));
    assert_eq!((read(b""), read(&frame(OURS, 40)[..HEADER - 1])), (Err(Count::Short), Err(Count::Short)));
    assert_eq!((read(&frame(OURS, 40)[..39]), read(&frame(OURS, 39))), (Err(Count::Short), Err(Count::Short)));
    assert_eq!(read(&[frame(OURS, 40), vec![0]].concat()), Err(Count::Short), "and nothing behind it");
    assert_eq!(read(b"GET / HTTP/1.1\r\n\r\n"), Err(Count::Malformed));
    assert_eq!(read(&frame(OF_THE_OTHER_WORKER, 40)), Err(Count::Misplaced));
    assert_eq!(
        (read(&frame(NOBODYS, 40)), read(&frame(OF_ANOTHER_NODE, 40))),
        (Err(Count::Unknown), Err(Count::Unknown))
    );
}
