//! Keys that change with every packet: one packet at a time against GCM and GSCM, many side by side against one at a
//! time.
#![allow(clippy::unwrap_used)]

use sealwright::{
    Aead, Block, Isa,
    block::aes2s::SecondaryKeys,
    mode::{
        gcm, gscm,
        multi_buffer::{Frame, HashKeys, Keys, MultiBuffer, PACKETS},
        multi_key::Schedule,
    },
};

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.below(256) as u8)
    }
}

#[test]
fn one_packet_at_a_time_is_gcm_and_gscm() {
    let mut random = Random(1);
    for isa in Isa::available() {
        for len in [0, 1, 16, 40, 300, 511, 512, 529, 600, 1500, 5000] {
            for bytes in [16, 32] {
                let (key, nonce, ad) = (random.bytes::<32>(), random.bytes::<12>(), random.bytes::<16>());
                let keys = SecondaryKeys { k1: random.bytes(), k2: random.bytes() };
                let (second, last) = if bytes == 16 { (5, 10) } else { (9, 14) };
                let text: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
                let shared = Schedule::expand(isa, &key[..bytes]).unwrap();
                let theirs = shared.clone().replaced(0, &keys.k1).replaced(second, &keys.k2);
                let hardened = shared.clone().replaced(0, &keys.k1).replaced(last, &keys.k2);
                let h = shared.hash_key(isa);
                let cases: [(Box<dyn Aead>, &Schedule, Block); 3] = [
                    (gcm::by_key(isa, &key[..bytes], gcm::TagLen::T16).unwrap(), &shared, h),
                    (gscm::research_only_by_key(isa, &key[..bytes], &keys).unwrap(), &theirs, h),
                    (gscm::by_key(isa, &key[..bytes], &keys).unwrap(), &hardened, hardened.hash_key(isa)),
                ];
                for (aead, schedule, h) in cases {
                    let (mut ours, mut expected) = (text.clone(), text.clone());
                    let tag = schedule.seal(isa, &h, &nonce, &ad, &mut ours).unwrap();
                    assert_eq!(aead.seal_in_place(&nonce, &ad, &mut expected).unwrap().as_ref(), tag, "{isa} {len}");
                    assert_eq!(ours, expected, "{isa} {len}");
                    let mut forged = ours.clone();
                    assert!(schedule.open(isa, &h, &nonce, &ad, &mut forged, &[tag[0] ^ 1; 16]).is_err());
                    assert!(forged.iter().all(|&byte| byte == 0));
                    schedule.open(isa, &h, &nonce, &ad, &mut ours, &tag).unwrap();
                    assert_eq!(ours, text);
                }
            }
        }
    }
}

/// A packet's frame (header, text, place of the tag) and what it is sealed with.
struct Packet {
    schedule: Schedule,
    h: Block,
    nonce: [u8; 12],
    len: usize,
    frame: Vec<u8>,
}

/// Where keys come from, by number; what all share.
struct Case<'a> {
    kind: usize,
    long: bool,
    shared: &'a Schedule,
    h: &'a Block,
}

