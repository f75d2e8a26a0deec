//! Failures of NATS in a mesh of three nodes: pauses, restarts, and partitions of each pair of nodes. Afterwards names
//! agree within five seconds, and only frames in transit were lost: the counters of all nodes add up.
#![allow(clippy::unwrap_used)]

#[path = "common/line.rs"]
mod line;
#[path = "common/nodes.rs"]
mod nodes;
#[path = "common/output.rs"]
mod output;

use std::{
    io::Cursor,
    time::{Duration, Instant},
};

use line::Line;
use nodes::{Mesh, Nats, Slow, bytes, free_port, nats_server, pipe, until};
use output::Shared;
use sealwright_relay::Count;

/// The time for names to agree again: five seconds on an idle machine. A node that retries just before NATS is back
/// retries again only after four.
const AGREED: Duration = Duration::from_secs(20);

/// Opens the sessions of carol and dave on these nodes, repairs the mesh, and waits until every node knows both there.
fn move_names(mesh: &Mesh, carol: usize, dave: usize, heal: impl FnOnce()) {
    let at_carol = mesh.identity("carol", &[carol]).open(&[]).unwrap().address;
    let at_dave = mesh.identity("dave", &[dave]).open(&[]).unwrap().address;
    heal();
    let start = Instant::now();
    until("the same names everywhere", || {
        (1..=3).all(|node| {
            mesh.identity("alice", &[node]).find(&["carol", "dave"]).unwrap() == [Some(at_carol), Some(at_dave)]
        })
    });
    assert!(start.elapsed() < AGREED, "names agree after {:?}", start.elapsed());
}

/// Checks that every frame opened here or received from another node was queued for a client, passed on, or counted by
/// reason. Returns how many frames were sent between nodes and arrived nowhere.
fn lost_between_nodes(mesh: &Mesh) -> u64 {
    let (mut sent, mut received) = (0, 0);
    for node in 1..=3 {
        let frames = |outcome: &str| mesh.metric(node, &format!("mesh_frames_total{{outcome=\"{outcome}\"}}"));
        let counts = || mesh.node(node).relay().counts();
        let adds_up = || {
            let counts = counts();
            let refused = [Count::Denied, Count::RulesChanged, Count::Share];
            let later = [Count::WrongDestination, Count::Slow, Count::Exhausted];
            let dropped: u64 = refused.into_iter().chain(later).map(|what| counts.of(what)).sum();
            counts.of(Count::Opened) + frames("received")
                == counts.of(Count::Forwarded) + counts.of(Count::Remote) + dropped + frames("refused")
                && counts.of(Count::Remote) == frames("sent") + frames("undelivered")
        };
        until("counters that add up", adds_up);
        assert_eq!(
            counts().dropped(),
            counts().of(Count::WrongDestination) + counts().of(Count::Slow),
            "of honest clients"
        );
        sent += frames("sent");
        received += frames("received");
    }
    sent - received
}

#[test]
fn nats_pauses_and_ends_and_names_agree_again() {
    let Some(mut mesh) = Mesh::start() else { return };
    let (alice, bob) = (mesh.identity("alice", &[1]), mesh.identity("bob", &[2]));
    let (file, at_bob) = (bytes(3_000_000, 5), Shared::default());
    std::thread::scope(|scope| {
        let (alice, bob, input, output) = (&alice, &bob, Slow(Cursor::new(file.clone())), at_bob.clone());
        scope.spawn(move || pipe(alice, "bob", input, Shared::default()));
        scope.spawn(move || pipe(bob, "alice", std::io::empty(), output));
        until("some bytes", || at_bob.len() > 50_000);
        // A longer pause in milliseconds, if set
        let longer = std::env::var("SEALWRIGHT_DRILL_PAUSE").ok().map(|pause| pause.parse().unwrap());
        for (turn, pause) in [100, 1000, 3100].into_iter().chain(longer).enumerate() {
            mesh.nats[0].signal("STOP");
            std::thread::sleep(Duration::from_millis(pause));
            move_names(&mesh, 1 + turn % 3, 1 + (turn + 1) % 3, || mesh.nats[0].signal("CONT"));
        }
    });
    assert!(at_bob.bytes() == file, "what came is not what was sent");
    mesh.nats[0].kill();
    std::thread::sleep(Duration::from_secs(1));
    let mut nats = mesh.nats.pop().unwrap();
    move_names(&mesh, 3, 1, || nats.restart());
    mesh.nats.push(nats);
    // What NATS had not accepted before the pause arrived later or was counted as undelivered; only frames in transit
    // were lost
    let lost = lost_between_nodes(&mesh);
    assert!(lost < 500, "{lost} frames were under way");
}

#[test]
fn each_pair_of_nodes_is_parted_and_finds_together_again() {
    let Some(program) = nats_server() else { return };
    // One server per node. Each pair of servers has its own line; servers forward nothing for others, and the addresses
    // that they announce to each other lead nowhere
    let routes: Vec<u16> = (0..3).map(|_| free_port()).collect();
    let (mut servers, mut lines) = (Vec::new(), Vec::new());
    for node in 0..3 {
        let mut towards = Vec::new();
        for (earlier, &route) in routes[..node].iter().enumerate() {
            let (line, port) = Line::to(route);
            lines.push(((earlier + 1, node + 1), line));
            towards.push(format!("nats://127.0.0.1:{port}"));
        }
        let cluster = format!("nats://127.0.0.1:{}", routes[node]);
        let mut options: Vec<String> =
            ["--cluster_name", "drill", "--cluster", &cluster, "--cluster_advertise", "127.0.0.1:1"]
                .map(str::to_owned)
                .into();
        if !towards.is_empty() {
            options.extend(["--routes".to_owned(), towards.join(",")]);
        }
        servers.push(Nats::with(&program, free_port(), options));
    }
    let mesh = Mesh::over(servers);
    for (turn, ((one, other), line)) in lines.iter().enumerate() {
        line.cut(true);
        // Longer than a node may be silent
        mesh.has_met(*one, 1);
        mesh.has_met(*other, 1);
        let third = 6 - one - other;
        mesh.has_met(third, 2);
        let (carol, dave) = if turn % 2 == 0 { (*one, *other) } else { (*other, *one) };
        move_names(&mesh, carol, dave, || {
            line.cut(false);
            until("the line", || [*one, *other].iter().all(|&node| mesh.metric(node, "mesh_nodes") == 2));
        });
    }
    assert_eq!(lost_between_nodes(&mesh), 0, "nobody spoke meanwhile");
}
