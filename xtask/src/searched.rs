//! Of which functions [`crate::generated`] searches the code, and which places in them are accepted.

/// Accepted places, and why: parts of a function's name, of the instruction that reads the byte, and of the indexed
/// one.
const KNOWN: &[(&str, &str, &str, &str)] = &[
    ("sealwright::raw::Raw>::ctr", "(%rdi)", "movslq ", "where to go for a level, in a loop"),
    ("fmt::Debug>::fmt", "", "", "names of suites"),
    ("fmt::Display>::fmt", "", "", "names of suites and errors"),
    ("suite::Suite as core::str::traits::FromStr>", "", "", "names of suites"),
    ("isa::Isa as core::str::traits::FromStr>", "", "", "names of levels"),
    ("grant::Grant::to_bytes", "", "", "the number of a scheme"),
    ("committing::Committing", "(%rsp)", "(%rsp,", "how full a buffer of SHA-2 is"),
    ("committing::Committing::derive", "(%rsp)", "(%rdi)", "how full a buffer of SHA-2 is"),
    ("drbg::hash", "(%rsp)", "(%rsp,", "how full a buffer of SHA-2 is"),
    ("span_hashes::SpanHashes::check", "(%rsp)", "(%rsp,", "how full a buffer of SHA-2 is"),
    ("key::Key::slot_key", "(%rsp)", "(%rdi)", "how full a buffer of SHA-2 is"),
    ("recipient::Recipient::slot", "(%rsp)", "(%rdi)", "how full a buffer of SHA-2 is"),
    ("key::pair::PublicKey as core::str::traits::FromStr>", "(%rsp)", "movslq ", "which kind of key"),
    ("cbc_hmac::CbcHmac", "(%rsp)", "(%rsp,", "how full a buffer of SHA-2 is"),
    ("cipher::hkdf_expand", "(%rsp)", "(%rsp,", "how full a buffer of SHA-2 is"),
    ("ssh::SshSecretKey::parse", "(%rsp)", "", "how full a buffer of the key's derivation is"),
    ("enc::secret::EncSecret::derive", "(%rsp)", "(%r", "how full a buffer of the key's derivation is"),
    ("open::OpenTransfer::unwrapped", "(%rsp)", "(%rsp,", "how full a buffer of SHA-2 is"),
    ("open::Opening::verify", "(%r", "(%rax,", "which kind of key opens"),
    ("seal::Sealing::seal", "(%r", "(%rcx,", "the limits of a suite"),
    ("sealwright_file::sign::verify", "(%rsp)", "(%rsp,", "signatures are public"),
    (
        "gscm::Gscm as sealwright_session::scheme::Scheme>::keyed",
        "(%r",
        "",
        "which of two keys of a cluster, by the epoch",
    ),
    ("table::Table<S>>::all", "(%r", "", "which of two keys of a cluster, by the epoch"),
    ("table::Table<S>>::memory", "(%r", "", "the number of a scheme"),
];

/// Functions that compare public data, and which: part of a function's name.
const PUBLIC: &[(&str, &str)] = &[
    ("suite::Suite as core::str::traits::FromStr>", "names of suites"),
    ("isa::Isa as core::str::traits::FromStr>", "names of levels"),
    (
        "ssh::SshSecretKey::parse",
        "the padding of an OpenSSH key, and its numbers for a check, which are known or random",
    ),
    ("pair::PublicKey as core::str::traits::FromStr>", "public keys"),
    ("pair::PublicKey>::secret_is_in", "how a line begins that holds a key, and public keys"),
    ("key::public::", "how a text begins, which tells what it is"),
    ("sealwright_file::detached::Signature::parse", "how a signature begins"),
    ("sealwright_file::enc::cipher::EncCipher as core::str::traits::FromStr>", "names of ciphers"),
    ("sealwright_file::rekey::Rekeying::run", "marks of recipients, which the file shows"),
    ("sealwright_file::sign::verify", "signatures are public"),
    ("core::ptr::drop_in_place<", "kinds and lengths of what is wiped"),
];

/// Functions that read tables at secret indices, as their names say; only for research.
const VARTIME: &str = "_vartime";

/// A crate of which functions are searched.
struct Searched {
    /// The name in the names of functions.
    name: &'static str,
    /// Its folder in `crates`.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests compare the lists with the sources"))]
    folder: &'static str,
    /// Modules that handle keys, texts and tags. The program's modules also begin with `sealwright::`; so they are named.
    modules: &'static [&'static str],
    /// The other modules: what they handle is not secret, or they only call the former.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests compare the lists with the sources"))]
    others: &'static [&'static str],
}

