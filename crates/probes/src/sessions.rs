//! Frames of sessions with secret keys and data: both ends seal and open, single frames and batches, and refuse changed
//! frames.

use std::hint::black_box;

use sealwright::Isa;
use sealwright_session::{Client, FrameJob, Material, Plan, Secret, SessionError, Sessions, Spec, frame, table};

use crate::marks::{hidden, public};

/// More frames than are processed in parallel.
const CLIENTS: u32 = 40;
const NEW: &str = "a new key";

/// Runs a scheme at a level.
///
/// # Panics
/// If a changed frame opens, or an unchanged one does not.
pub fn frames(isa: Isa, spec: Spec) {
    let secret: [u8; 32] = hidden(32, 4).try_into().expect("as long");
    let plan = Plan::new(spec, CLIENTS).isa(isa).secret(Secret::from_bytes(secret));
    let mut table = table(plan).expect("there is memory");
    let mut clients: Vec<Client> = (0..CLIENTS)
        .map(|slot| {
            let material: [u8; Material::LEN] = hidden(Material::LEN, slot as u8).try_into().expect("as long");
            // Behind the keys are IVs and nonces, which frames show.
            public(&material[64..]);
            Client::at(isa, table.admit(slot, slot, &Material::from_bytes(&material)).expect("there is room"))
        })
        .collect();
    alone(&mut *table, &mut clients[0]);
    // Of one length they go side by side; else those of similar lengths do, and the longest goes alone.
    for len in [|_| 100, |slot| 9 * slot as usize, |slot| if slot == 7 { 3000 } else { 16 }] {
        together(&mut *table, &mut clients, len);
    }
}

fn alone(table: &mut dyn Sessions, client: &mut Client) {
    for len in [0, 1, 12, 100, 300] {
        let data = hidden(len, 6);
        let mut up = client.seal(0, &data).expect(NEW);
        public(&up);
        let mut changed = up.clone();
        spoil(&mut changed, len);
        assert_eq!(table.open(0, &mut changed), Err(SessionError::Forged));
        assert_eq!(table.open(0, &mut up), Ok(()));
        let mut down = frame::unsealed(0, &data);
        table.seal(0, 0, &mut down).expect(NEW);
        public(&down);
        let mut changed = down.clone();
        spoil(&mut changed, len);
        assert_eq!(client.open(&mut changed).err(), Some(SessionError::Forged));
        assert!(client.open(&mut down).is_ok());
        black_box((up, down));
    }
}

fn together(table: &mut dyn Sessions, clients: &mut [Client], len: fn(u32) -> usize) {
    let frames: Vec<Vec<u8>> =
        (0..).zip(&mut *clients).map(|(slot, client)| client.seal(0, &hidden(len(slot), 6)).expect(NEW)).collect();
    let (mut buffer, mut jobs) = joined(frames);
    public(&buffer);
    for (i, job) in jobs.iter().enumerate().filter(|(i, _)| i % 3 == 0) {
        spoil(&mut buffer[job.start..job.end], i);
    }
    table.open_all(&mut buffer, &mut jobs);
    assert!(jobs.iter().enumerate().all(|(i, job)| job.done() == (i % 3 != 0)), "{jobs:?}");
    let (mut buffer, mut jobs) = joined((0..CLIENTS).map(|slot| frame::unsealed(0, &hidden(len(slot), 7))).collect());
    table.seal_all(&mut buffer, &mut jobs);
    public(&buffer);
    assert!(jobs.iter().all(FrameJob::done), "{jobs:?}");
    for (client, job) in clients.iter_mut().zip(&jobs) {
        assert!(client.open(&mut buffer[job.start..job.end]).is_ok());
    }
    black_box(buffer);
}

fn joined(frames: Vec<Vec<u8>>) -> (Vec<u8>, Vec<FrameJob>) {
    let (mut buffer, mut jobs) = (Vec::new(), Vec::new());
    for (slot, frame) in (0..).zip(frames) {
        jobs.push(FrameJob::new(buffer.len()..buffer.len() + frame.len(), slot, slot));
        buffer.extend(frame);
    }
    (buffer, jobs)
}

/// Changes a byte of the tag.
fn spoil(frame: &mut [u8], i: usize) {
    let tag = frame.len() - frame::TAG;
    frame[tag + i % frame::TAG] ^= 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_opens_what_it_seals() {
        for spec in Spec::all() {
            frames(Isa::best(), spec);
        }
    }
}
