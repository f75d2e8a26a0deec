//! A stream of any bytes, split into frames as a relay does it. Parsing ends, a parsed header is written back unchanged, and
//! only frames that were sealed open, each of them once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwright_session::{
    FrameJob, Material, Plan, Sessions, Side,
    frame::{self, HEADER, Header},
    table,
};
use std::collections::HashSet;

const SLOTS: u32 = 4;

fn end(side: Side) -> Box<dyn Sessions> {
    let spec = "gcm-on64".parse().expect("a scheme");
    let mut table = table(Plan { side, ..Plan::new(spec, SLOTS) }).expect("there is memory");
    for slot in 0..SLOTS {
        table.admit(slot, slot, &Material::from_bytes(&[slot as u8; Material::LEN])).expect("there is room");
    }
    table
}

/// Genuine frames, then the rest of the input. The first byte of the input is the number of frames; the second is XORed into
/// the byte at the position given by the next two.
fn stream(input: &[u8]) -> (Vec<u8>, HashSet<Vec<u8>>) {
    let Some((&[frames, fault, high, low], rest)) = input.split_first_chunk() else {
        return (input.to_vec(), HashSet::new());
    };
    let (mut stream, mut genuine, mut clients) = (Vec::new(), HashSet::new(), end(Side::Client));
    for i in 0..u32::from(frames % 16) {
        let mut frame = frame::unsealed(i, &rest[..rest.len().min(3 * i as usize)]);
        clients.seal(i % SLOTS, i % SLOTS, &mut frame).expect("a key has blocks left");
        genuine.insert(frame.clone());
        stream.extend_from_slice(&frame);
        if i % 3 == 2 {
            stream.extend_from_slice(&frame);
        }
    }
    if let Some(byte) = stream.get_mut(usize::from(u16::from_be_bytes([high, low]))) {
        *byte ^= fault;
    }
    stream.extend_from_slice(rest);
    (stream, genuine)
}

fuzz_target!(|input: &[u8]| {
    let (mut stream, genuine) = stream(input);
    let (mut jobs, mut at) = (Vec::new(), 0);
    while let Ok(Some(header)) = frame::first(&stream[at..]) {
        assert_eq!(header.write(), stream[at..at + HEADER]);
        assert_eq!(Header::read(&header.write()), Ok(header));
        let end = at + header.frame_len();
        let Some(frame) = stream.get(at..end) else { break };
        assert_eq!(frame::payload(frame).len(), usize::from(header.len));
        let _ = frame::address(frame::payload(frame));
        jobs.push(FrameJob::new(at..end, header.session, 0));
        at = end;
    }
    let before = stream.clone();
    end(Side::Server).open_all(&mut stream, &mut jobs);
    let mut opened = HashSet::new();
    for job in jobs.iter().filter(|job| job.done()) {
        let frame = &before[job.start..job.end];
        assert!(genuine.contains(frame), "opened what nobody sealed");
        assert!(opened.insert(frame), "opened twice");
    }
    let mut singly = before.clone();
    let mut server = end(Side::Server);
    for job in &jobs {
        assert_eq!(Some(server.open(job.slot, &mut singly[job.start..job.end])), job.outcome);
    }
});
