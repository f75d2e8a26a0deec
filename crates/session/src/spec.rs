//! The schemes by name.

use core::{fmt, str::FromStr};

/// How GHASH is computed, by the bytes that its table takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Without a table, bit by bit.
    Zero,
    /// 256 bytes.
    T256,
    /// 4 KiB.
    T4k,
    /// 8 KiB.
    T8k,
    /// 64 KiB.
    T64k,
    /// By carry-less multiplication, an instruction that the paper's machine did not have.
    Clmul,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Strategy; 6] =
        [Strategy::Zero, Strategy::T256, Strategy::T4k, Strategy::T8k, Strategy::T64k, Strategy::Clmul];

    /// The x of the paper's names.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Zero => "0",
            Strategy::T256 => "256",
            Strategy::T4k => "4k",
            Strategy::T8k => "8k",
            Strategy::T64k => "64k",
            Strategy::Clmul => "clmul",
        }
    }

    /// Bytes of a table, one direction.
    pub fn table_bytes(self) -> usize {
        match self {
            Strategy::Zero | Strategy::Clmul => 0,
            Strategy::T256 => 256,
            Strategy::T4k => 4 << 10,
            Strategy::T8k => 8 << 10,
            Strategy::T64k => 64 << 10,
        }
    }
}

/// A way to keep the secrets of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No encryption and no tag: the paper's NoCrypto, to measure what the others cost.
    Clear,
    /// The paper's GCM-Pre(x): round keys and table kept for each client.
    GcmPre(Strategy),
    /// The paper's GCM-On(x): round keys made for each packet, the table kept.
    GcmOn(Strategy),
    /// The paper's GSCM(x). **Research only: broken against members of the cluster.**
    Gscm(Strategy),
    /// GSCM hardened: K2 in the last round, a GHASH key a client.
    GscmH,
    /// GCM with nothing kept but the keys: a cache line a client.
    GcmOn64,
    /// GCM with keys derived for each packet from the server's secret: half a cache line a client.
    GcmDerived,
}

/// A scheme and the length of its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The scheme.
    pub kind: Kind,
    /// Whether keys have 256 bits; else they have 128.
    pub long: bool,
}

impl Spec {
    /// Every scheme with either length of key.
    pub fn all() -> Vec<Spec> {
        let with = |kind: fn(Strategy) -> Kind| Strategy::ALL.map(kind);
        let kinds = [Kind::Clear]
            .into_iter()
            .chain(with(Kind::GcmPre))
            .chain(with(Kind::GcmOn))
            .chain(with(Kind::Gscm))
            .chain([Kind::GscmH, Kind::GcmOn64, Kind::GcmDerived]);
        kinds
            .flat_map(|kind| [false, true].map(|long| Spec { kind, long }))
            .filter(|spec| !(spec.long && spec.kind == Kind::Clear))
            .collect()
    }

    /// Bytes of a key.
    pub fn key_len(self) -> usize {
        if self.long { 32 } else { 16 }
    }

    /// Rounds of AES.
    pub(crate) fn rounds(self) -> usize {
        if self.long { 14 } else { 10 }
    }

    /// Whether the scheme is known to be broken, and here for research only.
    pub fn research_only(self) -> bool {
        matches!(self.kind, Kind::Gscm(_) | Kind::Clear)
    }

    /// Whether clients share keys with those of their cluster.
    pub fn clustered(self) -> bool {
        matches!(self.kind, Kind::Gscm(_) | Kind::GscmH)
    }

    /// The round key that a second secondary key replaces, in AES2S; none in AES.
    pub(crate) fn second(self) -> Option<usize> {
        match self.kind {
            Kind::Gscm(_) => Some(if self.long { 9 } else { 5 }),
            Kind::GscmH => Some(self.rounds()),
            _ => None,
        }
    }

    /// Whether all clients of a cluster have one GHASH key.
    pub(crate) fn hashes_by_cluster(self) -> bool {
        matches!(self.kind, Kind::Gscm(_))
    }

    /// Its number in grants.
    pub(crate) fn id(self) -> u16 {
        let (kind, strategy) = match self.kind {
            Kind::Clear => (0, None),
            Kind::GcmPre(x) => (1, Some(x)),
            Kind::GcmOn(x) => (2, Some(x)),
            Kind::Gscm(x) => (3, Some(x)),
            Kind::GscmH => (4, None),
            Kind::GcmOn64 => (5, None),
            Kind::GcmDerived => (6, None),
        };
        u16::from(self.long) << 15 | kind << 8 | strategy.map_or(0, |x| x as u16)
    }

    /// The scheme of a number.
    pub(crate) fn from_id(id: u16) -> Option<Spec> {
        Spec::all().into_iter().find(|spec| spec.id() == id)
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Clear => f.write_str("clear")?,
            Kind::GcmPre(x) => write!(f, "gcm-pre({})", x.name())?,
            Kind::GcmOn(x) => write!(f, "gcm-on({})", x.name())?,
            Kind::Gscm(x) => write!(f, "gscm({})", x.name())?,
            Kind::GscmH => f.write_str("gscm-h")?,
            Kind::GcmOn64 => f.write_str("gcm-on64")?,
            Kind::GcmDerived => f.write_str("gcm-derived")?,
        }
        f.write_str(if self.long { "-256" } else { "" })
    }
}

/// No scheme has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownScheme;

impl fmt::Display for UnknownScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "not a scheme: clear, gcm-pre(x), gcm-on(x), gscm(x), gscm-h, gcm-on64 or gcm-derived, \
             x being 0, 256, 4k, 8k, 64k or clmul; -256 behind it for 256-bit keys",
        )
    }
}
impl core::error::Error for UnknownScheme {}

impl FromStr for Spec {
    type Err = UnknownScheme;

    /// Reads a name; without its x a scheme is that of `clmul`.
    fn from_str(name: &str) -> Result<Spec, UnknownScheme> {
        let (short, end) = name.strip_suffix("-256").map_or((name, ""), |short| (short, "-256"));
        let whole = match short {
            "gcm-pre" | "gcm-on" | "gscm" => format!("{short}(clmul){end}"),
            _ => name.to_owned(),
        };
        Spec::all().into_iter().find(|spec| spec.to_string() == whole).ok_or(UnknownScheme)
    }
}
