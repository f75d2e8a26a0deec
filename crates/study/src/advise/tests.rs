#![allow(clippy::unwrap_used)]
use sealwright_measure::Interval;

use super::{
    example::{PLAIN, bench},
    *,
};
use crate::{
    quantity::{Quantity, QuantityKind},
    results::Results,
    study::Outcome,
};

/// Advice based only on a bench.
fn advise(question: &Question, bench: Option<&Report>) -> Advice {
    super::advise(question, Measured { bench, sessions: None })
}

/// Each row of the table in `docs/CHOOSING.md` with the question that it answers, and the answers of both: the suite
/// and how it is called.
#[test]
fn the_advice_is_that_of_the_document() {
    let document = include_str!("../../../../docs/CHOOSING.md");
    let (without, misuse, commit) =
        (Question { hardware: false, ..PLAIN }, Question { misuse: true, ..PLAIN }, Question { commit: true, ..PLAIN });
    let portable = "the processor has no AES instructions";
    let repeated = "nonces may repeat by mistake";
    let committing = "the same, and it must not open under a second key";
    let table = [
        (PLAIN, "a connection whose key comes", ["aes-256-gcm", "AES-256-GCM", "`Sealer`"]),
        (misuse, repeated, ["aes-256-gcm-siv", "AES-GCM-SIV", "`mode::gcm_siv`"]),
        (Question { sessions: 1000, ..misuse }, repeated, ["aes-256-gcm-siv", "AES-GCM-SIV", "`mode::gcm_siv`"]),
        (commit, committing, ["aes-256-gcm", "", "`RandomNonceKey::committing`"]),
        (Question { misuse: true, ..commit }, committing, ["aes-256-gcm", "", "`RandomNonceKey::committing`"]),
        (without, portable, ["chacha20-poly1305", "ChaCha20-Poly1305", ""]),
        (Question { sessions: 1000, ..without }, portable, ["chacha20-poly1305", "ChaCha20-Poly1305", ""]),
        (
            Question { misuse: true, ..without },
            portable,
            ["xchacha20-poly1305", "", "`RandomNonceKey::xchacha20_poly1305`"],
        ),
        (Question { commit: true, ..without }, committing, ["chacha20-poly1305", "", "`RandomNonceKey::committing`"]),
        (Question { sessions: 10_000_000, bytes: 40, ..PLAIN }, "very many clients", ["aes-256-gcm", "", "session"]),
    ];
    for (question, row, [suite, name, call]) in table {
        let row = document.lines().find_map(|line| line.strip_prefix("| ")?.starts_with(row).then_some(line)).unwrap();
        let take = row.split(" | ").nth(1).unwrap();
        assert!(take.contains(name) && take.contains(call), "{take}: {name}, {call}");
        // With figures and without; in these figures OCB is not faster
        for bench in [None, Some(&bench(1.0))] {
            let found = advise(&question, bench);
            assert_eq!(found.suite, suite, "{question:?}");
            assert!(found.scheme_words.contains(call), "{question:?}: {}", found.scheme_words);
        }
    }
}

#[test]
fn gcm_unless_ocb_is_faster_by_a_quarter_beyond_doubt() {
    let suite = |question, factor: f64| advise(&question, Some(&bench(factor))).suite;
    assert_eq!(suite(PLAIN, 3.0), "aes-256-ocb");
    assert_eq!(suite(PLAIN, 1.2), "aes-256-gcm");
    // 1.26 times by the medians, but the lower ends of the intervals are below 1.25
    assert_eq!(suite(PLAIN, 1.26), "aes-256-gcm");
    assert_eq!(advise(&PLAIN, None).suite, "aes-256-gcm");
    // Without AES instructions, OCB is not considered
    assert_eq!(suite(Question { hardware: false, ..PLAIN }, 3.0), "chacha20-poly1305");
    assert_eq!(suite(Question { misuse: true, ..PLAIN }, 3.0), "aes-256-gcm-siv");
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
    // The keys-only scheme uses GCM, however fast OCB is
    let many = Question { sessions: 10_000_000, ..PLAIN };
    assert_eq!(advise(&many, Some(&bench(3.0))).suite, "aes-256-gcm");
    let most = (32 << 20) / ready_bytes(Suite::Aes256Gcm.into(), true);
    assert_eq!((scheme(most), scheme(most + 1)), (Scheme::Kept, Scheme::KeysOnly));
}

