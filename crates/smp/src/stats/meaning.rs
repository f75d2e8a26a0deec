//! The unit and the meaning of each statistic of a run.

/// The description of a statistic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The name of the statistic; `*` stands for a number.
    pub name: &'static str,
    /// Its unit; empty if the value is text.
    pub unit: &'static str,
    /// What it counts or measures.
    pub meaning: &'static str,
}

const fn of(name: &'static str, unit: &'static str, meaning: &'static str) -> Meaning {
    Meaning { name, unit, meaning }
}

/// Every statistic.
pub const MEANINGS: &[Meaning] = &[
    of(
        "cycles",
        "cycles",
        "duration of the region of interest, or else of the whole run, until the last processor is done",
    ),
    of("cycles_of_run", "cycles", "duration of the whole run"),
    of("references", "accesses", "loads, stores and instruction fetches of all processors"),
    of(
        "instructions",
        "instructions",
        "instructions of all processors; an instruction with several references counts once for each",
    ),
    of("loads", "accesses", "accesses that read data"),
    of("stores", "accesses", "accesses that write data"),
    of("fetches", "accesses", "accesses that fetch instructions"),
    of("cache.first_misses", "accesses", "accesses that missed in the first level"),
    of("cache.second_hits", "accesses", "accesses that missed in the first level and hit in the second"),
    of("cache.misses", "accesses", "accesses to lines of which the node had no copy"),
    of("cache.upgrades", "stores", "stores to lines that the node could only read"),
    of(
        "cache.upgrades_with_data",
        "stores",
        "of these, stores for which the owner or memory sent the line although the node still had it",
    ),
    of("cache.write_backs", "lines", "modified or owned (O) lines evicted from a node, whose bytes went to memory"),
    of("cache.retries", "accesses", "accesses refused because a transaction for their line was under way, and retried"),
    of("wait.lines", "cycles", "time that processors waited for lines, summed over processors"),
    of(
        "wait.processors",
        "cycles",
        "time that processors executed nothing because all their processes waited for other processors, summed over \
         processors",
    ),
    of(
        "wait.retries",
        "cycles",
        "time that processors waited to try refused accesses again (cache.retries), summed over processors",
    ),
    of("wait.barriers", "barriers", "barriers that opened"),
    of(
        "mshr.primary",
        "accesses",
        "misses and upgrades that took a register (MSHR) for their line; only if machine.mshrs is 2 or more",
    ),
    of("mshr.secondary", "accesses", "accesses to lines already requested, which joined the register of that request"),
    of("mshr.full_cycles", "cycles", "time that processors waited for a free register, summed over processors"),
    of(
        "mshr.drain_cycles",
        "cycles",
        "time that processors waited for all requested lines before they synchronised or ended, summed over processors",
    ),
    of("mshr.mean_taken", "registers", "registers in use per processor, averaged over time"),
    of(
        "mshr.mean_while_missing",
        "registers",
        "registers in use per processor, averaged over the time in which at least one was in use",
    ),
    of("mshr.most_taken", "registers", "most registers of one processor in use at a time; of the whole run"),
    of("processes.count", "processes", "processes that shared the machine"),
    of("processes.switches", "changes", "switches of processors from one process to another"),
    of("bus.commands", "commands", "commands on the address bus"),
    of("bus.reads", "commands", "requests for a line to read"),
    of("bus.writes", "commands", "requests for a line to write"),
    of("bus.write_backs", "commands", "write-backs to memory, each with its line unless the line is clean"),
    of(
        "bus.address_busy",
        "share",
        "fraction of the time in which the address bus was held; write-backs of lines hold it too",
    ),
    of(
        "bus.data_busy",
        "share",
        "fraction of the time in which the data bus was held; write-backs of lines do not hold it",
    ),
    of("bus.tag_bytes", "bytes", "size of tags and MACs, which take time on the bus only with bus.tags=true"),
    of("bus.timeouts", "timeouts", "requests that waited longer than bus.timeout"),
    of("directory.commands", "commands", "commands ordered by home nodes, in place of a bus"),
    of("directory.reads", "commands", "requests for a line to read"),
    of("directory.writes", "commands", "requests for a line to write"),
    of("directory.write_backs", "commands", "write-backs to memory, each with its line unless the line is clean"),
    of("directory.forwards", "commands", "requests that homes forwarded to the owner of the line"),
    of(
        "directory.invalidations",
        "commands",
        "invalidations sent to nodes that had, or may have had, a copy; each was acknowledged",
    ),
    of("directory.timeouts", "timeouts", "requests that waited longer than bus.timeout"),
    of(
        "directory.busy_cycles",
        "cycles",
        "time that homes were busy, summed over homes; only with interconnect.occupancy",
    ),
    of("directory.most_busy", "share", "fraction of the time in which the busiest home was busy"),
    of("directory.waited", "cycles", "time that requests and lines waited for busy homes, in total"),
    of("links.count", "links", "one-way links between neighbours"),
    of("links.messages", "messages", "messages, with or without a line, that crossed at least one link"),
    of("links.mean_hops", "links", "links that a message crossed, on average"),
    of("links.busy_cycles", "cycles", "time that links were held, summed over links"),
    of("links.mean_busy", "share", "fraction of the time in which a link was held, averaged over links"),
    of("links.most_busy", "share", "fraction of the time in which the busiest link was held"),
    of("links.waited", "cycles", "time that messages waited for links in use, in total"),
    of("links.tag_bytes", "bytes", "size of tags and MACs, which take time on links only with bus.tags=true"),
    of("memory.fills", "lines", "lines that memory sent to a node"),
    of("memory.row_hits", "requests", "requests whose row was open in its bank; of the whole run"),
    of("memory.row_misses", "requests", "requests whose row was not open in its bank; of the whole run"),
    of("memory.bank_waits", "cycles", "time that requests waited for their bank, in total; of the whole run"),
    of("memory.protection.reads", "lines", "lines read from protected memory; of the whole run"),
    of("memory.protection.writes", "lines", "lines written to protected memory; of the whole run"),
    of(
        "memory.protection.counter_misses",
        "accesses",
        "accesses whose counter block was not in the counter cache; of the whole run",
    ),
    of(
        "memory.protection.reencrypted",
        "pages",
        "pages encrypted again because a short counter was used up; of the whole run",
    ),
    of(
        "memory.protection.nonces",
        "nonces",
        "nonces used to encrypt lines, those of the initial contents included; 0 without nonces; of the whole run",
    ),
    of("memory.protection.repeated_nonces", "nonces", "of these, nonces that had been used before; of the whole run"),
    of("transfers.count", "lines", "lines sent from one cache to another"),
    of("transfers.within_chips", "lines", "of these, lines that stayed within a chip"),
    of("transfers.per_thousand_cycles", "lines", "lines sent from cache to cache per processor and thousand cycles"),
    of("transfers.mean_cycles", "cycles", "time from when the owner has a line until the receiver uses it, on average"),
    of("scheme.name", "", "scheme that protects the bus"),
    of("scheme.units", "", "set of engines in a node (engines.units)"),
    of("scheme.send.uses", "lines", "lines for which the sender took a pad or mask"),
    of("scheme.send.waited", "lines", "of these, lines whose pad or mask was not ready"),
    of("scheme.send.cycles", "cycles", "time that these lines waited, in total"),
    of("scheme.send.ready_share", "share", "fraction of lines whose pad or mask was ready at the sender"),
    of("scheme.receive.uses", "lines", "lines for which the receiver took a pad or mask"),
    of("scheme.receive.waited", "lines", "of these, lines whose pad or mask was not ready"),
    of("scheme.receive.cycles", "cycles", "time that these lines waited, in total"),
    of("scheme.receive.ready_share", "share", "fraction of lines whose pad or mask was ready at the receiver"),
    of(
        "scheme.authentication_cycles",
        "cycles",
        "time that lines waited for the check of their tag or MAC before use, in total; with IDE on a ring \
         or mesh, of all messages at each link",
    ),
    of(
        "scheme.unauthenticated_cycles",
        "cycles",
        "time for which lines were in use before their MAC was checked, in total; with IDE on a ring \
         or mesh, time for which messages went on before that, at each link",
    ),
    of(
        "scheme.aes.busy_cycles",
        "cycles",
        "time for which AES engines for pads, masks or keystream could start nothing else, summed over nodes; work \
         counts when it is planned",
    ),
    of("scheme.mac.busy_cycles", "cycles", "the same of the AES engines for MACs"),
    of("scheme.ghash.busy_cycles", "cycles", "the same of the GHASH engines"),
    of(
        "scheme.hub.keystream_cycles",
        "cycles",
        "time that lines waited for keystream at the hub, in total; only IDE on a bus",
    ),
    of(
        "scheme.hub.link_cycles",
        "cycles",
        "time that lines waited at the hub for the link to their receiver, in total; only IDE on a bus",
    ),
    of("scheme.storage_bytes", "bytes", "storage in the security unit of a node"),
    of("scheme.exchange_bytes", "bytes", "size of the messages of the key exchange before the run"),
    of("scheme.nonces.used", "nonces", "nonces used; of the whole run"),
    of("scheme.nonces.repeated", "nonces", "nonces that had been used before; of the whole run"),
    of("scheme.nonces.first", "", "the first repeated nonce, if any"),
    of("scheme.nonces.first.transfer", "transfer", "encrypted transfer with the first repeated nonce"),
    of("scheme.nonces.first.pair.*", "node", "sender and receiver of that transfer"),
    of(
        "scheme.nonces.first.with.*",
        "node",
        "sender and receiver that began the run of consecutive counters with that nonce",
    ),
    of("scheme.nonces.first.nonce", "", "the nonce, in hexadecimal"),
    of("strikes.*.attack", "", "attack that was carried out"),
    of("strikes.*.at", "number", "transfer, command or answer of memory from which on the attacker was to strike"),
    of("strikes.*.struck", "number", "transfer, command or answer of memory that was attacked"),
    of("strikes.*.cycle", "cycle", "cycle of the strike"),
    of("strikes.*.detector", "", "check that raised the first alarm after the strike, if any"),
    of(
        "strikes.*.later",
        "number",
        "transfers, commands or answers of memory from the strike to the one that raised that alarm",
    ),
    of("strikes.*.wrong_reads", "loads", "loads that returned a wrong value after the strike, if values were checked"),
    of("nodes.*.references", "accesses", "accesses of this processor"),
    of("nodes.*.misses", "accesses", "accesses of this processor to lines of which its node had no copy"),
    of("nodes.*.upgrades", "stores", "stores of this processor to lines that its node could only read"),
    of("nodes.*.waited", "cycles", "time that this processor waited for lines"),
    of(
        "nodes.*.met",
        "cycles",
        "time that this processor executed nothing because all its processes waited for other processors",
    ),
    of("nodes.*.retried", "cycles", "time that this processor waited to try refused accesses again"),
    of("nodes.*.finished", "cycle", "cycle in which this processor was done; of the whole run"),
];

