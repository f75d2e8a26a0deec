//! Relays that run as long as this program, one for each scheme.

use std::{
    collections::HashMap,
    sync::{
        LazyLock, Mutex, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use sealwright_relay::{Count, Relay, Settings};
use sealwright_session::{
    Client, Material, Plan, SchemeKind, Spec,
    frame::{FrameKind, Header, TAG},
    table,
};

const LATEST: Duration = Duration::from_secs(20);

/// A relay and the clients of its sessions.
pub(crate) struct Served {
    pub(crate) relay: Relay,
    pub(crate) clients: Mutex<Vec<Client>>,
}

impl Served {
    fn new(spec: Spec) -> Served {
        let mut sessions = table(Plan::new(spec, 4).cluster(2)).unwrap();
        let grants: Vec<_> =
            (0..4).map(|slot| sessions.admit(slot, slot, &Material::random().unwrap()).unwrap()).collect();
        let local = "127.0.0.1:0".parse().unwrap();
        let settings = Settings::default().max_bad(3).udp(local);
        let relay = Relay::start(local, 0, settings, vec![sessions]).unwrap();
        Served { relay, clients: Mutex::new(grants.into_iter().map(Client::new).collect()) }
    }

    /// Nothing is forwarded that was not opened, nor opened that did not arrive. Workers publish their counts while
    /// they are read, so that one may be newer than that before it.
    pub(crate) fn counts_fit(&self) {
        let right = || {
            let counts = self.relay.counts();
            counts.of(Count::Forwarded) <= counts.of(Count::Opened)
                && counts.of(Count::Opened) <= counts.of(Count::Arrived)
        };
        let start = Instant::now();
        while !right() {
            assert!(start.elapsed() < LATEST, "more was forwarded than opened, or opened than arrived");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A number for this run, with which its messages begin. Later runs have higher ones.
pub(crate) fn mark() -> [u8; 8] {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    RUNS.fetch_add(1, Ordering::Relaxed).to_be_bytes()
}

/// The messages of a run that an insider sealed for an honest client.
#[derive(Default)]
pub(crate) struct Messages {
    /// How often each may still come, and how often it must.
    left: HashMap<Vec<u8>, (usize, usize)>,
}

impl Messages {
    /// One was sealed. `intact`: its frame was sent as it is, and nothing before it keeps the relay from reading it.
    pub(crate) fn sealed(&mut self, message: Vec<u8>, intact: bool) {
        let (may, must) = self.left.entry(message).or_default();
        *may += 1;
        *must += usize::from(intact);
    }

    /// One came.
    ///
    /// # Panics
    /// If nobody sealed it, or it came before as often as it was sealed.
    pub(crate) fn came(&mut self, message: &[u8]) {
        let (may, must) = self.left.get_mut(message).expect("what comes was sealed");
        *may = may.checked_sub(1).expect("what is sealed comes once");
        *must = must.saturating_sub(1);
    }

    /// How many must still come.
    pub(crate) fn missing(&self) -> usize {
        self.left.values().map(|(_, must)| must).sum()
    }
}

/// The kinds of input that [`made`] makes, and those of them that come from a frame that the insider seals for it: as it
/// is, or changed.
const KINDS: u8 = 5;
const INTACT: u8 = 2;
const CHANGED: u8 = 3;

/// The next input of the relay: arbitrary bytes, a header that fits what follows it, a genuine frame of an admitted
/// client, such a frame with a change or truncated, or one that was sent before. For a genuine frame also its session,
/// and its message, which begins with `mark`.
pub(crate) fn made(
    how: [u8; 3],
    mark: &[u8],
    data: &[u8],
    insider: &mut Client,
    sent: &[Vec<u8>],
) -> (Vec<u8>, Option<(u32, Vec<u8>)>) {
    let [what, which, with] = how;
    match what % KINDS {
        0 => (data.to_vec(), None),
        1 => {
            let (len, session) = (data.len().saturating_sub(TAG) as u16, u32::from(with % 6));
            let header = Header { kind: FrameKind::Data, phase: with >> 4, len, session, seq: which.into() };
            ([&header.write()[..], data].concat(), None)
        }
        INTACT | CHANGED => {
            let (to, message) = (u32::from(which % 6), [&[0; 4], mark, data].concat());
            let mut frame = insider.seal(to, &message).unwrap();
            if what % KINDS == CHANGED {
                let at = (usize::from(which) << 4 | usize::from(with & 15)) % frame.len();
                match with >> 4 {
                    0 => frame.truncate(at),
                    1 => frame.extend_from_slice(data),
                    with => frame[at] ^= with,
                }
            }
            (frame, Some((to, message)))
        }
        _ => (sent.get(usize::from(which) % sent.len().max(1)).cloned().unwrap_or_default(), None),
    }
}

/// Whether a kind of input is a genuine frame that was neither changed nor sent before.
pub(crate) fn is_intact(what: u8) -> bool {
    what % KINDS == INTACT
}

/// The schemes in which only the relay can make frames that a client accepts.
fn sound() -> Vec<Spec> {
    let forged = |kind: SchemeKind| kind == SchemeKind::Clear || kind.as_printed();
    Spec::all().into_iter().filter(|spec| !forged(spec.kind)).collect()
}

/// One of them.
pub(crate) fn scheme(choice: u8) -> Spec {
    static ALL: LazyLock<Vec<Spec>> = LazyLock::new(sound);
    ALL[usize::from(choice) % ALL.len()]
}

/// The relay of the scheme that a byte chooses; of no scheme in which anybody can forge frames.
pub(crate) fn served(choice: u8) -> &'static Served {
    static ALL: LazyLock<Vec<(Spec, OnceLock<Served>)>> =
        LazyLock::new(|| sound().into_iter().map(|spec| (spec, OnceLock::new())).collect());
    let (spec, served) = &ALL[usize::from(choice) % ALL.len()];
    served.get_or_init(|| Served::new(*spec))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_once_and_unchanged() {
        let mut messages = Messages::default();
        messages.sealed(b"one".to_vec(), true);
        messages.sealed(b"two".to_vec(), false);
        messages.sealed(b"two".to_vec(), true);
        assert_eq!(messages.missing(), 2);
        messages.came(b"two");
        assert_eq!(messages.missing(), 1, "the other two need not come");
        messages.came(b"two");
        messages.came(b"one");
        assert_eq!(messages.missing(), 0);
    }

    #[test]
    #[should_panic(expected = "what is sealed comes once")]
    fn a_message_that_comes_twice_is_noticed() {
        let mut messages = Messages::default();
        messages.sealed(b"one".to_vec(), true);
        messages.came(b"one");
        messages.came(b"one");
    }

    #[test]
    #[should_panic(expected = "what comes was sealed")]
    fn a_message_that_was_changed_is_noticed() {
        let mut messages = Messages::default();
        messages.sealed(b"one".to_vec(), true);
        messages.came(b"onf");
    }
}
