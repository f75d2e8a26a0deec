//! Results of synthesis and simulation, from `rtl/results/` at the time when this program was built.

use std::collections::BTreeMap;

use sealwright_core_results::RESULTS;
use sealwright_measure::{Basis, Interval};
use serde::Deserialize;

use super::design::{BITS, Cipher, Design, Mode};

/// The device whose clock rates decide: the faster one of the two ECP5 families.
const DEVICE: &str = "LFE5UM5G-85F-8, routed";

/// The number of place-and-route runs with different seeds from which their median has a 95 % interval.
pub(super) const SEEDS: usize = 6;

/// The result of one synthesis.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Synthesis {
    mode: String,
    cipher: String,
    pub(super) lanes: u32,
    #[cfg(test)]
    pub(super) sbox: String,
    /// Whether a core for OCB contains the inverse cipher.
    pub(super) opens: bool,
    /// Latency of the cipher's pipeline in cycles.
    #[cfg(test)]
    pub(super) cipher_latency_cycles: Option<u32>,
    pub(super) device: String,
    /// Clock rate after routing: the median over the seeds of place and route, and the ends of its interval if there
    /// are enough seeds.
    pub(super) fmax_mhz: Option<f64>,
    fmax_low: Option<f64>,
    fmax_high: Option<f64>,
    #[serde(default)]
    pub(super) seeds: Vec<u32>,
    pub(super) lut4: Option<u32>,
    pub(super) ff: Option<u32>,
    /// Block memories of the device.
    pub(super) bram: Option<u32>,
    /// Bounds of the ALM-class estimate.
    alm_low: Option<f64>,
    alm_high: Option<f64>,
    pub(super) tools: BTreeMap<String, String>,
}

impl Synthesis {
    /// The ALM-class estimate: bounds, and their middle.
    pub(super) fn alms(&self) -> Option<Interval> {
        let (low, high) = (self.alm_low?, self.alm_high?);
        Some(Interval::bounds(f64::midpoint(low, high), low, high))
    }

    /// The clock rate after routing in MHz with its interval, if there are enough seeds.
    pub(super) fn clocks(&self) -> Option<Interval> {
        let ends = Interval::new(self.fmax_mhz?, self.fmax_low?, self.fmax_high?);
        Some(Interval { basis: Basis::Samples(self.seeds.len() as u32), ..ends })
    }

    /// The same, or the median alone if there are too few seeds.
    pub(super) fn clock(&self) -> Option<Interval> {
        self.clocks().or_else(|| self.fmax_mhz.map(Interval::exact))
    }

    /// The clock rate divided by that of another design. The interval is as wide as those of both allow; if one of them
    /// has none, there is none.
    pub(super) fn share(&self, of: &Synthesis) -> Option<Interval> {
        if std::ptr::eq(self, of) {
            return Some(Interval::exact(1.0));
        }
        let wide = self.clocks().zip(of.clocks()).and_then(|(clock, other)| clock.over(other));
        wide.or_else(|| Some(Interval::exact(self.fmax_mhz? / of.fmax_mhz?)))
    }
}

/// The counts of a core's simulation, in which every byte was checked.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Simulated {
    pub(super) core: String,
    pub(super) packets: u64,
    pub(super) blocks: u64,
    pub(super) forged: u64,
    /// Bits of text per cycle, by packet length in bytes.
    #[serde(default)]
    bits_per_cycle: BTreeMap<String, f64>,
    /// The minimum latency in cycles, from the input of a packet's first beat of text to its output, with nothing
    /// queued before it.
    pub(super) latency: Option<u32>,
}

impl Simulated {
    /// Bits of text per cycle for back-to-back packets of this length.
    pub(super) fn bits(&self, bytes: usize) -> Option<f64> {
        self.bits_per_cycle.get(&bytes.to_string()).copied()
    }
}

/// The results of the full regression.
#[derive(Debug, Deserialize)]
struct Regression {
    cores: Vec<Simulated>,
}

