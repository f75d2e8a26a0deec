use super::*;
use crate::scheme::Variant;

#[test]
fn the_matrix_is_as_the_schemes_promise() {
    let cells = run(&Config::default(), Kernel::Fft { m: 8 }, 30, 1).unwrap();
    let cell = |attack, scheme: &str| {
        let found = cells.iter().find(|cell| cell.attack == attack && cell.scheme == scheme);
        &found.unwrap_or_else(|| panic!("{scheme}")).strikes[0]
    };
    for cell in &cells {
        assert!(cell.strikes[0].struck.is_some(), "{cell:?}");
    }
    // Without a scheme nothing is detected, and a changed bit is read
    for attack in Attack::ALL {
        assert_eq!(cell(attack, "clear").detector, None, "{attack}");
    }
    // Only schemes with authenticated commands detect a forged one; all others lose the line that it requests
    for column in columns(&Config::default(), None).unwrap() {
        let cell = cell(Attack::ForgeCommand, &column.name);
        let tags = ["gcm, commands", "cxl-ide", "cxl-ide, skid", "pcie-ide"].contains(&column.name.as_str());
        let found = (cell.detector, cell.later);
        assert_eq!(found, if tags { (Some(Detector::Command), Some(0)) } else { (None, None) }, "{}", column.name);
        assert_eq!(cell.deadlocked + cell.lost_lines as usize > 0, !tags, "{}: {cell:?}", column.name);
    }
    assert!(cell(Attack::Flip, "clear").wrong_reads > 0);
    assert!(cell(Attack::Spoof, "clear").wrong_reads > 0);
    // GCM detects every changed line at once, before it is used
    for attack in [Attack::Flip, Attack::Spoof, Attack::Replay] {
        for scheme in ["gcm", "gcm, commands", "cbc, MAC a line", "cxl-ide", "pcie-ide"] {
            let cell = cell(attack, scheme);
            assert_eq!((cell.detector.is_some(), cell.later, cell.wrong_reads), (true, Some(0), 0), "{cell:?}");
        }
        assert!(cell(attack, "cbc, MAC in 10").detector.is_some(), "{attack}");
    }
    let held = cell(Attack::ReorderPair, "gcm");
    assert!(held.detector.is_none() && held.deadlocked > 0, "whoever waits for the line asks for no later one");
    assert_eq!(cell(Attack::ReorderOther, "gcm").detector, None, "pairs know nothing of each other");
    assert!(cell(Attack::ReorderOther, "gcm, commands").detector.is_some());
    assert!(cell(Attack::Drop, "gcm").deadlocked > 0, "the thesis has nobody who asks again");
    assert!(cell(Attack::Drop, "gcm, commands").detector.is_some());
    assert_eq!(cell(Attack::DropInvalidation, "gcm").detector, None, "commands carry no tag");
    assert_eq!(cell(Attack::DropInvalidation, "gcm, commands").detector, Some(Detector::Command));
}

/// Reordering within a pair needs a later line of the pair in flight: the same line sent again, or that of another
/// miss. Every cell of a matrix has the machine that was asked for.
#[test]
fn a_pair_is_reordered_where_its_lines_can_pass_each_other() {
    let strike = |setting: &str| {
        let base = Config::default().set(setting).unwrap();
        let cells = against(SchemeName::find("gcm").unwrap(), &base, Kernel::Fft { m: 8 }, 30, 1).unwrap();
        let of = |attack| cells.iter().find(|cell| cell.attack == attack && cell.scheme == "gcm").unwrap();
        (of(Attack::ReorderPair).strikes[0].clone(), of(Attack::Drop).strikes[0].clone())
    };
    let (held, dropped) = strike("bus.timeout=0");
    assert_eq!((held.detector, dropped.detector), (None, None));
    let (held, dropped) = strike("bus.timeout=20000");
    assert_eq!((held.detector, dropped.detector), (Some(Detector::Tag), Some(Detector::Tag)));
    let (held, dropped) = strike("machine.mshrs=4");
    assert_eq!((held.detector, dropped.detector), (Some(Detector::Tag), Some(Detector::Tag)));
    assert!(held.later.is_some_and(|later| later < 30), "{held:?}");
}

#[test]
fn the_median_of_an_even_number_is_between_the_two_in_the_middle() {
    let words = |later: &[u64]| {
        let strike = |later: &u64| Strike {
            struck: Some(30),
            detector: Some(Detector::Mac),
            later: Some(*later),
            wrong_reads: 0,
            deadlocked: 0,
            lost_lines: 0,
        };
        let strikes = later.iter().map(strike).collect();
        Cell { attack: Attack::Flip, scheme: "senss".into(), strikes }.words()
    };
    assert_eq!(words(&[9, 1, 4, 7]), "1 to 9 later, median 5.5 (MAC)");
    assert_eq!(words(&[9, 1]), "1 to 9 later, median 5 (MAC)");
    assert_eq!(words(&[9, 1, 7]), "1 to 9 later, median 7 (MAC)");
}

