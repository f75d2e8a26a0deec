//! Valid and invalid configurations.

use super::*;

const LEAST: &str = "frames = '127.0.0.1:1'\ncontrol = '127.0.0.1:2'\n\
    [tls]\nauthority = 'a.pem'\ncertificate = 'c.pem'\nkey = '/k/c.key'\n";

fn read(text: &str) -> Result<Config, String> {
    Config::parse(text, Path::new("/etc/sealwright"))
        .map_err(|why| format!("{why}; {}", why.hint().unwrap_or_default()))
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
    wrong("scheme = 'rot13'", "no such scheme; there are gcm-pre(clmul), gcm-on(clmul), gscm-h, gcm-on64, gcm-derived");
    wrong("udp = 'nohost:7600'", "udp: an IP address and a port are needed, such as 192.0.2.1:7600");
    wrong("scheme = 'clear'", "seals nothing");
    wrong("scheme = 'gscm(4k)'", "research = true");
    wrong("threads = 0", "threads must be");
    wrong("sessions = 0", "sessions");
    wrong("node = 16", "node must be at most 15");
    wrong("cluster_sessions = 0", "cluster_sessions");
    wrong("public = 'relay.example'", "host and a port");
    wrong("colour = 'red'", "colour");
    wrong("drain_seconds = -1", "drain_seconds");
    wrong("[limits]\nqueue_kib = 1", "queue_kib");
    wrong("[limits]\nhandshakes_per_second = 0", "handshakes_per_second");
    wrong("clients = ['alice', 'bob', 'Alice']", "clients: \"alice\" is listed twice");
    wrong("revoked = ['a b']", "revoked: \"a b\" is not a DNS name");
    wrong("revoked = ['alice.example.']", "revoked: \"alice.example.\" is not a DNS name");
    wrong("[tenants]\na = ['*.x.y.']", "tenants: \"*.x.y.\" is not a DNS name");
    wrong("[tenants]\na = ['x']\nb = ['X']", "tenants: \"x\" is listed twice");
    wrong("clients = ['*.x', 'a b']", "\"a b\" is not a DNS name");
    wrong("clients = ['*']", "\"*\" is not a DNS name");
    wrong("clients_file = 'missing.txt'", "/etc/sealwright/missing.txt: No such file or directory");
    wrong("[[rules]]\nfrom = ['a']\nto = ['b']", "there are no tenants");
    wrong("[tenants]\na = ['*.x']\nb = ['1.x']", "\"*.x\" and \"1.x\" are of different tenants");
    wrong("[tenants]\na = ['x']\n[[rules]]\nfrom = ['a b']\nto = ['b']", "rules: \"a b\" is not a DNS name");
    for name in ["idle_seconds", "stall_seconds", "connections_from_one_address", "sessions_of_one_certificate"] {
        wrong(&format!("[limits]\n{name} = 0"), name);
    }
    wrong("[limits]\nhandshake_seconds = 9223372036854775807", "handshake_seconds must be at most");
    // GHASH by tables that are indexed by secrets
    for scheme in ["gcm-pre(4k)", "gcm-on(256)", "gcm-on(0)"] {
        wrong(&format!("scheme = '{scheme}'"), "research = true");
    }
}

