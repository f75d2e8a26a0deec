use super::*;
use crate::config::Config;

fn chain(scope: Scope) -> Chain {
    chain_of(scope, Receive::Each, Charge::Line, Units::Thesis)
}

fn chain_of(scope: Scope, receive: Receive, charge: Charge, units: Units) -> Chain {
    let mut config = Config::default();
    (config.scheme.functional, config.engines.units) = (false, units);
    let (mac, masks) = (Mac::Background, 1);
    let rules = Rules { latency: 320, masks, authenticate: 10, mac, charge, scope, receive, processes: 1 };
    Chain::new(&config.platform(), rules)
}

/// Sends a line that enters the bus at `now` and takes no time on it; returns when it is used.
fn used(chain: &mut Chain, (from, to): (usize, usize), now: Cycle) -> Cycle {
    let mut line = line(from, to);
    line.sent = now;
    chain.transmit(now, &mut line);
    chain.receive(now, &mut line)
}

fn line(from: usize, to: usize) -> Message {
    Message::empty(Some(from), to)
}

/// The receiver's next mask is the encrypted ciphertext, which is there when the line is, whether its own mask is ready
/// or not; the engine begins a line every 80 cycles.
#[test]
fn a_receivers_next_mask_begins_when_the_line_arrives() {
    for scope in [Scope::Node, Scope::Pair] {
        let mut chain = chain(scope);
        let mut used = |now| used(&mut chain, (0, 1), now) - 1;
        assert_eq!(used(1000), 1000, "the first mask is ready");
        assert_eq!(used(1100), 1320, "asked for at 1000");
        assert_eq!(used(1200), 1420, "asked for at 1100, not when the mask before was ready");
        assert_eq!(used(1300), 1520);
    }
}

/// A receiver's mask follows from the same sender's line before, whoever received that. Lines of others do not delay
/// it, except where the receiver has one ring for all senders.
#[test]
fn a_receivers_mask_follows_from_the_senders_line_before() {
    let with = |receive| chain_of(Scope::Node, receive, Charge::Line, Units::Thesis);
    let waits = |receive, lines: [(usize, usize); 2]| {
        let mut chain = with(receive);
        let [first, second] = lines;
        assert_eq!(used(&mut chain, first, 1000), 1001);
        used(&mut chain, second, 1100) - 1101
    };
    for (lines, each, one) in
        [([(0, 1), (2, 1)], 0, 220), ([(0, 2), (0, 1)], 220, 0), ([(0, 1), (0, 1)], 220, 220), ([(0, 2), (3, 1)], 0, 0)]
    {
        assert_eq!([Receive::Each, Receive::One].map(|receive| waits(receive, lines)), [each, one], "{lines:?}");
    }
}

/// With four units, a sender's own masks and those of its three peers, or one ring for all of these; for encryption and
/// as much for the MAC.
#[test]
fn masks_of_each_sender_are_stored() {
    let bits = |receive| chain_of(Scope::Node, receive, Charge::Line, Units::Thesis).storage_bits() - 2 * 11 * 128;
    assert_eq!([Receive::Each, Receive::One].map(bits), [2 * 4 * 512, 2 * 2 * 512]);
}

/// A line's MAC starts from the chain's MAC before it, at the sender and at the receiver, however many engines there
/// are; that of another chain does not.
#[test]
fn macs_of_a_chain_are_made_one_after_the_other() {
    for scope in [Scope::Group, Scope::Node, Scope::Pair] {
        let mut chain = chain_of(scope, Receive::Each, Charge::Line, Units::Generous);
        let mut checked = |ends: (usize, usize), now| {
            let mut line = line(ends.0, ends.1);
            line.sent = now;
            chain.transmit(now, &mut line);
            chain.receive(now, &mut line);
            (line.tag_ready, line.checked)
        };
        assert_eq!(checked((0, 1), 1000), (1320, 1320), "{scope:?}");
        assert_eq!(checked((0, 1), 1100), (1640, 1640), "{scope:?}");
        // A line for another unit is in the same chain, unless each pair has one
        let other = if scope == Scope::Pair { 1520 } else { 1960 };
        assert_eq!(checked((0, 2), 1200), (other, other), "{scope:?}");
        let other = if scope == Scope::Group { 2280 } else { 1620 };
        assert_eq!(checked((3, 2), 1300), (other, other), "{scope:?}");
    }
}

/// The sender has a ciphertext only when its mask is ready.
#[test]
fn a_senders_next_mask_begins_when_the_one_before_is_ready() {
    for scope in [Scope::Group, Scope::Node, Scope::Pair] {
        let mut chain = chain(scope);
        let mut left = |now| chain.send(now, &mut line(0, 1)) - 1;
        assert_eq!((left(1000), left(1100), left(1200)), (1000, 1320, 1640));
    }
}

/// A line is four blocks of 80 cycles, in a chain. Its header is one more, and so is what hides the chain's state in a
/// MAC that travels.
#[test]
fn a_mac_takes_the_blocks_that_are_charged() {
    for (charge, within, at_the_end) in [(Charge::Line, 320, 320), (Charge::All, 400, 480)] {
        for scope in [Scope::Group, Scope::Node, Scope::Pair] {
            let (mut chain, mut line) = (chain_of(scope, Receive::Each, charge, Units::Thesis), line(0, 1));
            for (number, cycles) in (1..=10).map(|number| (number, if number == 10 { at_the_end } else { within })) {
                line.sent = 10_000 * number;
                chain.authenticate(&mut line);
                chain.transmit(line.sent, &mut line);
                assert_eq!(line.tag_ready - line.sent, cycles, "{charge:?} {scope:?} {number}");
                let before = chain.counters.unauthenticated_cycles;
                chain.receive(line.sent, &mut line);
                let waits = if number == 10 { cycles - 1 } else { 0 };
                assert_eq!(chain.counters.unauthenticated_cycles - before, waits, "{charge:?} {scope:?} {number}");
            }
        }
    }
}
