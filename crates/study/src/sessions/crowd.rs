//! The paper's simulation without a network (5.6): a server's table of sessions, and the clients' ends of all these
//! sessions. A packet is opened for a random client and sealed for another.

use std::{cell::RefCell, io, rc::Rc, time::Duration};

use sealwright::Isa;
use sealwright_load::smallest;
use sealwright_measure::{Candidate, Clock, clock::ThreadCpu, random::Random};
use sealwright_session::{FrameJob, Material, Plan, Secret, SessionError, Sessions, Side, Spec, frame, table};

/// Number of frames that a server processes per iteration of its loop.
const TURN: usize = 512;

/// Size in bytes of the frames that are prepared before the clock runs.
const BUFFER: usize = 256 << 10;

/// Both ends of a number of sessions.
pub(super) struct Crowd {
    server: Box<dyn Sessions>,
    clients: Box<dyn Sessions>,
    random: Random,
}

/// Key material of a client, which depends only on the slot, so both ends have the same.
pub(super) fn material(slot: u32) -> Material {
    let mut random = Random::new(u64::from(slot));
    let mut bytes = [0; Material::LEN];
    for chunk in bytes.chunks_exact_mut(8) {
        chunk.copy_from_slice(&random.bits().to_le_bytes());
    }
    Material::from_bytes(&bytes)
}

/// Memory in bytes for both ends of this number of clients.
pub(super) fn bytes(spec: Spec, clients: u32) -> io::Result<u64> {
    let one = |spec| -> io::Result<f64> {
        let mut few = table(Plan::new(spec, 8).isa(Isa::best())).map_err(io::Error::other)?;
        for slot in 0..8 {
            few.admit(slot, slot, &material(slot)).map_err(io::Error::other)?;
        }
        let memory = few.memory();
        Ok(memory.record as f64 + memory.heap as f64 / 8.0)
    };
    Ok(((one(spec)? + one(smallest(spec))?) * f64::from(clients)) as u64)
}

impl Crowd {
    /// `clients` sessions, all in one cluster (for schemes that have clusters), as in the paper.
    pub(super) fn new(spec: Spec, isa: Isa, clients: u32) -> io::Result<Crowd> {
        let secret = Some(Secret::from_bytes([0x42; 32]));
        let end = |spec, side| -> Result<Box<dyn Sessions>, SessionError> {
            let mut end = table(Plan::new(spec, clients).isa(isa).side(side).secret(secret.clone()).cluster(clients))?;
            for slot in 0..clients {
                end.admit(slot, slot, &material(slot))?;
            }
            Ok(end)
        };
        let ends = end(spec, Side::Server).and_then(|server| Ok((server, end(smallest(spec), Side::Client)?)));
        let (server, clients) = ends.map_err(io::Error::other)?;
        Ok(Crowd { server, clients, random: Random::new(0xc0de) })
    }

    fn client(&mut self) -> u32 {
        self.random.below(self.server.slots() as usize) as u32
    }

    /// Prepares frames from random clients to random clients.
    fn fill(&mut self, buffer: &mut [u8], jobs: &mut [FrameJob], bytes: usize) -> io::Result<()> {
        for (i, job) in jobs.iter_mut().enumerate() {
            let (from, to) = (self.client(), self.client());
            let start = i * (bytes + frame::HEADER + frame::TAG);
            *job = FrameJob::new(start..start + bytes + frame::HEADER + frame::TAG, from, from);
            buffer[start + frame::HEADER..][..frame::ADDRESS].copy_from_slice(&to.to_be_bytes());
        }
        self.clients.seal_all(buffer, jobs);
        done(jobs)
    }

    /// The work of a relay: opens frames, reads their destinations, and seals them for these.
    fn forward(&mut self, buffer: &mut [u8], jobs: &mut [FrameJob]) -> io::Result<()> {
        for turn in jobs.chunks_mut(TURN) {
            self.server.open_all(buffer, turn);
            for job in turn.iter_mut() {
                let address = &mut buffer[job.start + frame::HEADER..][..frame::ADDRESS];
                let mut to = [0; frame::ADDRESS];
                to.copy_from_slice(address);
                address.copy_from_slice(&job.slot.to_be_bytes());
                let opened = job.done();
                job.slot = u32::from_be_bytes(to);
                job.session = job.slot;
                if !opened {
                    return Err(io::Error::other("a genuine frame was refused"));
                }
            }
            self.server.seal_all(buffer, turn);
        }
        done(jobs)
    }
}

fn done(jobs: &[FrameJob]) -> io::Result<()> {
    if jobs.iter().all(FrameJob::done) { Ok(()) } else { Err(io::Error::other("a frame was refused")) }
}

/// The timed work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Opening a packet from one client and sealing it for another.
    Forward,
    /// Sealing a packet for a client.
    Seal,
}

