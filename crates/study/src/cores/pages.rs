//! The pages on the cores say what the stored results say.
#![allow(clippy::unwrap_used)]

use sealwright_core_results::RESULTS;
use serde_json::Value;

use super::{
    design::{CIPHERS, Cipher, Design, Mode},
    kept::{Kept, Synthesis},
};

const CORES: &str = include_str!("../../../../docs/CORES.md");
const AREA_AND_CLOCK: &str = include_str!("../../../../docs/CORES_RESULTS.md");

/// The text of CORES.md, in one line.
fn cores() -> String {
    CORES.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn thousands(count: impl Into<u64>) -> String {
    let count = count.into();
    if count < 1000 { count.to_string() } else { format!("{},{:03}", count / 1000, count % 1000) }
}

#[test]
fn latencies_and_the_core_in_halves() {
    let (page, kept) = (cores(), Kept::read());
    let latency = |cipher, mode| kept.pace(Design(cipher, mode)).unwrap().latency.unwrap();
    let [gcm, aes, serpent] = [(Cipher::Aes, Mode::Gcm), (Cipher::Aes, Mode::Ocb), (Cipher::Serpent, Mode::Ocb)]
        .map(|(cipher, mode)| latency(cipher, mode));
    assert_eq!(latency(Cipher::Serpent, Mode::Gcm), gcm);
    let pipeline = |cipher| kept.routed(Design(cipher, Mode::Alone)).unwrap().cipher_latency_cycles.unwrap();
    let more = aes - pipeline(Cipher::Aes);
    assert_eq!(serpent - pipeline(Cipher::Serpent), more);
    let halves = kept.others(Design(Cipher::Aes, Mode::Alone)).find(|found| found.sbox == "halves").unwrap();
    for words in [
        format!("a packet takes {gcm} cycles in GCM, and in OCB {more} cycles more than the cipher's pipeline"),
        format!("{aes} with AES-128 and {serpent} with Serpent"),
        format!("{} lookup tables and {} memories", thousands(halves.lut4.unwrap()), halves.bram.unwrap()),
        format!("{:.0} MHz, median of {} seeds", halves.fmax_mhz.unwrap(), halves.seeds.len()),
    ] {
        assert!(page.contains(&words), "docs/CORES.md does not say: {words}");
    }
}

/// The results of `flow full`.
fn regression() -> Value {
    serde_json::from_str(RESULTS.iter().find(|result| result.name.starts_with("regression")).unwrap().json).unwrap()
}

#[test]
fn coverage_and_mutants() {
    let regression = regression();
    for (core, row) in [("gcm-aes128-1-rom4", "AES-128-GCM"), ("ocb-aes128-1-rom4", "AES-128-OCB")] {
        let found = regression["cores"].as_array().unwrap().iter().find(|one| one["core"] == core).unwrap();
        let counts = ["line", "branch", "toggle"].map(|kind| {
            let count = found["coverage"][kind].as_str().unwrap().split(" of ");
            count.map(|count| thousands(count.parse::<u64>().unwrap())).collect::<Vec<_>>().join(" of ")
        });
        let row = format!("| {row} | {} |", counts.join(" | "));
        assert!(CORES.contains(&row), "docs/CORES.md does not say: {row}");
    }
    let mutants = &regression["mutants"];
    let [killed, survived, of] = ["killed", "survived", "of"].map(|count| mutants[count].as_u64().unwrap());
    let score = format!("**{killed} of the {} changes are detected.**", killed + survived);
    assert!(CORES.contains(&score), "docs/CORES.md does not say: {score}");
    assert!(CORES.contains(&format!("drawn at random from {of};")), "{of}");
}

#[test]
fn area_and_clock() {
    let kept = Kept::read();
    let names = [(Cipher::Aes, "AES-128"), (Cipher::Serpent, "Serpent-256")];
    let mut rows = Vec::new();
    for (cipher, name) in names {
        let alone = kept.routed(Design(cipher, Mode::Alone)).unwrap();
        rows.push(row(&format!("{name} alone"), alone, Some("")));
        for (mode, word) in [(Mode::Gcm, "GCM"), (Mode::Ocb, "OCB")] {
            let found = kept.routed(Design(cipher, mode)).unwrap();
            let share = found.share(alone).unwrap().median;
            rows.push(row(&format!("{name}-{word}"), found, Some(&format!("{share:.2}"))));
        }
    }
    for cipher in CIPHERS {
        let four = kept.others(Design(cipher, Mode::Alone)).find(|found| found.lanes == 4);
        rows.extend(four.map(|found| row("AES-128 alone, four lanes", found, None)));
    }
    let page: Vec<String> = AREA_AND_CLOCK.lines().map(|line| line.split_whitespace().collect()).collect();
    for row in rows {
        let written: String = row.split_whitespace().collect();
        assert!(page.contains(&written), "docs/CORES_RESULTS.md does not have the row {row}");
    }
}

/// Which cores reach the clock at which short packets fill the line.
#[test]
fn the_needed_clock_and_the_measured_ones() {
    let (page, kept) = (cores(), Kept::read());
    let needed = CORES.lines().find(|line| line.starts_with("| 64 bytes | 28 bytes | 4 |")).unwrap();
    let needed: f64 = needed.rsplit('|').nth(1).unwrap().trim().trim_end_matches(" MHz").parse().unwrap();
    let clock = |cipher, mode| kept.routed(Design(cipher, mode)).unwrap().clocks().unwrap();
    let [aes, serpent] = [Cipher::Aes, Cipher::Serpent].map(|cipher| clock(cipher, Mode::Gcm));
    let ocb = clock(Cipher::Aes, Mode::Ocb);
    assert!(aes.low > needed && serpent.low < needed && serpent.high > needed && ocb.median < needed, "{needed}");
    for (name, clock, between) in
        [("AES-128-GCM ", aes, "interval "), ("Serpent-256-GCM has ", serpent, ""), ("AES-128-OCB has ", ocb, "")]
    {
        let words = format!("{name}{:.0} MHz ({between}{:.0} to {:.0})", clock.median, clock.low, clock.high);
        assert!(page.contains(&words), "docs/CORES.md does not say: {words}");
    }
}

fn row(name: &str, found: &Synthesis, share: Option<&str>) -> String {
    let interval = found.clocks().map(|clocks| format!("{:.0} to {:.0}", clocks.low, clocks.high));
    let counts = [found.lut4, found.ff, found.bram].map(|count| thousands(count.unwrap()));
    format!(
        "| {name} | {} | {:.0} | {} | {} | {} |",
        found.seeds.len(),
        found.fmax_mhz.unwrap(),
        interval.unwrap_or_default(),
        share.unwrap_or_default(),
        counts.join(" | ")
    )
}
