//! What a configuration may and must say.

use super::*;

const LEAST: &str = "frames = '127.0.0.1:1'\ncontrol = '127.0.0.1:2'\n\
    [tls]\nauthority = 'a.pem'\ncertificate = 'c.pem'\nkey = '/k/c.key'\n";

fn read(text: &str) -> Result<Config, String> {
    Config::parse(text, Path::new("/etc/sealwright")).map_err(|error| error.to_string())
}

#[test]
fn the_least_there_can_be() {
    let config = read(LEAST).expect("enough");
    assert_eq!((config.sessions, config.scheme.to_string(), config.metrics), (100_000, "gcm-on64".into(), None));
    assert_eq!(config.tls.authority, Path::new("/etc/sealwright/a.pem"));
    assert_eq!(config.tls.key, Path::new("/k/c.key"));
}

#[test]
fn what_cannot_be_is_refused_with_its_name() {
    let wrong = |line: &str, part: &str| {
        let (top, tls) = LEAST.split_at(LEAST.find("[tls]").expect("a table"));
        let text = if line.starts_with('[') { format!("{top}{tls}{line}") } else { format!("{top}{line}\n{tls}") };
        let why = read(&text).expect_err(line);
        assert!(why.contains(part), "{line}: {why}");
    };
    wrong("scheme = 'rot13'", "scheme");
    wrong("scheme = 'clear'", "seals nothing");
    wrong("scheme = 'gscm(4k)'", "research = true");
    wrong("threads = 0", "threads");
    wrong("sessions = 0", "sessions");
    wrong("node = 16", "node must be at most 15");
    wrong("cluster_sessions = 0", "cluster_sessions");
    wrong("public = 'relay.example'", "host and a port");
    wrong("colour = 'red'", "colour");
    wrong("drain_seconds = -1", "drain_seconds");
    wrong("[limits]\nqueue_kib = 1", "queue_kib");
    wrong("[limits]\nhandshakes_per_second = 0", "handshakes_per_second");
    wrong("clients = ['alice', 'bob', 'Alice']", "\"alice\" is there twice");
    wrong("clients = ['*.x', 'a b']", "\"a b\" is not a DNS name");
    wrong("clients = ['*']", "\"*\" is not a DNS name");
    wrong("clients_file = 'missing.txt'", "/etc/sealwright/missing.txt: No such file or directory");
    wrong("[[rules]]\nfrom = ['a']\nto = ['b']", "there are no tenants");
    wrong("[tenants]\na = ['*.x']\nb = ['1.x']", "\"*.x\" and \"1.x\" are of different tenants");
    wrong("[tenants]\na = ['x']\n[[rules]]\nfrom = ['a b']\nto = ['b']", "\"a b\" is not a DNS name");
    wrong("[limits]\nreplay_window = 1081", "replay_window must be at most 1080");
    wrong("[limits]\nidle_seconds = 0", "idle_seconds");
    wrong("[limits]\nconnections_from_one_address = 0", "connections_from_one_address");
    wrong("[limits]\nsessions_of_one_certificate = 0", "sessions_of_one_certificate");
    // Tables that are looked up by secrets
    for scheme in ["gcm-pre(4k)", "gcm-on(256)", "gcm-on(0)"] {
        wrong(&format!("scheme = '{scheme}'"), "research = true");
    }
}

#[test]
fn shares_and_windows_have_defaults() {
    let config = read(LEAST).expect("enough");
    assert_eq!((config.settings.max_from_one, config.control_limits.open.sessions), (2048, 50_000));
    assert!(config.wide_window && config.plan(1).wide_window && config.policy.is_open());
    let narrow = read(&format!("{LEAST}[limits]\nreplay_window = 56\n")).expect("less memory");
    assert!(!narrow.wide_window);
}

#[test]
fn names_are_lower_case() {
    let config = read(&format!("clients = ['Alice', '*.Load.test']\n{LEAST}")).expect("names");
    assert_eq!(config.clients, ["alice", "*.load.test"]);
}

#[test]
fn constant_time_schemes_need_no_permission() {
    for scheme in ["gcm-on64", "gcm-derived", "gcm-pre(clmul)", "gcm-on(clmul)-256"] {
        read(&format!("scheme = '{scheme}'\n{LEAST}")).expect(scheme);
    }
}

#[cfg(feature = "research")]
#[test]
fn a_scheme_that_is_refused_is_refused_for_its_own_reason() {
    for (scheme, why) in [("gcm-pre(0)", "bit by bit"), ("gcm-on(4k)", "tables by secrets"), ("gscm(0)", "forge")] {
        let error = read(&format!("scheme = '{scheme}'\n{LEAST}")).expect_err(scheme).to_string();
        assert!(error.contains(why), "{scheme}: {error}");
    }
}

#[test]
fn a_scheme_for_research_must_be_meant() {
    let text = format!("scheme = 'gscm(4k)'\nresearch = true\n{LEAST}");
    assert!(read(&text).expect("meant").scheme.research_only());
}
