//! Fuzz target: links. Whatever is delivered between nodes, only messages that another node sealed for this one open,
//! each at most once, and live nodes become present to each other.

use std::hash::{DefaultHasher, Hash, Hasher};

use sealwright_session::frame::Header;

use super::*;

/// The most steps of an input, and the most messages kept for replay.
const STEPS: usize = 150;
const KEPT_MESSAGES: usize = 400;
/// How far behind the newest a message may be and still be inside every replay window.
const NEAR_MESSAGES: u64 = 40;
/// The ends: two starts of node 2; more starts of node 1 than there are candidates; node 3; and a node of another mesh.
const NUMBERS: [u32; ENDS] = [2, 2, 1, 1, 1, 1, 1, 1, 3, 1];
const ENDS: usize = 10;
const STRANGER: usize = ENDS - 1;

/// A message that one end sealed.
struct Sent {
    by: usize,
    to: Incarnation,
    /// `None` if it only shows that its sender is live.
    text: Option<Vec<u8>>,
    bytes: Vec<u8>,
    /// Whether it opened, also while its sender was a candidate (which is forgotten when it is displaced).
    opened: bool,
    /// Whether its text was delivered.
    delivered: bool,
}

impl Sent {
    fn new(by: usize, to: Incarnation, text: Option<&[u8]>, bytes: Vec<u8>) -> Sent {
        Sent { by, to, text: text.map(<[u8]>::to_vec), bytes, opened: false, delivered: false }
    }

    fn epoch(&self) -> u32 {
        u32::from_be_bytes(*self.bytes[4..].first_chunk().expect("a head"))
    }

    fn number(&self) -> u64 {
        Header::read(self.bytes[HEAD_BYTES..].first_chunk().expect("a header")).expect("a frame").seq
    }
}

struct Run {
    ends: Vec<Links>,
    now: Instant,
    sent: Vec<Sent>,
    /// Pairs of receiver and sender with an opened message.
    heard: HashSet<(usize, usize)>,
    /// The newest message that opened, by sender, receiver and epoch of the keys.
    newest: HashMap<(usize, usize, u32), u64>,
}

/// A peer with which there are keys, and the epochs of these.
type Known = (Incarnation, u32, Option<u32>);

/// What an error must not change: for each node, the peers with keys, the number of former incarnations, and the next
/// epoch.
fn state(links: &Links) -> Vec<(Vec<Known>, usize, u32)> {
    let link = |link: &Link| (link.with, link.sending.epoch, link.receiving.as_ref().map(|keys| keys.epoch));
    let all = |peer: &Peer| peer.present.iter().chain(&peer.candidates).map(link).collect();
    links.peers.iter().map(|peer| (all(peer), peer.gone.len(), peer.next_epoch)).collect()
}

/// Whether both are in the same mesh.
fn together(one: usize, other: usize) -> bool {
    (one == STRANGER) == (other == STRANGER)
}

impl Run {
    /// Derives incarnations and secrets from the whole input. A fuzzing engine observes comparisons and could otherwise
    /// copy valid hellos and messages into other inputs.
    fn new(input: &[u8]) -> Run {
        let mut hash = DefaultHasher::new();
        input.hash(&mut hash);
        let end = |at: usize| {
            let (mut incarnation, of_input) = (Incarnation::default(), hash.finish().to_be_bytes());
            incarnation[..8].copy_from_slice(&of_input);
            incarnation[8] = at as u8;
            let mut secret = Zeroizing::new([if at == STRANGER { 8 } else { 7 }; 32]);
            secret[..8].copy_from_slice(&of_input);
            let peers = (0..NodeLayout::NODES).map(|_| Peer::default()).collect();
            Links { me: NUMBERS[at], incarnation, secret, rekey_below: REKEY_BELOW, peers }
        };
        let (heard, newest) = (HashSet::new(), HashMap::new());
        Run { ends: (0..ENDS).map(end).collect(), now: Instant::now(), sent: Vec::new(), heard, newest }
    }

    fn hello(&self, of: usize) -> Vec<u8> {
        self.ends[of].hello().expect("a tag")
    }

