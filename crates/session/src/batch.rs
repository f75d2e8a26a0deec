//! Batches: opens or seals many frames in one call. The records of the frames that come next are prefetched, and
//! packets of similar length are processed side by side in the lanes.
//!
//! Invariant: outcomes are those of processing the frames one by one, in order, and so are the bytes of frames that are
//! opened or sealed; one that is refused may be wiped here and still sealed there. Each frame is first checked
//! against its record as it was before the batch. Once all tags of the batch are known, its frames are checked again in
//! order: first against the replay window as the earlier frames left it, then the tag. A batch may therefore contain a
//! packet number twice.

use sealwright::mode::{
    multi_buffer::{Frame, MultiBuffer, PACKETS},
    multi_key::same_tag,
};

use crate::{
    error::SessionError,
    frame::{HEADER, TAG, parts},
    packet::{Packet, blocks},
    record::{End, Receive, Record},
    replay::Past,
    scheme::Scheme,
    sessions::FrameJob,
    table::{Table, Traces, expected, next},
};

/// A frame whose header was checked (to open it) or written (to seal it).
#[derive(Clone, Copy, Default)]
struct Ticket {
    /// The packet number within its stream.
    n: u32,
    nonce: [u8; 12],
    /// Bytes of text.
    len: usize,
    genuine: bool,
}

impl<S: Scheme> Table<S> {
    /// Opens or seals all frames.
    pub(crate) fn all(&mut self, buffer: &mut [u8], jobs: &mut [FrameJob], end: End) {
        self.traces = Traces::OfPackets;
        self.fetch(&jobs[..jobs.len().min(PACKETS)], end);
        let mut rest = jobs;
        while !rest.is_empty() {
            let (now, later) = rest.split_at_mut(rest.len().min(PACKETS));
            let next = &later[..later.len().min(PACKETS)];
            match lengths(buffer, now).filter(|_| self.lanes.is_some()) {
                Some((shortest, longest)) if alike(shortest, longest) && pays(now.len(), longest) => {
                    self.together(buffer, now, next, end);
                }
                Some(_) => {
                    self.fetch(next, end);
                    self.sorted(buffer, now, end);
                }
                None => {
                    self.fetch(next, end);
                    self.one_by_one(buffer, now, end);
                }
            }
            rest = later;
        }
    }

    /// Opens or seals frames one after the other.
    fn one_by_one(&mut self, buffer: &mut [u8], jobs: &mut [FrameJob], end: End) {
        for job in jobs {
            let frame = buffer.get_mut(job.start..job.end).ok_or(SessionError::Short);
            job.outcome = Some(frame.and_then(|frame| self.one(job.slot, job.session, frame, end)));
        }
    }

    /// Prefetches the parts of these records that one end needs.
    fn fetch(&mut self, jobs: &[FrameJob], end: End) {
        let records = self.records.all_mut();
        for record in jobs.iter().filter_map(|job| records.get(job.slot as usize)) {
            record.fetch(end);
        }
    }

