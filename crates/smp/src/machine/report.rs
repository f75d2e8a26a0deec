//! What a machine says of a run, as a tree.

use serde_json::{Value, json};

use super::{End, Machine};
use crate::{
    engine::Waits,
    mosi::{EVENTS, Event, State},
    stats::Stats,
};

impl Machine {
    /// Steps taken so far, and the cycle reached: for whoever draws a bar.
    pub fn so_far(&self) -> (u64, u64) {
        let running = self.cores.iter().map(super::core::Core::clock).filter(|clock| *clock != u64::MAX).min();
        (self.counters.steps(), running.unwrap_or(self.now).max(self.now))
    }

    /// How the run ended, if it has.
    pub fn ended(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// When the attacker struck.
    pub fn struck(&self) -> Option<u64> {
        self.attacker.as_ref().and_then(crate::attack::Attacker::struck)
    }

    /// How often the protocol's cell of `state` and `event` was used. Hits of a first level are not counted.
    pub fn used(&self, state: State, event: Event) -> u64 {
        self.coverage[state as usize][event as usize % EVENTS]
    }

    /// Everything counted.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        let counters = &self.counters;
        let cycles = if counters.cycles() == 0 { self.now } else { counters.cycles() };
        let sum = |what: fn(&crate::stats::NodeCounters) -> u64| counters.nodes.iter().map(what).sum::<u64>();
        let (steps, stores, fetches) = (sum(|n| n.steps), sum(|n| n.stores), sum(|n| n.fetches));
        let per_thousand = |count: u64| count as f64 * 1000.0 / cycles.max(1) as f64 / counters.nodes.len() as f64;
        stats.put("cycles", cycles);
        stats.put("references", steps);
        stats.put("instructions", sum(|n| n.instructions));
        stats.put("loads", steps - stores - fetches);
        stats.put("stores", stores);
        stats.put("fetches", fetches);
        stats.put("cache.first_misses", sum(|n| n.second_hits + n.misses + n.upgrades));
        stats.put("cache.second_hits", sum(|n| n.second_hits));
        stats.put("cache.misses", sum(|n| n.misses));
        stats.put("cache.upgrades", sum(|n| n.upgrades));
        stats.put("cache.write_backs", sum(|n| n.write_backs));
        stats.put("cache.retries", sum(|n| n.retries));
        stats.put("wait.lines", sum(|n| n.waited));
        stats.put("wait.processors", sum(|n| n.met));
        stats.put("wait.barriers", counters.barriers);
        stats.put("bus.commands", counters.commands);
        stats.put("bus.reads", counters.gets);
        stats.put("bus.writes", counters.getx);
        stats.put("bus.write_backs", counters.putx);
        stats.put("bus.address_busy", counters.address_cycles as f64 / cycles.max(1) as f64);
        stats.put("bus.data_busy", counters.data_cycles as f64 / cycles.max(1) as f64);
        stats.put("bus.timeouts", counters.timeouts);
        stats.put("memory.fills", counters.fills);
        if let Some(guard) = &self.guard {
            stats.put("memory.protection", json!(guard.counts));
        }
        stats.put("transfers.count", counters.transfers);
        stats.put("transfers.within_chips", counters.within);
        stats.put("transfers.per_thousand_cycles", per_thousand(counters.transfers));
        let mean = counters.transfer_cycles as f64 / counters.transfers.max(1) as f64;
        stats.put("transfers.mean_cycles", mean);
        self.scheme_stats(&mut stats);
        let nodes: Vec<Value> = counters
            .nodes
            .iter()
            .map(|node| {
                json!({ "references": node.steps, "misses": node.misses, "upgrades": node.upgrades,
                    "waited": node.waited, "met": node.met, "finished": node.finished })
            })
            .collect();
        stats.put("nodes", nodes);
        stats
    }

    fn scheme_stats(&self, stats: &mut Stats) {
        let counts = self.scheme.counts();
        let waits = |waits: &Waits| json!({ "uses": waits.uses, "waited": waits.waited, "cycles": waits.cycles, "ready_share": waits.ready_share() });
        stats.put("scheme.name", self.config.shu.scheme.name());
        stats.put("scheme.send", waits(&counts.send));
        stats.put("scheme.receive", waits(&counts.receive));
        stats.put("scheme.authentication_cycles", counts.authentication_cycles);
        stats.put("scheme.storage_bytes", self.scheme.storage_bits().div_ceil(8));
        stats.put("scheme.exchange_bytes", counts.exchange_bytes);
        if let Some(nonces) = counts.nonces {
            stats.put("scheme.nonces", json!(nonces));
        }
    }
}
