//! Many frames at once: records are fetched ahead, packets go through the cipher side by side.
//!
//! The answers are those of one frame after the other. What a frame's opening changes in its record is changed in the
//! order of the frames, after all tags of a batch are known, and is checked again then: a batch may hold a frame twice.

use crate::{
    Job, Refused,
    frame::{HEADER, TAG},
    packet::{Packet, blocks, same},
    record::{Receive, Record},
    scheme::{End, Scheme},
    slab::Slab,
    table::{Table, expected, next, parts},
};
use sealwright::mode::agile::lanes::{Frame, Lanes, PACKETS};

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
        for job in &jobs[..jobs.len().min(PACKETS)] {
            self.fetch(job.slot, end);
        }
        let mut rest = jobs;
        while !rest.is_empty() {
            let (now, later) = rest.split_at_mut(rest.len().min(PACKETS));
            for job in &later[..later.len().min(PACKETS)] {
                self.fetch(job.slot, end);
            }
            match lengths(buffer, now).filter(|_| self.lanes.is_some()) {
                Some((shortest, longest)) if alike(shortest, longest) && pays(now.len(), longest) => {
                    self.together(buffer, now, end);
                }
                Some(_) => self.sorted(buffer, now, end),
                None => {
                    for job in now {
                        let frame = buffer.get_mut(job.start..job.end).ok_or(Refused::Short);
                        job.outcome = Some(frame.and_then(|frame| self.one(job.slot, job.session, frame, end)));
                    }
                }
            }
            rest = later;
        }
    }

    /// Asks for what one end of a record needs.
    #[inline]
    fn fetch(&self, slot: u32, end: End) {
        if let Some(record) = self.records.at(slot) {
            record.fetch(end);
        }
    }

    /// Opens or seals frames of similar lengths: each is staged as soon as its header was looked at.
    fn together(&mut self, buffer: &mut [u8], jobs: &mut [Job], end: End) {
        let Table { scheme, records, lanes: Some(lanes), .. } = self else { return };
        lanes.start();
        let mut frames: [Frame<'_>; PACKETS] = core::array::from_fn(|_| Default::default());
        let (mut slots, mut numbers, mut count) = ([0; PACKETS], [0; PACKETS], 0);
        let (mut rest, mut at) = (&mut *buffer, 0);
        for job in jobs.iter_mut() {
            let (_, from) = rest.split_at_mut(job.start - at);
            let (frame, behind) = from.split_at_mut(job.end - job.start);
            (rest, at) = (behind, job.end);
            match admitted(scheme, records, job, frame, end) {
                Err(refused) => job.outcome = Some(Err(refused)),
                Ok(Ticket { n, nonce, len, .. }) => {
                    job.outcome = Some(Ok(()));
                    let Some(record) = records.at(job.slot) else { continue };
                    lanes.push(&nonce, len);
                    scheme.stage(job.slot, record, end, lanes, count);
                    (slots[count], numbers[count], frames[count]) = (job.slot, n, frame.as_chunks_mut().0);
                    count += 1;
                }
            }
        }
        if count == 0 {
            return;
        }
        scheme.run(&slots[..count], end, lanes, &mut frames);
        for (packet, job) in jobs.iter_mut().filter(|job| job.done()).enumerate() {
            let Some(tag) = buffer[..job.end].last_chunk_mut() else { continue };
            if end == End::Send {
                *tag = *lanes.tag(packet);
                continue;
            }
            let genuine = same(lanes.tag(packet), tag);
            accept(records, job, buffer, numbers[packet], genuine);
        }
    }

    /// Opens or seals frames of any lengths, similar ones together.
    fn sorted(&mut self, buffer: &mut [u8], jobs: &mut [Job], end: End) {
        let Table { scheme, records, lanes: Some(lanes), .. } = self else { return };
        let mut tickets = [Ticket::default(); PACKETS];
        for (job, ticket) in jobs.iter_mut().zip(&mut tickets) {
            let admitted = admitted(scheme, records, job, &mut buffer[job.start..job.end], end);
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
                    let Some(record) = records.at(job.slot) else { continue };
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
    records: &mut Slab<S::Client>,
    job: &Job,
    frame: &mut [u8],
    end: End,
) -> Result<Ticket, Refused> {
    let (header, text, _) = parts(frame)?;
    let record = records.at_mut(job.slot).ok_or(Refused::Unknown)?;
    let len = text.len();
    let (n, nonce) = match end {
        End::Receive => expected(scheme, record, header, len)?,
        End::Send => {
            let (bytes, n, nonce) = next(scheme, record, job.session, len)?;
            *header = bytes;
            (n, nonce)
        }
    };
    Ok(Ticket { n, nonce, len, genuine: false })
}

/// Notes an opened frame, or wipes it: if its tag does not hold, or a frame before it was the same.
#[inline(always)]
fn accept<R: Record>(records: &mut Slab<R>, job: &mut Job, buffer: &mut [u8], n: u32, genuine: bool) {
    let Some(record) = records.at_mut(job.slot) else { return };
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
    records: &Slab<S::Client>,
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
        let Some(record) = records.at(job.slot) else { return };
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
