//! Schemes by name.

use core::{fmt, str::FromStr};

use thiserror::Error;

/// How GHASH is computed, named by the bytes of its table. Those of the paper require the feature `research`: table
/// look-ups are indexed by secrets, so that their time depends on them.
///
/// ```
/// use sealwright_session::Strategy;
///
/// assert_eq!((Strategy::Clmul.name(), Strategy::Clmul.table_bytes()), ("clmul", 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// Without a table, bit by bit.
    #[cfg(feature = "research")]
    Zero = 0,
    /// 256 bytes.
    #[cfg(feature = "research")]
    T256 = 1,
    /// 4 KiB.
    #[cfg(feature = "research")]
    T4k = 2,
    /// 8 KiB.
    #[cfg(feature = "research")]
    T8k = 3,
    /// 64 KiB.
    #[cfg(feature = "research")]
    T64k = 4,
    /// By carry-less multiplication, for which the paper's machine had no instruction.
    Clmul = 5,
}

impl Strategy {
    /// All strategies.
    pub const ALL: &[Strategy] = &[
        #[cfg(feature = "research")]
        Strategy::Zero,
        #[cfg(feature = "research")]
        Strategy::T256,
        #[cfg(feature = "research")]
        Strategy::T4k,
        #[cfg(feature = "research")]
        Strategy::T8k,
        #[cfg(feature = "research")]
        Strategy::T64k,
        Strategy::Clmul,
    ];

    /// The x in the paper's names.
    pub fn name(self) -> &'static str {
        match self {
            #[cfg(feature = "research")]
            Strategy::Zero => "0",
            #[cfg(feature = "research")]
            Strategy::T256 => "256",
            #[cfg(feature = "research")]
            Strategy::T4k => "4k",
            #[cfg(feature = "research")]
            Strategy::T8k => "8k",
            #[cfg(feature = "research")]
            Strategy::T64k => "64k",
            Strategy::Clmul => "clmul",
        }
    }

    /// Bytes of a table, for one direction.
    pub fn table_bytes(self) -> usize {
        match self {
            #[cfg(feature = "research")]
            Strategy::Zero => 0,
            #[cfg(feature = "research")]
            Strategy::T256 => 256,
            #[cfg(feature = "research")]
            Strategy::T4k => 4 << 10,
            #[cfg(feature = "research")]
            Strategy::T8k => 8 << 10,
            #[cfg(feature = "research")]
            Strategy::T64k => 64 << 10,
            Strategy::Clmul => 0,
        }
    }
}

/// A way to store the secrets of a session.
///
/// ```
/// use sealwright_session::{SchemeKind, Spec};
///
/// let spec = Spec { kind: SchemeKind::GcmOn64, long: true };
/// assert_eq!(spec.to_string(), "gcm-on64-256");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemeKind {
    /// Neither encryption nor tags: the paper's NoCrypto, for comparison.
    Clear,
    /// The paper's GCM-Pre(x): round keys and table are stored for each client.
    GcmPre(Strategy),
    /// The paper's GCM-On(x): round keys are computed for each packet, the table is stored.
    GcmOn(Strategy),
    /// The paper's GSCM(x). **Research only: broken against members of the cluster.** Requires the feature `research`.
    #[cfg(feature = "research")]
    Gscm(Strategy),
    /// Hardened GSCM: K2 in the last round, and a GHASH key for each client.
    GscmH,
    /// GCM that stores nothing but the keys: one cache line for each client.
    GcmOn64,
    /// GCM with keys derived for each packet from the server's secret: half a cache line for each client.
    GcmDerived,
}

impl SchemeKind {
    /// The name without its key length, the number in grants, and the strategy.
    fn parts(self) -> (&'static str, u16, Option<Strategy>) {
        match self {
            // Not zero: otherwise a zeroed grant would be one without encryption
            SchemeKind::Clear => ("clear", 7, None),
            SchemeKind::GcmPre(x) => ("gcm-pre", 1, Some(x)),
            SchemeKind::GcmOn(x) => ("gcm-on", 2, Some(x)),
            #[cfg(feature = "research")]
            SchemeKind::Gscm(x) => ("gscm", 3, Some(x)),
            SchemeKind::GscmH => ("gscm-h", 4, None),
            SchemeKind::GcmOn64 => ("gcm-on64", 5, None),
            SchemeKind::GcmDerived => ("gcm-derived", 6, None),
        }
    }

    /// How GHASH is computed, in schemes where it can be chosen.
    pub fn strategy(self) -> Option<Strategy> {
        self.parts().2
    }

    /// Whether it is GSCM as printed in its paper, which is broken: members of a cluster can forge each other's frames.
    /// It requires the feature `research`.
    ///
    /// ```
    /// use sealwright_session::{SchemeKind, Spec};
    ///
    /// assert!(!SchemeKind::GscmH.as_printed());
    /// # if cfg!(feature = "research") {
    /// assert!("gscm(clmul)".parse::<Spec>()?.kind.as_printed());
    /// # }
    /// # Ok::<(), sealwright_session::UnknownSchemeError>(())
    /// ```
    pub fn as_printed(self) -> bool {
        match self {
            #[cfg(feature = "research")]
            SchemeKind::Gscm(_) => true,
            _ => false,
        }
    }
}