/// Results of the sessions study in which stored keys take 100 ns, and computed keys `computed` ns.
fn sessions(level: &str, computed: f64) -> Results {
    let quantity = |scheme: &str, ns: f64| Quantity {
        name: format!("nanoseconds of a packet/{scheme}/1500/100000"),
        scope: format!("every scheme, {level}"),
        kind: QuantityKind::Measured,
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
        let question = Question { sessions: 100_000, hardware, ..PLAIN };
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
    // The measured scheme is GCM, which is not advised without AES instructions
    for without in [ask(false, "avx2", 50.0), ask(false, "portable", 50.0)] {
        assert_eq!(without.scheme, Scheme::Kept);
        assert!(without.why.iter().all(|line| !line.contains("Measured with")), "{without:?}");
    }
}

/// The tables of 100,000 sessions do not fit into any cache, those of two sessions do.
#[test]
fn a_measurement_of_many_sessions_decides_nothing_of_few() {
    let ask = |sessions, computed: f64| {
        let results = self::sessions("avx2", computed);
        let (question, bench) = (Question { sessions, ..PLAIN }, bench(1.0));
        super::advise(&question, Measured { bench: Some(&bench), sessions: Some(&results) })
    };
    for (sessions, computed, scheme) in [
        (2, 50.0, Scheme::Kept),
        (5000, 50.0, Scheme::Kept),
        (25_000, 50.0, Scheme::KeysOnly),
        (400_000, 50.0, Scheme::KeysOnly),
        // The advantage of computing grows with the number of sessions, that of storing as it shrinks
        (10_000_000, 50.0, Scheme::KeysOnly),
        (2, 500.0, Scheme::Kept),
        (400_000, 500.0, Scheme::Kept),
        (10_000_000, 500.0, Scheme::KeysOnly),
    ] {
        let found = ask(sessions, computed);
        assert_eq!(found.scheme, scheme, "{sessions} sessions, {computed} ns");
        let measured = found.why.iter().any(|line| line.contains("Measured with 100000 sessions"));
        let nearest = found.mind.iter().any(|line| line.contains("100000 sessions at the nearest"));
        let tells = (25_000..=400_000).contains(&sessions) || (sessions > 400_000) == (computed < 100.0);
        assert_eq!((measured, nearest), (tells, !tells), "{sessions} sessions, {computed} ns: {found:?}");
    }
}

/// The document names OCB3 only under the condition under which it is advised, and its own figures do not meet the
/// condition.
#[test]
fn ocb3_is_named_where_it_is_advised() {
    let document = include_str!("../../../../docs/CHOOSING.md");
    let row = document.lines().find(|line| line.contains("| AES-256-OCB3 |")).unwrap();
    let percent = format!("{:.0} %", 100.0 * (FASTER - 1.0));
    assert!(row.contains(&percent) && row.contains("both ends"), "{row}");
    let times = |suite: &str| -> Vec<f64> {
        let line = document.lines().find(|line| line.starts_with(&format!("{suite} "))).unwrap();
        line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    let (gcm, ocb) = (times("aes-256-gcm"), times("aes-256-ocb"));
    assert_eq!((gcm.len(), ocb.len()), (5, 5));
    // Each row has two times in nanoseconds, then speeds
    assert!(ocb[0] > gcm[0] && ocb[1] > gcm[1] && document.contains("on short messages GCM is ahead"));
    let ahead = [2, 3].map(|at| 100.0 * (ocb[at] / gcm[at] - 1.0));
    let said = format!("by {:.0} and {:.0} %", ahead[0], ahead[1]);
    assert!(document.contains(&said), "{said}");
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
fn what_each_need_costs_is_said() {
    for (misuse, commit, extra) in [(true, false, 16), (false, true, 72), (true, true, 72)] {
        for sessions in [1, 10_000_000] {
            let found = advise(&Question { misuse, commit, sessions, ..PLAIN }, Some(&bench(1.0)));
            let (_, bytes) = found.numbers.iter().find(|(what, _)| what.starts_with("additional bytes")).unwrap();
            assert!(bytes.starts_with(&format!("{extra} ")), "{bytes}");
            let says = |word: &str| found.why.iter().any(|line| line.contains(word));
            assert_eq!((says("No nonce is chosen"), says("No suite commits")), (misuse && commit, commit));
            assert_eq!(says("when a nonce comes twice"), misuse && !commit);
            assert_eq!(found.mind.iter().any(|line| line.contains("XAES-256-GCM")), misuse && !commit);
            // As docs/SECURITY.md says, random nonces do not withstand a restored snapshot.
            assert_eq!(found.mind.iter().any(|line| line.contains("snapshot")), misuse);
        }
    }
    let without = Question { hardware: false, misuse: true, ..PLAIN };
    assert_eq!(additional(Scheme::Random, Suite::ChaCha20Poly1305.into()), 24 + 16);
    assert!(advise(&without, None).why.iter().any(|line| line.contains("24 random bytes")));
}
