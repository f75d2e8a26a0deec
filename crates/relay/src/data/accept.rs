//! Who gets a connection: room is made before it runs out, so that those who are of no use never keep others out.

use std::{io, net::SocketAddr, sync::atomic::Ordering};

use mio::net::TcpStream;

use crate::data::{
    connection::{Connection, Handle},
    context::Context,
    count::Count,
    inbox::Message,
    io::Io,
};

/// Connections accepted in one iteration: many new ones must not hold up those that are here.
const ACCEPTS: usize = 64;

impl Io {
    /// Accepts what waits at the listener, or refuses it.
    pub(crate) fn accept(&mut self, ctx: &mut Context) {
        if !std::mem::take(&mut self.accept_ready) {
            return;
        }
        let mut idle = None;
        for accepted in 0.. {
            if accepted == ACCEPTS {
                self.accept_ready = true;
                break;
            }
            let Some(listener) = &self.listener else { return };
            match listener.accept() {
                Ok((stream, from)) => self.admit(ctx, stream, from, &mut idle),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => {
                    // No descriptors or no memory: new connections wait at the listener until the next tick
                    ctx.count(Count::Refused);
                    break;
                }
            }
        }
    }

    /// Takes a connection, or refuses it. While there is room there is some for the next one: those who connect and send
    /// nothing of use never keep others out. `idle` is kept for one iteration.
    fn admit(&mut self, ctx: &mut Context, stream: TcpStream, from: SocketAddr, idle: &mut Option<Vec<Handle>>) {
        let others = ctx.shared.connections.fetch_add(1, Ordering::Relaxed);
        let (place, from_there) = ctx.shared.addresses.place(from.ip());
        let within_share =
            from_there <= ctx.settings().max_from_one || self.expel_idle(ctx, |one| one.place.address == place.address);
        if !within_share {
            ctx.one_connection_less(Count::Refused);
            return;
        }
        if others >= ctx.settings().crowded() {
            let made = self.make_room(ctx, idle);
            if !made && others >= ctx.settings().max_connections {
                ctx.one_connection_less(Count::Refused);
                return;
            }
        }
        ctx.count(Count::Accepted);
        self.add(ctx, stream, place, Vec::new());
    }

    /// Closes the connection that has been idle for longest, if there is one here; else asks the other workers to do so.
    fn make_room(&mut self, ctx: &mut Context, idle: &mut Option<Vec<Handle>>) -> bool {
        let idle = idle.get_or_insert_with(|| {
            let mut idle: Vec<_> = self.connections.iter().filter(|connection| connection.is_idle()).collect();
            // Taken from the end: the one that has been idle for longest
            idle.sort_by_key(|connection| std::cmp::Reverse(connection.idle_since));
            idle.iter().map(|connection| connection.handle).collect()
        });
        if let Some(handle) = idle.pop() {
            self.expel(ctx, handle);
            return true;
        }
        // Those that came in this iteration are not in the list
        if self.expel_idle(ctx, |_| true) {
            return true;
        }
        for worker in (0..ctx.shared.inboxes.len()).filter(|worker| *worker != ctx.worker) {
            ctx.post(worker, Message::CloseIdle);
        }
        false
    }

    /// Closes the connection that has been idle for longest of those that `which` takes, if there is one here.
    fn expel_idle(&mut self, ctx: &mut Context, which: impl Fn(&Connection) -> bool) -> bool {
        let idle = self.connections.iter().filter(|connection| connection.is_idle() && which(connection));
        let oldest = idle.min_by_key(|connection| connection.idle_since).map(|connection| connection.handle);
        oldest.into_iter().for_each(|handle| self.expel(ctx, handle));
        oldest.is_some()
    }

    /// Closes the connection that has been idle for longest, if there is one.
    pub(crate) fn close_idle(&mut self, ctx: &mut Context) {
        if ctx.shared.connections.load(Ordering::Relaxed) > ctx.settings().crowded() {
            self.expel_idle(ctx, |_| true);
        }
    }
}