/// The statistics whose names are also names of settings.
pub const ALSO_SETTINGS: [&str; 2] = ["processes.count", "scheme.name"];

/// The description of the statistic `name`, or `None` if there is no such statistic.
pub fn meaning(name: &str) -> Option<&'static Meaning> {
    let same = |(known, part): (&str, &str)| known == part || known == "*" && part.bytes().all(|b| b.is_ascii_digit());
    let fits = |known: &&Meaning| {
        known.name.split('.').count() == name.split('.').count() && known.name.split('.').zip(name.split('.')).all(same)
    };
    MEANINGS.iter().find(fits)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{
        attack::{Attack, Attacker},
        run::{Simulation, Workload},
    };

    #[test]
    fn no_other_statistic_has_the_name_of_a_setting() {
        let settings = serde_json::to_value(crate::Config::default()).unwrap();
        let settings = crate::Stats::from_json(&settings).unwrap();
        let both: Vec<String> =
            settings.leaves().into_iter().map(|(name, _)| name).filter(|name| meaning(name).is_some()).collect();
        assert_eq!(both, ALSO_SETTINGS);
    }

    #[test]
    fn every_statistic_of_every_scheme_has_a_meaning_and_no_meaning_is_left_over() {
        let mut left: Vec<&str> = MEANINGS.iter().map(|meaning| meaning.name).collect();
        let names = crate::scheme::SchemeName::all().map(|name| format!("scheme.name={name}"));
        for setting in names
            .chain(["scheme.gcm.iv=faithful-sender", "interconnect.kind=mesh", "machine.mshrs=4"].map(str::to_owned))
        {
            let mut config = crate::Config::default()
                .merge("[memory]\nprotect = \"tree\"\nbanks = 8\n")
                .unwrap()
                .set(&setting)
                .unwrap();
            if setting.contains("faithful") {
                config = config.set("scheme.name=gcm").unwrap();
            }
            // Counted on a mesh alone
            config.interconnect.occupancy = 5;
            let workload = Workload::kernel("fft", 8, false).unwrap();
            let mut simulation = Simulation::new(config, workload);
            if setting.ends_with("clear") {
                simulation.attackers.push(Attacker::new(Attack::Flip, 10));
            }
            let stats = simulation.run(&mut |_| {}).unwrap().stats;
            for (name, _) in stats.leaves() {
                let known = meaning(&name).unwrap_or_else(|| panic!("{name} has no meaning"));
                left.retain(|name| *name != known.name);
            }
            let text = stats.explained();
            let (name, says) = match setting.as_str() {
                "interconnect.kind=mesh" => ("directory.commands", "in place of a bus"),
                _ => ("bus.commands", "on the address bus"),
            };
            assert!(text.lines().any(|line| line.starts_with(name) && line.ends_with(says)), "{text}");
        }
        assert_eq!(left, [""; 0], "meanings of what is not counted");
    }
}