#[test]
fn shares_and_windows_have_defaults() {
    let config = read(LEAST).expect("enough");
    assert_eq!((config.from_one_address, config.control_limits.open.sessions), (None, 2048));
    assert!(config.policy.is_open());
    assert_eq!([config.replay_window, config.plan(1).replay_window], [ReplayWindow::Wide; 2]);
    let narrow = read(&format!("{LEAST}[limits]\nreplay_window = 56\n")).expect("less memory");
    assert_eq!([narrow.replay_window, narrow.plan(1).replay_window], [ReplayWindow::Narrow; 2]);
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

/// The minimal configuration, with lines before its table and after it.
fn with(top: &str, limits: &str) -> Result<Config, String> {
    let (before, tls) = LEAST.split_at(LEAST.find("[tls]").expect("a table"));
    read(&format!("{before}{top}\n{tls}[limits]\n{limits}\n"))
}

#[test]
fn limits_that_are_not_there_are_those_of_the_parts() {
    let config = read(LEAST).expect("enough");
    assert_eq!(config.settings, Settings::default());
    let limits = config.control_limits;
    assert_eq!((limits.rate.per_second, limits.rate.per_second_from_one), (100.0, 50.0));
    assert_eq!((limits.rate.at_once, limits.rate.at_once_from_one), (64, 16));
    assert_eq!((limits.time, limits.lifetime), (Duration::from_secs(10), Duration::from_secs(24 * 3600)));
    assert_eq!((limits.open.by_certificate, limits.open.of_session), (60_000.0, 600.0));
    assert_eq!((config.drain, config.memory, config.node), (Duration::from_secs(10), 1 << 30, 0));
    assert_eq!(config.cluster_sessions, 65_536);
    assert_eq!(config.threads as usize, std::thread::available_parallelism().expect("it is known").get());
}

#[test]
fn limits_that_are_there_are_taken() {
    let limits = "frame_bytes = 3000\nconnections = 7\nqueue_kib = 6\nsender_wait_ms = 8\nstall_seconds = 9\n\
        first_frame_seconds = 10\nbad_frames = 11\nhandshakes_per_second = 12.5\n\
        handshakes_per_second_from_one_address = 13.5\nhandshakes_at_once = 14\nhandshakes_from_one_address = 15\n\
        handshake_seconds = 16\nsession_hours = 0.5\nidle_seconds = 17\nframes_per_second_of_one_session = 18\n\
        openings_per_minute_with_one_certificate = 19\nopenings_per_minute_of_one_session = 20.5";
    let config = with("udp = '127.0.0.1:3'\nsessions = 99\nthreads = 3", limits).expect("limits");
    let wanted = Settings {
        max_frame: 3000,
        max_connections: 7,
        queue: 6144,
        queues: Settings::default().queues,
        sender_wait: Duration::from_millis(8),
        stall: Duration::from_secs(9),
        first_frame: Duration::from_secs(10),
        udp: Some("127.0.0.1:3".parse().expect("an address")),
        max_bad: 11,
        max_from_one: usize::MAX,
        idle: Duration::from_secs(17),
        session_rate: 18,
    };
    assert_eq!(config.settings, wanted);
    let limits = config.control_limits;
    assert_eq!((limits.rate.per_second, limits.rate.per_second_from_one), (12.5, 13.5));
    assert_eq!((limits.rate.at_once, limits.rate.at_once_from_one), (14, 15));
    assert_eq!((limits.time, limits.lifetime), (Duration::from_secs(16), Duration::from_secs(1800)));
    assert_eq!((limits.open.sessions, limits.open.by_certificate, limits.open.of_session), (4, 19.0, 20.5));
    let shares = with("", "connections_from_one_address = 5\nsessions_of_one_certificate = 6").expect("shares");
    assert_eq!((shares.from_one_address, shares.control_limits.open.sessions), (Some(5), 6));
    // A time beyond the range of the clock counts as unlimited
    let long = with("drain_seconds = 1e300", "session_hours = 1e300").expect("long");
    assert_eq!(
        (long.drain, long.control_limits.lifetime),
        (Duration::from_secs(1_000_000), Duration::from_secs(1_000_000_000))
    );
}

/// Each number at its limit, and one step beyond.
#[test]
fn limits_have_ends() {
    let ends = |top: &str, limits: &str, wrong: &str| match with(top, limits) {
        Ok(_) => assert_eq!(wrong, "", "{top} {limits} is taken"),
        Err(why) => assert!(!wrong.is_empty() && why.contains(wrong), "{top} {limits}: {why}"),
    };
    ends("", "frame_bytes = 64", "");
    ends("", "frame_bytes = 63", "frame_bytes must be at least 64");
    ends("", "frame_bytes = 65_535", "");
    ends("", "frame_bytes = 65_536\nqueue_kib = 999", "frame_bytes must be at most 65535");
    // Two frames of the greatest length
    ends("", "frame_bytes = 2049\nqueue_kib = 6", "");
    ends("", "frame_bytes = 2049\nqueue_kib = 5", "queue_kib must be at least 6");
    for name in ["connections", "handshakes_at_once", "handshakes_from_one_address", "handshake_seconds"] {
        ends("", &format!("{name} = 1"), "");
        ends("", &format!("{name} = 0"), &format!("{name} must be at least 1"));
    }
    for name in ["first_frame_seconds", "idle_seconds", "connections_from_one_address", "sessions_of_one_certificate"] {
        ends("", &format!("{name} = 1"), "");
        ends("", &format!("{name} = 0"), &format!("{name} must be at least 1"));
    }
    for name in [
        "handshakes_per_second",
        "handshakes_per_second_from_one_address",
        "session_hours",
        "openings_per_minute_with_one_certificate",
        "openings_per_minute_of_one_session",
    ] {
        ends("", &format!("{name} = 0.001"), "");
        for value in ["0", "-1", "inf", "nan"] {
            ends("", &format!("{name} = {value}"), &format!("{name} must be a positive number"));
        }
    }
    ends("drain_seconds = 0", "", "");
    for value in ["-0.1", "inf", "nan"] {
        ends(&format!("drain_seconds = {value}"), "", "drain_seconds must be a positive number");
    }
    ends("node = 15", "", "");
    ends("threads = 2\nudp = '127.0.0.1:65534'", "", "");
    ends("threads = 2\nudp = '127.0.0.1:65535'", "", "the threads, must be at most 65534");
    ends("threads = 4\nsessions = 4\ncluster_sessions = 4", "", "");
    ends("threads = 4\nsessions = 3", "", "sessions must be at least 4");
    ends("threads = 4\ncluster_sessions = 3", "", "cluster_sessions must be at least 4");
    ends("threads = 4\ncluster_sessions = 262_145", "", "");
    ends("scheme = 'gscm-h'\nthreads = 4\ncluster_sessions = 262_144", "", "");
    ends("scheme = 'gscm-h'\nthreads = 4\ncluster_sessions = 262_145", "", "cluster_sessions must be at most 262144");
    ends("sessions = 268_435_456", "", "");
    ends("sessions = 268_435_457", "", "sessions must be at most 268435456");
    for packets in [0, 55, 57, 1024, 1079, 1081] {
        ends("", &format!("replay_window = {packets}"), "limits.replay_window must be 56 or 1080");
    }
}

#[test]
fn an_address_for_clients_is_a_host_and_a_port() {
    let public = |text: &str| with(&format!("public = '{text}'"), "").map(|config| config.public);
    assert_eq!(public("relay.example:7600"), Ok(Some(("relay.example".into(), 7600))));
    assert_eq!(public("[::1]:1"), Ok(Some(("[::1]".into(), 1))));
    assert_eq!(public("192.0.2.7:65535"), Ok(Some(("192.0.2.7".into(), 65535))));
    let cut = ["relay.example", "relay.example:", "relay.example:70000", ":x", ":7600", "", "[::1]"];
    let unclear = ["::1", "2001:db8::7", "[::1:7600", "[relay.example]:1", "host:0", "x:+7600", "a b:1", "x:1:2"];
    for wrong in cut.into_iter().chain(unclear) {
        assert!(public(wrong).is_err_and(|why| why.contains("a host and a port")), "{wrong}");
    }
}

#[test]
fn what_clients_may_is_one_list_a_cluster() {
    let clusters = "[clusters]\nnorth = ['N.x', 'o.x']\nsouth = ['s.x']\n";
    let text =
        format!("clients = ['a']\nrevoked = ['B', 'b', 'a']\nthreads = 3\ncluster_sessions = 10\n{LEAST}{clusters}");
    let config = read(&text).expect("clusters");
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();
    let access = config.access();
    let wanted = [
        (None, names(&["a"])),
        (Some("north".to_owned()), names(&["n.x", "o.x"])),
        (Some("south".to_owned()), names(&["s.x"])),
    ];
    assert_eq!((access.allowed, access.revoked), (wanted.to_vec(), names(&["a", "b"])));
    assert_eq!(config.cluster(), 4, "of ten sessions each of three workers has at most so many");
    let again = read(&text.replace("'s.x'", "'o.X'")).expect_err("in two clusters");
    assert!(again.contains("clusters: \"o.x\" is listed twice"), "{again}");
}

#[test]
fn files_of_names_are_beside_the_configuration() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("names.txt"), "# clients\nBob\n\n  carol # since March\n").expect("written");
    std::fs::write(folder.path().join("gone.txt"), "dave\n").expect("written");
    let text = format!(
        "clients = ['alice']\nclients_file = 'names.txt'\nrevoked_file = 'gone.txt'\nadmin = 'a.sock'\n{LEAST}crl = 'c.crl'\n"
    );
    let config = Config::parse(&text, folder.path()).expect("files");
    assert_eq!(
        (config.clients, config.revoked),
        (vec!["alice".into(), "bob".into(), "carol".into()], vec!["dave".to_owned()])
    );
    let here = |name: &str| Some(folder.path().join(name));
    assert_eq!((config.clients_file, config.revoked_file), (here("names.txt"), here("gone.txt")));
    assert_eq!(
        (config.admin, config.tls.crl, Some(config.tls.certificate)),
        (here("a.sock"), here("c.crl"), here("c.pem"))
    );
    // The configuration itself is named as a file of names
    let path = folder.path().join("relay.toml");
    std::fs::write(&path, &text).expect("written");
    assert_eq!(Config::read(&path).expect("the same").clients, ["alice", "bob", "carol"]);
    let missing = folder.path().join("none.toml");
    assert!(matches!(Config::read(&missing), Err(ConfigError::Io { path, .. }) if path == missing));
    std::fs::write(&path, "colour = 'red'").expect("written");
    assert!(matches!(Config::read(&path), Err(ConfigError::Wrong { path: of, .. }) if of == path));
}

