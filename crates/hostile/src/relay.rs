//! Input of a relay and its clients: frames, grants, messages of other nodes, streams.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
};

use sealwright_session::{
    Client, FrameJob, Grant, Material, Plan, SchemeKind, Secret, SessionError, Sessions, Side, Spec,
    frame::{self, HEADER, Header},
    table,
};

const SLOTS: u32 = 4;

/// The scheme that the first byte chooses.
fn scheme(input: &[u8]) -> Spec {
    let all = Spec::all();
    all[usize::from(input.first().copied().unwrap_or(0)) % all.len()]
}

/// One end of some sessions. Their keys follow from the whole input: an engine sees what is compared, and would put
/// frames that were sealed before into other inputs.
fn end(side: Side, input: &[u8]) -> Box<dyn Sessions> {
    let mut hash = DefaultHasher::new();
    input.hash(&mut hash);
    let mut secret = [7; 32];
    secret[..8].copy_from_slice(&hash.finish().to_be_bytes());
    let secret = Some(Secret::from_bytes(secret));
    // Two clusters, in the schemes that have them
    let plan = Plan::new(scheme(input), SLOTS).side(side).secret(secret).cluster(SLOTS / 2);
    let mut table = table(plan).expect("there is memory");
    for slot in 0..SLOTS {
        let mut material = [0; Material::LEN];
        material.as_chunks_mut().0.iter_mut().for_each(|part| *part = (hash.finish() ^ u64::from(slot)).to_be_bytes());
        table.admit(slot, slot, &Material::from_bytes(&material)).expect("there is room");
    }
    table
}

/// Genuine frames, some of them twice, then the rest of the input. The low half of the second byte of the input is the
/// number of frames; the third is XORed into the byte at the position given by the next two. Returns the bytes, the
/// genuine frames, and how many frames stand before any changed byte, repetitions included.
fn stream(input: &[u8]) -> (Vec<u8>, HashSet<Vec<u8>>, usize) {
    let Some((&[_, frames, fault, high, low], rest)) = input.split_first_chunk() else {
        return (input.to_vec(), HashSet::new(), 0);
    };
    let (mut stream, mut genuine, mut clients) = (Vec::new(), HashSet::new(), end(Side::Client, input));
    let mut ends = Vec::new();
    for i in 0..u32::from(frames % 16) {
        let mut frame = frame::unsealed(i, &rest[..rest.len().min(3 * i as usize)]);
        clients.seal(i % SLOTS, i % SLOTS, &mut frame).expect("a key has blocks left");
        for _ in 0..1 + u32::from(i % 3 == 2) {
            stream.extend_from_slice(&frame);
            ends.push(stream.len());
        }
        genuine.insert(frame);
    }
    let at = usize::from(u16::from_be_bytes([high, low]));
    let intact = if fault == 0 { ends.len() } else { ends.partition_point(|end| *end <= at) };
    if let Some(byte) = stream.get_mut(at) {
        *byte ^= fault;
    }
    stream.extend_from_slice(rest);
    (stream, genuine, intact)
}

/// Takes a stream of arbitrary bytes, split into frames as in a relay, under every scheme. Parsing terminates, a parsed
/// header is written back unchanged, all sealed frames open that were not changed, each only once, and no others do.
/// Opening in a batch gives the same results as frame by frame.
pub(crate) fn frame(input: &[u8]) {
    let clear = scheme(input).kind == SchemeKind::Clear;
    let (mut stream, genuine, intact) = stream(input);
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
    end(Side::Server, input).open_all(&mut stream, &mut jobs);
    judge(&before, &jobs, (&genuine, intact), clear);
    let mut singly = before.clone();
    let mut server = end(Side::Server, input);
    for job in &jobs {
        assert_eq!(Some(server.open(job.slot, &mut singly[job.start..job.end])), job.outcome);
        if job.done() {
            assert_eq!(singly[job.start..job.end], stream[job.start..job.end]);
        }
    }
}

/// Judges the frames that were opened in a batch: which are genuine, and how many of the first are as they were sealed.
/// In the clear, anybody can make frames, also such that make others late.
fn judge(stream: &[u8], jobs: &[FrameJob], (genuine, intact): (&HashSet<Vec<u8>>, usize), clear: bool) {
    assert!(jobs.len() >= intact, "{} of {intact} frames are parsed", jobs.len());
    let mut opened = HashSet::new();
    for (at, job) in jobs.iter().enumerate() {
        let frame = &stream[job.start..job.end];
        let known = genuine.contains(frame);
        if job.done() {
            assert!(clear || known, "opened what nobody sealed");
            assert!(opened.insert(frame), "opened twice");
        } else if known && (at < intact || !clear) {
            assert!(opened.contains(frame), "a genuine frame does not open: {:?}", job.outcome);
            assert_eq!(job.outcome, Some(Err(SessionError::Replayed)));
        }
    }
}