/// A candidate that sends packets of one length through a crowd. An iteration is one packet.
pub(super) struct Packets {
    name: String,
    crowd: Rc<RefCell<Crowd>>,
    work: Work,
    bytes: usize,
    buffer: Vec<u8>,
    jobs: Vec<FrameJob>,
}

impl Packets {
    /// Packets with payloads of `bytes`, including the address.
    pub(super) fn new(name: impl Into<String>, crowd: &Rc<RefCell<Crowd>>, work: Work, bytes: usize) -> Packets {
        let frame = bytes + frame::HEADER + frame::TAG;
        let packets = (BUFFER / frame).next_multiple_of(TURN);
        let (buffer, jobs) = (vec![0x5a; packets * frame], vec![FrameJob::new(0..0, 0, 0); packets]);
        Packets { name: name.into(), crowd: Rc::clone(crowd), work, bytes, buffer, jobs }
    }

    /// The same with a crowd of its own, which is checked first.
    pub(super) fn of_crowd(crowd: Crowd, bytes: usize) -> io::Result<Packets> {
        let mut packets = Packets::new("packets", &Rc::new(RefCell::new(crowd)), Work::Forward, bytes);
        packets.check()?;
        Ok(packets)
    }

    /// A frame from a random client.
    pub(super) fn one(&mut self) -> io::Result<Vec<u8>> {
        let jobs = &mut self.jobs[..1];
        self.crowd.borrow_mut().fill(&mut self.buffer, jobs, self.bytes)?;
        Ok(self.buffer[jobs[0].start..jobs[0].end].to_vec())
    }

    /// Forwards one frame.
    pub(super) fn forward_one(&mut self, frame: &mut [u8]) -> io::Result<()> {
        let header = frame::first(frame).ok().flatten().ok_or_else(|| io::Error::other("not a frame"))?;
        let mut jobs = [FrameJob::new(0..frame.len(), header.session, header.session)];
        self.crowd.borrow_mut().forward(frame, &mut jobs)
    }

    /// Checks that a forwarded frame arrives at the right client, with the right sender and unchanged data.
    pub(super) fn check(&mut self) -> io::Result<()> {
        let crowd = &mut *self.crowd.borrow_mut();
        let jobs = &mut self.jobs[..100];
        for (i, byte) in self.buffer.iter_mut().enumerate() {
            *byte = (i ^ (i >> 8)) as u8;
        }
        let before = self.buffer.clone();
        crowd.fill(&mut self.buffer, jobs, self.bytes)?;
        let senders: Vec<u32> = jobs.iter().map(|job| job.slot).collect();
        crowd.forward(&mut self.buffer, jobs)?;
        crowd.clients.open_all(&mut self.buffer, jobs);
        done(jobs)?;
        for (job, sender) in jobs.iter().zip(senders) {
            let data = job.start + frame::HEADER + frame::ADDRESS..job.end - frame::TAG;
            let from = &self.buffer[data.start - frame::ADDRESS..data.start];
            if self.buffer[data.clone()] != before[data] || from != sender.to_be_bytes() {
                return Err(io::Error::other(format!("{}: a frame did not arrive as it was sent", self.name)));
            }
        }
        Ok(())
    }
}

impl Candidate for Packets {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, iterations: u64) -> io::Result<Duration> {
        let crowd = &mut *self.crowd.borrow_mut();
        let (mut left, mut took) = (iterations as usize, Duration::ZERO);
        while left > 0 {
            let count = left.min(self.jobs.len());
            let jobs = &mut self.jobs[..count];
            left -= count;
            match self.work {
                Work::Forward => {
                    crowd.fill(&mut self.buffer, jobs, self.bytes)?;
                    let start = ThreadCpu.now();
                    crowd.forward(&mut self.buffer, jobs)?;
                    took += ThreadCpu.now() - start;
                }
                Work::Seal => {
                    let frame = self.bytes + frame::HEADER + frame::TAG;
                    for (i, job) in jobs.iter_mut().enumerate() {
                        let to = crowd.client();
                        *job = FrameJob::new(i * frame..(i + 1) * frame, to, to);
                    }
                    let start = ThreadCpu.now();
                    for turn in jobs.chunks_mut(TURN) {
                        crowd.server.seal_all(&mut self.buffer, turn);
                    }
                    took += ThreadCpu.now() - start;
                    done(jobs)?;
                }
            }
        }
        Ok(took)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_scheme_forwards_what_it_is_sent() {
        for spec in Spec::all() {
            let crowd = Rc::new(RefCell::new(Crowd::new(spec, Isa::best(), 40).unwrap()));
            for bytes in [4, 40, 1500] {
                let mut packets = Packets::new(spec.to_string(), &crowd, Work::Forward, bytes);
                packets.check().unwrap();
                packets.run(300).unwrap();
                Packets::new("seal", &crowd, Work::Seal, bytes).run(300).unwrap();
            }
            assert!(bytes(spec, 1000).unwrap() >= 64_000, "{spec}");
        }
    }
}