    /// Delivers bytes to `at` as a hello.
    fn hear(&mut self, at: usize, bytes: &[u8]) {
        let genuine = (0..ENDS).find(|&of| together(of, at) && bytes == self.hello(of));
        let before = state(&self.ends[at]);
        let (now, me) = (self.now, NUMBERS[at]);
        match (self.ends[at].hear(bytes, now), genuine) {
            (Ok(hello), Some(of)) => match hello {
                Hello::Own => assert_eq!(of, at),
                Hello::NumberTaken => assert!(of != at && NUMBERS[of] == me),
                Hello::Known(node) | Hello::Candidate(node) => assert!(node == NUMBERS[of] && node != me),
            },
            (Ok(hello), None) => panic!("{hello:?}, which nobody said"),
            (Err(_), of) => {
                assert_eq!(state(&self.ends[at]), before, "a hello that is refused changes nothing");
                let peer = of.map(|of| (&self.ends[at].peers[NUMBERS[of] as usize], self.ends[of].incarnation));
                let waits = |(peer, who): (&Peer, Incarnation)| {
                    peer.gone.contains(&who)
                        || peer.in_vain.contains_key(&who)
                        || peer.candidates.len() == MAX_CANDIDATES
                };
                assert!(peer.is_none_or(waits), "a genuine hello");
            }
        }
    }

    /// Whether `at` must open this message.
    fn must_open(&self, at: usize, sent: &Sent) -> bool {
        let (from, peer) = (self.ends[sent.by].incarnation, &self.ends[at].peers[NUMBERS[sent.by] as usize]);
        if sent.opened || peer.gone.contains(&from) {
            return false;
        }
        let newest = self.newest.get(&(sent.by, at, sent.epoch())).copied().unwrap_or(0);
        let near = sent.number() + NEAR_MESSAGES > newest;
        match peer.present.iter().chain(&peer.candidates).find(|link| link.with == from) {
            Some(Link { receiving: Some(keys), .. }) => {
                sent.epoch() > keys.epoch || (sent.epoch() == keys.epoch && near)
            }
            Some(_) => true,
            None => peer.candidates.len() < MAX_CANDIDATES,
        }
    }

    /// Delivers bytes to `at` as a message.
    fn open(&mut self, at: usize, bytes: &[u8]) {
        let me = self.ends[at].incarnation;
        let sent = self.sent.iter().position(|sent| sent.bytes == bytes && sent.to == me);
        let sent = sent.filter(|&which| together(self.sent[which].by, at));
        let must = sent.is_some_and(|which| self.must_open(at, &self.sent[which]));
        let before = state(&self.ends[at]);
        let mut message = bytes.to_vec();
        let opened = self.ends[at].open(&mut message, self.now);
        let Ok(opened) = opened else {
            assert!(!must, "a genuine message: {opened:?}");
            assert_eq!(state(&self.ends[at]), before, "a message that is refused changes nothing");
            return;
        };
        let sent = &mut self.sent[sent.expect("opened what nobody sealed for this node")];
        sent.opened = true;
        let (by, epoch, number) = (sent.by, sent.epoch(), sent.number());
        match opened {
            Opened::Candidate { node } => assert_eq!(node, NUMBERS[by]),
            Opened::Present { node, is_new, text } => {
                assert!(!std::mem::replace(&mut sent.delivered, true), "delivered twice");
                assert_eq!((node, text), (NUMBERS[by], sent.text.as_deref().unwrap_or_default()));
                assert!(!is_new || self.heard.contains(&(by, at)), "present without having heard anything");
            }
        }
        self.heard.insert((at, by));
        let newest = self.newest.entry((by, at, epoch)).or_default();
        *newest = number.max(*newest);
        let (from, peer) = (self.ends[by].incarnation, &self.ends[at].peers[NUMBERS[by] as usize]);
        assert!(!peer.gone.contains(&from), "a former start came back");
        let (known, ..) = &before[NUMBERS[by] as usize];
        let former = known.iter().find(|(with, ..)| *with == from).and_then(|(.., receiving)| *receiving);
        assert!(former.is_none_or(|former| former <= epoch), "keys that were replaced came back");
    }

    fn keep(&mut self, sent: Sent) -> usize {
        self.sent.push(sent);
        self.sent.len() - 1
    }

    /// `by` seals a text for a node, if that is present.
    fn seal(&mut self, by: usize, node: u32, text: &[u8]) -> Option<usize> {
        let to = self.ends[by].peers[node as usize].present.as_ref().map(|link| link.with);
        let sealed = self.ends[by].seal(node, text);
        assert_eq!(sealed.is_ok(), to.is_some());
        let (bytes, to) = sealed.ok().zip(to)?;
        Some(self.keep(Sent::new(by, to, Some(text), bytes)))
    }