#[test]
fn without_an_attacker_no_detector_raises_an_alarm() {
    let found = false_alarms(&Config::default(), Kernel::Radix { m: 9 }, 2).unwrap();
    assert_eq!(found.len(), columns(&Config::default(), None).unwrap().len());
    for alarms in found {
        assert!(alarms.alarms == 0 && alarms.looked_at > 200, "{alarms:?}");
    }
}

#[test]
fn a_distribution_shows_what_one_strike_hides() {
    let cbc = SchemeName::find("cbc").unwrap();
    let cells = against(cbc, &Config::default(), Kernel::Fft { m: 8 }, 20, 12).unwrap();
    assert!(cells.iter().all(|cell| cell.scheme.starts_with("cbc")), "one scheme alone");
    let found = cells.iter().find(|cell| cell.attack == Attack::Flip && cell.scheme == "cbc, MAC in 10");
    let later: Vec<u64> = found.unwrap().strikes.iter().filter_map(|strike| strike.later).collect();
    assert!(later.len() > 8 && later.iter().max() > later.iter().min(), "{later:?}");
    assert!(found.unwrap().words().contains(" to "), "{}", found.unwrap().words());
}

#[test]
fn a_mac_in_ten_lines_of_one_chain_detects_within_ten_transfers() {
    let base = Config::default().set("scheme.cbc.scope=group").unwrap();
    for cell in against(SchemeName::find("cbc").unwrap(), &base, Kernel::Fft { m: 8 }, 30, 6).unwrap() {
        let changes = matches!(cell.attack, Attack::Flip | Attack::Spoof | Attack::Replay);
        for strike in cell.strikes.iter().filter(|_| changes && cell.scheme == "cbc, MAC in 10") {
            assert!(strike.later.is_some_and(|later| later <= 10), "{} {strike:?}", cell.attack);
        }
    }
}

/// No protection and encryption alone detect nothing; a MAC detects all but old lines; a tree detects everything.
#[test]
fn attacks_on_memory() {
    let cells = memory(&Config::default(), Kernel::Fft { m: 8 }, 20, 3).unwrap();
    assert_eq!(cells.len(), 12);
    for cell in cells {
        assert!(cell.strikes.iter().all(|strike| strike.struck.is_some()), "{}: {}", cell.scheme, cell.attack);
        let detected = cell.strikes.iter().filter(|strike| strike.detector.is_some()).count();
        let finds = match cell.scheme.as_str() {
            "tree" => true,
            "xts-mac" => cell.attack != Attack::MemoryReplay,
            _ => false,
        };
        assert_eq!(detected, if finds { 3 } else { 0 }, "{}: {}: {:?}", cell.scheme, cell.attack, cell.strikes);
        let wrong: u64 = cell.strikes.iter().map(|strike| strike.wrong_reads).sum();
        assert_eq!(wrong == 0, finds, "{}: {}", cell.scheme, cell.attack);
    }
}

/// A column differs from the machine that was asked for in its scheme alone, and no setting of it is ignored.
#[test]
fn columns_are_the_machine_that_was_asked_for() {
    let base = Config::default().set("bus.timeout=700").unwrap();
    for column in columns(&base, None).unwrap() {
        let mut config = column.config;
        assert_eq!(config.bus.timeout, 700, "{}", column.name);
        config.scheme = base.scheme.clone();
        assert_eq!(config, base, "{}", column.name);
    }
    for scheme in REGISTRY {
        let name = SchemeName::find(scheme.name);
        let names: Vec<String> = columns(&base, name).unwrap().into_iter().map(|column| column.name).collect();
        assert_eq!(names, scheme.columns.iter().map(|variant| variant.name).collect::<Vec<_>>());
        let set = |variant: &Variant| variant.settings.iter().map(|set| set.split('=').next()).collect::<Vec<_>>();
        assert!(scheme.columns.iter().all(|variant| set(variant) == set(&scheme.columns[0])), "{}", scheme.name);
        for setting in scheme.columns.iter().flat_map(|variant| variant.settings) {
            let base = base.set(setting).unwrap();
            match columns(&base, name) {
                Ok(_) => assert!(scheme.columns[0].settings.contains(setting), "{setting} had no effect"),
                Err(why) => assert!(why.to_string().contains("apart, so it cannot be set for them"), "{why}"),
            }
            // It may be set where the scheme is not among the columns
            columns(&base, Some(SchemeName::CLEAR)).unwrap();
        }
    }
    let base = base.set("scheme.cbc.authenticate=10").unwrap();
    let why = columns(&base, SchemeName::find("cbc")).unwrap_err().to_string();
    assert!(why.starts_with("scheme.cbc.authenticate tells \"cbc, MAC a line\" and \"cbc, MAC in 10\" apart"), "{why}");
}
