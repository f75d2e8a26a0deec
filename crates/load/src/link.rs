//! A shaped link: the relay and its clients run in two network namespaces that are connected by a veth pair with a
//! token bucket filter at each end. Nothing outside the two namespaces is affected. The link is removed when its last
//! socket is closed.

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
            run(&format!("ip link set {name} up"))?;
            // A burst of two frames. The queue holds as much as the sockets can send, so that no packet is dropped
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
