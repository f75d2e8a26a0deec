//! A table of sessions: records, and a scheme over them.

use core::fmt;

use sealwright::{block::CleanStack, mode::multi_buffer::MultiBuffer};

use crate::{
    error::SessionError,
    frame::{FrameKind, HEADER, Header, parts},
    packet::{Packet, blocks},
    record::{End, Life, Receive, Record},
    replay::{Past, ReplayWindow},
    scheme::Scheme,
    sessions::Plan,
    slab::Slab,
};

/// Wipes the stack below the caller when a table is dropped.
type Stack = CleanStack<{ 48 << 10 }>;

/// What may have left keys in the lanes and on the stack since they were last wiped. Later variants need more wiping.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Traces {
    #[default]
    None,
    /// A client was admitted; no batch has run, so no frames of batches are on the stack.
    OfAdmission,
    OfPackets,
}

pub(crate) struct Table<S: Scheme> {
    pub(crate) scheme: S,
    pub(crate) records: Slab<S::Client>,
    /// The wider part of the replay windows, if there is one. It needs neither initialising nor wiping.
    // In a box: an empty `Option` is moved with whatever the stack held in its place, for example keys of other
    // sessions.
    pub(crate) pasts: Option<Box<Slab<Past>>>,
    /// The lanes, if the scheme processes packets side by side.
    pub(crate) lanes: Option<Box<MultiBuffer>>,
    pub(crate) plan: Plan,
    pub(crate) live: u32,
    /// What was done since lanes and stack were last wiped.
    pub(crate) traces: Traces,
    /// Batches leave more on the stack than one key does.
    _stack: Stack,
}

impl<S: Scheme> Table<S> {
    pub(crate) fn new(scheme: S, plan: Plan) -> Result<Self, SessionError> {
        let lanes = scheme.side_by_side().then(MultiBuffer::boxed);
        let pasts =
            (plan.replay_window == ReplayWindow::Wide).then(|| Slab::new(plan.slots).map(Box::new)).transpose()?;
        Ok(Table {
            scheme,
            records: Slab::new(plan.slots)?,
            pasts,
            lanes,
            plan,
            live: 0,
            traces: Traces::None,
            _stack: CleanStack,
        })
    }

    /// Opens or seals one frame.
    pub(crate) fn one(&mut self, slot: u32, session: u32, frame: &mut [u8], end: End) -> Result<(), SessionError> {
        let (ad, text, tag) = parts(frame)?;
        self.traces = Traces::OfPackets;
        let record = self.records.at_mut(slot).ok_or(SessionError::Unknown)?;
        if end == End::Send {
            let (header, _, nonce) = next(&self.scheme, record, session, text.len())?;
            *ad = header;
            *tag = self.scheme.seal(slot, record, Packet { nonce: &nonce, ad, text });
            return Ok(());
        }
        let mut past = self.pasts.as_mut().and_then(|pasts| pasts.at_mut(slot));
        let (n, nonce) = expected(&self.scheme, record, past.as_deref(), ad, text.len())?;
        let blocks = blocks(text.len());
        if !self.scheme.open(slot, record, Packet { nonce: &nonce, ad, text }, tag) {
            return Err(SessionError::Forged);
        }
        record.received_mut().accept(past.take(), n, blocks);
        Ok(())
    }

    /// Wipes a record and everything stored for it elsewhere. Keys that packets left behind cannot be told apart: all
    /// of them are wiped, which takes the time of a few packets, and later packets compute theirs again.
    pub(crate) fn forget(&mut self, slot: u32) {
        let Some(record) = self.records.at_mut(slot) else { return };
        let life = record.life();
        if life.live == 0 {
            return;
        }
        let blocks = record.encrypted(self.scheme.allowance());
        record.restart(Life { live: 0, ..life });
        self.scheme.remove(slot, blocks);
        self.live -= 1;
        match core::mem::take(&mut self.traces) {
            Traces::None => {}
            Traces::OfAdmission => drop::<CleanStack>(CleanStack),
            Traces::OfPackets => {
                self.lanes.iter_mut().for_each(|lanes| lanes.wipe());
                drop::<Stack>(CleanStack);
            }
        }
    }
}

impl<S: Scheme> fmt::Debug for Table<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("scheme", &format_args!("{}", self.plan.spec))
            .field("slots", &self.records.len())
            .field("live", &self.live)
            .finish_non_exhaustive()
    }
}

