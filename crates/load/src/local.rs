//! A relay in this process with the clients' ends of all its sessions, connected over loopback sockets or a shaped
//! link.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use sealwright_measure::random::Random;
use sealwright_relay::{NodeLayout, Relay, Settings, serve::bytes_per_session};
use sealwright_session::{Material, Plan, SchemeKind, Secret, Sessions, Side, Spec, Strategy, table};

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
        let [mut server, mut clients] = ends(spec, slots, workload)?;
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

/// Empty tables for both ends of the sessions of a worker. The clients' ends keep as little as the wire format allows:
/// they stand for many computers, so what they keep should not take caches and time from the relay, nor more from the
/// relay of one scheme than from that of another.
fn ends(spec: Spec, slots: u32, workload: &Workload) -> Result<[Box<dyn Sessions>; 2], LoadError> {
    let secret = Secret::random()?;
    let end = |spec, side| plan(spec, slots).side(side).secret(secret.clone());
    let server = table(end(spec, Side::Server).replay_window(workload.replay_window))?;
    Ok([server, table(end(smallest(spec), Side::Client))?])
}

/// The scheme with the wire format of `spec` and the smallest records: no GHASH table, and for GCM no stored round
/// keys. A table of the one opens what a table of the other sealed.
///
/// ```
/// let small = sealwright_load::smallest("gcm-pre(clmul)-256".parse()?);
/// assert_eq!(small, "gcm-on(clmul)-256".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn smallest(spec: Spec) -> Spec {
    let kind = match spec.kind {
        SchemeKind::GcmPre(_) | SchemeKind::GcmOn(_) => SchemeKind::GcmOn(Strategy::Clmul),
        // `SchemeKind::Gscm` exists only in programs with the broken schemes, which are for research
        other if spec.to_string().starts_with("gscm(") => "gscm(clmul)".parse().map_or(other, |small: Spec| small.kind),
        other => other,
    };
    Spec { kind, ..spec }
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

    /// The scheme with this name; `None` in a program without schemes for research.
    fn known(name: &str) -> Option<Spec> {
        name.parse().ok()
    }

    /// Clients run on other computers in the paper: their tables must not take the caches of the relay.
    #[test]
    fn clients_keep_no_tables() {
        let workload = crate::point::workload(100, 40, 4, 1).unwrap();
        let names = ["gcm-pre(clmul)", "gcm-pre(0)-256", "gcm-pre(4k)", "gcm-on(64k)", "gscm(64k)"];
        let specs: Vec<Spec> = names.into_iter().filter_map(known).collect();
        assert!(!specs.is_empty());
        for spec in specs {
            let ends = ends(spec, 100, &workload).unwrap();
            let kept = ends.map(|mut end| {
                (0..100).for_each(|slot| drop(end.admit(slot, slot, &material(u64::from(slot))).unwrap()));
                end.memory()
            });
            assert!(kept[1].heap == 0 && kept[1].record <= kept[0].record, "{spec}: {kept:?}");
            let stores_round_keys = matches!(spec.kind, SchemeKind::GcmPre(_));
            assert!(!stores_round_keys || kept[1].record < kept[0].record, "{spec}: {kept:?}");
            assert_eq!(smallest(spec).long, spec.long);
        }
    }

    #[test]
    fn packets_of_clients_without_tables_arrive() {
        for spec in ["gcm-pre(clmul)", "gcm-pre(4k)", "gcm-on(4k)-256", "gscm(64k)-256"].into_iter().filter_map(known) {
            let outcome = crate::point(spec, 40, 100, 4, 4, 0.3).unwrap();
            assert_eq!((outcome.lost, outcome.forged_accepted), (0, 0), "{spec}");
            assert!(outcome.frames > 0 && outcome.bad > 0, "{spec}: {outcome:?}");
        }
    }

    #[test]
    fn all_clients_of_a_worker_share_one_cluster() {
        let shared = |slots| {
            let plan = plan("gscm-h".parse().unwrap(), slots);
            (plan.slots, plan.cluster)
        };
        assert_eq!(shared(100_000), (100_000, 100_000));
    }
}
