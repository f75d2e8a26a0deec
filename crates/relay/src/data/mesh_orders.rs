//! What the mesh asks of a relay: to send frames to other nodes, and to deliver those that come from them.

use std::sync::Arc;

use sealwright_session::frame::{HEADER, MAX_PAYLOAD, TAG};

use super::Relay;
use crate::{
    address::Address,
    data::{
        inbox::{Message, OpenedFrames},
        remote_nodes::RemoteNodes,
    },
    policy::Class,
};

/// The most data in a frame, beside its address.
const MAX_DATA: usize = MAX_PAYLOAD - Address::LEN;

impl Relay {
    /// Lets the workers send frames to other nodes. Only the first call counts.
    pub(crate) fn connect_nodes(&self, remote: Arc<dyn RemoteNodes>) {
        let _ = self.shared.remote.set(remote);
    }

    /// Delivers opened frames from other nodes: receiver, sender with its class, data. Returns for how many of them
    /// there is a session and room.
    pub(crate) fn deliver<'a>(&self, frames: impl Iterator<Item = (Address, (Address, Class), &'a [u8])>) -> u64 {
        let mut taken = 0;
        let mut opened: Vec<OpenedFrames> = self.shared.inboxes.iter().map(|_| OpenedFrames::default()).collect();
        for (to, (from, class), data) in frames {
            // Another node's message is not trusted to be well formed
            if data.len() <= MAX_DATA
                && let Some((worker, slot)) = self.shared.layout.locate(to.session)
                && !self.shared.inboxes[worker].is_full()
            {
                let parts = [&[0; HEADER][..], &from.to_bytes(), data, &[0; TAG]];
                opened[worker].push_parts((slot, to), (from, class), None, &parts);
                taken += 1;
            }
        }
        for (inbox, frames) in self.shared.inboxes.iter().zip(opened) {
            if frames.len() > 0 {
                inbox.post(Message::Frames(frames));
            }
        }
        taken
    }
}