/// Checks a header. Returns the number of its packet within the stream, and the nonce.
#[inline(always)]
pub(crate) fn expected<S: Scheme>(
    scheme: &S,
    record: &S::Client,
    past: Option<&Past>,
    header: &[u8; HEADER],
    len: usize,
) -> Result<(u32, [u8; 12]), SessionError> {
    let life = record.life();
    if life.live == 0 {
        return Err(SessionError::Unknown);
    }
    let header = Header::read(header).map_err(|_| SessionError::Malformed)?;
    if usize::from(header.len) != len {
        return Err(SessionError::Short);
    }
    if u16::from(header.phase) != life.epoch & 15 {
        return Err(SessionError::Stale);
    }
    let stream = scheme.stream(record, End::Receive);
    let n = u32::try_from(header.seq.wrapping_sub(stream.base)).map_err(|_| SessionError::Stale)?;
    record.received().check(past, n, blocks(len))?;
    Ok((n, stream.nonce(header.seq)))
}

/// Takes the next packet number of a stream. Returns the header, the number within the stream, and the nonce.
#[inline(always)]
pub(crate) fn next<S: Scheme>(
    scheme: &S,
    record: &mut S::Client,
    session: u32,
    len: usize,
) -> Result<([u8; HEADER], u32, [u8; 12]), SessionError> {
    let life = record.life_of_sent();
    if life.live == 0 {
        return Err(SessionError::Unknown);
    }
    let n = record.sent_mut().next(blocks(len))?;
    let stream = scheme.stream(record, End::Send);
    let seq = stream.base + u64::from(n);
    let header = Header { kind: FrameKind::Data, phase: (life.epoch & 15) as u8, len: len as u16, session, seq };
    Ok((header.write(), n, stream.nonce(seq)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{
        Client, FrameJob, Material, SchemeKind, Secret, Sessions,
        frame::{TAG, unsealed},
        record::{Keys16, LIMIT, Pre16},
        schemes::{Derived, Gscm, On64, Paper},
    };

    fn cluster() -> Table<Gscm> {
        let plan = Plan::new("gscm-h".parse().unwrap(), 8);
        Table::new(Gscm::new(&plan, None), plan).unwrap()
    }

    fn admit(table: &mut Table<Gscm>, slot: u32) -> Client {
        Client::new(table.admit(slot, slot, &Material::random().unwrap()).unwrap())
    }

    #[test]
    fn a_client_that_leaves_is_charged_for_frames_that_never_arrived() {
        let mut table = cluster();
        let mut client = admit(&mut table, 3);
        let sealed: Vec<Vec<u8>> = (0..1000).map(|_| client.seal(4, &[7; 1000]).unwrap()).collect();
        let blocks = u64::from(u32::MAX) - client.blocks_left();
        table.remove(3);
        let spent = table.scheme.clusters.spent(3);
        assert!(spent >= blocks, "{spent} of {blocks}");
        // Admitting a client again, without removing it first, is charged as well.
        admit(&mut table, 3);
        admit(&mut table, 3);
        assert_eq!(table.scheme.clusters.spent(3), 2 * spent);
        drop(sealed);
    }

    /// A refusal because the cluster is worn uses up no epoch of the slot and leaves its session intact.
    #[test]
    fn a_worn_cluster_has_an_error_of_its_own_until_it_is_revoked() {
        let mut table = cluster();
        let (mut there, mut other) = (admit(&mut table, 3), admit(&mut table, 4));
        table.scheme.clusters.spend(3, 1 << 48);
        for _ in 0..3 {
            let refused = table.admit(3, 3, &Material::random().unwrap()).err();
            assert_eq!((refused, table.epoch(3)), (Some(SessionError::WornCluster), Some(1)));
        }
        for (slot, client) in [(3, &mut there), (4, &mut other)] {
            table.open(slot, &mut client.seal(4, b"still here").unwrap()).unwrap();
        }
        assert_eq!(table.revoke(3), [4]);
        let mut anew = admit(&mut table, 3);
        table.open(3, &mut anew.seal(4, b"under new keys").unwrap()).unwrap();
        assert_eq!((table.epoch(3), table.epoch(4)), (Some(2), None));
    }

    /// The number of epochs of a slot is unlimited where keys come from the material alone, and 65,535 otherwise.
    #[test]
    fn epochs_begin_again_unless_keys_are_made_of_them() {
        fn after_the_last<S: Scheme>(scheme: S, plan: Plan) -> Result<u16, SessionError> {
            let mut table = Table::new(scheme, plan).unwrap();
            table.records.claim(3);
            table.records.at_mut(3).unwrap().restart(Life { epoch: u16::MAX - 1, live: 0 });
            let mut last = Client::new(table.admit(3, 3, &Material::random().unwrap()).unwrap());
            let old = last.seal(4, b"before").unwrap();
            let grant = table.admit(3, 3, &Material::random().unwrap())?;
            let (epoch, mut next) = (grant.epoch(), Client::new(grant));
            assert!(table.open(3, &mut old.clone()).is_err());
            table.open(3, &mut next.seal(4, b"after").unwrap()).unwrap();
            let mut down = unsealed(4, b"down");
            table.seal(3, 3, &mut down).unwrap();
            next.open(&mut down).unwrap();
            Ok(epoch)
        }
        let plan = |scheme: &str| Plan::new(scheme.parse().unwrap(), 8);
        let of = |scheme: &str| {
            let plan = plan(scheme);
            let Plan { spec, slots, side, isa, .. } = plan;
            match spec.kind {
                SchemeKind::GcmOn64 => after_the_last(On64::<Keys16>::new(isa, spec), plan),
                SchemeKind::GcmPre(x) => after_the_last(Paper::<Pre16>::new(isa, spec, x, slots), plan),
                SchemeKind::GcmDerived => {
                    after_the_last(Derived::new(isa, spec, side, &Secret::random().unwrap()), plan)
                }
                _ => after_the_last(Gscm::new(&plan, None), plan),
            }
        };
        assert_eq!(["gcm-on64", "gcm-pre(clmul)"].map(of), [Ok(0); 2]);
        assert_eq!(["gcm-derived", "gscm-h"].map(of), [Err(SessionError::Exhausted); 2]);
    }

    /// Whether a frame of a batch is within the limit of its key depends on the frames before it: those that are refused
    /// use up nothing.
    #[test]
    fn a_key_is_exhausted_in_a_batch_at_the_frame_at_which_it_is_one_by_one() {
        let plan = || Plan::new("gcm-on64".parse().unwrap(), 8);
        let materials = [1, 2].map(|byte| Material::from_bytes(&[byte; Material::LEN]));
        let end = |limit| {
            let mut table = Table::new(On64::<Keys16>::new(plan().isa, plan().spec), plan()).unwrap();
            let clients = [0, 1].map(|slot| Client::new(table.admit(slot, slot, &materials[slot as usize]).unwrap()));
            table.records.at_mut(0).unwrap().allow(limit);
            (table, clients)
        };
        for lengths in [[50; 12], [0, 1500, 40, 44, 0, 1500, 600, 0, 1500, 1, 2, 1500]] {
            let mut clients = end(LIMIT).1;
            let mut frames: Vec<_> = lengths
                .iter()
                .enumerate()
                .map(|(i, &len)| {
                    let slot = u32::from(i % 5 == 4);
                    (slot, clients[slot as usize].seal(4, &vec![7; len]).unwrap())
                })
                .collect();
            *frames[2].1.last_mut().unwrap() ^= 1;
            let uses = |(_, frame): &(u32, Vec<u8>)| blocks(frame.len() - HEADER - TAG);
            let used: u32 = frames.iter().filter(|(slot, _)| *slot == 0).map(uses).sum();
            let (first, forged) = (uses(&frames[0]), uses(&frames[2]));
            // The number of the first frame again, with more blocks than are left: behind that frame it is replayed.
            let mut header = Header::read(frames[0].1.first_chunk().unwrap()).unwrap();
            header.len = 3 * header.len + 40;
            frames.push((0, [&header.write()[..], &vec![0; header.len as usize + TAG]].concat()));
            for limit in [used, used - 1, used - forged, used - forged - 1, used / 2, first + 1, 1] {
                for opens in [true, false] {
                    let (mut buffer, mut jobs) = (Vec::new(), Vec::new());
                    for (slot, frame) in &frames {
                        jobs.push(FrameJob::new(buffer.len()..buffer.len() + frame.len(), *slot, *slot));
                        buffer.extend_from_slice(frame);
                    }
                    let (mut expected, mut singly) = (buffer.clone(), jobs.clone());
                    let ((mut batch, _), (mut one, _)) = (end(limit), end(limit));
                    if opens {
                        batch.open_all(&mut buffer, &mut jobs)
                    } else {
                        batch.seal_all(&mut buffer, &mut jobs)
                    }
                    for job in &mut singly {
                        let frame = &mut expected[job.start..job.end];
                        job.outcome = Some(if opens {
                            one.open(job.slot, frame)
                        } else {
                            one.seal(job.slot, job.session, frame)
                        });
                    }
                    let outcomes = |jobs: &[FrameJob]| jobs.iter().map(|job| job.outcome).collect::<Vec<_>>();
                    assert_eq!(outcomes(&jobs), outcomes(&singly), "{limit} {opens}");
                    assert_eq!([0, 1].map(|slot| batch.blocks_left(slot)), [0, 1].map(|slot| one.blocks_left(slot)));
                    for job in jobs.iter().filter(|job| job.done()) {
                        assert!(buffer[job.start..job.end] == expected[job.start..job.end], "{limit} {opens}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_frame_is_refused_for_the_first_reason_of_the_documented_order() {
        let mut table = cluster();
        let mut client = admit(&mut table, 3);
        let seen = client.seal(4, &[7; 40]).unwrap();
        table.open(3, &mut seen.clone()).unwrap();
        let mut frame = seen.clone();
        let mut refused = |slot, frame: &[u8], why| {
            assert_eq!(table.open(slot, &mut frame.to_vec()), Err(why));
            for (count, len) in [1, 8].map(|count| (count, frame.len())) {
                let mut jobs: Vec<_> = (0..count).map(|i| FrameJob::new(i * len..(i + 1) * len, slot, slot)).collect();
                table.open_all(&mut frame.repeat(count), &mut jobs);
                assert!(jobs.iter().all(|job| job.outcome == Some(Err(why))), "{count} at once: {jobs:?}");
            }
        };
        // Everything is wrong with the frame at first; then one thing after the other is repaired: header, length,
        // phase, number, tag.
        frame[0] ^= 0xff;
        frame[1] ^= 1;
        frame[3] ^= 1;
        frame[20] ^= 1;
        refused(7, &[&frame[..], &[0; crate::frame::MAX_FRAME]].concat(), SessionError::Oversize);
        refused(7, &frame[..31], SessionError::Short);
        refused(7, &frame, SessionError::Unknown);
        refused(u32::MAX, &frame, SessionError::Unknown);
        refused(3, &frame, SessionError::Malformed);
        frame[0] ^= 0xff;
        refused(3, &frame, SessionError::Short);
        frame[3] ^= 1;
        refused(3, &frame, SessionError::Stale);
        frame[1] ^= 1;
        refused(3, &frame, SessionError::Replayed);
        let mut forged = client.seal(4, &[7; 40]).unwrap();
        forged[20] ^= 1;
        refused(3, &forged, SessionError::Forged);
        let record = table.records.at_mut(3).unwrap();
        record.received_mut().withhold(LIMIT);
        let mut refused = |frame: &[u8], why| assert_eq!(table.open(3, &mut frame.to_vec()), Err(why));
        refused(&seen, SessionError::Replayed);
        refused(&forged, SessionError::Exhausted);
        // A client has one session, and no slots.
        let mut down = unsealed(4, &[7; 40]);
        table.seal(3, 3, &mut down).unwrap();
        let mut refused = |frame: &[u8], why| assert_eq!(client.open(&mut frame.to_vec()), Err(why));
        down[0] ^= 0xff;
        down[1] ^= 1;
        down[3] ^= 1;
        down[7] ^= 1;
        refused(&down[..31], SessionError::Short);
        refused(&down, SessionError::Malformed);
        down[0] ^= 0xff;
        refused(&down, SessionError::Short);
        down[3] ^= 1;
        refused(&down, SessionError::Unknown);
        down[7] ^= 1;
        refused(&down, SessionError::Stale);
        down[1] ^= 1;
        down[20] ^= 1;
        refused(&down, SessionError::Forged);
    }
}
