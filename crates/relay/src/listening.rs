//! Ends the wait of a thread for connections.

use std::{
    net::{TcpListener, TcpStream},
    os::fd::AsRawFd,
    time::Duration,
};

use nix::sys::socket::{Shutdown, shutdown};

/// Wakes the thread that waits for connections of this listener, which must then ask whether to go on.
pub(crate) fn wake(listener: &TcpListener) {
    end(listener);
    // For systems where that ends no wait. It alone would not do: the listener's address may be gone, or a firewall may
    // drop the connection
    if let Ok(address) = listener.local_addr() {
        let _ = TcpStream::connect_timeout(&address, Duration::from_secs(1));
    }
}

fn end(listener: &TcpListener) {
    let _ = shutdown(listener.as_raw_fd(), Shutdown::Both);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_socket_ends_the_wait() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| listener.accept().is_err());
            std::thread::sleep(Duration::from_millis(100));
            end(&listener);
            assert!(waits.join().expect("it ends"));
        });
    }
}
