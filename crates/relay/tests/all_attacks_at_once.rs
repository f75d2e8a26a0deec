//! All attacks by strangers and single clients at the same time: truncated frames, floods of forged and replayed
//! frames, bytes that are no frames, a client that does not read, more connections than there is room for. Well-behaved
//! clients lose nothing, and the relay's counters add up.
//!
//! The attacks last two seconds, or `SEALWRIGHT_FIRE` seconds if that is set.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    io::Write,
    net::{TcpStream, UdpSocket},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use common::{Client, counted, relay, until};
use sealwright_relay::{Count, Counts, Relay, Settings};

/// Pairs of honest clients, which have sessions 0 to 5.
const PAIRS: u32 = 3;
/// The first session of misbehaving clients; each has its own.
const HOSTILE: u32 = 2 * PAIRS;
/// The number of sessions of misbehaving clients.
const HOSTILES: u32 = 6;
/// The most connections.
const ROOM: usize = 60;

/// A deterministic pseudorandom sequence.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }
}

/// Two clients that send each other bursts of frames of all lengths, and check each frame that arrives. Returns how
/// many arrived.
fn honest_pair(relay: &Relay, [a, b]: &mut [Client; 2], pair: u32, over: &AtomicBool) -> u64 {
    let mut numbers = Numbers(u64::from(pair) + 1);
    let (mut arrived, start) = (0, Instant::now());
    while !over.load(Ordering::Relaxed) {
        let burst: Vec<Vec<u8>> = (0..=numbers.below(15))
            .map(|number| vec![(number + arrived) as u8; numbers.below(1500) as usize])
            .collect();
        for frame in &burst {
            a.send(b.session, frame);
            b.send(a.session, frame);
        }
        for frame in burst {
            let lost = || format!("pair {pair}, after {arrived} frames, {:?}: {:?}", start.elapsed(), relay.counts());
            assert_eq!(b.try_receive(), Some((a.session, frame.clone())), "{}", lost());
            assert_eq!(a.try_receive(), Some((b.session, frame)), "{}", lost());
            arrived += 2;
        }
    }
    arrived
}

/// Sends a good frame and part of another, and disconnects.
fn cut_frames(relay: &Relay, to: u32, client: &mut Client, numbers: &mut Numbers) {
    let (good, cut) = (client.sealed(to, &[1; 100]), client.sealed(to, &[2; 1000]));
    let Ok(mut stream) = TcpStream::connect(relay.address()) else { return };
    let _ = stream.write_all(&good);
    let _ = stream.write_all(&cut[..numbers.below(cut.len() as u64) as usize]);
}

/// Sends forged frames, and one genuine frame repeatedly.
fn forge_and_repeat(relay: &Relay, to: u32, client: &mut Client) {
    let genuine = client.sealed(to, &[3; 40]);
    let mut forged = client.sealed(to, &[4; 40]);
    forged[20] ^= 1;
    let Ok(mut stream) = TcpStream::connect(relay.address()) else { return };
    for _ in 0..50 {
        // The relay closes the connection at some point
        if stream.write_all(&genuine).and_then(|()| stream.write_all(&forged)).is_err() {
            return;
        }
    }
}

/// Sends bytes that are no frames, over a stream and as a datagram.
fn babble(relay: &Relay, numbers: &mut Numbers) {
    let datagram: Vec<u8> = (0..numbers.below(400)).map(|_| numbers.below(256) as u8).collect();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(&datagram, relay.udp(numbers.below(2) as usize).unwrap()).unwrap();
    let Ok(mut stream) = TcpStream::connect(relay.address()) else { return };
    let bytes: Vec<u8> = (0..numbers.below(400)).map(|_| numbers.below(256) as u8).collect();
    let _ = stream.write_all(&bytes);
}

/// Opens more connections than there is room for, and closes them all.
fn crowd(relay: &Relay, connected: &AtomicU64) {
    let streams: Vec<TcpStream> = (0..2 * ROOM).filter_map(|_| TcpStream::connect(relay.address()).ok()).collect();
    connected.fetch_add(streams.len() as u64, Ordering::Relaxed);
    std::thread::sleep(Duration::from_millis(20));
}

/// Every complete frame was opened or counted as bad; every opened frame was queued, or dropped and counted by reason.
fn adds_up(counts: &Counts) -> bool {
    let sum = |reasons: &[Count]| reasons.iter().map(|reason| counts.of(*reason)).sum::<u64>();
    let bad =
        [Count::Short, Count::Oversize, Count::Unknown, Count::Misplaced, Count::Stale, Count::Replayed, Count::Forged];
    let refused = [Count::Denied, Count::RulesChanged, Count::Share];
    let later = [Count::WrongDestination, Count::Slow, Count::Exhausted];
    counts.of(Count::Arrived) == counts.of(Count::Opened) + sum(&bad)
        && counts.of(Count::Opened)
            == counts.of(Count::Forwarded) + counts.of(Count::Remote) + sum(&refused) + sum(&later)
}

