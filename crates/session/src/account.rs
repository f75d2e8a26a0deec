//! The paper's bytes per client (table 2), and the formula that yields each of them.

use crate::spec::{SchemeKind, Spec};

/// Gladman's context of GCM without keys and tables, in both directions: counter, encrypted counter, hash of header and
/// of text, h, four numbers of 4 bytes, and 4 bytes of AES state.
const CONTEXT_BYTES: usize = 2 * (5 * 16 + 4 * 4 + 4);

/// The number that the paper prints for one of its schemes; none for other schemes.
///
/// * GCM-Pre(x): two contexts, two schedules of 10 or 14 rounds, two tables of x bytes.
/// * GCM-On(x): two contexts, each key twice (unchanged, and as modified during the rounds), two tables.
/// * GSCM(x): 128, for every x.
///
/// ```
/// use sealwright_session::{Spec, paper_bytes};
///
/// assert_eq!(paper_bytes("gcm-pre(4k)".parse()?), Some(8744));
/// assert_eq!(paper_bytes("gcm-on64".parse()?), None); // ours
/// # Ok::<(), sealwright_session::UnknownSchemeError>(())
/// ```
pub fn paper_bytes(spec: Spec) -> Option<usize> {
    match spec.kind {
        SchemeKind::GcmPre(x) => Some(CONTEXT_BYTES + 2 * 16 * (spec.rounds() + 1) + 2 * x.table_bytes()),
        SchemeKind::GcmOn(x) => Some(CONTEXT_BYTES + 2 * 2 * spec.key_len() + 2 * x.table_bytes()),
        SchemeKind::Gscm(_) => Some(128),
        SchemeKind::Clear | SchemeKind::GscmH | SchemeKind::GcmOn64 | SchemeKind::GcmDerived => None,
    }
}
