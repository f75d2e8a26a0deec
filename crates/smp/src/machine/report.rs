//! The statistics of a machine.

use serde_json::{Value, json};

use super::{Machine, Outcome, StrikeReport, invariants};
use crate::{
    attack::{Attacker, Target},
    engine::Waits,
    mosi::{Event, State},
    scheme::{Occupied, SchemeCounters},
    stats::{Counters, HomeCounters, LinkCounters, NodeCounters, Stats},
};

impl Machine {
    /// The number of accesses done and the current cycle, for progress displays.
    pub fn progress(&self) -> (u64, u64) {
        let running = self.processors.first_clock();
        let now = self.context.schedule.now();
        (self.context.counters.accesses(), if running == u64::MAX { now } else { running.max(now) })
    }

    /// How the run ended, if it has.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.context.outcome.as_ref()
    }

    /// The outcome of each attacker's strike, in the order in which attackers were added.
    pub fn strikes(&self) -> Vec<StrikeReport> {
        self.transfers.attackers.iter().map(|attacker| self.strike(attacker)).collect()
    }

    fn strike(&self, attacker: &Attacker) -> StrikeReport {
        let alarm = match self.outcome() {
            Some(Outcome::Detected(detection)) => Some(detection),
            _ => None,
        };
        let (struck, alarm) = (attacker.struck(), alarm.filter(|_| attacker.struck().is_some()));
        let moment = attacker.moment();
        let later = alarm.zip(struck).map(|(alarm, struck)| {
            let last = match attacker.attack().target() {
                Target::Transfer => alarm.transfer,
                Target::Command => alarm.command,
                Target::Answer => attacker.answered(),
            };
            last.saturating_sub(struck)
        });
        StrikeReport {
            attack: attacker.attack(),
            at: attacker.at(),
            struck,
            cycle: moment.map(|moment| moment.cycle),
            detector: alarm.map(|alarm| alarm.detector),
            later,
            wrong_reads: moment.and_then(|moment| Some(self.wrong_reads()? - moment.wrong_reads)),
        }
    }

    /// Number of lines whose last written value is lost: neither their owner nor memory has it at the end. `None`
    /// unless values are checked.
    pub fn lost_lines(&self) -> Option<u64> {
        let checker = self.context.checker.as_ref()?;
        Some(invariants::lost(checker, &self.coherence.caches, &self.memory).count() as u64)
    }

    /// Number of reads that returned another value than the one written last; `None` unless values are checked.
    pub fn wrong_reads(&self) -> Option<u64> {
        self.context.checker.as_ref().map(|checker| checker.wrong_reads)
    }

    /// Whether the run has not yet completed its warm-up (`machine.warm_up`), so that statistics cover everything so
    /// far.
    pub fn cold(&self) -> bool {
        self.config.machine.warm_up > 0 && self.context.region.open()
    }

    /// Number of times that the protocol's transition for `state` and `event` was used. Hits in a first-level cache are
    /// not counted.
    pub fn used(&self, state: State, event: Event) -> u64 {
        self.coherence.caches.used(state, event)
    }

    /// All statistics.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        let mut all = self.context.counters.clone();
        let (finished, now) = (all.cycles(), self.context.schedule.now());
        // If the run ended early, some processors may have finished before
        let completed = self.outcome() == Some(&Outcome::Completed) && finished > 0;
        let end = if completed { finished } else { finished.max(now) };
        if !completed {
            self.count_open_waits(end, &mut all);
        }
        let (cycles, counters, scheme) = self.context.region.of(end, &all, self.transfers.scheme.counters());
        let sum = |what: fn(&NodeCounters) -> u64| counters.nodes.iter().map(what).sum::<u64>();
        let (accesses, stores, fetches) = (sum(|n| n.accesses), sum(|n| n.stores), sum(|n| n.fetches));
        let per_thousand = |count: u64| count as f64 * 1000.0 / cycles.max(1) as f64 / counters.nodes.len() as f64;
        stats.put("cycles", cycles);
        stats.put("cycles_of_run", end);
        stats.put("references", accesses);
        stats.put("instructions", sum(|n| n.instructions));
        stats.put("loads", accesses - stores - fetches);
        stats.put("stores", stores);
        stats.put("fetches", fetches);
        stats.put("cache.first_misses", sum(|n| n.second_hits + n.primary + n.secondary));
        stats.put("cache.second_hits", sum(|n| n.second_hits));
        stats.put("cache.misses", sum(|n| n.misses));
        stats.put("cache.upgrades", sum(|n| n.upgrades));
        stats.put("cache.upgrades_with_data", sum(|n| n.upgrades_with_data));
        stats.put("cache.write_backs", sum(|n| n.write_backs));
        stats.put("cache.retries", sum(|n| n.retries));
        stats.put("wait.lines", sum(|n| n.waited));
        stats.put("wait.processors", sum(|n| n.synchronised));
        stats.put("wait.retries", sum(|n| n.retried));
        stats.put("wait.barriers", counters.barriers);
        if self.config.machine.mshrs > 1 {
            let (held, missing) = (sum(|n| n.held), sum(|n| n.missing));
            stats.put("mshr.primary", sum(|n| n.primary));
            stats.put("mshr.secondary", sum(|n| n.secondary));
            stats.put("mshr.full_cycles", sum(|n| n.full));
            stats.put("mshr.drain_cycles", sum(|n| n.drained));
            stats.put("mshr.mean_taken", held as f64 / (cycles.max(1) * counters.nodes.len() as u64) as f64);
            stats.put("mshr.mean_while_missing", held as f64 / missing.max(1) as f64);
            stats.put("mshr.most_taken", counters.nodes.iter().map(|n| n.most_held).max().unwrap_or(0));
        }
        stats.put("processes.count", self.config.processes.count);
        stats.put("processes.switches", counters.switches);
        self.traffic(&mut stats, cycles, &counters);
        stats.put("memory.fills", counters.fills);
        if let Some(rows) = self.memory.rows() {
            stats.put("memory.row_hits", rows.hits);
            stats.put("memory.row_misses", rows.misses);
            stats.put("memory.bank_waits", rows.waited);
        }
        if let Some(counters) = self.memory.protected() {
            stats.put("memory.protection", json!(counters));
        }
        stats.put("transfers.count", counters.transfers);
        stats.put("transfers.within_chips", counters.within);
        stats.put("transfers.per_thousand_cycles", per_thousand(counters.transfers));
        let mean = counters.transfer_cycles as f64 / counters.transfers.max(1) as f64;
        stats.put("transfers.mean_cycles", mean);
        self.scheme_stats(&mut stats, scheme);
        // Strikes that never happened are left out
        for (place, strike) in self.strikes().iter().enumerate().filter(|(_, strike)| strike.struck.is_some()) {
            stats.put(&format!("strikes.{place}"), json!(strike));
        }
        let nodes: Vec<Value> = counters
            .nodes
            .iter()
            .map(|node| {
                json!({ "references": node.accesses, "misses": node.misses, "upgrades": node.upgrades,
                    "waited": node.waited, "met": node.synchronised, "retried": node.retried,
                    "finished": node.finished })
            })
            .collect();
        stats.put("nodes", nodes);
        stats
    }

    /// What the bus, or homes and links, carried in `cycles`.
    fn traffic(&self, stats: &mut Stats, cycles: u64, counters: &Counters) {
        let share = |busy: f64| busy / cycles.max(1) as f64;
        let group = if self.network.is_some() { "directory" } else { "bus" };
        let commands = [
            ("commands", counters.commands),
            ("reads", counters.gets),
            ("writes", counters.getx),
            ("write_backs", counters.putx),
            ("timeouts", counters.timeouts),
        ];
        for (name, count) in commands {
            stats.put(&format!("{group}.{name}"), count);
        }
        let Some(network) = &self.network else {
            stats.put("bus.address_busy", share(counters.address_cycles as f64));
            stats.put("bus.data_busy", share(counters.data_cycles as f64));
            stats.put("bus.tag_bytes", counters.tag_bytes);
            return;
        };
        let LinkCounters { messages, hops, waited, busy, forwards, invalidations } = &counters.links;
        let (links, all) = (network.links.count(), busy.iter().sum::<u64>());
        stats.put("directory.forwards", *forwards);
        stats.put("directory.invalidations", *invalidations);
        if self.config.interconnect.occupancy > 0 {
            let HomeCounters { busy, waited } = &counters.homes;
            stats.put("directory.busy_cycles", busy.iter().sum::<u64>());
            stats.put("directory.most_busy", share(busy.iter().copied().max().unwrap_or(0) as f64));
            stats.put("directory.waited", *waited);
        }
        stats.put("links.count", links);
        stats.put("links.messages", *messages);
        stats.put("links.mean_hops", *hops as f64 / (*messages).max(1) as f64);
        stats.put("links.busy_cycles", all);
        stats.put("links.mean_busy", share(all as f64 / links as f64));
        stats.put("links.most_busy", share(busy.iter().copied().max().unwrap_or(0) as f64));
        stats.put("links.waited", *waited);
        stats.put("links.tag_bytes", counters.tag_bytes);
    }

    fn scheme_stats(&self, stats: &mut Stats, counters: SchemeCounters) {
        let scheme = &self.transfers.scheme;
        let waits = |waits: &Waits| json!({ "uses": waits.uses, "waited": waits.waited, "cycles": waits.cycles, "ready_share": waits.ready_share() });
        stats.put("scheme.name", self.config.scheme.name.as_str());
        stats.put("scheme.send", waits(&counters.send));
        stats.put("scheme.receive", waits(&counters.receive));
        stats.put("scheme.authentication_cycles", counters.authentication_cycles);
        stats.put("scheme.unauthenticated_cycles", counters.unauthenticated_cycles);
        let Occupied { aes, mac, ghash } = counters.occupied;
        for (engine, cycles) in [("aes", aes), ("mac", mac), ("ghash", ghash)] {
            stats.put(&format!("scheme.{engine}.busy_cycles"), cycles);
        }
        if let Some(hub) = counters.hub {
            stats.put("scheme.hub", json!(hub));
        }
        stats.put("scheme.units", self.config.engines.units.name());
        stats.put("scheme.storage_bytes", scheme.storage_bits().div_ceil(8));
        stats.put("scheme.exchange_bytes", counters.exchange_bytes);
        if let Some(nonces) = counters.nonces {
            stats.put("scheme.nonces", json!(nonces));
        }
    }
}