#[test]
fn tenants_and_rules_become_a_policy() {
    let tenants = "[tenants]\nacme = ['*.Acme.example']\nbolt = ['*.bolt.example', 'hub']\n";
    let rule = "[[rules]]\nfrom = ['1.acme.example']\nto = ['Hub']\n";
    let text = |more: &str| format!("{LEAST}{tenants}{rule}{more}");
    let may = |text: &str| {
        let policy = read(text).expect("a policy").policy;
        let may = |from: &str, to: &str| policy.class(from).may_send_to(policy.class(to));
        [
            may("1.acme.example", "2.acme.example"),
            may("1.acme.example", "hub"),
            may("hub", "1.acme.example"),
            may("hub", "2.acme.example"),
        ]
    };
    assert_eq!(may(&text("")), [true, true, true, false]);
    assert_eq!(may(&text("one_way = true\n")), [true, true, false, false]);
    let many = format!("{LEAST}{tenants}{}", rule.repeat(33));
    assert!(read(&many).is_err_and(|why| why.contains("more than 64 directions")));
    for (one, other) in [("'*.x'", "'*.x'"), ("'1.x'", "'*.x'"), ("'*.x', 'a'", "'b', '1.x'")] {
        let text = format!("{LEAST}[tenants]\na = [{one}]\nb = [{other}]\n");
        assert!(read(&text).is_err(), "{text}");
    }
    assert!(read(&format!("{LEAST}[tenants]\na = ['*.x', '1.y']\nb = ['*.y.x', '*.z']\n")).is_ok());
}

