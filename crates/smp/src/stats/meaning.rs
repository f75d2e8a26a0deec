//! What each number of a run means, and its unit.

/// A statistic: its name, its unit and what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// Its name; `*` stands for a number.
    pub name: &'static str,
    /// Its unit; empty for words.
    pub unit: &'static str,
    /// What it says.
    pub meaning: &'static str,
}

const fn of(name: &'static str, unit: &'static str, meaning: &'static str) -> Meaning {
    Meaning { name, unit, meaning }
}

/// Every statistic.
pub const MEANINGS: &[Meaning] = &[
    of("cycles", "cycles", "of the region of interest, or of the whole run; the last processor decides"),
    of("cycles_of_run", "cycles", "of the whole run"),
    of("references", "accesses", "loads, stores and fetches of all processors"),
    of("instructions", "instructions", "of all processors; those with several references count once for each"),
    of("loads", "accesses", "that read data"),
    of("stores", "accesses", "that write"),
    of("fetches", "accesses", "that read instructions"),
    of("cache.first_misses", "accesses", "that missed the first level"),
    of("cache.second_hits", "accesses", "that missed the first level and hit the second"),
    of("cache.misses", "accesses", "to lines that the node did not have"),
    of("cache.upgrades", "stores", "to lines that the node had for reading only"),
    of(
        "cache.write_backs",
        "lines",
        "that were modified or owned (O) where they left a node, and went to memory with their bytes",
    ),
    of("cache.retries", "accesses", "refused because their line was in a transaction, and tried again"),
    of("wait.lines", "cycles", "that processors waited for lines, together"),
    of("wait.processors", "cycles", "that processors waited for each other, together"),
    of("wait.barriers", "barriers", "that opened"),
    of(
        "mshr.primary",
        "accesses",
        "that missed and took a register (MSHR) for their line; with machine.mshrs of 2 or more",
    ),
    of("mshr.secondary", "accesses", "to lines that were under way, which joined their register"),
    of("mshr.full_cycles", "cycles", "that processors waited for a free register, together"),
    of(
        "mshr.drain_cycles",
        "cycles",
        "that processors waited for all lines under way before they synchronised or ended, together",
    ),
    of("mshr.mean_taken", "registers", "that a processor had taken, on average over the time"),
    of(
        "mshr.mean_while_missing",
        "registers",
        "that a processor had taken, on average over the time in which it had any",
    ),
    of("mshr.most_taken", "registers", "that a processor had taken, at most; of the whole run"),
    of("processes.count", "processes", "that shared the machine"),
    of("processes.switches", "changes", "of processors from one process to another"),
    of("bus.commands", "commands", "on the address bus"),
    of("bus.reads", "commands", "that ask for a line to read"),
    of("bus.writes", "commands", "that ask for a line to write"),
    of("bus.write_backs", "commands", "that give a line back to memory, and carry it unless it is clean"),
    of(
        "bus.address_busy",
        "share",
        "of the time that the address bus was held; lines that are written back hold it too",
    ),
    of("bus.data_busy", "share", "of the time that the data bus was held; lines that are written back do not hold it"),
    of("bus.tag_bytes", "bytes", "of tags and MACs, which take time on the bus only with bus.tags=true"),
    of("bus.timeouts", "timeouts", "of requests that waited longer than bus.timeout"),
    of("directory.commands", "commands", "that homes ordered, in place of a bus"),
    of("directory.reads", "commands", "that ask for a line to read"),
    of("directory.writes", "commands", "that ask for a line to write"),
    of("directory.write_backs", "commands", "that give a line back to memory, and carry it unless it is clean"),
    of("directory.forwards", "commands", "that homes sent on to a line's owner"),
    of("directory.invalidations", "commands", "to nodes that had a copy, or may have had one, and acknowledged"),
    of("directory.timeouts", "timeouts", "of requests that waited longer than bus.timeout"),
    of("directory.busy_cycles", "cycles", "that homes were busy, together; with interconnect.occupancy"),
    of("directory.most_busy", "share", "of the time that the busiest home was busy"),
    of("directory.waited", "cycles", "that requests and lines waited for their homes, together"),
    of("links.count", "links", "between neighbours, each way"),
    of("links.messages", "messages", "with or without a line, that crossed a link or several"),
    of("links.mean_hops", "links", "that a message crossed, on average"),
    of("links.busy_cycles", "cycles", "that links were held, together"),
    of("links.mean_busy", "share", "of the time that a link was held, on average"),
    of("links.most_busy", "share", "of the time that the busiest link was held"),
    of("links.waited", "cycles", "that messages waited for links that were held, together"),
    of("links.tag_bytes", "bytes", "of tags and MACs, which take time on links only with bus.tags=true"),
    of("memory.fills", "lines", "that memory sent to a node"),
    of("memory.row_hits", "requests", "whose row was open in its bank; of the whole run"),
    of("memory.row_misses", "requests", "whose row was not open in its bank; of the whole run"),
    of("memory.bank_waits", "cycles", "that requests waited for their bank, together; of the whole run"),
    of("memory.protection.reads", "lines", "read from protected memory; of the whole run"),
    of("memory.protection.writes", "lines", "written to protected memory; of the whole run"),
    of("memory.protection.counter_misses", "accesses", "whose counters were not at hand; of the whole run"),
    of(
        "memory.protection.reencrypted",
        "pages",
        "encrypted anew because a short counter was used up; of the whole run",
    ),
    of("transfers.count", "lines", "that one cache sent to another"),
    of("transfers.within_chips", "lines", "of these that stayed within a chip"),
    of("transfers.per_thousand_cycles", "lines", "from cache to cache a thousand cycles and processor"),
    of("transfers.mean_cycles", "cycles", "from an owner's having a line to its use, on average"),
    of("scheme.name", "", "the scheme that protects the bus"),
    of("scheme.units", "", "what engines a node has"),
    of("scheme.send.uses", "lines", "that took a pad or mask at their sender"),
    of("scheme.send.waited", "lines", "of these that had to wait for it"),
    of("scheme.send.cycles", "cycles", "that they waited, together"),
    of("scheme.send.ready_share", "share", "of these that did not wait"),
    of("scheme.receive.uses", "lines", "that took a pad or mask at their receiver"),
    of("scheme.receive.waited", "lines", "of these that had to wait for it"),
    of("scheme.receive.cycles", "cycles", "that they waited, together"),
    of("scheme.receive.ready_share", "share", "of these that did not wait"),
    of("scheme.authentication_cycles", "cycles", "that lines waited for their tag or MAC before use, together"),
    of("scheme.unauthenticated_cycles", "cycles", "for which lines were used before their MAC was checked, together"),
    of("scheme.storage_bytes", "bytes", "of storage in a node's security unit"),
    of("scheme.exchange_bytes", "bytes", "of the key exchange before the run"),
    of("scheme.nonces.used", "nonces", "used; of the whole run"),
    of("scheme.nonces.repeated", "nonces", "that had been used before; of the whole run"),
    of("scheme.nonces.first", "", "the first nonce that repeats, if any does"),
    of("scheme.nonces.first.transfer", "transfer", "whose nonce repeats first"),
    of("scheme.nonces.first.pair.*", "node", "sender and receiver of that transfer"),
    of("scheme.nonces.first.with.*", "node", "sender and receiver that used the nonce before"),
    of("scheme.nonces.first.nonce", "", "the nonce, in hexadecimal"),
    of("strikes.*.attack", "", "what an attacker did who struck"),
    of("strikes.*.at", "number", "from which on the attacker was to strike"),
    of("strikes.*.struck", "number", "of the transfer, command or answer of memory that was struck"),
    of("strikes.*.cycle", "cycle", "of the strike"),
    of("strikes.*.detector", "", "what raised the first alarm after the strike, if anything did"),
    of("strikes.*.later", "number", "of lines, commands or answers of memory from the strike until that alarm"),
    of("strikes.*.wrong_reads", "loads", "that gave a wrong value after the strike, where that was checked"),
    of("nodes.*.references", "accesses", "of this processor"),
    of("nodes.*.misses", "accesses", "of this processor to lines that its node did not have"),
    of("nodes.*.upgrades", "stores", "of this processor to lines that its node had for reading only"),
    of("nodes.*.waited", "cycles", "that this processor waited for lines"),
    of("nodes.*.met", "cycles", "that this processor waited for others"),
    of("nodes.*.finished", "cycle", "in which this processor was done; of the whole run"),
];

/// The statistics that have the name of a setting.
pub const ALSO_SETTINGS: [&str; 2] = ["processes.count", "scheme.name"];

/// What the statistic `name` means.
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
