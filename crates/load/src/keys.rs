//! The clients' ends of the sessions: their keys and addresses.

use std::{collections::HashMap, ops::Range};

use sealwright_relay::{Address, NodeLayout};
use sealwright_session::{
    Client, FrameJob, SessionError, Sessions,
    frame::{address, payload},
};

/// Keys of clients 0, 1, 2, ... Client `c` belongs to shard `c` modulo the number of shards of the relay.
pub(crate) enum Keys {
    /// The relay runs in this process: the clients' side of each shard's table, slot by slot.
    Tables(NodeLayout, Vec<Box<dyn Sessions>>),
    /// Keys of sessions that were opened one by one.
    Opened {
        /// Each client with its address.
        clients: Vec<(Address, Client)>,
        /// The client of each session.
        of: HashMap<u32, usize>,
        /// Shards of the relay.
        shards: u32,
    },
}

impl Keys {
    /// Keys of sessions at a relay with this layout. Surplus sessions are dropped, so that every shard has the same
    /// number.
    pub(crate) fn opened(clients: Vec<(Address, Client)>, layout: NodeLayout) -> Keys {
        let shards = layout.shards();
        let mut by_shard: Vec<Vec<(Address, Client)>> = (0..shards).map(|_| Vec::new()).collect();
        for (address, client) in clients {
            if let Some((shard, _)) = layout.locate(address.session) {
                by_shard[shard].push((address, client));
            }
        }
        let least = by_shard.iter().map(Vec::len).min().unwrap_or(0);
        let mut rows: Vec<_> = by_shard.into_iter().map(|shard| shard.into_iter().take(least)).collect();
        let mut clients = Vec::new();
        for _ in 0..least {
            clients.extend(rows.iter_mut().filter_map(Iterator::next));
        }
        let of = clients.iter().enumerate().map(|(at, &(address, _))| (address.session, at)).collect();
        Keys::Opened { clients, of, shards }
    }

    pub(crate) fn shards(&self) -> u32 {
        match self {
            Keys::Tables(layout, _) => layout.shards(),
            Keys::Opened { shards, .. } => *shards,
        }
    }

    /// The address of a client.
    pub(crate) fn address(&self, client: u32) -> Address {
        match self {
            // Clients that were admitted directly to a table have generation 0
            Keys::Tables(layout, _) => Address { session: layout.session(client), generation: 0 },
            Keys::Opened { clients, .. } => clients[client as usize].0,
        }
    }

    /// The job that seals a frame of a client.
    pub(crate) fn sent_by(&self, client: u32, frame: Range<usize>) -> FrameJob {
        match self {
            Keys::Tables(layout, _) => {
                let session = layout.session(client);
                FrameJob::new(frame, layout.locate(session).map_or(u32::MAX, |(_, slot)| slot), session)
            }
            Keys::Opened { clients, .. } => FrameJob::new(frame, client, clients[client as usize].0.session),
        }
    }

    /// The job that opens a frame received for a session; `None` if the session is unknown.
    pub(crate) fn received_by(&self, session: u32, frame: Range<usize>) -> Option<FrameJob> {
        match self {
            Keys::Tables(layout, _) => layout.locate(session).map(|(_, slot)| FrameJob::new(frame, slot, session)),
            Keys::Opened { of, .. } => of.get(&session).map(|&client| FrameJob::new(frame, client as u32, session)),
        }
    }

    /// Seals frames of clients of one shard in place; `buffer` already contains their payloads (address and data).
    pub(crate) fn seal_all(&mut self, buffer: &mut [u8], jobs: &mut [FrameJob]) {
        match self {
            Keys::Tables(layout, tables) => {
                if let Some(table) = table_of(*layout, tables, jobs) {
                    table.seal_all(buffer, jobs);
                }
            }
            Keys::Opened { clients, .. } => {
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

    /// Opens frames received for clients of one shard.
    pub(crate) fn open_all(&mut self, buffer: &mut [u8], jobs: &mut [FrameJob]) {
        match self {
            Keys::Tables(layout, tables) => {
                if let Some(table) = table_of(*layout, tables, jobs) {
                    table.open_all(buffer, jobs);
                }
            }
            Keys::Opened { clients, .. } => {
                for job in jobs {
                    let client = &mut clients[job.slot as usize].1;
                    job.outcome = Some(client.open(&mut buffer[job.start..job.end]).map(drop));
                }
            }
        }
    }
}

fn table_of<'a>(
    layout: NodeLayout,
    tables: &'a mut [Box<dyn Sessions>],
    jobs: &[FrameJob],
) -> Option<&'a mut dyn Sessions> {
    let (shard, _) = layout.locate(jobs.first()?.session)?;
    Some(&mut *tables[shard])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright_session::{Material, Plan, table};

    use super::*;

    #[test]
    fn every_shard_has_as_many_clients_and_each_is_in_its_shard() {
        let layout = NodeLayout::new(2, 3);
        let mut table = table(Plan::new("gcm-on64".parse().unwrap(), 10)).unwrap();
        let clients = (0..10).filter(|index| *index != 4).map(|index| {
            let session = layout.session(index);
            (
                Address { session, generation: 1 },
                Client::new(table.admit(index, session, &Material::random().unwrap()).unwrap()),
            )
        });
        let keys = Keys::opened(clients.collect(), layout);
        let Keys::Opened { clients, .. } = &keys else { panic!("opened") };
        assert_eq!(clients.len(), 6, "1 and 7 are all that shard 1 has");
        for client in 0..6 {
            assert_eq!(layout.locate(keys.address(client).session).unwrap().0, client as usize % 3);
        }
    }
}
