//! The relay's end of a handshake.

use std::{
    io,
    net::TcpStream,
    sync::Arc,
    time::{Duration, Instant},
};

use rustls::ServerConnection;

use crate::control::{deadline::Deadline, tls::ServerTls};

/// Time limit of a client's first message: a silent connection holds its place no longer.
const HELLO_TIMEOUT: Duration = Duration::from_secs(2);

/// Completes the handshake and verifies the client; the connection may take so much time in all.
pub(super) fn shake_hands(
    stream: Arc<TcpStream>,
    tls: &ServerTls,
    time: Duration,
) -> io::Result<(ServerConnection, Deadline)> {
    stream.set_nodelay(true)?;
    let mut connection = ServerConnection::new(tls.config.clone()).map_err(io::Error::other)?;
    let (start, mut stream) = (Instant::now(), Deadline::new(stream, time.min(HELLO_TIMEOUT)));
    // Until that message is complete, the relay has nothing to send
    while connection.is_handshaking() && !connection.wants_write() {
        if connection.read_tls(&mut stream)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Err(error) = connection.process_new_packets() {
            // The alert gives the reason, if the client still reads
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{io::Write, net::TcpListener, thread};

    use super::*;
    use crate::{control::fuzz::trial_files, serve::init};

    /// The limit holds however long the whole handshake may take. An incomplete message does not lift it.
    #[test]
    fn who_says_nothing_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let trial = folder.path().join("trial");
        init(&trial, &[], &[]).unwrap();
        let tls = trial_files(&trial, "relay").server().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (start, hour) = (Instant::now(), Duration::from_secs(3600));
        thread::scope(|scope| {
            for said in [&b""[..], b"\x16\x03\x01"] {
                let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
                client.write_all(said).unwrap();
                let (stream, _) = listener.accept().unwrap();
                let tls = &tls;
                scope.spawn(move || {
                    let shaken = shake_hands(Arc::new(stream), tls, hour).map(|_| ());
                    assert_eq!(shaken.unwrap_err().kind(), io::ErrorKind::TimedOut, "after {said:?}");
                    drop(client);
                });
            }
        });
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    }
}