/// A setting that should name a file may contain a key by mistake, and one for names may name the file of a key.
#[test]
fn no_error_shows_a_key_that_stands_in_the_wrong_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let digits = "0a".repeat(32);
    let pem = "-----BEGIN PRIVATE KEY-----\n0a0a\n-----END PRIVATE KEY-----";
    let parse = |text: &str| Config::parse(text, folder.path()).expect_err("it is wrong");
    for key in [&digits, pem, &format!("seal-secret-key-1{digits}")] {
        let error = parse(&LEAST.replace("'/k/c.key'", &format!("'''\n{key}'''")));
        assert!(error.to_string().contains("tls.key must name a file"), "{error}");
        assert!(!format!("{error} {error:?}").contains("0a0a"), "{error:?}");
    }
    std::fs::write(folder.path().join("names"), format!("alice\n\n{digits}\n")).expect("written");
    let named = |name| parse(&format!("{name} = '{digits}'\n{LEAST}")).to_string().contains("must name a file");
    assert!(["clients_file", "revoked_file", "admin"].into_iter().all(named));
    for setting in ["clients_file", "revoked_file"] {
        let error = parse(&format!("{setting} = 'names'\n{LEAST}"));
        assert!(error.to_string().contains("names: line 3 is not a DNS name"), "{error}");
        assert!(!format!("{error:?}").contains("0a0a"), "{error:?}");
    }
}

