//! The schemes that are compared, and the encryption engines of each node.

use sealwright_smp::{
    Config, ConfigError,
    engine::{Model, Units},
    protocol::Protocol,
};

/// Cycles per line of the AES unit. For 64-byte lines, the thesis calls these 1.6 and 0.8 GB/s.
pub(super) const LATENCIES: [u64; 2] = [160, 320];

/// The engines of a node, and how often an AES engine can start a line. With as many engines as needed, the model
/// makes no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    pub(super) units: Units,
    pub(super) model: Model,
}

/// All variants, the thesis's first.
pub(super) const VARIANTS: [Variant; 7] = [
    Variant { units: Units::Thesis, model: Model::Window },
    Variant { units: Units::Thesis, model: Model::Pipelined },
    Variant { units: Units::Thesis, model: Model::Iterative },
    Variant { units: Units::Equal, model: Model::Window },
    Variant { units: Units::Equal, model: Model::Pipelined },
    Variant { units: Units::Equal, model: Model::Iterative },
    Variant { units: Units::Generous, model: Model::Window },
];

impl Variant {
    /// The name of the variant's circumstance.
    pub(super) fn name(self) -> String {
        match self.units {
            Units::Generous => "units generous".to_owned(),
            units => format!("units {}, AES {}", units.name(), self.model.name()),
        }
    }

    fn place(self) -> usize {
        VARIANTS.iter().position(|variant| *variant == self).unwrap_or(0)
    }
}

/// What of the machine is not as in the other circumstances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Changed {
    /// MOSI, as in GEMS, and synchronisation that sends no lines.
    Nothing,
    /// Synchronisation sends lines (`machine.sync_lines`).
    SyncLines,
    /// The protocol is MESI.
    Mesi,
    /// The protocol is MOESI.
    Moesi,
}

impl Changed {
    /// Other protocols than GEMS's. The thesis lists that one among several and does not say which it used.
    pub(super) const PROTOCOLS: [Changed; 2] = [Changed::Mesi, Changed::Moesi];

    /// The suffix of the circumstances with this machine.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Changed::Nothing => "",
            Changed::SyncLines => ", synchronisation sends lines",
            Changed::Mesi => ", MESI",
            Changed::Moesi => ", MOESI",
        }
    }

    /// Changes the machine.
    pub(super) fn apply(self, config: &mut Config) {
        match self {
            Changed::Nothing => {}
            Changed::SyncLines => config.machine.sync_lines = true,
            Changed::Mesi => config.bus.protocol = Protocol::Mesi,
            Changed::Moesi => config.bus.protocol = Protocol::Moesi,
        }
    }
}

/// When CBC's MAC is computed, and what masks a receiver has. The thesis does not say whether a line waits for its MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mac {
    /// Before the line is used.
    Critical,
    /// By a separate engine, while the line is already in use.
    Background,
    /// The same, and a receiver has one mask for all senders, as the thesis counts them. Where a line waits for its
    /// MAC, it hardly ever waits for that mask.
    BackgroundOneMask,
}

/// A scheme of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scheme {
    Clear,
    /// Variant (index in [`VARIANTS`]), latency and number of pads.
    Gcm(usize, u64, usize),
    /// Variant, latency and number of lines per MAC.
    Cbc(usize, u64, u64, Mac),
    /// SENSS as published, with this number of masks.
    Senss(usize),
    I2sems,
    /// Skid mode (`true`) or containment mode.
    CxlIde(bool),
    PcieIde,
}

impl Scheme {
    /// GCM with five pads. With equal units GCM is the same as with the thesis's, so both map to one scheme.
    pub(super) fn gcm(variant: Variant, latency: u64) -> Scheme {
        Scheme::pads(variant, latency, 5)
    }

    pub(super) fn pads(variant: Variant, latency: u64, pads: usize) -> Scheme {
        let units = if variant.units == Units::Equal { Units::Thesis } else { variant.units };
        Scheme::Gcm(Variant { units, ..variant }.place(), latency, pads)
    }

    pub(super) fn cbc(variant: Variant, latency: u64, authenticate: u64) -> Scheme {
        Scheme::Cbc(variant.place(), latency, authenticate, Mac::Critical)
    }

    /// The same with CBC's MAC in the background.
    pub(super) fn in_background(self) -> Scheme {
        match self {
            Scheme::Cbc(variant, latency, lines, _) => Scheme::Cbc(variant, latency, lines, Mac::Background),
            other => other,
        }
    }

    /// The same with CBC's MAC in the background and one mask to receive.
    pub(super) fn with_one_mask_to_receive(self) -> Scheme {
        match self {
            Scheme::Cbc(variant, latency, lines, _) => Scheme::Cbc(variant, latency, lines, Mac::BackgroundOneMask),
            other => other,
        }
    }

    /// The name of the scheme in the simulator.
    pub(super) fn name(self) -> &'static str {
        match self {
            Scheme::Clear => "clear",
            Scheme::Gcm(..) => "gcm",
            Scheme::Cbc(..) => "cbc",
            Scheme::Senss(_) => "senss",
            Scheme::I2sems => "i2sems",
            Scheme::CxlIde(_) => "cxl-ide",
            Scheme::PcieIde => "pcie-ide",
        }
    }

    /// The configuration of a run. Memory latency is 158 to 162 cycles depending on the seed, as in GEMS.
    pub(super) fn config(self, processors: usize, line: usize, seed: u64) -> Result<Config, ConfigError> {
        let mut config = Config::for_line(line);
        config.machine.processors = processors;
        config.machine.seed = seed;
        (config.memory.latency, config.memory.jitter) = (158, 4);
        let engines = |variant: usize, latency: u64| {
            let Variant { units, model } = VARIANTS[variant];
            let (units, model) = (units.name(), model.name());
            [
                ("engines.units", units.to_owned()),
                ("engines.model", model.to_owned()),
                ("engines.latency", latency.to_string()),
            ]
        };
        let settings: Vec<(&str, String)> = match self {
            Scheme::Clear | Scheme::I2sems | Scheme::PcieIde => Vec::new(),
            Scheme::Gcm(variant, latency, pads) => {
                [&engines(variant, latency)[..], &[("scheme.gcm.pads", pads.to_string())]].concat()
            }
            Scheme::Cbc(variant, latency, lines, mac) => {
                let (mac, receive) = match mac {
                    Mac::Critical => ("critical", "each"),
                    Mac::Background => ("background", "each"),
                    Mac::BackgroundOneMask => ("background", "one"),
                };
                let cbc = [
                    ("scheme.cbc.authenticate", lines.to_string()),
                    ("scheme.cbc.mac", mac.to_owned()),
                    ("scheme.cbc.receive", receive.to_owned()),
                ];
                [&engines(variant, latency)[..], &cbc].concat()
            }
            Scheme::Senss(masks) => vec![("scheme.senss.masks", masks.to_string())],
            Scheme::CxlIde(skid) => {
                vec![("scheme.cxl-ide.release", if skid { "skid" } else { "containment" }.to_owned())]
            }
        };
        config = config.set(&format!("scheme.name={}", self.name()))?;
        settings.iter().try_fold(config, |config, (name, value)| config.set(&format!("{name}={value}")))
    }
}
