//! Batches: outcomes, and the bytes of what is opened or sealed, are those of processing the same frames one by one.
#![allow(clippy::unwrap_used)]

use sealwright::Isa;
use sealwright_session::{
    FrameJob, Material, Plan, Secret, SessionError, Sessions, Side, Spec, Strategy, frame, table,
};

const SLOTS: u32 = 24;

/// A table of one end, always with the same keys.
fn end(spec: Spec, isa: Isa, side: Side) -> Box<dyn Sessions> {
    let secret = Some(Secret::from_bytes([3; 32]));
    let mut table = table(Plan::new(spec, SLOTS).isa(isa).side(side).secret(secret).cluster(10)).unwrap();
    for slot in 0..SLOTS - 1 {
        table.admit(slot, slot, &Material::from_bytes(&[slot as u8 + 1; Material::LEN])).unwrap();
    }
    table
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

/// Frames to be sealed, in ascending order with gaps; some are of clients that were not admitted.
fn frames(random: &mut Random, count: usize, len: impl Fn(&mut Random) -> usize) -> (Vec<u8>, Vec<FrameJob>) {
    let (mut buffer, mut jobs) = (Vec::new(), Vec::new());
    for _ in 0..count {
        buffer.resize(buffer.len() + random.below(40), 0xee);
        let start = buffer.len();
        let bytes = frame::HEADER + len(random) + frame::TAG;
        buffer.extend((0..bytes).map(|_| random.below(256) as u8));
        let slot = random.below(SLOTS as usize + 1) as u32;
        jobs.push(FrameJob::new(start..buffer.len(), slot, 1000 + slot));
    }
    (buffer, jobs)
}

fn one_by_one(table: &mut dyn Sessions, buffer: &mut [u8], jobs: &mut [FrameJob], seal: bool) {
    for job in jobs {
        let frame = &mut buffer[job.start..job.end];
        let outcome = if seal { table.seal(job.slot, job.session, frame) } else { table.open(job.slot, frame) };
        job.outcome = Some(outcome);
    }
}

fn outcomes(jobs: &[FrameJob]) -> Vec<Option<Result<(), SessionError>>> {
    jobs.iter().map(|job| job.outcome).collect()
}

/// Seals and opens the same frames both ways.
fn agree(spec: Spec, isa: Isa, seed: u64, count: usize, len: impl Fn(&mut Random) -> usize) {
    let mut random = Random(seed);
    let (mut buffer, mut jobs) = frames(&mut random, count, len);
    let (mut expected, mut singly) = (buffer.clone(), jobs.clone());
    end(spec, isa, Side::Client).seal_all(&mut buffer, &mut jobs);
    one_by_one(&mut *end(spec, isa, Side::Client), &mut expected, &mut singly, true);
    assert_eq!(outcomes(&jobs), outcomes(&singly), "{spec} {isa} {seed}");
    assert!(buffer == expected, "{spec} {isa} {seed}: sealed otherwise");

    // Some frames are changed in transit, some repeated, some truncated.
    let mut again = jobs.clone();
    for job in &jobs {
        match random.below(8) {
            0 => buffer[job.start + random.below(job.end - job.start)] ^= 1 << random.below(8),
            1 => {
                let start = buffer.len();
                buffer.extend_from_within(job.start..job.end);
                again.push(FrameJob::new(start..buffer.len(), job.slot, 0));
            }
            2 => again.push(FrameJob::new(buffer.len()..buffer.len(), job.slot, 0)),
            _ => {}
        }
    }
    let (mut expected, mut singly) = (buffer.clone(), again.clone());
    end(spec, isa, Side::Server).open_all(&mut buffer, &mut again);
    one_by_one(&mut *end(spec, isa, Side::Server), &mut expected, &mut singly, false);
    assert_eq!(outcomes(&again), outcomes(&singly), "{spec} {isa} {seed}");
    for job in &again {
        // The content of a refused frame may be wiped or still sealed.
        if job.done() {
            assert!(
                buffer[job.start..job.end] == expected[job.start..job.end],
                "{spec} {isa} {seed}: opened otherwise"
            );
        }
    }
}

/// Whether the scheme never processes packets side by side: GHASH is computed bit by bit or by table.
fn always_alone(spec: Spec) -> bool {
    spec.kind.strategy().is_some_and(|x| x != Strategy::Clmul)
}

#[test]
fn every_length_at_every_level() {
    for spec in Spec::all() {
        for isa in Isa::available() {
            // The bit-sliced level is slow: it gets fewer frames.
            let count = if isa == Isa::available()[0] { 5 } else { 20 };
            for len in (0..=300).step_by(if always_alone(spec) { 43 } else { 1 }) {
                agree(spec, isa, len as u64, count, |_| len);
            }
        }
    }
}

#[test]
fn lengths_mixed_at_every_level() {
    for spec in Spec::all() {
        for isa in Isa::available() {
            let rounds = if always_alone(spec) || isa == Isa::available()[0] { 1 } else { 12 };
            for seed in 0..rounds {
                agree(spec, isa, seed, 1 + seed as usize * 11, |random| random.below(300));
                agree(spec, isa, seed, 70, |random| [0, 40, 44, 576, 1500][random.below(5)]);
            }
        }
    }
}

#[test]
fn frames_that_do_not_lie_in_order_are_opened_too() {
    let spec = "gcm-on64".parse().unwrap();
    let (mut buffer, mut jobs) = frames(&mut Random(1), 40, |_| 50);
    end(spec, Isa::best(), Side::Client).seal_all(&mut buffer, &mut jobs);
    jobs.reverse();
    let mut outside = jobs[0].clone();
    outside.end = buffer.len() + 1;
    jobs.push(outside);
    let (mut expected, mut singly) = (buffer.clone(), jobs.clone());
    end(spec, Isa::best(), Side::Server).open_all(&mut buffer, &mut jobs);
    one_by_one(&mut *end(spec, Isa::best(), Side::Server), &mut expected, &mut singly[..40], false);
    assert_eq!(outcomes(&jobs[..40]), outcomes(&singly[..40]));
    assert_eq!(jobs[40].outcome, Some(Err(SessionError::Short)));
    assert!(buffer == expected);
}

#[test]
fn a_forged_repetition_is_replayed_in_a_batch_too() {
    // The replay window is checked before the tag, including what earlier frames of the batch changed in it.
    let spec = "gcm-on64".parse().unwrap();
    for count in [2, 20] {
        for isa in Isa::available() {
            let (mut buffer, mut jobs) = frames(&mut Random(5), count, |_| 50);
            for job in &mut jobs {
                job.slot %= SLOTS - 1;
            }
            end(spec, isa, Side::Client).seal_all(&mut buffer, &mut jobs);
            let genuine = jobs[0].clone();
            let start = buffer.len();
            buffer.extend_from_within(genuine.start..genuine.end);
            *buffer.last_mut().unwrap() ^= 1;
            jobs.push(FrameJob::new(start..buffer.len(), genuine.slot, 0));
            let (mut expected, mut singly) = (buffer.clone(), jobs.clone());
            end(spec, isa, Side::Server).open_all(&mut buffer, &mut jobs);
            one_by_one(&mut *end(spec, isa, Side::Server), &mut expected, &mut singly, false);
            assert_eq!(singly[count].outcome, Some(Err(SessionError::Replayed)));
            assert_eq!(outcomes(&jobs), outcomes(&singly), "{isa} {count}");
        }
    }
}
