use super::*;
use crate::{config::Config, message::LONGEST_TAG};

fn chain(scope: Scope) -> Chain {
    let mut config = Config::default();
    config.scheme.functional = false;
    let rules = Rules { latency: 320, masks: 1, authenticate: 10, mac: Mac::Background, scope, processes: 1 };
    Chain::new(&config.platform(), rules)
}

fn line(from: usize, to: usize) -> Message {
    Message {
        number: 0,
        from: Some(from),
        to,
        node: to,
        sender: Some(from),
        line: 0,
        process: 0,
        request: 0,
        ready: 0,
        text: [0; LONGEST_LINE],
        len: 64,
        tag: None::<[u8; LONGEST_TAG]>,
        counter: 0,
        authenticated: false,
        sent: 0,
        tag_ready: 0,
        usable: 0,
        resent: false,
    }
}

/// The receiver's next mask is the encrypted ciphertext, which is there when the line is, whether its own mask is ready or not; the
/// engine begins a line every 80 cycles.
#[test]
fn a_receivers_next_mask_begins_when_the_line_arrives() {
    for scope in [Scope::Node, Scope::Pair] {
        let mut chain = chain(scope);
        let mut used = |now| chain.receive(now, &line(0, 1)) - 1;
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