impl Case<'_> {
    fn sources(&self) -> (Keys<'_>, HashKeys<'_>) {
        let (second, last) = if self.long { (9, 14) } else { (5, 10) };
        match (self.kind, self.long) {
            (0, false) => (Keys::Own16, HashKeys::Made),
            (0, true) => (Keys::Own32, HashKeys::Kept),
            (1, false) => (Keys::Kept11, HashKeys::Kept),
            (1, true) => (Keys::Kept15, HashKeys::Made),
            (2, _) => (Keys::Shared(self.shared, second), HashKeys::Shared(self.h)),
            _ => (Keys::Shared(self.shared, last), HashKeys::Made),
        }
    }

    /// Puts the keys of a packet into its lane.
    fn stage(&self, lanes: &mut MultiBuffer, packet: usize, of: &Packet) {
        let blocks = of.schedule.blocks();
        lanes.hash_key(packet, &of.h);
        match self.sources().0 {
            Keys::Own16 | Keys::Own32 => lanes.key(packet, [&blocks[0], &blocks[1]]),
            Keys::Kept11 => lanes.schedule(packet, blocks),
            Keys::Kept15 => {
                // By way of the halves, as secondary keys come.
                lanes.schedule(packet, self.shared.blocks());
                for (round, block) in blocks.iter().enumerate() {
                    lanes.key(packet, [&blocks[0], block]);
                    lanes.substitute(packet, round.max(1));
                }
            }
            Keys::Shared(_, second) => lanes.key(packet, [&blocks[0], &blocks[second]]),
            other => unreachable!("{other:?} is not among `sources`"),
        }
    }

    fn schedule(&self, isa: Isa, key: &[u8; 32]) -> (Schedule, Block) {
        let own = Schedule::expand(isa, if self.long { key } else { &key[..16] }).unwrap();
        match self.sources() {
            (Keys::Shared(shared, second), hash) => {
                let (k1, k2) = key.split_at(16);
                let schedule =
                    shared.clone().replaced(0, k1.try_into().unwrap()).replaced(second, k2.try_into().unwrap());
                let h = if let HashKeys::Shared(h) = hash { *h } else { schedule.hash_key(isa) };
                (schedule, h)
            }
            _ => {
                let h = own.hash_key(isa);
                (own, h)
            }
        }
    }
}

