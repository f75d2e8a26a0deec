//! Many frames at once: records are fetched ahead, packets go through the cipher side by side.
//!
//! The answers are those of one frame after the other. What a frame's opening changes in its record is changed in the
//! order of the frames, after all tags of a batch are known, and is checked again then: a batch may hold a frame twice.

use sealwright::mode::agile::lanes::{Frame, Lanes, PACKETS};

use crate::{
    Job, Refused,
    frame::{HEADER, TAG},
    packet::{Packet, blocks, same},
    record::{Receive, Record},
    scheme::{End, Scheme},
    table::{Table, expected, next, parts},
};

/// A frame whose header was read, or written.
#[derive(Clone, Copy, Default)]
struct Ticket {
    /// The packet's number.
    n: u32,
    nonce: [u8; 12],
    /// Bytes of text.
    len: usize,
    genuine: bool,
}

impl<S: Scheme> Table<S> {
    /// Opens or seals all frames.
    pub(crate) fn all(&mut self, buffer: &mut [u8], jobs: &mut [Job], end: End) {
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
                    for job in now {
                        let frame = buffer.get_mut(job.start..job.end).ok_or(Refused::Short);
                        job.outcome = Some(frame.and_then(|frame| self.one(job.slot, job.session, frame, end)));
                    }
                }
            }
            rest = later;
        }
    }

    /// Asks for what one end of these records needs.
    fn fetch(&mut self, jobs: &[Job], end: End) {
        let records = self.records.all_mut();
        for record in jobs.iter().filter_map(|job| records.get(job.slot as usize)) {
            record.fetch(end);
        }
    }

    /// Opens or seals frames of similar lengths: each is staged as soon as its header was looked at, and one record of the
    /// next batch is asked for with each.
    fn together(&mut self, buffer: &mut [u8], jobs: &mut [Job], next: &[Job], end: End) {
        let Table { scheme, records, lanes: Some(lanes), .. } = self else { return };
        let records = records.all_mut();
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
                job.outcome = Some(parts(frame).and(Err(Refused::Unknown)));
                continue;
            };
            match admitted(scheme, record, job.session, frame, end) {
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
            let genuine = same(lanes.tag(packet), tag);
            accept(records, job, buffer, n, genuine);
        }
    }

    /// Opens or seals frames of any lengths, similar ones together.
    fn sorted(&mut self, buffer: &mut [u8], jobs: &mut [Job], end: End) {
        let Table { scheme, records, lanes: Some(lanes), .. } = self else { return };
        let records = records.all_mut();
        let mut tickets = [Ticket::default(); PACKETS];
        for (job, ticket) in jobs.iter_mut().zip(&mut tickets) {
            let frame = &mut buffer[job.start..job.end];
            let record = match parts(frame) {
                Ok(_) => records.get_mut(job.slot as usize).ok_or(Refused::Unknown),
                Err(refused) => Err(refused),
            };
            let admitted = record.and_then(|record| admitted(scheme, record, job.session, frame, end));
            job.outcome = Some(admitted.map(|admitted| *ticket = admitted));
        }
        let (order, count) = by_length(jobs, &tickets);
        let mut order = &order[..count];
        while let Some(&longest) = order.first() {
            let most = tickets[usize::from(longest)].len;
            let similar = order.iter().take_while(|&&i| alike(tickets[usize::from(i)].len, most)).count();
            let (now, later) = order.split_at(similar);
            if pays(now.len(), most) {
                side_by_side(scheme, records, lanes, buffer, jobs, &mut tickets, now, end);
            } else {
                for &i in now {
                    let (job, ticket) = (&jobs[usize::from(i)], &mut tickets[usize::from(i)]);
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
                accept(records, job, buffer, ticket.n, ticket.genuine);
            }
        }
    }
}

