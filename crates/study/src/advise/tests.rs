#![allow(clippy::unwrap_used)]
use sealwright_measure::Interval;

use super::{
    example::{PLAIN, bench},
    *,
};
use crate::{
    quantity::{Kind, Quantity},
    results::Results,
    study::Outcome,
};

/// Advice from a bench alone.
fn advise(question: &Question, bench: Option<&Report>) -> Advice {
    super::advise(question, Measured { bench, sessions: None })
}

#[test]
fn gcm_unless_ocb_is_faster_by_a_quarter_beyond_doubt() {
    let suite = |question, factor: f64| advise(&question, Some(&bench(factor))).suite;
    let without = Question { hardware: false, ..PLAIN };
    assert_eq!(suite(PLAIN, 3.0), "aes-256-gcm");
    assert_eq!(suite(without, 3.0), "aes-256-ocb");
    assert_eq!(suite(without, 1.2), "aes-256-gcm");
    // 1.26 times the median, but the intervals reach to less
    assert_eq!(suite(without, 1.26), "aes-256-gcm");
    assert_eq!(advise(&without, None).suite, "aes-256-gcm");
}

#[test]
fn the_figures_are_those_measured() {
    let found = advise(&Question { bytes: 1400, ..PLAIN }, Some(&bench(1.0)));
    let figure = |what: &str| found.numbers.iter().find(|(name, _)| name.starts_with(what)).unwrap().1.clone();
    assert_eq!(figure("aes-256-gcm seals, at 1500 bytes"), "10.0 [9.9, 10.1] GB/s");
    assert_eq!(figure("messages sealed per second"), "6.67 [6.60, 6.73] million");
    assert_eq!(figure("additional bytes in a message"), "16 (1.1 % of 1400)");
    let found = advise(&PLAIN, None);
    assert!(found.numbers.iter().all(|(_, figure)| !figure.contains("GB/s")));
    assert!(found.mind.iter().any(|line| line.contains("sealwright-lab study bench")));
}

#[test]
fn keys_are_kept_ready_while_they_fit_into_the_cache() {
    let scheme = |sessions| advise(&Question { sessions, ..PLAIN }, Some(&bench(1.0))).scheme;
    assert_eq!(scheme(1), Scheme::One);
    assert_eq!(scheme(100), Scheme::Kept);
    assert_eq!(scheme(10_000_000), Scheme::KeysOnly);
    // What keeps only keys is GCM's, however fast OCB is
    let many = Question { sessions: 10_000_000, hardware: false, ..PLAIN };
    assert_eq!(advise(&many, Some(&bench(3.0))).suite, "aes-256-gcm");
    let most = (32 << 20) / ready_bytes(Suite::Aes256Gcm, true);
    assert_eq!((scheme(most), scheme(most + 1)), (Scheme::Kept, Scheme::KeysOnly));
}

/// Results of the sessions study: stored keys take 100 ns, computed ones as many as `computed`.
fn sessions(level: &str, computed: f64) -> Results {
    let quantity = |scheme: &str, ns: f64| Quantity {
        name: format!("nanoseconds of a packet/{scheme}/1500/100000"),
        scope: format!("every scheme, {level}"),
        kind: Kind::Measured,
        figure: Interval::new(ns, ns * 0.99, ns * 1.01),
        once: false,
    };
    let quantities = vec![quantity("gcm-pre(clmul)", 100.0), quantity("gcm-on64", computed)];
    let outcome = Outcome { quantities, ..Outcome::default() };
    let mut results = Results::new("sessions", true, std::time::Duration::from_secs(1), outcome);
    results.machine.levels = vec!["portable".into(), "avx2".into()];
    results
}

#[test]
fn what_was_measured_of_sessions_decides() {
    let ask = |hardware, level: &str, computed: f64| {
        let results = sessions(level, computed);
        let question = Question { sessions: 100, hardware, ..PLAIN };
        super::advise(&question, Measured { bench: None, sessions: Some(&results) })
    };
    assert_eq!(ask(true, "avx2", 50.0).scheme, Scheme::KeysOnly);
    assert_eq!(ask(true, "avx2", 500.0).scheme, Scheme::Kept);
    let said = ask(true, "avx2", 50.0);
    assert!(
        said.why.iter().any(|line| line.contains("100 [99, 101] ns") && line.contains("50.0 [49.5, 50.5] ns")),
        "{said:?}"
    );
    assert!(said.mind.iter().all(|line| !line.contains("not measured")), "{said:?}");
    // A processor without instructions is not advised by figures of one that has them
    let without = ask(false, "avx2", 50.0);
    assert!(without.mind.iter().any(|line| line.contains("is not measured")), "{without:?}");
    assert_eq!(ask(false, "portable", 50.0).scheme, Scheme::KeysOnly);
}

#[test]
fn memory_is_that_of_the_scheme_it_names() {
    let found = advise(&Question { sessions: 10_000_000, ..PLAIN }, Some(&bench(1.0)));
    assert!(found.scheme_words.contains("gcm-on64-256"));
    let memory = &found.numbers.iter().find(|(what, _)| what.starts_with("memory")).unwrap().1;
    assert_eq!(*memory, amount::rounded(keys_only_bytes() * 10_000_000));
    assert!(keys_only_bytes() > 64, "two keys of 256 bits, and counters");
}

#[test]
fn commitment_and_misuse_take_a_key_for_each_message() {
    for (misuse, commit) in [(true, false), (false, true), (true, true)] {
        for sessions in [1, 10_000_000] {
            let found = advise(&Question { misuse, commit, sessions, ..PLAIN }, Some(&bench(1.0)));
            assert_eq!(found.scheme, Scheme::Sealed);
            let says = |word: &str| found.why.iter().any(|line| line.contains(word));
            assert_eq!((says("Nobody chooses a nonce"), says("do not commit")), (misuse, commit));
        }
    }
}

#[test]
fn sealed_files_have_as_many_bytes_beyond_the_text_as_is_said() {
    // The example of docs/FORMAT.md: a text of 20 bytes, one tag
    assert_eq!(SEALED + 20 + Suite::Aes256Gcm.tag_len(), 108);
}