/// All stored results.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) synthesised: Vec<Synthesis>,
    pub(super) simulated: Vec<Simulated>,
}

impl Kept {
    /// Reads the results that are compiled in.
    pub(super) fn read() -> Kept {
        let mut kept = Kept::default();
        for result in RESULTS {
            kept.take(result.name, result.json).expect("a result compiled in is well formed");
        }
        kept
    }

    fn take(&mut self, name: &str, text: &str) -> serde_json::Result<()> {
        if name.starts_with("regression") {
            self.simulated = serde_json::from_str::<Regression>(text)?.cores;
        } else {
            self.synthesised.push(serde_json::from_str(text)?);
        }
        Ok(())
    }

    /// The ALM-class estimate of four lanes. For OCB, `opens` selects a core that can open or one that cannot.
    pub(super) fn area(&self, design: Design, opens: bool) -> Option<&Synthesis> {
        self.that_opens(design, opens).find(|found| found.lanes == 4 && found.alm_low.is_some())
    }

    /// One lane, placed and routed on the device whose clock rates decide. For OCB, a core that can open.
    pub(super) fn routed(&self, design: Design) -> Option<&Synthesis> {
        let fits = |found: &&Synthesis| design.1 != Mode::Ocb || found.opens;
        self.of(design)
            .filter(fits)
            .find(|found| found.lanes == 1 && found.fmax_mhz.is_some() && found.device == DEVICE)
    }

    /// Other place-and-route results of the design: with other lanes or on another device.
    pub(super) fn others(&self, design: Design) -> impl Iterator<Item = &Synthesis> {
        self.of(design).filter(|found| found.fmax_mhz.is_some() && (found.lanes != 1 || found.device != DEVICE))
    }

    /// Results of the design; for OCB only cores that can open, or only those that cannot.
    fn that_opens(&self, design: Design, opens: bool) -> impl Iterator<Item = &Synthesis> {
        self.of(design).filter(move |found| design.1 != Mode::Ocb || found.opens == opens)
    }

    fn of(&self, Design(cipher, mode): Design) -> impl Iterator<Item = &Synthesis> {
        let (cipher, mode) = (word(cipher), mode_word(mode));
        self.synthesised.iter().filter(move |found| found.cipher == cipher && found.mode == mode)
    }

    /// The clock rate of one lane after routing, in MHz, with its interval if there are enough seeds.
    pub(super) fn clock(&self, design: Design) -> Option<Interval> {
        self.routed(design)?.clock()
    }

    /// The same with its interval, if there are enough seeds.
    pub(super) fn clocks(&self, design: Design) -> Option<Interval> {
        self.routed(design)?.clocks()
    }

    /// The rate in Gbit/s of four lanes that were placed and routed together, with its interval if there are enough
    /// seeds.
    pub(super) fn four_lanes(&self, design: Design) -> Option<(f64, Option<Interval>)> {
        let found =
            self.of(design).find(|found| found.lanes == 4 && found.fmax_mhz.is_some() && found.device == DEVICE)?;
        let rate = |mhz: f64| mhz * BITS / 1e3;
        Some((rate(found.fmax_mhz?), found.clocks().map(|clocks| clocks.map(rate))))
    }

    /// The number of place-and-route seeds.
    pub(super) fn seeds(&self, design: Design) -> usize {
        self.routed(design).map_or(0, |found| found.seeds.len())
    }

    /// The rate in Gbit/s that four lanes would have at the clock rate of one.
    pub(super) fn rate(&self, design: Design) -> Option<Interval> {
        Some(self.clock(design)?.map(|mhz| mhz * BITS / 1e3))
    }

    /// The simulation of four lanes.
    pub(super) fn pace(&self, Design(cipher, mode): Design) -> Option<&Simulated> {
        let name = format!("{}-{}-4", mode_word(mode), word(cipher));
        self.simulated.iter().find(|found| found.core.starts_with(&name) && !found.bits_per_cycle.is_empty())
    }
}

