//! Splits a buffer into frames, and checks what their headers alone show.

use sealwright_session::{
    FrameJob,
    frame::{HEADER, Header, TAG},
};

use crate::{
    address::Address,
    data::{connection::Connection, context::Context, count::Count},
    layout::NodeLayout,
};

/// The range of sessions that belong to one worker.
#[derive(Clone, Copy)]
pub(crate) struct Local {
    pub(crate) layout: NodeLayout,
    pub(crate) worker: usize,
    pub(crate) slots: u32,
}

impl Local {
    /// The slot of a frame's session, or the reason why this worker cannot open the frame.
    #[inline]
    pub(crate) fn slot_of(self, header: &Header) -> Result<u32, Count> {
        if header.frame_len() < HEADER + Address::LEN + TAG {
            return Err(Count::Short);
        }
        match self.layout.locate(header.session) {
            Some((worker, _)) if worker != self.worker => Err(Count::Misplaced),
            Some((_, slot)) if slot < self.slots => Ok(slot),
            _ => Err(Count::Unknown),
        }
    }

    /// Slot and session of a datagram, which must be exactly one frame.
    pub(crate) fn datagram(self, frame: &[u8], max_frame: usize) -> Result<(u32, u32), Count> {
        let header = frame.first_chunk::<HEADER>().ok_or(Count::Short)?;
        let header = Header::read(header).map_err(|_| Count::Malformed)?;
        if frame.len() > max_frame {
            return Err(Count::Oversize);
        }
        if header.frame_len() != frame.len() {
            return Err(Count::Short);
        }
        Ok((self.slot_of(&header)?, header.session))
    }
}

/// The result of parsing a connection's buffer.
pub(crate) enum Parsed {
    /// Complete frames up to this offset, then an incomplete one.
    Until(usize),
    /// The first frame of the connection belongs to a session of another worker.
    Elsewhere {
        /// The worker.
        worker: usize,
        /// Where the frame starts.
        start: usize,
    },
    /// Something that is not a frame. The stream cannot be parsed beyond it.
    Malformed,
}

/// Finds the frames in a connection's buffer and adds the jobs that open them. A frame that its header shows to be bad
/// is skipped and counted, in `bad` too.
pub(crate) fn parse(
    ctx: &mut Context,
    local: Local,
    connection: &mut Connection,
    buffer: &[u8],
    (jobs, bad): (&mut Vec<FrameJob>, &mut u32),
) -> Parsed {
    let longest = ctx.settings().max_frame;
    let mut at = connection.skip.min(buffer.len());
    connection.skip -= at;
    loop {
        let rest = &buffer[at..];
        let Some(header) = rest.first_chunk::<HEADER>() else { return Parsed::Until(at) };
        let Ok(header) = Header::read(header) else { return Parsed::Malformed };
        let length = header.frame_len();
        if length > longest {
            connection.may_move = false;
            ctx.count(Count::Arrived);
            ctx.count(Count::Oversize);
            *bad += 1;
            let here = length.min(rest.len());
            connection.skip = length - here;
            at += here;
            continue;
        }
        if let Some((worker, _)) = local.layout.locate(header.session)
            && worker != local.worker
            && std::mem::take(&mut connection.may_move)
        {
            return Parsed::Elsewhere { worker, start: at };
        }
        if rest.len() < length {
            return Parsed::Until(at);
        }
        connection.may_move = false;
        ctx.count(Count::Arrived);
        match local.slot_of(&header) {
            Ok(slot) => jobs.push(FrameJob::new(at..at + length, slot, header.session)),
            Err(wrong) => {
                ctx.count(wrong);
                *bad += 1;
            }
        }
        at += length;
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
