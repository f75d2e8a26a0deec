//! Frames for sessions on other nodes: where the data plane hands them to the mesh.

use crate::{
    address::Address,
    data::{
        context::Context,
        count::Count,
        plaintext::{Plaintext, append},
    },
    layout::NodeLayout,
};

/// The most bytes in a batch.
pub(crate) const MAX_BATCH: usize = 60 << 10;
/// Bytes of a frame in a batch, beside its data.
const FRAME_OVERHEAD: usize = 2 * Address::LEN + 2;

/// Iterates over the frames of a batch: receiver, sender, data. A truncated frame ends the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frames<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Frames<'a> {
    type Item = (Address, Address, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (to, rest) = self.0.split_first_chunk()?;
        let (from, rest) = rest.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (data, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        self.0 = rest;
        Some((Address::from_bytes(*to), Address::from_bytes(*from), data))
    }
}

/// The batches that one worker is filling, by node.
pub(crate) struct Batches(Vec<Plaintext>);

impl Batches {
    pub(crate) fn new() -> Batches {
        Batches(vec![Plaintext::default(); NodeLayout::NODES as usize])
    }

    /// Adds an opened frame to the batch of its receiver's node. Returns false if it cannot be sent there.
    pub(crate) fn push(&mut self, ctx: &mut Context, to: Address, from: Address, data: &[u8]) -> bool {
        let node = NodeLayout::of(to.session, 1).node();
        if ctx.shared.remote.get().is_none()
            || node == ctx.shared.layout.node()
            || FRAME_OVERHEAD + data.len() > MAX_BATCH
        {
            return false;
        }
        if self.0[node as usize].len() + FRAME_OVERHEAD + data.len() > MAX_BATCH {
            self.send(ctx, node);
        }
        let batch = &mut self.0[node as usize];
        push_frame(batch, to, from, data);
        true
    }

    /// Sends all batches.
    pub(crate) fn flush(&mut self, ctx: &mut Context) {
        if ctx.shared.remote.get().is_some() {
            (0..NodeLayout::NODES).for_each(|node| self.send(ctx, node));
        }
    }

    fn send(&mut self, ctx: &mut Context, node: u32) {
        let batch = std::mem::take(&mut self.0[node as usize]);
        if !batch.is_empty() {
            let frames = Frames(&batch).count() as u64;
            let sent = ctx.shared.remote.get().is_some_and(|remote| remote.send(node, batch));
            ctx.counts.add(if sent { Count::Remote } else { Count::Slow }, frames);
        }
    }
}

/// Appends a frame to a batch.
pub(crate) fn push_frame(batch: &mut Plaintext, to: Address, from: Address, data: &[u8]) {
    append(batch, &[&to.to_bytes(), &from.to_bytes(), &(data.len() as u16).to_be_bytes(), data]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written() {
        let [a, b, c, d] = [1, 2, 3, 4].map(|session| Address { session, generation: 7 * session });
        let mut batch = Plaintext::default();
        push_frame(&mut batch, a, b, b"data");
        push_frame(&mut batch, c, d, b"");
        assert_eq!(Frames(&batch).collect::<Vec<_>>(), [(a, b, &b"data"[..]), (c, d, &b""[..])]);
        let cut = Frames(&batch[..FRAME_OVERHEAD + 3]);
        assert_eq!(cut.count(), 0, "a frame that is cut");
    }
}