    /// Opens or seals frames of similar lengths in one pass through the lanes. Each frame is staged as soon as its
    /// header is checked; with each, one record of the next batch is prefetched, so that cache misses overlap with
    /// computation.
    fn together(&mut self, buffer: &mut [u8], jobs: &mut [FrameJob], next: &[FrameJob], end: End) {
        let Table { scheme, records, pasts, lanes: Some(lanes), .. } = self else { return };
        let (records, pasts) = (records.all_mut(), pasts.as_mut().map_or(&mut [][..], |pasts| pasts.all_mut()));
        lanes.start();
        let mut frames: [Frame<'_>; PACKETS] = core::array::from_fn(|_| Default::default());
        let (mut seats, mut slots, mut count) = ([(0, 0); PACKETS], [0; PACKETS], 0);
        let (mut rest, mut at) = (&mut *buffer, 0);
        for (i, job) in jobs.iter_mut().enumerate() {
            if let Some(record) = next.get(i).and_then(|job| records.get(job.slot as usize)) {
                record.fetch(end);
            }
            let (frame, behind) = rest[job.start - at..].split_at_mut(job.end - job.start);
            (rest, at) = (behind, job.end);
            let Some(record) = records.get_mut(job.slot as usize) else {
                job.outcome = Some(parts(frame).and(Err(SessionError::Unknown)));
                continue;
            };
            match admitted(scheme, record, pasts.get(job.slot as usize), job.session, frame, end) {
                // Whether this frame is exhausted or replayed depends on earlier frames of the batch.
                Err(SessionError::Exhausted) if end == End::Receive => return self.one_by_one(buffer, jobs, end),
                Err(refused) => job.outcome = Some(Err(refused)),
                Ok(Ticket { n, nonce, len, .. }) => {
                    job.outcome = Some(Ok(()));
                    lanes.push(&nonce, len);
                    scheme.stage(job.slot, record, end, lanes, count);
                    (seats[count], slots[count], frames[count]) = ((i, n), job.slot, frame.as_chunks_mut().0);
                    count += 1;
                }
            }
        }
        if count == 0 {
            return;
        }
        scheme.run(&slots[..count], end, lanes, &mut frames);
        for (packet, &(i, n)) in seats[..count].iter().enumerate() {
            let job = &mut jobs[i];
            let Some(tag) = buffer[..job.end].last_chunk_mut() else { continue };
            if end == End::Send {
                *tag = *lanes.tag(packet);
                continue;
            }
            let genuine = same_tag(lanes.tag(packet), tag);
            accept((records, pasts), job, buffer, n, genuine);
        }
    }

    /// Opens or seals frames of any lengths, in groups of similar length.
    fn sorted(&mut self, buffer: &mut [u8], jobs: &mut [FrameJob], end: End) {
        let Table { scheme, records, pasts, lanes: Some(lanes), .. } = self else { return };
        let (records, pasts) = (records.all_mut(), pasts.as_mut().map_or(&mut [][..], |pasts| pasts.all_mut()));
        let mut tickets = [Ticket::default(); PACKETS];
        for (job, ticket) in jobs.iter_mut().zip(&mut tickets) {
            let frame = &mut buffer[job.start..job.end];
            let record = match parts(frame) {
                Ok(_) => records.get_mut(job.slot as usize).ok_or(SessionError::Unknown),
                Err(refused) => Err(refused),
            };
            let admitted = record
                .and_then(|record| admitted(scheme, record, pasts.get(job.slot as usize), job.session, frame, end));
            job.outcome = Some(admitted.map(|admitted| *ticket = admitted));
        }
        if end == End::Receive && jobs.iter().any(|job| job.outcome == Some(Err(SessionError::Exhausted))) {
            return self.one_by_one(buffer, jobs, end);
        }
        let (order, count) = by_length(jobs, &tickets);
        let mut order = &order[..count];
        while let Some(&longest) = order.first() {
            let most = tickets[longest as usize].len;
            let similar = order.iter().take_while(|&&i| alike(tickets[i as usize].len, most)).count();
            let (now, later) = order.split_at(similar);
            if pays(now.len(), most) {
                side_by_side(scheme, records, lanes, buffer, jobs, &mut tickets, now, end);
            } else {
                for &i in now {
                    let (job, ticket) = (&jobs[i as usize], &mut tickets[i as usize]);
                    let Some(record) = records.get(job.slot as usize) else { continue };
                    let Ok((ad, text, tag)) = parts(&mut buffer[job.start..job.end]) else { continue };
                    let packet = Packet { nonce: &ticket.nonce, ad, text };
                    match end {
                        End::Receive => ticket.genuine = scheme.open(job.slot, record, packet, tag),
                        End::Send => *tag = scheme.seal(job.slot, record, packet),
                    }
                }
            }
            order = later;
        }
        if end == End::Receive {
            for (job, ticket) in jobs.iter_mut().zip(&tickets).filter(|(job, _)| job.done()) {
                accept((records, pasts), job, buffer, ticket.n, ticket.genuine);
            }
        }
    }
}

/// To open: checks the header against the record. To seal: takes the next packet number and writes the header.
#[inline(always)]
fn admitted<S: Scheme>(
    scheme: &S,
    record: &mut S::Client,
    past: Option<&Past>,
    session: u32,
    frame: &mut [u8],
    end: End,
) -> Result<Ticket, SessionError> {
    let (header, text, _) = parts(frame)?;
    let len = text.len();
    let (n, nonce) = match end {
        End::Receive => expected(scheme, record, past, header, len)?,
        End::Send => {
            let (bytes, n, nonce) = next(scheme, record, session, len)?;
            *header = bytes;
            (n, nonce)
        }
    };
    Ok(Ticket { n, nonce, len, genuine: false })
}

/// The second check of an opened frame, in the order of the batch. Marks its number as received, or wipes its text if
/// an earlier frame had the same number, the key is exhausted, or the tag does not match.
#[inline(always)]
fn accept<R: Record>(
    (records, pasts): (&mut [R], &mut [Past]),
    job: &mut FrameJob,
    buffer: &mut [u8],
    n: u32,
    genuine: bool,
) {
    let Some(record) = records.get_mut(job.slot as usize) else { return };
    let received = record.received_mut();
    let blocks = blocks(job.end - job.start - HEADER - TAG);
    let past = pasts.get_mut(job.slot as usize);
    let outcome =
        received.check(past.as_deref(), n, blocks).and(if genuine { Ok(()) } else { Err(SessionError::Forged) });
    match outcome {
        Ok(()) => received.accept(past, n, blocks),
        Err(_) => buffer[job.start + HEADER..job.end - TAG].fill(0),
    }
    job.outcome = Some(outcome);
}

/// The shortest and the longest text in bytes, if the frames lie in the buffer in ascending order without overlap.
fn lengths(buffer: &[u8], jobs: &[FrameJob]) -> Option<(usize, usize)> {
    let (mut at, mut shortest, mut longest) = (0, usize::MAX, 0);
    for job in jobs {
        if at > job.start || job.start > job.end {
            return None;
        }
        let len = (job.end - job.start).saturating_sub(HEADER + TAG);
        (at, shortest, longest) = (job.end, shortest.min(len), longest.max(len));
    }
    (at <= buffer.len()).then_some((shortest, longest))
}

/// The indexes of the frames that were not refused, the longest first, and how many there are. Words, not bytes: the
/// check of generated code treats a table indexed by a byte as one indexed by a secret.
fn by_length(jobs: &[FrameJob], tickets: &[Ticket; PACKETS]) -> ([u32; PACKETS], usize) {
    let (mut order, mut count, mut sorted) = ([0; PACKETS], 0, true);
    for (i, (job, ticket)) in jobs.iter().zip(tickets).enumerate() {
        if job.done() {
            order[count] = i as u32;
            sorted &= count == 0 || tickets[order[count - 1] as usize].len >= ticket.len;
            count += 1;
        }
    }
    if !sorted {
        order[..count].sort_by_key(|&i| usize::MAX - tickets[i as usize].len);
    }
    (order, count)
}

/// Whether two texts are similar enough in length for one pass: the lanes take as long as the longest text needs.
fn alike(len: usize, longest: usize) -> bool {
    2 * len + 128 >= longest
}

/// Whether this many packets take less time side by side than one by one. A cost model, in the time of one block: one
/// by one, a packet costs 400 for its key set-up and 1 for each block; side by side, a pass costs 130, and 20 for each
/// block of the longest packet, however few lanes are in use.
fn pays(packets: usize, len: usize) -> bool {
    let blocks = len.div_ceil(16);
    packets * (400 + blocks) >= 130 + 20 * blocks
}

/// Processes packets of similar lengths in the lanes.
#[expect(clippy::too_many_arguments, reason = "the parts of a table that a batch needs")]
fn side_by_side<S: Scheme>(
    scheme: &S,
    records: &[S::Client],
    lanes: &mut MultiBuffer,
    buffer: &mut [u8],
    jobs: &[FrameJob],
    tickets: &mut [Ticket; PACKETS],
    order: &[u32],
    end: End,
) {
    lanes.start();
    let mut slots = [0; PACKETS];
    for (packet, &i) in order.iter().enumerate() {
        let (job, ticket) = (&jobs[i as usize], &tickets[i as usize]);
        let Some(record) = records.get(job.slot as usize) else { return };
        lanes.push(&ticket.nonce, ticket.len);
        scheme.stage(job.slot, record, end, lanes, packet);
        slots[packet] = job.slot;
    }
    // The blocks of each frame, in the order of the lanes.
    let mut apart: [Frame<'_>; PACKETS] = core::array::from_fn(|_| Default::default());
    let (mut rest, mut at) = (&mut *buffer, 0);
    for (frame, job) in apart.iter_mut().zip(jobs) {
        let (_, from) = rest.split_at_mut(job.start - at);
        let (this, behind) = from.split_at_mut(job.end - job.start);
        *frame = this.as_chunks_mut().0;
        (rest, at) = (behind, job.end);
    }
    let mut frames: [Frame<'_>; PACKETS] = core::array::from_fn(|_| Default::default());
    for (frame, &i) in frames.iter_mut().zip(order) {
        *frame = core::mem::take(&mut apart[i as usize]);
    }
    scheme.run(&slots[..order.len()], end, lanes, &mut frames);
    for (packet, &i) in order.iter().enumerate() {
        let (job, ticket) = (&jobs[i as usize], &mut tickets[i as usize]);
        let Some(tag) = buffer[..job.end].last_chunk_mut() else { continue };
        match end {
            End::Receive => ticket.genuine = same_tag(lanes.tag(packet), tag),
            End::Send => *tag = *lanes.tag(packet),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        FrameJob, Material, Plan, SessionError, Sessions,
        frame::{HEADER, TAG, unsealed},
        record::{Keys16, Receive, Record},
        schemes::On64,
        table::Table,
    };

    #[test]
    fn a_number_seen_in_the_batch_is_replayed_though_its_key_is_used_up() -> Result<(), SessionError> {
        let make = |left| {
            let spec = "gcm-on64".parse().expect("a scheme");
            let plan = Plan::new(spec, 1);
            let mut table = Table::new(On64::<Keys16>::new(plan.isa, spec), plan)?;
            table.admit(0, 0, &Material::from_bytes(&[1; Material::LEN]))?;
            if let Some(record) = table.records.at_mut(0) {
                record.received_mut().accept(None, 1, u32::MAX - left);
            }
            Ok(table)
        };
        // The second frame has the number of the first, and more blocks than are left.
        for (short, long) in [(4, 80), (4, 2000)] {
            let mut genuine = unsealed(0, &vec![0; short]);
            let (mut buffer, mut jobs) = (Vec::new(), Vec::new());
            seal(&mut genuine)?;
            let mut forged = unsealed(0, &vec![0; long]);
            forged[..HEADER].copy_from_slice(&genuine[..HEADER]);
            let len = (forged.len() - HEADER - TAG) as u16;
            forged[2..4].copy_from_slice(&len.to_be_bytes());
            for frame in [&genuine, &forged] {
                jobs.push(FrameJob::new(buffer.len()..buffer.len() + frame.len(), 0, 0));
                buffer.extend_from_slice(frame);
            }
            let mut one = make(3)?;
            let singly = [one.open(0, &mut genuine), one.open(0, &mut forged)];
            assert_eq!(singly, [Ok(()), Err(SessionError::Replayed)]);
            make(3)?.open_all(&mut buffer, &mut jobs);
            assert_eq!([jobs[0].outcome, jobs[1].outcome], singly.map(Some));
        }
        Ok(())
    }

    /// Seals packet 2 of the client.
    fn seal(frame: &mut [u8]) -> Result<(), SessionError> {
        let plan = Plan { side: crate::Side::Client, ..Plan::new("gcm-on64".parse().expect("a scheme"), 1) };
        let mut client = crate::table(plan)?;
        client.admit(0, 0, &Material::from_bytes(&[1; Material::LEN]))?;
        client.seal(0, 0, &mut frame.to_vec())?;
        client.seal(0, 0, frame)
    }
}
