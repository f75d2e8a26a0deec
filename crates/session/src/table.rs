//! A table of sessions: records, and a scheme over them.

use sealwright::mode::agile::lanes::Lanes;

use crate::{
    Grant, Job, Material, Memory, Plan, Refused, Sessions, Spec,
    frame::{HEADER, Header, Kind, MAX_FRAME, TAG},
    packet::{Packet, blocks},
    record::{Life, Receive, Record},
    scheme::{End, Scheme, Seat},
    slab::Slab,
};

pub(crate) struct Table<S: Scheme> {
    pub(crate) scheme: S,
    pub(crate) records: Slab<S::Client>,
    /// Where packets go side by side, if the scheme lets them.
    pub(crate) lanes: Option<Box<Lanes>>,
    plan: Plan,
    live: u32,
}

/// A frame's header, payload and tag.
type Parts<'a> = (&'a mut [u8; HEADER], &'a mut [u8], &'a mut [u8; TAG]);

/// A frame's parts.
#[inline]
pub(crate) fn parts(frame: &mut [u8]) -> Result<Parts<'_>, Refused> {
    if frame.len() > MAX_FRAME {
        return Err(Refused::Oversize);
    }
    let (header, rest) = frame.split_first_chunk_mut().ok_or(Refused::Short)?;
    let (text, tag) = rest.split_last_chunk_mut().ok_or(Refused::Short)?;
    Ok((header, text, tag))
}

impl<S: Scheme> Table<S> {
    pub(crate) fn new(scheme: S, plan: Plan) -> Result<Self, Refused> {
        let lanes = scheme.side_by_side().then(Lanes::boxed);
        Ok(Table { scheme, records: Slab::new(plan.slots)?, lanes, plan, live: 0 })
    }

    /// Opens or seals one frame.
    pub(crate) fn one(&mut self, slot: u32, session: u32, frame: &mut [u8], end: End) -> Result<(), Refused> {
        let (ad, text, tag) = parts(frame)?;
        let record = self.records.at_mut(slot).ok_or(Refused::Unknown)?;
        if end == End::Send {
            let (header, _, nonce) = next(&self.scheme, record, session, text.len())?;
            *ad = header;
            *tag = self.scheme.seal(slot, record, Packet { nonce: &nonce, ad, text });
            return Ok(());
        }
        let (n, nonce) = expected(&self.scheme, record, ad, text.len())?;
        let blocks = blocks(text.len());
        if !self.scheme.open(slot, record, Packet { nonce: &nonce, ad, text }, tag) {
            return Err(Refused::Forged);
        }
        record.received_mut().accept(n, blocks);
        Ok(())
    }

    /// Wipes a record and all that is kept beside it.
    fn forget(&mut self, slot: u32) {
        let Some(record) = self.records.at_mut(slot) else { return };
        let life = record.life();
        if life.live == 0 {
            return;
        }
        let blocks = u64::from(u32::MAX) - record.blocks_left();
        record.restart(Life { live: 0, ..life });
        self.scheme.remove(slot, blocks);
        self.live -= 1;
    }
}

/// The number, in its stream, of the packet that a header announces for a record; the nonce.
#[inline(always)]
pub(crate) fn expected<S: Scheme>(
    scheme: &S,
    record: &S::Client,
    header: &[u8; HEADER],
    len: usize,
) -> Result<(u32, [u8; 12]), Refused> {
    let life = record.life();
    if life.live == 0 {
        return Err(Refused::Unknown);
    }
    let header = Header::read(header).map_err(|_| Refused::Malformed)?;
    if usize::from(header.len) != len {
        return Err(Refused::Short);
    }
    if u16::from(header.phase) != life.epoch & 15 {
        return Err(Refused::Stale);
    }
    let stream = scheme.stream(record, End::Receive);
    let n = u32::try_from(header.seq.wrapping_sub(stream.base)).map_err(|_| Refused::Stale)?;
    record.received().check(n, blocks(len))?;
    Ok((n, stream.nonce(header.seq)))
}

/// The next packet to be sent of a record: its header, its number in its stream, and the nonce.
#[inline(always)]
pub(crate) fn next<S: Scheme>(
    scheme: &S,
    record: &mut S::Client,
    session: u32,
    len: usize,
) -> Result<([u8; HEADER], u32, [u8; 12]), Refused> {
    let life = record.life_of_sent();
    if life.live == 0 {
        return Err(Refused::Unknown);
    }
    let n = record.sent_mut().next(blocks(len))?;
    let stream = scheme.stream(record, End::Send);
    let seq = stream.base + u64::from(n);
    let header = Header { kind: Kind::Data, phase: (life.epoch & 15) as u8, len: len as u16, session, seq };
    Ok((header.write(), n, stream.nonce(seq)))
}

impl<S: Scheme> Sessions for Table<S> {
    fn spec(&self) -> Spec {
        self.plan.spec
    }

    fn slots(&self) -> u32 {
        self.records.len()
    }

    fn live(&self) -> u32 {
        self.live
    }

    fn admit(&mut self, slot: u32, session: u32, material: &Material) -> Result<Grant, Refused> {
        let life = self.records.at(slot).ok_or(Refused::Unknown)?.life();
        let epoch = life.epoch.checked_add(1).ok_or(Refused::Exhausted)?;
        let seat = Seat { slot, epoch };
        let flows = self.scheme.flows(seat, material)?;
        self.forget(slot);
        self.records.claim(slot);
        let record = self.records.at_mut(slot).ok_or(Refused::Unknown)?;
        record.restart(Life { epoch, live: 1 });
        let [received, sent] = self.plan.side.ways().map(|way| &flows[way as usize]);
        self.scheme.keep(seat, record, [received, sent]);
        self.live += 1;
        Ok(Grant { spec: self.plan.spec, session, epoch, flows })
    }

    fn remove(&mut self, slot: u32) {
        self.forget(slot);
    }

    fn revoke(&mut self, slot: u32) -> Vec<u32> {
        self.forget(slot);
        let together = self.scheme.revoke(slot);
        let is_live = |slot: &u32| self.records.at(*slot).is_some_and(|record| record.life().live == 1);
        let left: Vec<u32> = together.filter(is_live).collect();
        for &slot in &left {
            self.forget(slot);
        }
        left
    }

    fn open(&mut self, slot: u32, frame: &mut [u8]) -> Result<(), Refused> {
        self.one(slot, 0, frame, End::Receive)
    }

    fn seal(&mut self, slot: u32, session: u32, frame: &mut [u8]) -> Result<(), Refused> {
        self.one(slot, session, frame, End::Send)
    }

    #[inline]
    fn touch(&self, slot: u32) {
        if let Some(record) = self.records.at(slot) {
            record.fetch(End::Receive);
            record.fetch(End::Send);
        }
    }

    fn open_all(&mut self, buffer: &mut [u8], jobs: &mut [Job]) {
        self.all(buffer, jobs, End::Receive);
    }

    fn seal_all(&mut self, buffer: &mut [u8], jobs: &mut [Job]) {
        self.all(buffer, jobs, End::Send);
    }

    fn blocks_left(&self, slot: u32) -> Option<u64> {
        let record = self.records.at(slot)?;
        (record.life().live == 1).then(|| record.blocks_left())
    }

    fn memory(&self) -> Memory {
        Memory {
            record: size_of::<S::Client>(),
            slots: self.records.len(),
            live: self.live,
            reserved: self.records.bytes(),
            heap: self.scheme.heap_bytes(),
            shared: self.scheme.shared_bytes() + self.lanes.as_deref().map_or(0, size_of_val) as u64,
        }
    }
}
