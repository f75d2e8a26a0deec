//! A shaped link: the relay and its clients in two network namespaces, and a token bucket at either end of the line
//! between them. Threads and processes outside see nothing of it; it goes when the last of its sockets does.

use std::{fs::File, io, net::Ipv4Addr, os::fd::AsRawFd, process::Command, thread};

use nix::sched::{CloneFlags, setns, unshare};
use thiserror::Error;

/// Why there is no shaped link here.
#[derive(Debug, Error)]
pub enum LinkError {
    /// The kernel refuses a namespace, or the process may not have one.
    #[error("no network namespace: {0}")]
    Namespace(#[source] io::Error),
    /// A program is missing, or the kernel refuses what it asks for.
    #[error("{0}: {1}")]
    Program(String, String),
}

impl LinkError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            LinkError::Namespace(_) => "the link needs root",
            LinkError::Program(..) => "the link needs `ip` and `tc` (Debian: iproute2), and a kernel with veth and tbf",
        }
    }
}

/// A line with a token bucket at either end.
#[derive(Debug)]
pub struct Link {
    relay: File,
    clients: File,
}

/// The relay's address on the line, and the clients'.
const RELAY: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
const CLIENTS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);

/// Makes a link of `megabits` a second in each direction, and runs `work` on a thread that is at its clients' end.
///
/// # Errors
/// When the system has no namespaces, no token bucket, or does not let this process have them.
pub fn over_link<T: Send>(megabits: u32, work: impl FnOnce(&Link) -> T + Send) -> Result<T, LinkError> {
    // Namespaces are those of a thread, so the rest of the process stays where it is
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
    /// Leaves the thread at the clients' end.
    fn new(megabits: u32) -> Result<Link, LinkError> {
        let link = Link { clients: namespace()?, relay: namespace()? };
        // Both ends are made at the relay's, and one is sent over
        run("ip link add relay type veth peer name clients")?;
        run(&format!("ip link set clients netns /proc/{}/fd/{}", std::process::id(), link.clients.as_raw_fd()))?;
        let end = |name: &str, address: Ipv4Addr| {
            run(&format!("ip addr add {address}/24 dev {name}"))?;
            run(&format!("ip link set {name} up"))?;
            // A burst of two frames; as much may wait as the sockets send
            run(&format!("tc qdisc add dev {name} root tbf rate {megabits}mbit burst 3200 limit 4000000"))
        };
        end("relay", RELAY)?;
        link.enter(&link.clients).map_err(LinkError::Namespace)?;
        end("clients", CLIENTS)?;
        Ok(link)
    }

    fn enter(&self, end: &File) -> io::Result<()> {
        setns(end, CloneFlags::CLONE_NEWNET).map_err(io::Error::from)
    }

    /// Where a relay listens at its end.
    pub(crate) fn address(&self) -> Ipv4Addr {
        RELAY
    }

    /// Runs `start` at the relay's end; threads that it starts stay there.
    pub(crate) fn at_relay<T>(&self, start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.enter(&self.relay)?;
        let started = start();
        self.enter(&self.clients)?;
        started
    }
}
