//! Every attack succeeds against what is weak and fails against what is strong.
#![allow(clippy::unwrap_used)]

use std::{collections::BTreeSet, fs, path::Path};

use sealwright_attacks::{ATTACKS, Size, by_name};
use sealwright_transcripts::skipped;

/// One test an attack, so that each is seen by itself.
macro_rules! attacks {
    ($($test:ident: $name:literal;)*) => {
        $(#[test]
        fn $test() {
            let report = by_name($name).unwrap().run(Size::Small).unwrap();
            assert!(report.as_expected(), "{report:#?}");
            if let Some(why) = report.not_here {
                skipped(why);
            }
        })*

        #[test]
        fn every_attack_is_tested() {
            let tested = BTreeSet::from([$($name),*]);
            assert_eq!(tested, ATTACKS.iter().map(|attack| attack.name).collect());
        }
    };
}
attacks! {
    gscm_forgery: "gscm-forgery";
    gscm_keys: "gscm-keys";
    gscm_relay: "gscm-relay";
    gscm_second_key: "gscm-second-key";
    even_mansour: "even-mansour";
    even_mansour_slide: "even-mansour-slide";
    rkc_truncation: "rkc-truncation";
    rkc_guess: "rkc-guess";
    rkc_splice: "rkc-splice";
    gcm_nonce_reuse: "gcm-nonce-reuse";
    gcm_short_tag: "gcm-short-tag";
    gcm_two_keys: "gcm-two-keys";
    gcm_partition: "gcm-partition";
    cbc_padding: "cbc-padding";
    cbc_flip: "cbc-flip";
    ocb_nonce_reuse: "ocb-nonce-reuse";
    ocb2_forgery: "ocb2-forgery";
    bus_tamper: "bus-tamper";
    bus_pads: "bus-pads";
    bus_invalidation: "bus-invalidation";
    bus_reorder: "bus-reorder";
    bus_rsa: "bus-rsa";
    bus_stalls: "bus-stalls";
    ghash_timing: "ghash-timing";
    aes_timing: "aes-timing";
}

#[test]
fn every_attack_has_a_page_that_names_it() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/attacks");
    for attack in ATTACKS {
        let page = fs::read_to_string(pages.join(attack.page)).unwrap_or_default();
        assert!(page.contains(&format!("sealwright-lab attack {}", attack.name)), "{}", attack.page);
    }
}

/// Takes minutes: `cargo test --release -p sealwright-attacks -- --ignored --nocapture` prints what each costs.
#[test]
#[ignore = "minutes: `cargo xtask long`"]
fn every_attack_in_full() {
    for attack in ATTACKS {
        let report = attack.run(Size::Full).unwrap();
        println!("{report:#?}");
        assert!(report.as_expected(), "{}", attack.name);
        if let Some(why) = report.not_here {
            skipped(format_args!("{}: {why}", attack.name));
        }
    }
}
