//! Table 2 anew: bytes a client as the paper has them, by its formula, as our tables account for them, and as the system
//! sees them.

use std::io;

use sealwright_session::{Plan, Sessions, Spec, paper_bytes, table};

use super::crowd::material;

/// One scheme's bytes a client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) spec: Spec,
    /// The paper's formula.
    pub(super) formula: Option<usize>,
    /// The record: `size_of`.
    pub(super) record: usize,
    /// Record, tables on the heap and their list, a client's part of what is shared.
    pub(super) accounted: f64,
    /// What the process grew by, over the clients; none where the system does not tell.
    pub(super) resident: Option<f64>,
    /// How many clients there were.
    pub(super) clients: u32,
}

/// Bytes of this process in memory.
pub(super) fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Every scheme, each in a table of about `budget` bytes. What has tables on the heap stays until all are counted: memory
/// that is given back and taken again does not show.
pub(super) fn measure(budget: u64) -> io::Result<Vec<Held>> {
    let (mut all, mut kept) = (Vec::new(), Vec::new());
    for spec in Spec::all() {
        let (held, table) = filled(spec, budget)?;
        if table.memory().heap > 0 {
            kept.push(table);
        }
        all.push(held);
    }
    Ok(all)
}

/// One scheme.
#[cfg(test)]
pub(super) fn held(spec: Spec, budget: u64) -> io::Result<Held> {
    filled(spec, budget).map(|(held, _)| held)
}

/// Fills a table with about `budget` bytes of clients, all in one cluster as the paper has it (5.1).
fn filled(spec: Spec, budget: u64) -> io::Result<(Held, Box<dyn Sessions>)> {
    let guess = paper_bytes(spec).unwrap_or(64).max(64) as u64;
    let clients = (budget / guess).clamp(64, 1 << 20) as u32;
    let before = resident();
    let mut full = table(Plan { cluster: clients, ..Plan::new(spec, clients) }).map_err(io::Error::other)?;
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

    /// A cluster's tables are shared by as many clients as there are: `sessions/alike` is about nothing else.
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

    /// In a process of its own: what other tests take and give back would show, and memory that was given back and is taken
    /// again does not.
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