#[test]
fn clients_that_behave_lose_nothing_whatever_others_do() {
    let seconds = std::env::var("SEALWRIGHT_FIRE").map_or(2, |seconds| seconds.parse().unwrap());
    let settings = Settings::default()
        .max_connections(ROOM)
        .max_bad(60)
        .queue(64 << 10)
        .queues(1 << 20)
        .sender_wait(Duration::from_millis(20))
        .first_frame(Duration::from_millis(500))
        .stall(Duration::from_secs(5))
        .udp("127.0.0.1:0".parse().unwrap());
    let memory = settings.queues as usize + 2 * settings.max_frame;
    let relay = relay(2, HOSTILE + HOSTILES, settings);
    let (over, connected, most_queued) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let honest = Mutex::new(Vec::new());
    // They are here before the crowd, which would displace clients that have sent nothing authentic and make them
    // reconnect
    let pairs: Vec<_> = (0..PAIRS).map(|pair| [0, 1].map(|end| Client::new(&relay, 2 * pair + end))).collect();
    let deaf = Client::new(&relay, HOSTILE + 2);
    std::thread::scope(|scope| {
        for (pair, mut clients) in (0..PAIRS).zip(pairs) {
            let (relay, over, honest) = (&relay, &over, &honest);
            scope.spawn(move || {
                let arrived = honest_pair(relay, &mut clients, pair, over);
                honest.lock().unwrap().push(arrived);
            });
        }
        let under_way = |mut attack: Box<dyn FnMut() + Send>| {
            let over = &over;
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    attack();
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
        };
        let (target, relay) = (relay.layout().session(0), &relay);
        // Frames to honest clients would be taken for the partner's, so genuine frames go to the sender's own session
        let mut cutter = Client::stranger(relay, HOSTILE);
        let (own, mut numbers) = (cutter.session, Numbers(7));
        under_way(Box::new(move || cut_frames(relay, own, &mut cutter, &mut numbers)));
        let mut forger = Client::stranger(relay, HOSTILE + 1);
        let own = forger.session;
        under_way(Box::new(move || forge_and_repeat(relay, own, &mut forger)));
        let mut numbers = Numbers(9);
        under_way(Box::new(move || babble(relay, &mut numbers)));
        let connected = &connected;
        under_way(Box::new(move || crowd(relay, connected)));
        // A client that does not read, one that sends to it, and one that poses as an honest client without its keys
        let (deaf, mut talker) = (deaf.session, Client::stranger(relay, HOSTILE + 3));
        under_way(Box::new(move || {
            let frames: Vec<u8> = (0..20).flat_map(|_| talker.sealed(deaf, &[5; 8000])).collect();
            if talker.stream.write_all(&frames).is_err() {
                talker.stream = TcpStream::connect(relay.address()).unwrap();
            }
        }));
        let mut liar = Client::stranger(relay, HOSTILE + 4);
        under_way(Box::new(move || {
            let mut frame = liar.sealed(target, &[6; 40]);
            frame[4..8].copy_from_slice(&target.to_be_bytes());
            if liar.stream.write_all(&frame).is_err() {
                liar.stream = TcpStream::connect(relay.address()).unwrap();
            }
        }));
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(seconds) {
            most_queued.fetch_max(relay.queue_bytes() as u64, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(1));
        }
        // Each attack had its effect
        for what in [Count::Forged, Count::Replayed, Count::Malformed, Count::Expelled, Count::Slow] {
            counted(relay, what, 1);
        }
        over.store(true, Ordering::Relaxed);
    });
    drop(deaf);
    let honest = honest.into_inner().unwrap();
    assert!(honest.len() == PAIRS as usize && honest.iter().all(|arrived| *arrived > 100), "{honest:?}");
    assert!(connected.into_inner() > 2 * ROOM as u64, "the crowd came");
    assert!(most_queued.into_inner() as usize <= memory, "queues keep within their memory");
    until("an end of all connections", || relay.connections() == 0);
    until("counters that add up", || adds_up(&relay.counts()));
    let counts = relay.stop();
    assert!(adds_up(&counts), "{counts:?}");
    assert!(counts.of(Count::Forwarded) >= honest.iter().sum::<u64>(), "{honest:?}: {counts:?}");
    println!("honest frames: {honest:?}; {counts:?}");
}