fn word(cipher: Cipher) -> &'static str {
    match cipher {
        Cipher::Serpent => "serpent",
        Cipher::Aes => "aes128",
    }
}

fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Alone => "cipher",
        Mode::Ocb => "ocb",
        Mode::Gcm => "gcm",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_result_can_be_read_and_names_its_sources() {
        let kept = Kept::read();
        assert!(kept.synthesised.len() + kept.simulated.len() >= RESULTS.len());
        for result in RESULTS {
            let json: serde_json::Value = serde_json::from_str(result.json).unwrap();
            let sources = json["sources_sha256"].as_str().unwrap();
            assert!(
                sources.len() == 64 && sources.bytes().all(|digit| digit.is_ascii_hexdigit()),
                "{}: {sources}",
                result.name
            );
        }
    }

    #[test]
    fn results_are_found_by_their_design() {
        let synthesis = |mode: &str, lanes: u32, more: &str| {
            format!(
                r#"{{"mode": "{mode}", "cipher": "aes128", "lanes": {lanes}, "device": "{DEVICE}", "tools": {{}},
                "sbox": "rom", "opens": true, "bram": 3, {more}}}"#
            )
        };
        let mut kept = Kept::default();
        kept.take("a.json", &synthesis("gcm", 4, r#""alm_low": 10, "alm_high": 14"#)).unwrap();
        kept.take("b.json", &synthesis("gcm", 1, r#""fmax_mhz": 201.5"#)).unwrap();
        // Neither another device nor four lanes are used, wherever they are in the list
        let other = synthesis("ocb", 1, r#""fmax_mhz": 90"#).replace(DEVICE, "LFE5U-85F-8, routed");
        kept.take("another-device.json", &other).unwrap();
        kept.take("four-lanes.json", &synthesis("ocb", 4, r#""fmax_mhz": 80"#)).unwrap();
        let row = r#"{"core": "gcm-aes128-4-table0", "packets": 1, "blocks": 2, "forged": 0,
            "bits_per_cycle": {"64": 237.6}, "latency": 5}"#;
        let log = format!(r#"{{"cores": [{row}]}}"#);
        kept.take("regression.json", &log).unwrap();
        let (gcm, ocb) = (Design(Cipher::Aes, Mode::Gcm), Design(Cipher::Aes, Mode::Ocb));
        assert_eq!(kept.area(gcm, true).unwrap().alms().unwrap(), Interval::bounds(12.0, 10.0, 14.0));
        assert_eq!((kept.clock(gcm), kept.clock(ocb)), (Some(Interval::exact(201.5)), None));
        assert!(kept.clocks(gcm).is_none(), "one seed has no interval");
        let seeds = r#""fmax_mhz": 250, "fmax_low": 240, "fmax_high": 260, "seeds": [1, 2, 3, 4, 5, 6]"#;
        kept.take("c.json", &synthesis("ocb", 1, seeds)).unwrap();
        let clocks = Interval { basis: Basis::Samples(6), ..Interval::new(250.0, 240.0, 260.0) };
        assert_eq!(kept.clocks(ocb).unwrap(), clocks, "two of six seeds are its ends");
        assert_eq!((kept.seeds(ocb), kept.seeds(Design(Cipher::Serpent, Mode::Ocb))), (6, 0));
        let others: Vec<_> = kept.others(ocb).map(|found| (found.lanes, found.fmax_mhz)).collect();
        assert_eq!(others, [(1, Some(90.0)), (4, Some(80.0))]);
        assert_eq!(kept.four_lanes(ocb), Some((80.0 * BITS / 1e3, None)));
        assert_eq!(kept.four_lanes(gcm), None, "an area has no clock");
        assert_eq!(kept.pace(gcm).unwrap().bits(64), Some(237.6));
        assert!(kept.pace(ocb).is_none());
    }
}