/// Takes arbitrary bytes as a grant: it is refused, or written back unchanged, and a client with it does not open its
/// own frames.
pub(crate) fn grant(bytes: &[u8]) {
    let mut whole = [0; Grant::LEN];
    let len = bytes.len().min(Grant::LEN);
    whole[..len].copy_from_slice(&bytes[..len]);
    let Some(grant) = Grant::from_bytes(&mut whole.clone()) else { return };
    assert_eq!(grant.to_bytes()[..], whole);
    let (session, spec) = (grant.session(), grant.spec());
    let mut client = Client::new(grant);
    assert_eq!(client.session(), session);
    let mut frame = client.seal(7, b"hello").expect("a new client has keys");
    frame.extend_from_slice(&bytes[len..]);
    let opened = client.open(&mut frame).is_ok();
    // Where both directions have the same key, what goes up may come down: nobody grants that, but it breaks nothing.
    // And what is in the clear opens with any key.
    let (up, down) = whole[8..].split_at((whole.len() - 8) / 2);
    let len = spec.key_len();
    let may = spec.kind == SchemeKind::Clear || up[..len] == down[..len];
    assert!(!opened || may, "what goes up does not come down");
}

/// Takes arbitrary bytes as a message between nodes: it is invalid, or the same after it was written and read again.
pub(crate) fn mesh(bytes: &[u8]) {
    assert_ne!(sealwright_relay::mesh_message_survives(bytes), Some(false));
}

/// Takes arbitrary bytes as messages of other nodes to a node, and events at it: its directory stays consistent, and no
/// node can speak for the sessions of another.
pub(crate) fn mesh_node(bytes: &[u8]) {
    sealwright_relay::mesh_node_fuzz(bytes);
}

/// Takes arbitrary bytes as what an attacker does to the traffic between nodes that share a secret: only messages that
/// another node sealed for this one open, once, and nodes that are alive find each other.
pub(crate) fn mesh_link(bytes: &[u8]) {
    sealwright_relay::mesh_link_fuzz(bytes);
}

/// Takes arbitrary bytes as what the network and a peer do to a stream between two clients: between honest ends
/// everything arrives, in order, as soon as the network permits; and no peer makes an end panic.
pub(crate) fn transfer(bytes: &[u8]) {
    sealwright_relay::client::transfer_fuzz::transfer(bytes);
}

/// Takes arbitrary bytes as a stream that is sealed end to end between clients, or as changes to a genuine one.
pub(crate) fn end_to_end(bytes: &[u8]) {
    sealwright_relay::client::end_to_end_fuzz::end_to_end(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(bytes: &[u8]) -> String {
        scheme(bytes).to_string()
    }

    #[test]
    fn every_scheme_has_a_first_byte() {
        let all: HashSet<String> = Spec::all().iter().map(Spec::to_string).collect();
        assert_eq!((0..=255).map(|first| named(&[first])).collect::<HashSet<_>>(), all);
        assert!(Spec::all().iter().any(|spec| spec.kind.as_printed()), "those for research too");
    }

    /// What the target judges, as if the table had answered otherwise.
    fn judged(change: impl Fn(&mut Vec<FrameJob>)) -> bool {
        let input = [&[3, 5, 0, 0, 0][..], b"text of the frames"].concat();
        let (mut stream, genuine, intact) = stream(&input);
        let (mut jobs, mut at) = (Vec::new(), 0);
        while let Ok(Some(header)) = frame::first(&stream[at..])
            && jobs.len() < intact
        {
            jobs.push(FrameJob::new(at..at + header.frame_len(), header.session, 0));
            at += header.frame_len();
        }
        let before = stream.clone();
        end(Side::Server, &input).open_all(&mut stream, &mut jobs);
        change(&mut jobs);
        let judge = || judge(&before, &jobs, (&genuine, intact), false);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(judge)).is_ok()
    }

    /// Frames 0 to 4, of which 2 comes twice.
    #[test]
    fn wrong_answers_of_a_table_are_noticed() {
        assert!(judged(|jobs| assert_eq!(jobs.iter().filter(|job| job.done()).count(), 5)));
        assert!(!judged(|jobs| jobs[4].outcome = Some(Err(SessionError::Forged))), "refused");
        assert!(!judged(|jobs| jobs[4].outcome = Some(Err(SessionError::Replayed))), "refused as known");
        assert!(!judged(|jobs| jobs[3].outcome = Some(Err(SessionError::Forged))), "refused for another reason");
        assert!(!judged(|jobs| jobs[3].outcome = Some(Ok(()))), "opened twice");
        assert!(!judged(|jobs| jobs.truncate(5)), "lost");
    }

    /// Inputs that taught something did so under this scheme.
    #[test]
    fn inputs_with_names_have_their_schemes() {
        assert_eq!(named(include_bytes!("../../../fuzz/corpus/frame/the-number-before-the-tag")), "gcm-on64");
        assert_eq!(named(include_bytes!("../../../fuzz/corpus/frame/a-frame-of-another-input")), "gcm-on64");
        assert_eq!(named(include_bytes!("../../../fuzz/corpus/frame/genuine")), "gscm-h");
    }
}