const SEARCHED: [Searched; 5] = [
    Searched {
        name: "sealwright",
        folder: "aead",
        modules: &[
            "aead",
            "batch",
            "block",
            "committing",
            "compat",
            "counter",
            "drbg",
            "ghash",
            "key",
            "mode",
            "pieces",
            "pointers",
            "random_nonce",
            "raw",
            "sealed",
            "seed_number",
            "simd",
            "suite",
            "tag",
            "wipe",
        ],
        // Documents; the program has an `error`, too.
        others: &["choosing", "coming_from", "error"],
    },
    Searched {
        name: "sealwright_session",
        folder: "session",
        modules: &[
            "account", "batch", "client", "factory", "frame", "ghash", "grant", "material", "packet", "record",
            "replay", "scheme", "schemes", "service", "sessions", "slab", "table",
        ],
        // Names of schemes.
        others: &["error", "spec"],
    },
    Searched {
        name: "sealwright_stream",
        folder: "stream",
        modules: &["chunk", "cipher", "opener", "sealer"],
        others: &["error"],
    },
    Searched {
        name: "sealwright_file",
        folder: "file",
        modules: &[
            "body",
            "detached",
            "enc",
            "identity",
            "key",
            "layout",
            "lock",
            "open",
            "pool",
            "read",
            "reader",
            "recipient",
            "rekey",
            "seal",
            "secret",
            "sign",
            "slots",
            "span",
            "unlock",
            "window",
        ],
        // What a sealed file shows to everybody, names and kinds of files, and where output goes.
        others: &[
            "access",
            "armor",
            "content",
            "costs",
            "error",
            "file_id",
            "form",
            "format",
            "found",
            "input",
            "inspect",
            "list",
            "list_form",
            "of_process",
            "output",
            "preamble",
            "progress",
            "tree",
        ],
    },
    Searched {
        name: "sealwright_capi",
        folder: "capi",
        modules: &["file", "message", "pointer", "provider", "random", "reader", "stream"],
        others: &["error", "fuzz"],
    },
];

/// Whether a function's name, or a type in it, is of a key path.
pub(crate) fn is_ours(function: &str) -> bool {
    is_planted(function)
        || SEARCHED.iter().any(|Searched { name, modules, .. }| {
            let path = format!("{name}::");
            let mut paths = function.match_indices(&path).filter(|(at, _)| {
                // Not the end of another crate's name.
                !function[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
            });
            paths.any(|(at, path)| {
                modules.iter().any(|module| function[at + path.len()..].starts_with(&format!("{module}::")))
            })
        })
}

/// Whether such an indexed read is accepted.
pub(crate) fn is_known(function: &str, from: &str, to: &str) -> bool {
    KNOWN.iter().any(|(name, read, used, _)| function.contains(name) && from.contains(read) && to.contains(used))
}

/// Whether it compares public data.
pub(crate) fn is_public(function: &str) -> bool {
    PUBLIC.iter().any(|(name, _)| function.contains(name))
}

pub(crate) fn is_vartime(function: &str) -> bool {
    function.contains(VARTIME)
}

/// Whether it has a comparison that must be found, in `crates/probes/src/bin/constant_time.rs`.
pub(crate) fn is_planted(function: &str) -> bool {
    function.contains("constant_time::Planted")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    #[test]
    fn each_module_is_searched_or_named_among_the_others() {
        for Searched { folder, modules, others, .. } in &SEARCHED {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(folder).join("src/lib.rs");
            let text = fs::read_to_string(&path).unwrap();
            let declared = text.lines().filter_map(|line| {
                let rest = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ").strip_prefix("mod ")?;
                rest.strip_suffix(';').or_else(|| rest.strip_suffix(" {}"))
            });
            let declared: BTreeSet<&str> = declared.collect();
            let listed: BTreeSet<&str> = modules.iter().chain(*others).copied().collect();
            assert!(declared.len() > 3, "{}: {declared:?}", path.display());
            assert_eq!(declared, listed, "{}: the lists of searched.rs differ from it", path.display());
            assert_eq!(listed.len(), modules.len() + others.len(), "{}: a module is listed twice", path.display());
        }
    }

    #[test]
    fn functions_are_told_by_crate_and_module() {
        for ours in ["sealwright::aead::open", "<sealwright_file::sign::keys::Seed as core::ops::drop::Drop>::drop"] {
            assert!(is_ours(ours), "{ours}");
        }
        for other in
            ["sealwright::verb::seal::run", "other_sealwright::aead::open", "sealwright_file::tree::pack::enter"]
        {
            assert!(!is_ours(other), "{other}");
        }
    }
}
