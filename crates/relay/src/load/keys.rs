//! The clients' ends of the sessions under load.

use std::{collections::HashMap, ops::Range};

use sealwright_session::{
    Client, FrameJob, SessionError, Sessions,
    frame::{address, payload},
};

use crate::place::Place;

/// Keys of clients 0, 1, 2, ...: client `c` is in the relay's shard `c` modulo shards.
pub(crate) enum Keys {
    /// Of a relay whose tables we know: the other side of each, slot by slot.
    Tables(Place, Vec<Box<dyn Sessions>>),
    /// Of sessions that were opened one by one.
    Own {
        /// Each with its number.
        clients: Vec<(u32, Client)>,
        /// Which client has a number.
        of: HashMap<u32, usize>,
        /// Workers of the relay.
        shards: u32,
    },
}

impl Keys {
    /// Of sessions at a relay of so many workers. As many are left out as it takes to give each worker the same number.
    pub(crate) fn own(clients: Vec<(u32, Client)>, place: Place) -> Keys {
        let shards = place.shards();
        let mut by_shard: Vec<Vec<(u32, Client)>> = (0..shards).map(|_| Vec::new()).collect();
        for (session, client) in clients {
            if let Some((shard, _)) = place.find(session) {
                by_shard[shard].push((session, client));
            }
        }
        let least = by_shard.iter().map(Vec::len).min().unwrap_or(0);
        let mut rows: Vec<_> = by_shard.into_iter().map(|shard| shard.into_iter().take(least)).collect();
        let mut clients = Vec::new();
        for _ in 0..least {
            clients.extend(rows.iter_mut().filter_map(Iterator::next));
        }
        let of = clients.iter().enumerate().map(|(at, &(session, _))| (session, at)).collect();
        Keys::Own { clients, of, shards }
    }

    pub(crate) fn shards(&self) -> u32 {
        match self {
            Keys::Tables(place, _) => place.shards(),
            Keys::Own { shards, .. } => *shards,
        }
    }

    /// The session of a client.
    pub(crate) fn session(&self, client: u32) -> u32 {
        match self {
            Keys::Tables(place, _) => place.session(client),
            Keys::Own { clients, .. } => clients[client as usize].0,
        }
    }

    /// Work on a frame that a client is to send.
    pub(crate) fn sent_by(&self, client: u32, frame: Range<usize>) -> FrameJob {
        match self {
            Keys::Tables(place, _) => {
                let session = place.session(client);
                FrameJob::new(frame, place.find(session).map_or(u32::MAX, |(_, slot)| slot), session)
            }
            Keys::Own { clients, .. } => FrameJob::new(frame, client, clients[client as usize].0),
        }
    }

    /// Work on a frame that came for a session; nothing if it is none of ours.
    pub(crate) fn come_for(&self, session: u32, frame: Range<usize>) -> Option<FrameJob> {
        match self {
            Keys::Tables(place, _) => place.find(session).map(|(_, slot)| FrameJob::new(frame, slot, session)),
            Keys::Own { of, .. } => of.get(&session).map(|&client| FrameJob::new(frame, client as u32, session)),
        }
    }

    /// Seals frames of clients of one worker whose payloads, address and data, are there.
    pub(crate) fn seal_all(&mut self, buffer: &mut [u8], jobs: &mut [FrameJob]) {
        match self {
            Keys::Tables(place, tables) => {
                if let Some(table) = table_of(*place, tables, jobs) {
                    table.seal_all(buffer, jobs);
                }
            }
            Keys::Own { clients, .. } => {
                for job in jobs {
                    let frame = &mut buffer[job.start..job.end];
                    let client = &mut clients[job.slot as usize].1;
                    let sealed = address(payload(frame)).ok_or(SessionError::Short);
                    let sealed = sealed.and_then(|(to, data)| client.seal(to, data));
                    job.outcome = Some(sealed.map(|sealed| frame.copy_from_slice(&sealed)));
                }
            }
        }
    }

    /// Opens frames that came for clients of one worker.
    pub(crate) fn open_all(&mut self, buffer: &mut [u8], jobs: &mut [FrameJob]) {
        match self {
            Keys::Tables(place, tables) => {
                if let Some(table) = table_of(*place, tables, jobs) {
                    table.open_all(buffer, jobs);
                }
            }
            Keys::Own { clients, .. } => {
                for job in jobs {
                    let client = &mut clients[job.slot as usize].1;
                    job.outcome = Some(client.open(&mut buffer[job.start..job.end]).map(drop));
                }
            }
        }
    }
}

fn table_of<'a>(place: Place, tables: &'a mut [Box<dyn Sessions>], jobs: &[FrameJob]) -> Option<&'a mut dyn Sessions> {
    let (shard, _) = place.find(jobs.first()?.session)?;
    Some(&mut *tables[shard])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_session::{Material, Plan, table};

    use super::*;

    #[test]
    fn every_worker_has_as_many_clients_and_each_its_place() {
        let place = Place::new(2, 3);
        let mut table = table(Plan::new("gcm-on64".parse().unwrap(), 10)).unwrap();
        let clients = (0..10).filter(|index| *index != 4).map(|index| {
            let session = place.session(index);
            (session, Client::new(&table.admit(index, session, &Material::random().unwrap()).unwrap()))
        });
        let keys = Keys::own(clients.collect(), place);
        let Keys::Own { clients, .. } = &keys else { panic!("own") };
        assert_eq!(clients.len(), 6, "1 and 7 are all that shard 1 has");
        for client in 0..6 {
            assert_eq!(place.find(keys.session(client)).unwrap().0, client as usize % 3);
        }
    }
}
