//! Table 2 repeated: bytes per client as printed in the paper, by its formula, as accounted for by our tables, and as
//! growth of the process.

use std::io;

use sealwright_session::{Plan, SchemeKind, Sessions, Spec, paper_bytes, table};

use super::{crowd::material, room::Room};

/// The memory of one scheme, in bytes per client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) spec: Spec,
    /// By the paper's formula.
    pub(super) formula: Option<usize>,
    /// The size of the record (`size_of`).
    pub(super) record: usize,
    /// The record, tables on the heap with the list of them, and the client's share of what is shared.
    pub(super) accounted: f64,
    /// The growth of the process divided by the number of clients; `None` if the system does not report it.
    pub(super) resident: Option<f64>,
    /// Number of clients.
    pub(super) clients: u32,
}

/// Resident memory of this process in bytes.
pub(super) fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Measures every scheme with a table of about `most` bytes, fewer if there is no room. Tables with heap memory are kept
/// until all schemes are measured, because growth does not show if memory was freed before and is used again.
pub(super) fn measure(most: u64, room: Room) -> io::Result<Vec<Held>> {
    let (mut all, mut kept) = (Vec::new(), Vec::new());
    let budget = each(most, room);
    for spec in Spec::all() {
        let (held, table) = filled(spec, budget)?;
        if table.memory().heap > 0 {
            kept.push(table);
        }
        all.push(held);
    }
    Ok(all)
}

/// The bytes for each scheme: those with tables of their own, and one other, have room together.
fn each(most: u64, room: Room) -> u64 {
    let own = |spec: &Spec| match spec.kind {
        SchemeKind::GcmPre(x) | SchemeKind::GcmOn(x) => x.table_bytes() > 0,
        _ => false,
    };
    most.min(room.bytes() / (Spec::all().into_iter().filter(own).count() as u64 + 1))
}

/// One scheme.
#[cfg(test)]
pub(super) fn held(spec: Spec, budget: u64) -> io::Result<Held> {
    filled(spec, budget).map(|(held, _)| held)
}

/// Fills a table with about `budget` bytes of clients, all in one cluster as in the paper (5.1).
fn filled(spec: Spec, budget: u64) -> io::Result<(Held, Box<dyn Sessions>)> {
    let guess = paper_bytes(spec).unwrap_or(64).max(64) as u64;
    let clients = (budget / guess).clamp(64, 1 << 20) as u32;
    let before = resident();
    let mut full = table(Plan::new(spec, clients).cluster(clients)).map_err(io::Error::other)?;
    for slot in 0..clients {
        full.admit(slot, slot, &material(slot)).map_err(io::Error::other)?;
    }
    let grown = resident().zip(before).map(|(after, before)| after.saturating_sub(before));
    let memory = full.memory();
    let held = Held {
        spec,
        formula: paper_bytes(spec),
        record: memory.record,
        accounted: memory.bytes_per_client(),
        resident: grown.map(|bytes| bytes as f64 / f64::from(clients)),
        clients,
    };
    Ok((held, full))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::process::Command;

    use super::*;

    /// All clients must share one cluster's tables: the claim `sessions/alike` depends on that.
    #[test]
    fn all_clients_share_one_cluster() {
        let bytes = |name: &str| {
            let held = held(name.parse().unwrap(), 24 << 20).unwrap();
            assert!(held.clients > Plan::CLUSTER, "{held:?}");
            held.accounted
        };
        let (shared, without) = (bytes("gscm(64k)"), bytes("gscm(0)"));
        assert!(shared > without && shared < 1.01 * without, "{shared} {without}");
    }

    #[test]
    fn tables_that_are_kept_have_room_together() {
        let each = |available| super::each(64 << 20, Room::of(false, available));
        assert_eq!(each(u64::MAX), 64 << 20);
        // Two key lengths of four sizes of table, stored or computed round keys, and one other
        assert_eq!(each(3 << 29), (1 << 30) / 17);
    }

    /// Runs in a process of its own, because allocations of other tests would change the growth, and reused memory
    /// would not show.
    #[test]
    fn what_is_accounted_for_is_there() {
        const ALONE: &str = "SEALWRIGHT_TEST_ALONE";
        let this = "sessions::memory::tests::what_is_accounted_for_is_there";
        if std::env::var_os(ALONE).is_none() {
            let alone = Command::new(std::env::current_exe().unwrap()).args(["--exact", this]).env(ALONE, "1").output();
            let alone = alone.unwrap();
            let said = String::from_utf8_lossy(&alone.stdout);
            assert!(alone.status.success() && said.contains("1 passed"), "{said}");
            return;
        }
        let mut kept = Vec::new();
        for name in ["gcm-on64", "gscm-h", "gcm-pre(clmul)", "gcm-pre(4k)"] {
            let (held, table) = filled(name.parse().unwrap(), 32 << 20).unwrap();
            kept.push(table);
            assert!(held.accounted >= held.record as f64 && held.clients >= 3000, "{held:?}");
            assert!(held.resident.is_none_or(|resident| resident > 0.2 * held.accounted), "{held:?}");
        }
    }
}