/// A scheme and its key length.
///
/// ```
/// use sealwright_session::Spec;
///
/// let spec: Spec = "gcm-derived-256".parse()?;
/// assert_eq!((spec.key_len(), spec.clustered(), spec.research_only()), (32, false, false));
/// # Ok::<(), sealwright_session::UnknownSchemeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The scheme.
    pub kind: SchemeKind,
    /// Whether keys have 256 bits rather than 128. Without encryption there are no keys, and this has no effect.
    pub long: bool,
}

impl Spec {
    /// Every scheme in this build, with both key lengths.
    pub fn all() -> Vec<Spec> {
        let with = |kind: fn(Strategy) -> SchemeKind| Strategy::ALL.iter().copied().map(kind);
        let kinds = [SchemeKind::Clear].into_iter().chain(with(SchemeKind::GcmPre)).chain(with(SchemeKind::GcmOn));
        #[cfg(feature = "research")]
        let kinds = kinds.chain(with(SchemeKind::Gscm));
        kinds
            .chain([SchemeKind::GscmH, SchemeKind::GcmOn64, SchemeKind::GcmDerived])
            .flat_map(|kind| [false, true].map(|long| Spec { kind, long }))
            .filter(|spec| !(spec.long && spec.kind == SchemeKind::Clear))
            .collect()
    }

    /// The equivalent element of [`Spec::all`].
    pub(crate) fn of_all(self) -> Spec {
        Spec { long: self.long && self.kind != SchemeKind::Clear, ..self }
    }

    /// Bytes of a key.
    pub fn key_len(self) -> usize {
        if self.of_all().long { 32 } else { 16 }
    }

    /// The number of AES rounds.
    pub(crate) fn rounds(self) -> usize {
        if self.long { 14 } else { 10 }
    }

    /// Whether the scheme is for measurements only, so that a server must refuse it unless told otherwise: known to be
    /// broken (`gscm`), without encryption (`clear`), or with GHASH by tables, whose time depends on secrets, or bit by
    /// bit, which is slow.
    ///
    /// ```
    /// use sealwright_session::Spec;
    ///
    /// let for_research = |name: &str| name.parse::<Spec>().map(Spec::research_only);
    /// assert_eq!((for_research("gcm-pre(clmul)"), for_research("clear")), (Ok(false), Ok(true)));
    /// ```
    pub fn research_only(self) -> bool {
        let by_hand = self.kind.strategy().is_some_and(|strategy| strategy != Strategy::Clmul);
        self.kind.as_printed() || self.kind == SchemeKind::Clear || by_hand
    }

    /// Whether clients share keys with the other clients of their cluster.
    pub fn clustered(self) -> bool {
        self.kind.as_printed() || self.kind == SchemeKind::GscmH
    }

    /// The round key that the second secondary key replaces, in AES2S; `None` for AES.
    pub(crate) fn second(self) -> Option<usize> {
        match self.kind {
            kind if kind.as_printed() => Some(if self.long { 9 } else { 5 }),
            SchemeKind::GscmH => Some(self.rounds()),
            _ => None,
        }
    }

    /// Whether all clients of a cluster have one GHASH key.
    pub(crate) fn hashes_by_cluster(self) -> bool {
        self.kind.as_printed()
    }

    /// Its number in grants.
    pub(crate) fn id(self) -> u16 {
        let (_, number, strategy) = self.kind.parts();
        u16::from(self.of_all().long) << 15 | number << 8 | strategy.map_or(0, |x| x as u16)
    }

    /// The scheme with this number.
    pub(crate) fn from_id(id: u16) -> Option<Spec> {
        Spec::all().into_iter().find(|spec| spec.id() == id)
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _, strategy) = self.kind.parts();
        f.write_str(name)?;
        if let Some(x) = strategy {
            write!(f, "({})", x.name())?;
        }
        f.write_str(if self.of_all().long { "-256" } else { "" })
    }
}

/// This build has no scheme with the given name.
///
/// ```
/// use sealwright_session::Spec;
///
/// let error = "gcm".parse::<Spec>().unwrap_err();
/// assert!(error.to_string().starts_with("not a scheme: clear, "));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[cfg_attr(
    feature = "research",
    error(
        "not a scheme: clear, gcm-pre(x), gcm-on(x), gscm(x), gscm-h, gcm-on64 or gcm-derived, where x is 0, 256, 4k, \
         8k, 64k or clmul; add -256 for 256-bit keys"
    )
)]
#[cfg_attr(
    not(feature = "research"),
    error(
        "not a scheme: clear, gcm-pre(clmul), gcm-on(clmul), gscm-h, gcm-on64 or gcm-derived; add -256 for 256-bit \
         keys (gscm and GHASH by tables need a build with the feature `research`)"
    )
)]
pub struct UnknownSchemeError;

impl FromStr for Spec {
    type Err = UnknownSchemeError;

    /// Parses a name. `gcm-pre`, `gcm-on` and `gscm` without a strategy mean those with `clmul`.
    fn from_str(name: &str) -> Result<Spec, UnknownSchemeError> {
        let (short, end) = name.strip_suffix("-256").map_or((name, ""), |short| (short, "-256"));
        let whole = match short {
            "gcm-pre" | "gcm-on" | "gscm" => format!("{short}(clmul){end}"),
            _ => name.to_owned(),
        };
        Spec::all().into_iter().find(|spec| spec.to_string() == whole).ok_or(UnknownSchemeError)
    }
}