    /// `by` sends a probe to each candidate with a node's number.
    fn probe(&mut self, by: usize, node: u32) -> Vec<usize> {
        let to: Vec<_> = self.ends[by].peers[node as usize].candidates.iter().map(|link| link.with).collect();
        let probes = self.ends[by].probes(Some(node));
        assert_eq!(probes.len(), to.len());
        probes.into_iter().zip(to).map(|((_, bytes), to)| self.keep(Sent::new(by, to, None, bytes))).collect()
    }

    fn deliver(&mut self, at: usize, which: &[usize]) {
        for &which in which {
            let bytes = self.sent[which].bytes.clone();
            self.open(at, &bytes);
        }
    }

    /// Lets both hear each other's hello and exchange probes.
    fn meet(&mut self, one: usize, other: usize) {
        let hellos = [one, other].map(|of| self.hello(of));
        self.hear(other, &hellos[0]);
        self.hear(one, &hellos[1]);
        // A message from an unknown sender takes an additional round
        for (by, at) in [(one, other), (other, one)].repeat(3) {
            let mut sent = self.probe(by, NUMBERS[at]);
            sent.extend(self.seal(by, NUMBERS[at], b"met"));
            self.deliver(at, &sent);
        }
    }

    fn step(&mut self, [what, one, other, which]: [u8; 4], data: &[u8]) {
        let [one, other] = [one, other].map(|end| usize::from(end) % ENDS);
        let which = usize::from(which) % self.sent.len().max(1);
        let earlier = self.sent.get(which).map(|sent| sent.bytes.clone()).unwrap_or_default();
        match what % 11 {
            0 => self.hear(other, data),
            1 => self.open(other, data),
            2 => {
                let hello = self.hello(one);
                self.hear(other, &hello);
            }
            3 => {
                let hello = changed(self.hello(one), data);
                self.hear(other, &hello);
            }
            // Kept for delivery now or later
            4 => {
                let sent = self.seal(one, NUMBERS[other], data);
                self.deliver(other, sent.as_slice().get(usize::from(what >> 7)..).unwrap_or_default());
            }
            5 => {
                let sent = self.probe(one, NUMBERS[other]);
                self.deliver(other, sent.get(usize::from(what >> 7) * sent.len()..).unwrap_or_default());
            }
            6 => self.open(other, &earlier),
            7 => self.open(other, &changed(earlier, data)),
            8 => self.now += Duration::from_millis(100 * data.iter().map(|&byte| u64::from(byte)).sum::<u64>()),
            9 => self.meet(one, other),
            // Rekey with every message, or when keys are used up
            _ => self.ends[one].rekey_below = if what >> 7 == 0 { u64::MAX } else { REKEY_BELOW },
        }
    }
}

/// Truncated, extended, or with a byte changed.
fn changed(mut bytes: Vec<u8>, data: &[u8]) -> Vec<u8> {
    let (&[how, at], rest) = data.split_first_chunk().unwrap_or((&[0, 0], &[]));
    let at = usize::from(at) % bytes.len().max(1);
    match how {
        0 => bytes.truncate(at),
        1 => bytes.extend_from_slice(rest),
        with => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= with),
    }
    bytes
}

/// Input: steps of five bytes (the action, two ends, an earlier message, and the length of the data that follows). In
/// the end two nodes must meet.
pub(crate) fn link(mut bytes: &[u8]) {
    let mut run = Run::new(bytes);
    for _ in 0..STEPS {
        let Some((&[what, one, other, which, len], rest)) = bytes.split_first_chunk() else { break };
        let (data, rest) = rest.split_at(rest.len().min(len.into()));
        bytes = rest;
        if run.sent.len() < KEPT_MESSAGES {
            run.step([what, one, other, which], data);
        }
    }
    // All waiting times have passed
    run.now += 2 * LONGEST_EXCLUSION;
    let (one, other) = (0, 7);
    let gone = |run: &Run, at: usize, of: usize| {
        run.ends[at].peers[NUMBERS[of] as usize].gone.contains(&run.ends[of].incarnation)
    };
    if gone(&run, one, other) || gone(&run, other, one) {
        return;
    }
    run.meet(one, other);
    for (by, at) in [(one, other), (other, one)] {
        let sent = run.seal(by, NUMBERS[at], b"text").expect("both are present");
        run.deliver(at, &[sent]);
        assert!(run.sent[sent].delivered, "nodes that are alive meet");
    }
}