/// Runs packets side by side; what their frames are then, and their tags.
fn side_by_side(
    isa: Isa,
    case: &Case<'_>,
    lanes: &mut MultiBuffer,
    packets: &[Packet],
    seal: bool,
) -> Vec<(Vec<u8>, Block)> {
    lanes.start();
    let mut buffers: Vec<Vec<u8>> = packets.iter().map(|packet| packet.frame.clone()).collect();
    for (i, packet) in packets.iter().enumerate() {
        lanes.push(&packet.nonce, packet.len);
        case.stage(lanes, i, packet);
    }
    let mut frames: [Frame<'_>; PACKETS] = std::array::from_fn(|_| Default::default());
    for (frame, buffer) in frames.iter_mut().zip(&mut buffers) {
        *frame = buffer.as_chunks_mut().0;
    }
    let (keys, hash) = case.sources();
    lanes.run(isa, &mut frames, keys, hash, seal);
    assert_eq!(lanes.count(), packets.len());
    buffers.into_iter().enumerate().map(|(i, buffer)| (buffer, *lanes.tag(i))).collect()
}

#[test]
fn packets_side_by_side_are_packets_one_at_a_time() {
    let mut random = Random(2);
    let mut lanes = MultiBuffer::boxed();
    for isa in Isa::available() {
        for longest in 0..=300 {
            for number in 0..16 {
                let (kind, long, mixed) = (number % 4, number / 4 % 2 == 1, number / 8 == 1);
                let shared = Schedule::expand(isa, &random.bytes::<32>()[..if long { 32 } else { 16 }]).unwrap();
                let h = shared.hash_key(isa);
                let case = Case { kind, long, shared: &shared, h: &h };
                let count = [1, 5, PACKETS][longest % 3];
                let mut packets: Vec<Packet> = (0..count)
                    .map(|_| {
                        let len = if mixed { random.below(longest + 1) } else { longest };
                        let (schedule, h) = case.schedule(isa, &random.bytes());
                        let frame = (0..16 + len + 16).map(|_| random.below(256) as u8).collect();
                        Packet { schedule, h, nonce: random.bytes(), len, frame }
                    })
                    .collect();
                let sealed = side_by_side(isa, &case, &mut lanes, &packets, true);
                for (packet, (frame, tag)) in packets.iter_mut().zip(&sealed) {
                    let before = packet.frame.clone();
                    let (header, rest) = packet.frame.split_at_mut(16);
                    let text = &mut rest[..packet.len];
                    let expected = packet.schedule.seal(isa, &packet.h, &packet.nonce, header, text).unwrap();
                    assert_eq!(tag, &expected, "{isa} {longest} {number}");
                    assert_eq!(frame, &packet.frame, "{isa} {longest} {number}");
                    packet.frame.clone_from(&before);
                }
                let plain: Vec<Vec<u8>> = packets.iter().map(|packet| packet.frame.clone()).collect();
                for (packet, (frame, _)) in packets.iter_mut().zip(&sealed) {
                    packet.frame.clone_from(frame);
                }
                let opened = side_by_side(isa, &case, &mut lanes, &packets, false);
                for (i, (frame, tag)) in opened.iter().enumerate() {
                    assert_eq!((frame, tag), (&plain[i], &sealed[i].1), "{isa} {longest} {number}");
                }
            }
        }
    }
}

#[test]
fn a_shared_hash_key_is_not_printed() {
    let text = format!("{:?}", [HashKeys::Made, HashKeys::Kept, HashKeys::Shared(&[0x5a; 16])]);
    assert_eq!(text, "[Made, Kept, Shared(..)]");
}

#[test]
fn frames_behind_the_packets_stay_as_they_are() {
    let mut lanes = MultiBuffer::boxed();
    for isa in Isa::available() {
        // Both ways through: of a length that has a kernel of its own, and of another; alike and mixed.
        for lens in [[32, 32], [200, 200], [40, 200]] {
            let mut buffers = [[[7; 16]; 15]; PACKETS];
            let mut frames = buffers.each_mut().map(|buffer| &mut buffer[..]);
            lanes.start();
            for (packet, len) in lens.into_iter().enumerate() {
                lanes.push(&[0; 12], len);
                lanes.key(packet, [&[1; 16]; 2]);
            }
            lanes.run(isa, &mut frames, Keys::Own16, HashKeys::Made, true);
            assert_ne!(buffers[..2], [[[7; 16]; 15]; 2], "{isa} {lens:?}");
            assert_eq!(buffers[2..], [[[7; 16]; 15]; PACKETS - 2], "{isa} {lens:?}");
        }
    }
}

/// Whether and how another number was taken depended on the level and on the length of the texts.
#[test]
fn a_round_key_that_is_not_there_is_not_replaced() {
    for isa in Isa::available() {
        for (key_len, keys) in [(16, 11), (32, 15)] {
            let schedule = Schedule::expand(isa, &[5; 32][..key_len]).unwrap();
            for (second, len) in [0, 1, keys - 1, keys, 20].into_iter().flat_map(|second| [(second, 32), (second, 200)])
            {
                let run = || {
                    let (mut lanes, mut buffer) = (MultiBuffer::boxed(), [[7; 16]; 15]);
                    lanes.push(&[0; 12], len);
                    lanes.key(0, [&[1; 16], &[2; 16]]);
                    let mut only = Some(&mut buffer[..]);
                    let mut frames: [Frame<'_>; PACKETS] = std::array::from_fn(|_| only.take().unwrap_or_default());
                    lanes.run(isa, &mut frames, Keys::Shared(&schedule, second), HashKeys::Shared(&[3; 16]), true);
                };
                let is_there = (1..keys).contains(&second);
                assert_eq!(
                    std::panic::catch_unwind(run).is_ok(),
                    is_there,
                    "{isa}, {keys} keys, {second}, {len} bytes"
                );
            }
        }
    }
}

#[test]
#[should_panic(expected = "the counters would repeat")]
fn a_text_longer_than_gcm_allows_is_no_packet() {
    MultiBuffer::boxed().push(&[0; 12], gcm::MAX_TEXT as usize + 1);
}

#[test]
#[should_panic(expected = "AES-128 has 11 round keys")]
fn a_schedule_of_another_length_is_none() {
    MultiBuffer::boxed().schedule(0, &[[0; 16]; 13]);
}
