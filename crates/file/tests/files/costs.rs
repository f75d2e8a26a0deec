//! Passphrase costs that a file must not demand.

use sealwright_file::{Ceiling, Content, Costs, Error, Key, KeySource, Opening, Preamble, Sealing};

use crate::support::*;

/// A file that demands `costs` and that no key opens.
fn asks(costs: Costs) -> Vec<u8> {
    let source = KeySource::Passphrase { costs, salt: [7; 16] };
    let mut bytes = Preamble::new(sealwright::Suite::Aes256Gcm, Content::Bytes, source).to_bytes();
    bytes.extend([0; 56 + 16]);
    bytes
}

/// These costs would take all memory, or days: that the call returns shows that the work was not done.
#[test]
fn hostile_costs_are_refused_before_they_are_spent() {
    let key = Key::passphrase("p").unwrap();
    let most = u32::MAX;
    for (memory_kib, passes, lanes) in
        [(most, 1, 1), (1 << 21, 1, 1), (1024 * 1024 + 1, 3, 4), (8, most, 1), (1 << 20, 17, 1), (1 << 20, 1, 65)]
    {
        let costs = Costs { memory_kib, passes, lanes };
        let (out, done) = opened_by(&Opening::new(&key), &asks(costs));
        let error = done.unwrap_err();
        assert!(out.is_empty() && matches!(error, Error::TooCostly { .. }), "{error}");
        assert_eq!((error.exit_code(), error.hint()), (1, None));
    }
}

#[test]
fn the_ceiling_is_a_choice() {
    let key = Key::passphrase("p").unwrap();
    let costs = Costs { memory_kib: 2048, passes: 1, lanes: 1 };
    let sealed = sealed_by(&Sealing::new(&key).costs(costs), b"text");
    let other = || Key::passphrase("p").unwrap();
    let (_, done) = opened_by(&Opening::new(&other()).ceiling(Ceiling::memory(2047)), &sealed);
    let error = done.unwrap_err().to_string();
    assert_eq!(
        error,
        "the passphrase would cost 2 MiB, 1 passes, 1 lanes, but at most 2047 KiB, 16 passes, 64 lanes is allowed"
    );
    assert_eq!(opened_by(&Opening::new(&other()).ceiling(Ceiling::memory(2048)), &sealed).0, b"text");
}

#[test]
fn defaults_are_sane() {
    let (costs, ceiling) = (Costs::default(), Ceiling::default());
    assert!(costs.are_possible() && ceiling.allows(costs));
    assert_eq!((costs.memory_kib, costs.passes, costs.lanes, ceiling.memory_kib), (256 * 1024, 3, 4, 1024 * 1024));
}

/// Sealing with costs that Argon2 does not allow is refused; they are not rounded.
#[test]
fn impossible_costs_when_sealing() {
    let key = Key::passphrase("p").unwrap();
    let costs = Costs { memory_kib: 4, passes: 1, lanes: 1 };
    let out = sealwright_file::Shared::default();
    let done = Sealing::new(&key)
        .costs(costs)
        .seal(sealwright_file::Input::bytes(b"text", "text"), sealwright_file::Output::writer(out, "memory"));
    assert_eq!(done.unwrap_err().exit_code(), 2);
}
