//! Relays that run as long as this program, one for each scheme.

use std::sync::{LazyLock, Mutex, OnceLock};

use sealwright_relay::{Relay, Settings};
use sealwright_session::{Client, Material, Plan, SchemeKind, Spec, table};

/// A relay and the clients of its sessions.
pub(crate) struct Served {
    pub(crate) relay: Relay,
    pub(crate) clients: Mutex<Vec<Client>>,
}

impl Served {
    fn new(spec: Spec) -> Served {
        let mut sessions = table(Plan { cluster: 2, ..Plan::new(spec, 4) }).unwrap();
        let grants: Vec<_> =
            (0..4).map(|slot| sessions.admit(slot, slot, &Material::random().unwrap()).unwrap()).collect();
        let local = "127.0.0.1:0".parse().unwrap();
        let settings = Settings { max_bad: 3, udp: Some(local), ..Settings::default() };
        let relay = Relay::start(local, 0, settings, vec![sessions]).unwrap();
        Served { relay, clients: Mutex::new(grants.into_iter().map(Client::new).collect()) }
    }
}

/// The schemes in which nobody but the relay can forge what a client gets.
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