#[cfg(feature = "nats")]
#[test]
fn a_mesh_has_a_secret_and_a_name() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mesh.key");
    let mesh = |secret: &str, mode: u32, more: &str| {
        std::fs::write(&path, secret).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("set");
        let text = format!("{LEAST}[mesh]\nnats = 'nats://n'\nsecret = 'mesh.key'\n{more}\n");
        let parsed = Config::parse(&text, folder.path()).map_err(|why| why.to_string());
        parsed.map(|config| config.mesh.map(|mesh| (mesh.nats.to_string(), mesh.name, *mesh.secret)))
    };
    let digits = "0a".repeat(32) + "\n";
    let wanted = |name: &str| Ok(Some(("nats://n".to_owned(), name.to_owned(), [10; 32])));
    assert_eq!(mesh(&digits, 0o600, ""), wanted("sealwright"));
    assert_eq!(mesh(&digits, 0o600, "name = 'a.b-_9'"), wanted("a.b-_9"));
    for name in ["", ".", "a.", ".a", "a b", "a.*", "a>"] {
        let refused = mesh(&digits, 0o600, &format!("name = '{name}'"));
        assert!(refused.is_err_and(|why| why.contains("mesh.name")), "{name}");
    }
    // Neither the secret itself nor a password in an invalid list is repeated
    for (wrong, why) in [
        (format!("[mesh]\nnats = 'nats://n'\nsecret = '{}'", digits.trim()), "mesh.secret must name a file"),
        ("[mesh]\nnats = 'nats://user:0a0a,0a0a@n'\nsecret = 'mesh.key'".to_owned(), "mesh.nats: address 1"),
        ("mesh = 'nats://user:0a0a@n'".to_owned(), "invalid type: string, expected"),
    ] {
        let text = if wrong.starts_with('[') { format!("{LEAST}{wrong}\n") } else { format!("{wrong}\n{LEAST}") };
        let error = Config::parse(&text, folder.path()).expect_err("it is wrong");
        assert!(error.to_string().contains(why), "{error}");
        assert!(!format!("{error} {error:?}").contains("0a0a"), "{error:?}");
    }
    for secret in [&digits[2..], "", &"0g".repeat(32), &"0a".repeat(33)] {
        assert!(mesh(secret, 0o600, "").is_err_and(|why| why.contains("64 hexadecimal digits")), "{secret}");
    }
    assert!(mesh(&digits, 0o640, "").is_err());
    assert_eq!(read(LEAST).expect("enough").mesh, None);
}

/// The number of cores is the system's: another CPU quota does not change the configuration.
#[test]
fn another_number_of_cores_needs_no_restart() {
    let with = |text: &str| read(&format!("{text}\n{LEAST}")).expect("enough");
    let (unsaid, mut fewer) = (with(""), with(""));
    fewer.threads = unsaid.threads + 1;
    assert_eq!(unsaid.needs_restart(&fewer), None);
    let said = with(&format!("threads = {}", unsaid.threads + 1));
    assert_eq!((unsaid.needs_restart(&said), said.needs_restart(&unsaid)), (Some("threads"), Some("threads")));
    assert_eq!(said.needs_restart(&said), None);
}

/// Clients use the host of the control plane for frames, unless another is announced to them.
#[test]
fn clients_are_told_where_frames_go() {
    let told = |frames: &str, public: &str| {
        let text = LEAST.replace("127.0.0.1:1", frames);
        read(&format!("{public}\n{text}")).expect("enough").told(frames.parse().expect("an address"))
    };
    assert_eq!(told("127.0.0.1:1", ""), (None, 1));
    assert_eq!(told("0.0.0.0:1", ""), (None, 1));
    assert_eq!(told("127.0.0.2:1", ""), (Some("127.0.0.2".into()), 1));
    assert_eq!(told("[::1]:1", ""), (Some("[::1]".into()), 1));
    assert_eq!(told("127.0.0.2:1", "public = 'relay.example:7'"), (Some("relay.example".into()), 7));
}

/// Every value in the documentation of limits is valid as printed.
#[test]
fn limits_have_the_names_and_defaults_of_the_documents() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/RELAY.md")).expect("a page");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `limits.")?.split_once("` | "));
    let rows = rows.map(|(key, rest)| (key, rest.split(" |").next().unwrap_or_default())).collect::<Vec<_>>();
    assert_eq!(rows.len(), 20);
    let all: String = rows.iter().map(|(key, default)| format!("{key} = {}\n", default.replace("half", "7"))).collect();
    let read_of = |limits: &str| read(&format!("{LEAST}{limits}")).expect("limits");
    let (told, least) = (read_of(&format!("[limits]\n{all}")), read_of(""));
    let mut open = told.control_limits;
    open.open.sessions = least.control_limits.open.sessions;
    assert_eq!((open, told.settings, told.replay_window), (least.control_limits, least.settings, least.replay_window));
}