/// Looks at a frame's header, or writes it.
#[inline(always)]
fn admitted<S: Scheme>(
    scheme: &S,
    record: &mut S::Client,
    session: u32,
    frame: &mut [u8],
    end: End,
) -> Result<Ticket, Refused> {
    let (header, text, _) = parts(frame)?;
    let len = text.len();
    let (n, nonce) = match end {
        End::Receive => expected(scheme, record, header, len)?,
        End::Send => {
            let (bytes, n, nonce) = next(scheme, record, session, len)?;
            *header = bytes;
            (n, nonce)
        }
    };
    Ok(Ticket { n, nonce, len, genuine: false })
}

/// Notes an opened frame, or wipes it: if its tag does not hold, or a frame before it was the same.
#[inline(always)]
fn accept<R: Record>(records: &mut [R], job: &mut Job, buffer: &mut [u8], n: u32, genuine: bool) {
    let Some(record) = records.get_mut(job.slot as usize) else { return };
    let received = record.received_mut();
    let blocks = blocks(job.end - job.start - HEADER - TAG);
    let outcome = if genuine { received.check(n, blocks) } else { Err(Refused::Forged) };
    match outcome {
        Ok(()) => received.accept(n, blocks),
        Err(_) => buffer[job.start + HEADER..job.end - TAG].fill(0),
    }
    job.outcome = Some(outcome);
}

/// The least and the most bytes of text, if all frames lie in the buffer one behind the other.
fn lengths(buffer: &[u8], jobs: &[Job]) -> Option<(usize, usize)> {
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

/// The frames that were not refused, the longest first, and how many they are.
fn by_length(jobs: &[Job], tickets: &[Ticket; PACKETS]) -> ([u8; PACKETS], usize) {
    let (mut order, mut count, mut sorted) = ([0; PACKETS], 0, true);
    for (i, (job, ticket)) in jobs.iter().zip(tickets).enumerate() {
        if job.done() {
            order[count] = i as u8;
            sorted &= count == 0 || tickets[usize::from(order[count - 1])].len >= ticket.len;
            count += 1;
        }
    }
    if !sorted {
        order[..count].sort_by_key(|&i| usize::MAX - tickets[usize::from(i)].len);
    }
    (order, count)
}

/// Whether a text goes well with a longer one.
fn alike(len: usize, longest: usize) -> bool {
    2 * len + 128 >= longest
}

/// Whether so many packets side by side take less time than one after the other: each alone needs its keys made, as long
/// as some 400 blocks take there; lanes need what a few packets need, and for each block what all lanes need.
fn pays(packets: usize, len: usize) -> bool {
    let blocks = len.div_ceil(16);
    packets * (400 + blocks) >= 130 + 20 * blocks
}

/// Packets of similar lengths through the lanes.
#[expect(clippy::too_many_arguments, reason = "the parts of a table that a batch needs")]
fn side_by_side<S: Scheme>(
    scheme: &S,
    records: &[S::Client],
    lanes: &mut Lanes,
    buffer: &mut [u8],
    jobs: &[Job],
    tickets: &mut [Ticket; PACKETS],
    order: &[u8],
    end: End,
) {
    lanes.start();
    let mut slots = [0; PACKETS];
    for (packet, &i) in order.iter().enumerate() {
        let (job, ticket) = (&jobs[usize::from(i)], &tickets[usize::from(i)]);
        let Some(record) = records.get(job.slot as usize) else { return };
        lanes.push(&ticket.nonce, ticket.len);
        scheme.stage(job.slot, record, end, lanes, packet);
        slots[packet] = job.slot;
    }
    // Each frame's blocks apart from the others', in the order of the lanes.
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
        *frame = core::mem::take(&mut apart[usize::from(i)]);
    }
    scheme.run(&slots[..order.len()], end, lanes, &mut frames);
    for (packet, &i) in order.iter().enumerate() {
        let (job, ticket) = (&jobs[usize::from(i)], &mut tickets[usize::from(i)]);
        let Some(tag) = buffer[..job.end].last_chunk_mut() else { continue };
        match end {
            End::Receive => ticket.genuine = same(lanes.tag(packet), tag),
            End::Send => *tag = *lanes.tag(packet),
        }
    }
}
