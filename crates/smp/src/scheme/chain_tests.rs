use super::*;
use crate::config::Config;

fn chain(scope: Scope) -> Chain {
    charged(scope, Charge::Line)
}

fn charged(scope: Scope, charge: Charge) -> Chain {
    let mut config = Config::default();
    config.scheme.functional = false;
    let (mac, masks) = (Mac::Background, 1);
    let rules = Rules { latency: 320, masks, authenticate: 10, mac, charge, scope, processes: 1 };
    Chain::new(&config.platform(), rules)
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
        let mut used = |now| chain.receive(now, &mut line(0, 1)) - 1;
        assert_eq!(used(1000), 1000, "the first mask is ready");
        assert_eq!(used(1100), 1320, "asked for at 1000");
        assert_eq!(used(1200), 1420, "asked for at 1100, not when the mask before was ready");
        assert_eq!(used(1300), 1520);
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
            let (mut chain, mut line) = (charged(scope, charge), line(0, 1));
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
