//! A relay in this process with the clients' ends of all its sessions, connected over loopback sockets or a shaped
//! link.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use sealwright_measure::random::Random;
use sealwright_relay::{NodeLayout, Relay, Settings, serve::bytes_per_session};
use sealwright_session::{Material, Plan, Secret, Side, Spec, table};

use crate::{
    generator::Generator,
    keys::Keys,
    link::Link,
    measure::{LoadError, Testbed},
    workload::Workload,
};

/// Timeouts of the relay: its connections are the generator's own and may be silent for any time.
const NO_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Starts a relay of `workers` threads and connects clients to it. All clients of a worker are in one cluster. Their
/// keys are derived from the workload's seed, so they must not protect anything.
///
/// # Errors
/// When memory, threads or connections run out.
pub fn local(spec: Spec, workload: &Workload, workers: u32) -> Result<Testbed, LoadError> {
    started(spec, workload, workers, None)
}

/// As [`local`], with the relay at the other end of a link if there is one.
///
/// # Errors
/// When memory, threads or connections run out.
pub(crate) fn started(
    spec: Spec,
    workload: &Workload,
    workers: u32,
    link: Option<&Link>,
) -> Result<Testbed, LoadError> {
    let layout = NodeLayout::new(0, workers);
    let (mut here, mut there) = (Vec::new(), Vec::new());
    let mut bytes = 0.0;
    for shard in 0..workers {
        let slots = layout.slots(workload.clients, shard);
        let secret = Secret::random()?;
        let end = |side| plan(spec, slots).side(side).secret(secret.clone());
        let mut server = table(end(Side::Server).replay_window(workload.replay_window))?;
        let mut clients = table(end(Side::Client))?;
        for slot in 0..slots {
            let index = slot * workers + shard;
            let material = material(workload.seed ^ u64::from(index) << 32);
            let session = layout.session(index);
            server.admit(slot, session, &material)?;
            clients.admit(slot, session, &material)?;
        }
        bytes += bytes_per_session(&server.memory(), &Settings::default()) * f64::from(slots);
        here.push(server);
        there.push(clients);
    }
    let settings = Settings::default()
        .max_frame(Settings::default().max_frame.max(workload.payload.largest() + 32))
        .max_bad(u32::MAX)
        // The connections stay silent while the clients of the second relay are admitted
        .first_frame(NO_TIMEOUT)
        .idle(NO_TIMEOUT);
    let start = |address: Ipv4Addr| {
        Relay::start(SocketAddr::from((address, 0)), 0, settings, here).map_err(std::io::Error::from)
    };
    let relay = match link {
        Some(link) => link.at_relay(|| start(link.address()))?,
        None => start(Ipv4Addr::LOCALHOST)?,
    };
    let generator = Generator::connect(relay.address(), Keys::Tables(layout, there), workload.clone())?;
    Ok(Testbed { relay: Some(relay), generator, bytes_per_session: bytes / f64::from(workload.clients) })
}

/// Puts all clients in one cluster, as the paper does, and as the studies without a network do.
fn plan(spec: Spec, slots: u32) -> Plan {
    Plan::new(spec, slots).cluster(slots.max(1))
}

fn material(seed: u64) -> Material {
    let mut random = Random::new(seed);
    let mut bytes = [0; Material::LEN];
    for part in bytes.chunks_mut(8) {
        part.copy_from_slice(&random.bits().to_le_bytes()[..part.len()]);
    }
    Material::from_bytes(&bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn all_clients_of_a_worker_share_one_cluster() {
        let shared = |slots| {
            let plan = plan("gscm-h".parse().unwrap(), slots);
            (plan.slots, plan.cluster)
        };
        assert_eq!(shared(100_000), (100_000, 100_000));
    }
}
