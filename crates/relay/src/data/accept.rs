//! Admission of connections: room is made before it runs out, so that connections without a session never keep others
//! out.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::atomic::Ordering,
    time::Duration,
};

use mio::net::TcpStream;

use crate::data::{context::Context, count::Count, inbox::Message, io::Io};

/// The most connections accepted per iteration, so that a flood of new ones does not hold up the present ones.
const MAX_ACCEPTS: usize = 64;
/// A connection that became idle more recently may be a newcomer whose first frame is in transit. It stays while there
/// is room.
const NEWCOMER_GRACE: Duration = Duration::from_secs(1);
/// A connection accepted in this iteration was not read yet: its first frame may already be there.
const UNREAD_GRACE: Duration = Duration::from_nanos(1);

impl Io {
    /// Accepts or refuses the connections that wait at the listener.
    pub(crate) fn accept(&mut self, ctx: &mut Context) {
        if !std::mem::take(&mut self.accept_ready) {
            return;
        }
        for accepted in 0.. {
            if accepted == MAX_ACCEPTS || self.must_read_first(ctx) {
                self.accept_ready = true;
                break;
            }
            let Some(listener) = &self.listener else { return };
            match listener.accept() {
                Ok((stream, from)) => {
                    self.accept_waits = false;
                    self.admit(ctx, stream, from);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => {
                    // No descriptors or no memory: new connections wait at the listener until the next tick
                    if !std::mem::replace(&mut self.accept_waits, true) {
                        ctx.count(Count::Delayed);
                    }
                    break;
                }
            }
        }
    }

    /// Whether all places are taken and only connections of this iteration could make room. Others then wait at the
    /// listener until those are read.
    fn must_read_first(&self, ctx: &Context) -> bool {
        let unread = || self.connections.oldest_idle(None).is_some_and(|oldest| oldest.idle_since == ctx.now);
        ctx.shared.connections.load(Ordering::Relaxed) >= ctx.settings().max_connections && unread()
    }

    /// Admits or refuses a connection. Idle connections are closed while there still is room, so that the next one
    /// finds some: clients that connect and send nothing useful never keep others out.
    fn admit(&mut self, ctx: &mut Context, stream: TcpStream, from: SocketAddr) {
        let others = ctx.shared.connections.fetch_add(1, Ordering::Relaxed);
        let (place, from_there) = ctx.shared.addresses.place(from.ip());
        let within_share =
            from_there <= ctx.settings().max_from_one || self.expel_idle(ctx, Some(place.address), Duration::ZERO);
        if !within_share {
            // Those that are of no use may all be at other workers: the next attempt finds room
            self.ask_others_to_close(ctx, Some(place.address));
            ctx.one_connection_less(Count::Refused);
            return;
        }
        if others >= ctx.settings().crowded() {
            let full = others >= ctx.settings().max_connections;
            let made = self.make_room(ctx, full);
            if full && !made {
                ctx.one_connection_less(Count::Refused);
                return;
            }
        }
        ctx.count(Count::Accepted);
        self.add(ctx, stream, place, Vec::new());
    }

    /// Closes the connection that has been idle for longest. If all idle ones here are young, asks the other workers to
    /// close theirs, and closes a young one only if all places are taken.
    fn make_room(&mut self, ctx: &mut Context, full: bool) -> bool {
        if self.expel_idle(ctx, None, NEWCOMER_GRACE) {
            return true;
        }
        self.ask_others_to_close(ctx, None);
        full && self.expel_idle(ctx, None, UNREAD_GRACE)
    }

    /// Asks the other workers to close idle connections (with `from`, from that address).
    fn ask_others_to_close(&self, ctx: &Context, from: Option<IpAddr>) {
        for worker in (0..ctx.shared.inboxes.len()).filter(|worker| *worker != ctx.worker) {
            ctx.post(worker, Message::CloseIdle { from });
        }
    }

    /// Closes the connection that has been idle for longest (with `from`, of those from that address), unless that is
    /// less than `least`.
    fn expel_idle(&mut self, ctx: &mut Context, from: Option<IpAddr>, least: Duration) -> bool {
        let oldest = self.connections.oldest_idle(from).filter(|oldest| ctx.now - oldest.idle_since >= least);
        let oldest = oldest.map(|oldest| oldest.handle);
        oldest.into_iter().for_each(|handle| self.expel(ctx, handle));
        oldest.is_some()
    }

    /// Another worker needs room: closes the connection that has been idle for longest; a young one only if there is
    /// hardly any room left. With `from`, the share of that address is used up.
    pub(crate) fn close_idle(&mut self, ctx: &mut Context, from: Option<IpAddr>) {
        if from.is_some() {
            self.expel_idle(ctx, from, Duration::ZERO);
            return;
        }
        let open = ctx.shared.connections.load(Ordering::Relaxed);
        if open > ctx.settings().crowded() {
            let least = if open > ctx.settings().nearly_full() { UNREAD_GRACE } else { NEWCOMER_GRACE };
            self.expel_idle(ctx, None, least);
        }
    }
}
