//! A shaped link: the relay and its clients run in two network namespaces that are connected by a veth pair with a
//! token bucket filter at each end, which counts frames as Ethernet carries them. Nothing outside the two namespaces is
//! affected. The link is removed when its last socket is closed.

use std::{fs::File, io, net::Ipv4Addr, os::fd::AsRawFd, process::Command, thread};

use nix::sched::{CloneFlags, setns, unshare};
use thiserror::Error;

/// Why a shaped link cannot be made.
#[derive(Debug, Error)]
pub enum LinkError {
    /// The kernel does not support network namespaces, or the process lacks the privilege.
    #[error("no network namespace: {0}")]
    Namespace(#[source] io::Error),
    /// `ip` or `tc` is missing or failed.
    #[error("{0}: {1}")]
    Program(String, String),
}

impl LinkError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            LinkError::Namespace(_) => "the link needs root",
            LinkError::Program(..) => "the link needs `ip` and `tc` (Debian: iproute2), and a kernel with veth and tbf",
        }
    }
}

/// A veth pair with a token bucket filter at each end: the network namespaces of the two ends.
#[derive(Debug)]
pub struct Link {
    relay: File,
    clients: File,
}

/// The addresses of the relay and of the clients on the link.
const RELAY: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
const CLIENTS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);

/// Makes a link of `megabits` per second in each direction, and runs `work` on a thread in the clients' namespace.
///
/// # Errors
/// When network namespaces or the token bucket filter are not available, or this process lacks the privilege for them.
pub fn over_link<T: Send>(megabits: u32, work: impl FnOnce(&Link) -> T + Send) -> Result<T, LinkError> {
    // A namespace belongs to a thread, so the rest of the process is not affected
    let thread = || Link::new(megabits).map(|link| work(&link));
    thread::scope(|scope| scope.spawn(thread).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

fn namespace() -> Result<File, LinkError> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(|error| LinkError::Namespace(error.into()))?;
    File::open("/proc/thread-self/ns/net").map_err(LinkError::Namespace)
}

fn run(words: &str) -> Result<(), LinkError> {
    let failed = |why: String| LinkError::Program(words.to_owned(), why);
    let mut parts = words.split(' ');
    let ran = Command::new(parts.next().unwrap_or_default()).args(parts).output();
    let ran = ran.map_err(|error| failed(error.to_string()))?;
    if ran.status.success() { Ok(()) } else { Err(failed(String::from_utf8_lossy(&ran.stderr).trim().to_owned())) }
}

impl Link {
    /// Makes the link; afterwards the calling thread is in the clients' namespace.
    fn new(megabits: u32) -> Result<Link, LinkError> {
        let link = Link { clients: namespace()?, relay: namespace()? };
        // The pair is created in the relay's namespace, and one end is moved to the clients'
        run("ip link add relay type veth peer name clients")?;
        run(&format!("ip link set clients netns /proc/{}/fd/{}", std::process::id(), link.clients.as_raw_fd()))?;
        let end = |name: &str, address: Ipv4Addr| {
            run(&format!("ip addr add {address}/24 dev {name}"))?;
            // Each segment of TCP is a frame of its own for the filter, so that it counts what is around each
            run(&format!("ip link set {name} gso_max_segs 1 up"))?;
            // The kernel's length of a frame has 14 bytes of header. Ethernet adds 4 of check sequence, 8 of preamble
            // and 12 of gap, and its shortest frame takes 84. A burst of two frames. The queue holds as much as the
            // sockets can send, so that no packet is dropped
            let size = "stab overhead 24 mpu 84";
            run(&format!("tc qdisc add dev {name} root {size} tbf rate {megabits}mbit burst 3200 limit 4000000"))
        };
        end("relay", RELAY)?;
        link.enter(&link.clients).map_err(LinkError::Namespace)?;
        end("clients", CLIENTS)?;
        Ok(link)
    }

    fn enter(&self, end: &File) -> io::Result<()> {
        setns(end, CloneFlags::CLONE_NEWNET).map_err(io::Error::from)
    }

    /// The address of the relay at its end.
    pub(crate) fn address(&self) -> Ipv4Addr {
        RELAY
    }

    /// Runs `start` in the relay's namespace; threads that it creates stay there.
    pub(crate) fn at_relay<T>(&self, start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.enter(&self.relay)?;
        let started = start();
        self.enter(&self.clients)?;
        started
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{
        io::{Read, Write},
        net::{TcpListener, TcpStream, UdpSocket},
        time::Duration,
    };

    use super::*;

    const DATAGRAMS: usize = 1000;
    const STREAM: usize = 1 << 20;

    /// The bytes that the filter at the clients' end has counted.
    fn counted() -> usize {
        let told = Command::new("tc").args(["-s", "qdisc", "show", "dev", "clients"]).output().unwrap();
        let told = String::from_utf8(told.stdout).unwrap();
        let bytes = told.split("Sent ").nth(1).and_then(|rest| rest.split(' ').next());
        bytes.and_then(|bytes| bytes.parse().ok()).unwrap_or_else(|| panic!("{told}"))
    }

    /// What the filter counts for datagrams whose frames are the shortest, and for a stream, whose frames are the
    /// longest.
    fn over(link: &Link) -> [usize; 2] {
        let (relay, listener) =
            link.at_relay(|| Ok((UdpSocket::bind((RELAY, 0))?, TcpListener::bind((RELAY, 0))?))).unwrap();
        relay.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let client = UdpSocket::bind((CLIENTS, 0)).unwrap();
        let start = counted();
        for _ in 0..DATAGRAMS {
            client.send_to(&[7; 18], relay.local_addr().unwrap()).unwrap();
            assert_eq!(relay.recv(&mut [0; 64]).unwrap(), 18);
        }
        let between = counted();
        let stream = listener.local_addr().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut received = Vec::new();
                listener.accept().unwrap().0.read_to_end(&mut received).unwrap();
                assert_eq!(received.len(), STREAM);
            });
            TcpStream::connect(stream).unwrap().write_all(&vec![7; STREAM]).unwrap();
        });
        [between - start, counted() - between]
    }

    /// The filter counts frames as Ethernet carries them, with check sequence, preamble and gap.
    #[test]
    fn frames_count_as_ethernet_carries_them() {
        match over_link(100, over) {
            Ok([datagrams, stream]) => {
                // A few frames more, such as those that find an address
                let about = |bytes: usize| bytes..bytes + bytes / 100;
                assert!(about(DATAGRAMS * 84).contains(&datagrams), "{datagrams}");
                // IP and TCP with time stamps take 52 of the 1500 bytes that a frame carries; Ethernet adds 38
                let frames = STREAM.div_ceil(1500 - 52);
                assert!(about(STREAM + frames * (52 + 38)).contains(&stream), "{stream} for {frames} frames");
            }
            Err(why) => sealwright_transcripts::skipped(format_args!("{why}; {}", why.hint())),
        }
    }
}
