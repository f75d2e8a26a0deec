//! Which datagrams are sent, and how much memory they take.
#![allow(clippy::unwrap_used)]
use super::*;

fn at(there: SocketAddr) -> Ends {
    Ends { there, here: None }
}

#[test]
fn every_frame_is_counted_once_as_forwarded_or_as_dropped() {
    let mut here = Udp::new(UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap()).unwrap();
    // The broadcast address, which cannot be sent to; and a peer whose last session leaves before its frames are sent
    let [good, bad, leaves] =
        ["127.0.0.1:9", "255.255.255.255:9", "127.0.0.1:10"].map(|to| here.acquire(at(to.parse().unwrap())));
    for peer in [good, bad, bad, leaves, leaves, leaves] {
        assert!(here.queue(peer, &[1; 72], 1 << 16));
    }
    let nobody = here.acquire(at("127.0.0.1:0".parse().unwrap()));
    assert!(!here.queue(nobody, &[1; 72], 1 << 16), "an error that would end runs of all");
    here.release(leaves);
    let mut counts = Counts::default();
    here.flush(&mut counts);
    let of = [Count::Forwarded, Count::Slow, Count::WrongDestination].map(|what| counts.of(what));
    assert_eq!(of, [1, 2, 3]);
}

#[test]
fn runs_arrive_as_single_datagrams_and_peers_go_with_their_last_session() {
    let here = || Udp::new(UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap()).unwrap();
    let (mut a, mut b) = (here(), here());
    let there = at(b.socket.local_addr().unwrap());
    let peer = a.acquire(there);
    assert_eq!((a.acquire(there), a.is_at(peer, there)), (peer, true));
    let lengths = [72, 72, 72, 100, 72, 72, 1500, 1500];
    for (at, length) in lengths.iter().enumerate() {
        assert!(a.queue(peer, &vec![at as u8; *length], 1 << 16));
    }
    assert!(!a.queue(peer, &[0; 70_000], 1 << 16), "no room");
    let mut counts = Counts::default();
    a.flush(&mut counts);
    assert_eq!(counts.of(Count::BytesOut), lengths.iter().sum::<usize>() as u64);
    let (mut buffer, mut arrived, mut got) = (b.take_buffer(), Vec::new(), Vec::new());
    for _ in 0..1000 {
        b.read(&mut buffer, &mut arrived);
        for run in &arrived {
            assert_eq!(run.from, at(a.socket.local_addr().unwrap()));
            got.extend(buffer[run.start..run.end].chunks(run.stride).map(<[u8]>::to_vec));
        }
        if got.len() == lengths.len() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let sent: Vec<Vec<u8>> = lengths.iter().enumerate().map(|(at, length)| vec![at as u8; *length]).collect();
    assert!(got == sent);
    a.release(peer);
    assert_eq!(a.of.len(), 1);
    a.release(peer);
    assert_eq!((a.of.len(), a.acquire(at("127.0.0.1:9".parse().unwrap()))), (0, peer), "its slot is used again");
}

#[test]
fn peers_keep_no_memory_of_what_was_sent_and_steady_traffic_allocates_none() {
    let mut here = Udp::new(UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap()).unwrap();
    let peers: Vec<u32> = (1..=60).map(|last| here.acquire(at(SocketAddr::from(([127, 0, 9, last], 9))))).collect();
    let mut iteration = |frames: usize| {
        for (peer, number) in peers.iter().flat_map(|peer| (0..frames).map(move |number| (*peer, number))) {
            assert!(here.queue(peer, &[0; 41][..40 + number % 2], 1 << 16));
        }
        here.flush(&mut Counts::default());
        assert!(here.queues.is_empty() && here.peers.iter().all(|peer| peer.queue.is_none()));
        let held = here.spare.iter().map(Queue::held).sum::<usize>();
        assert_eq!(held, here.kept);
        (held, here.spare.iter().map(|queue| queue.out.as_ptr() as usize).collect::<Vec<_>>())
    };
    // More than three megabytes in sixty queues
    let (held, _) = iteration(1000);
    assert!(held <= Udp::BUFFER_BYTES, "{held}");
    // A queue that was not kept is allocated again
    iteration(10);
    let few = iteration(10);
    assert!(few.1.len() == 60 && few == iteration(10), "others than in the last iteration");
}

#[test]
fn answers_are_sent_from_addresses_of_one_host_only() {
    for (address, ours) in [("127.0.0.2", true), ("127.255.255.255", false), ("224.0.0.1", false), ("192.0.2.1", false)]
    {
        assert_eq!(is_for_one_host(address.parse().unwrap()), ours, "{address}");
    }
}

/// Many peers, each of which is sent much in one iteration.
#[test]
fn what_is_queued_leaves_early_rather_than_take_more_memory_than_it_may() {
    let mut here = Udp::new(UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap()).unwrap();
    let peers: Vec<u32> = (1..=200).map(|last| here.acquire(at(SocketAddr::from(([127, 0, 9, last], 9))))).collect();
    let (mut counts, mut most) = (Counts::default(), 0);
    for frame in 0..40 {
        for peer in &peers {
            here.make_room(&mut counts);
            assert!(here.queue(*peer, &[frame; 1000], 1 << 16));
            most = most.max(here.queues.iter().chain(&here.spare).map(Queue::held).sum());
        }
    }
    // The most that empty queues keep, and as much again
    assert!((Udp::BUFFER_BYTES..2 * Udp::BUFFER_BYTES + (1 << 17)).contains(&most), "{most} bytes of eight million");
    here.flush(&mut counts);
    let sent = [Count::Forwarded, Count::Slow].map(|what| counts.of(what));
    assert_eq!((sent.iter().sum::<u64>(), here.held), (40 * 200, 0));
}

/// A large queue that one peer had in an iteration must not make others flush single frames in the next one.
#[test]
fn a_queue_that_was_long_counts_for_nothing_when_it_is_short() {
    let mut here = Udp::new(UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap()).unwrap();
    let peers: Vec<u32> = (1..=200).map(|last| here.acquire(at(SocketAddr::from(([127, 0, 9, last], 9))))).collect();
    for _ in 0..30 {
        assert!(here.queue(peers[0], &[1; 60_000], 1 << 21));
    }
    here.flush(&mut Counts::default());
    assert!(here.kept > Udp::BUFFER_BYTES - (1 << 18), "{} bytes are kept", here.kept);
    for peer in &peers {
        here.make_room(&mut Counts::default());
        assert!(here.queue(*peer, &[2; 1400], 1 << 21));
    }
    assert_eq!(here.queues.len(), peers.len(), "nothing has left");
}
