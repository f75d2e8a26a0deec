//! The relay's end of a handshake.

use std::{
    io,
    net::TcpStream,
    sync::Arc,
    time::{Duration, Instant},
};

use rustls::ServerConnection;

use crate::control::{deadline::Deadline, tls::ServerTls};

/// How long a client may take for its first message: who connects and says nothing is not waited for longer.
const HELLO: Duration = Duration::from_secs(2);

/// A connection whose client is verified. It may take so much time in all.
pub(super) fn shake_hands(
    stream: Arc<TcpStream>,
    tls: &ServerTls,
    time: Duration,
) -> io::Result<(ServerConnection, Deadline)> {
    stream.set_nodelay(true)?;
    let mut connection = ServerConnection::new(tls.config.clone()).map_err(io::Error::other)?;
    let (start, mut stream) = (Instant::now(), Deadline::new(stream, time.min(HELLO)));
    // The relay has nothing to say before that message is whole
    while connection.is_handshaking() && !connection.wants_write() {
        if connection.read_tls(&mut stream)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Err(error) = connection.process_new_packets() {
            // The alert that says why, if the client still reads
            let _ = connection.write_tls(&mut stream);
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
    }
    stream.extend(time.saturating_sub(start.elapsed()));
    while connection.is_handshaking() {
        connection.complete_io(&mut stream)?;
    }
    Ok((connection, stream))
}
