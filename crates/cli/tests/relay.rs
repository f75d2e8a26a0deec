//! Two clients communicate through a relay: the programs as a user starts them, signals, and notifications to systemd.
#![cfg(feature = "relay")]
#![allow(clippy::unwrap_used)]

use std::{
    io::Write,
    os::unix::fs::PermissionsExt,
    process::Stdio,
    time::{Duration, Instant},
};

use sealwright_transcripts::{Sandbox, TrialRelay, change, text};

#[test]
fn two_people_talk_through_a_relay_that_heeds_signals() {
    let sandbox = Sandbox::new();
    let mut relay = TrialRelay::start(&sandbox);
    let there = text(3_000_000);
    let back = b"thank you".to_vec();
    let client = |name: &str, peer: &str, input: Vec<u8>| {
        let mut child = sandbox
            .command()
            .args(["client", &format!("trial/{name}.toml"), "--to", peer])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::thread::spawn(move || stdin.write_all(&input).unwrap());
        child
    };
    let alice = client("alice", "bob", there.clone());
    let bob = client("bob", "alice", back.clone());
    let bobs = std::thread::spawn(move || bob.wait_with_output().unwrap());
    let (alice, bob) = (alice.wait_with_output().unwrap(), bobs.join().unwrap());
    assert!(alice.status.success(), "{}", String::from_utf8_lossy(&alice.stderr));
    assert!(bob.status.success(), "{}", String::from_utf8_lossy(&bob.stderr));
    assert!(bob.stdout == there && alice.stdout == back, "other bytes came");
    relay.event("opened");
    relay.event("opened");

    change(&sandbox, "relay.toml", |text| text.replace(", \"bob\"", ""));
    relay.signal("HUP");
    assert!(relay.notification().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    assert_eq!(relay.notification(), "READY=1");
    assert_eq!(relay.event("removed")["name"], "bob");
    relay.event("reloaded");
    let unknown = "the relay refused to open the session of bob: this relay does not know that name\nhint: `name`";
    sandbox.fails("client trial/bob.toml --to alice", 1, unknown);
    let denied = relay.event("denied");
    assert_eq!((denied["name"].as_str(), denied["certificate"][0].as_str()), (Some("bob"), Some("bob")));
    assert!(denied["from"].as_str().unwrap().contains("127.0.0.1:"), "{denied}");
    let unknown = "the relay refused to look up bob: this relay does not know that name\nhint: is the name";
    sandbox.fails("client trial/alice.toml --to bob", 1, unknown);
    relay.event("opened");
    relay.event("denied");

    sandbox.ok("relay add carol -c trial/relay.toml");
    assert!(relay.notification().starts_with("RELOADING=1"));
    assert_eq!(relay.notification(), "READY=1");
    relay.event("reloaded");
    let status = String::from_utf8(sandbox.run("relay status -c trial/relay.toml").out).unwrap();
    assert!(status.contains("healthy: true\n") && status.contains("sessions: 1\n"), "{status}");
    let carol = sandbox
        .command()
        .args(["client", "trial/carol.toml", "--to", "alice", "--wait", "1"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8(carol.stderr).unwrap();
    assert!(told.contains("alice does not answer\nhint: is alice running? --wait waits longer"), "{told}");
    // A client whose session was taken over by another one is not told so.
    assert!(told.contains("\nhint: if another client runs as carol or as alice too,"), "{told}");
    relay.event("opened");
    let list = String::from_utf8(sandbox.run("relay list -c trial/relay.toml").out).unwrap();
    assert!(list.contains("alice") && list.contains("carol") && list.contains("127.0.0.1"), "{list}");
    sandbox.ok("relay revoke carol -c trial/relay.toml");
    assert_eq!(relay.notification().split('\n').next(), Some("RELOADING=1"));
    assert_eq!(relay.notification(), "READY=1");
    assert_eq!(relay.event("removed")["name"], "carol");
    relay.event("reloaded");
    let revoked = "the relay refused to open the session of carol: this name was revoked\nhint: the relay's operator revoked this client";
    sandbox.fails("client trial/carol.toml --to alice", 1, revoked);
    assert_eq!(relay.event("denied")["why"], "this name was revoked");
    let revoked = "the relay refused to look up carol: this name was revoked\nhint: the relay's operator revoked the other client";
    sandbox.fails("client trial/alice.toml --to carol", 1, revoked);
    relay.event("opened");
    relay.event("denied");
    sandbox.fails("relay add carol -c trial/relay.toml", 1, "carol was revoked");

    change(&sandbox, "relay.toml", |text| format!("colour = 'red'\n{text}"));
    relay.signal("HUP");
    assert!(relay.event("reload-failed")["why"].as_str().unwrap().contains("line 1: unknown field `colour`"));
    assert!(relay.notification().starts_with("RELOADING=1\n"));
    assert_eq!(relay.notification(), "READY=1");

    relay.signal("TERM");
    assert_eq!(relay.notification(), "STOPPING=1\nEXTEND_TIMEOUT_USEC=15000000");
    relay.event("draining");
    assert_eq!(relay.event("stopped")["all_left"], true);
    assert_eq!(relay.child.wait().unwrap().code(), Some(0));
}

/// However many status requests arrive, systemd's watchdog is notified in time.
#[test]
fn questions_do_not_put_off_the_watchdog() {
    let sandbox = Sandbox::new();
    let relay = TrialRelay::start_in(&sandbox, |text| text, &[("WATCHDOG_USEC", "1000000")]);
    let start = Instant::now();
    let mut asked = 0;
    std::thread::scope(|scope| {
        let heard = scope.spawn(|| {
            let mut heard = Instant::now();
            for _ in 0..6 {
                assert_eq!(relay.notification(), "WATCHDOG=1");
                // Half a second if the machine is not busy; the notification must not be delayed indefinitely.
                assert!(heard.elapsed() < Duration::from_secs(20));
                heard = Instant::now();
            }
        });
        while !heard.is_finished() && start.elapsed() < Duration::from_secs(25) {
            assert_eq!(sandbox.run("relay status -c trial/relay.toml").code, 0);
            asked += 1;
        }
        assert!(heard.is_finished(), "nothing for {:?}, and {asked} questions", start.elapsed());
    });
    assert!(asked > 3, "{asked} questions");
}

/// A revocation that the relay has not read is not reported as done.
#[test]
fn a_relay_that_does_not_answer_has_revoked_nobody() {
    let sandbox = Sandbox::new();
    let mut relay = TrialRelay::start_with(&sandbox, |text| format!("drain_seconds = 30\n{text}"));
    let frames = relay.serving["frames"].as_str().unwrap();
    let connection = std::net::TcpStream::connect(frames).unwrap();
    let start = Instant::now();
    while relay.metric("connections") < 1.0 {
        assert!(start.elapsed() < Duration::from_secs(20), "it is never accepted");
    }
    relay.signal("TERM");
    assert!(relay.notification().starts_with("STOPPING=1\n"));
    relay.event("draining");
    let revoke = sandbox.run("relay revoke alice -c trial/relay.toml");
    let said = revoke.err;
    assert!(
        revoke.code == 1 && said.contains("it is shutting down") && said.contains("hint:"),
        "{} {said}",
        revoke.code
    );
    drop(connection);
    assert_eq!(relay.child.wait().unwrap().code(), Some(0));
    // No relay is running to read it.
    let revoke = sandbox.run("relay revoke bob -c trial/relay.toml");
    assert!(revoke.code == 0 && revoke.err.contains("the relay is not running"), "{} {}", revoke.code, revoke.err);
    // A relay may be running.
    let socket = std::os::unix::net::UnixListener::bind(sandbox.path("trial/relay.sock")).unwrap();
    std::fs::set_permissions(sandbox.path("trial/relay.sock"), PermissionsExt::from_mode(0o600)).unwrap();
    let silent = std::thread::spawn(move || drop(socket.accept().unwrap()));
    let revoke = sandbox.run("relay revoke carol -c trial/relay.toml");
    assert_eq!(revoke.code, 1, "{}", revoke.err);
    silent.join().unwrap();
}

/// A second signal ends a draining relay at once.
#[test]
fn a_second_signal_ends_a_relay_that_drains_at_once() {
    let sandbox = Sandbox::new();
    let mut relay = TrialRelay::start_with(&sandbox, |text| format!("drain_seconds = 300\n{text}"));
    let connection = std::net::TcpStream::connect(relay.serving["frames"].as_str().unwrap()).unwrap();
    let start = Instant::now();
    while relay.metric("connections") < 1.0 {
        assert!(start.elapsed() < Duration::from_secs(60), "it is never accepted");
    }
    relay.signal("TERM");
    assert!(relay.notification().starts_with("STOPPING=1\n"));
    relay.event("draining");
    let start = Instant::now();
    relay.signal("INT");
    assert_eq!(relay.event("stopped")["all_left"], false);
    assert_eq!(relay.child.wait().unwrap().code(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(100), "after {:?}", start.elapsed());
    drop(connection);
}

/// The figures in the documents are those that the relay prints.
#[test]
fn a_session_takes_what_the_documents_say() {
    let told = |more: &str| {
        let sandbox = Sandbox::new();
        let relay = TrialRelay::start_with(&sandbox, |text| format!("{text}{more}"));
        relay.serving["bytes_per_session"].as_u64().unwrap()
    };
    let (wide, narrow) = (told(""), told("[limits]\nreplay_window = 56\n"));
    let page =
        |name: &str| std::fs::read_to_string(format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let capacity =
        format!("| a session | {wide} bytes with the wide replay window, {narrow} with `replay_window = 56`");
    assert!(page("OPERATING.md").contains(&capacity), "{capacity}");
    assert!(page("RELAY.md").contains(&format!("{{\"bytes_per_session\":{wide},")), "{wide}");
    assert!(
        page("LOAD.md").contains(&format!("it is {wide} now, and {narrow} with `--replay-window 56`")),
        "{wide}, {narrow}"
    );
}

/// These files may have been edited so that the last line has no line end.
#[test]
fn names_are_written_on_lines_of_their_own() {
    let sandbox = Sandbox::new();
    sandbox.ok("serve --init trial --client alice --client bob");
    change(&sandbox, "revoked.txt", |text| format!("{text}mallory"));
    change(&sandbox, "clients.txt", |text| format!("{text}carol # hers"));
    let done = |line: &str| assert_eq!(sandbox.run(line).code, 0, "{line}");
    done("relay revoke bob -c trial/relay.toml");
    done("relay add dave -c trial/relay.toml");
    assert!(sandbox.read("trial/revoked.txt").ends_with(b"\nmallory\nbob\n"));
    assert!(sandbox.read("trial/clients.txt").ends_with(b"\ncarol # hers\ndave\n"));
    done("relay revoke eve -c trial/relay.toml");
    assert!(sandbox.read("trial/revoked.txt").ends_with(b"\nmallory\nbob\neve\n"));
    // A name that was not stored is not reported as added.
    change(&sandbox, "relay.toml", |text| text.replace("\"revoked.txt\"", "\"/dev/null\""));
    sandbox.fails("relay revoke frank -c trial/relay.toml", 1, "Invalid argument");
    change(&sandbox, "relay.toml", |text| text.replace("\"clients.txt\"", "\"/dev/null\""));
    sandbox.fails("relay add frank -c trial/relay.toml", 1, "Invalid argument");
}

/// The authority's key is stored elsewhere, as the documents advise.
#[test]
fn who_has_no_key_of_the_authority_is_told_where_to_add_a_client() {
    let sandbox = Sandbox::new();
    sandbox.ok("serve --init trial --client alice");
    assert_eq!(sandbox.sh("mkdir kept && mv trial/authority.key kept").code, 0);
    sandbox.fails("relay add erin -c trial/relay.toml", 1, "No such file or directory\nhint: add the client where");
    let there = "cp trial/authority.pem trial/relay.toml trial/clients.txt trial/revoked.txt kept";
    assert_eq!(sandbox.sh(there).code, 0);
    assert_eq!(sandbox.run("relay add erin -c kept/relay.toml --relay relay.example:7601").code, 0);
    assert!(String::from_utf8(sandbox.read("kept/erin.toml")).unwrap().contains("relay.example:7601"));
    assert!(!sandbox.path("trial/erin.pem").exists());
}

/// A relay that cannot create its socket reports where it tried to, and does not report that it serves.
#[test]
fn a_relay_without_its_socket_does_not_serve() {
    let sandbox = Sandbox::new();
    sandbox.ok("serve --init trial --client alice");
    change(&sandbox, "relay.toml", |text| {
        let text = text.replace("\"relay.sock\"", "\"nowhere/relay.sock\"");
        ["7600", "7601", "7602"].iter().fold(text, |text, port| text.replace(port, "0"))
    });
    let served = sandbox.run("serve trial/relay.toml");
    let said = served.err;
    assert!(served.code == 1 && said.contains("\nhint: admin names a socket"), "{} {said}", served.code);
    assert!(!said.contains("serving"), "{said}");
    // Others can read its key: that hint has its own line.
    assert_eq!(sandbox.sh("chmod 640 trial/relay.key").code, 0);
    sandbox.fails("relay check trial/relay.toml", 1, "this file\nhint: chmod 600");
    sandbox.fails("serve --client carol trial/relay.toml", 2, "--client");
}

/// Connections are closed at once, as if all places for handshakes were taken. The message must not say that no relay
/// runs or that it is another one.
#[test]
fn who_finds_no_place_at_a_relay_is_told_so() {
    let sandbox = Sandbox::new();
    sandbox.ok("serve --init trial --client alice");
    let relay = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = relay.local_addr().unwrap().to_string();
    std::thread::spawn(move || relay.incoming().for_each(drop));
    change(&sandbox, "alice.toml", |text| text.replace("localhost:7601", &address));
    let told = "perhaps it is too busy\nhint: is this the relay's control port?";
    sandbox.fails("client trial/alice.toml --to bob --wait 1", 1, told);
}

/// Errors of reading and writing name the stream and a remedy, as in other verbs.
#[test]
fn who_cannot_write_or_read_is_told_what() {
    let sandbox = Sandbox::new();
    let _relay = TrialRelay::start(&sandbox);
    let both = |bob: &str, alice: &str| {
        let script = format!(
            "sealwright client trial/bob.toml --to alice --wait 20 {bob} & sealwright client trial/alice.toml \
            --to bob --wait 20 {alice} && echo alice is happy >&2; wait $! && echo bob is happy >&2"
        );
        sandbox.sh(&script).err
    };
    let hint = "hint: the stream is not complete: both clients must start again";
    let said = both("< /dev/null > /dev/full", "< trial/relay.toml");
    assert!(
        said.contains(&format!("sealwright: standard output: cannot write: No space left on device\n{hint}")),
        "{said}"
    );
    assert!(said.contains("bob gave up") && !said.contains("happy"), "{said}");
    let said = both("< trial", "< trial/relay.toml");
    assert!(said.contains(&format!("sealwright: standard input: cannot read: Is a directory\n{hint}")), "{said}");
    assert!(!said.contains("happy"), "{said}");
}

/// The relay runs, and has the intended name.
#[test]
fn who_trusts_or_shows_another_authority_is_told_so() {
    let sandbox = Sandbox::new();
    let relay = TrialRelay::start(&sandbox);
    sandbox.ok("serve --init elsewhere --client alice");
    let alice = String::from_utf8(sandbox.read("trial/alice.toml")).unwrap();
    change(&sandbox, "alice.toml", |text| text.replace("authority.pem", "../elsewhere/authority.pem"));
    let told = "\nhint: `authority` in the client's file is not the one that issued the relay's certificate";
    sandbox.fails("client trial/alice.toml --to bob --wait 1", 1, told);
    let other = alice.replace("alice.pem", "../elsewhere/alice.pem").replace("alice.key", "../elsewhere/alice.key");
    sandbox.write("trial/alice.toml", other);
    let told = "\nhint: the relay does not accept this client's certificate";
    sandbox.fails("client trial/alice.toml --to bob --wait 1", 1, told);
    // Something listens there, but not a relay's control port.
    let frames = relay.serving["frames"].as_str().unwrap().replace("127.0.0.1", "localhost");
    let line = alice.lines().find(|line| line.starts_with("relay = ")).unwrap();
    sandbox.write("trial/alice.toml", alice.replace(line, &format!("relay = \"{frames}\"")));
    let told = "\nhint: is this the relay's control port?";
    sandbox.fails("client trial/alice.toml --to bob --wait 1", 1, told);
}

#[test]
fn a_port_that_is_taken_has_a_hint() {
    let sandbox = Sandbox::new();
    let relay = TrialRelay::start(&sandbox);
    let frames = relay.serving["frames"].as_str().unwrap().to_owned();
    change(&sandbox, "relay.toml", |text| {
        text.replacen("127.0.0.1:0", &frames, 1).replace("relay.sock", "another.sock")
    });
    let told = format!("{frames}: Address already in use\nhint: another program, perhaps another relay, has this port");
    sandbox.fails("serve trial/relay.toml", 1, &told);
}

#[cfg(feature = "public-keys")]
#[test]
fn two_people_seal_end_to_end_and_who_has_another_key_reads_nothing() {
    let sandbox = Sandbox::new();
    let _relay = TrialRelay::start(&sandbox);
    let (there, back) = (text(3_000_000), b"thank you".to_vec());
    sandbox.write("there", &there);
    sandbox.write("back", &back);
    for name in ["alice", "bob", "eve"] {
        assert_eq!(sandbox.sh(&format!("sealwright key new --pair -o {name}.id > {name}.pub")).code, 0);
    }
    let client = |name: &str, to: &str, options: &str, input: &str| {
        format!("sealwright client trial/{name}.toml --to {to} --wait 5 {options} < {input} > at_{name}")
    };
    let both = |bob: &str, alice: &str| {
        let (bob, alice) = (client("bob", "alice", bob, "back"), client("alice", "bob", alice, "there"));
        let done = sandbox.sh(&format!("{bob} & {alice}; echo alice $? >codes; wait $!; echo bob $? >>codes"));
        (String::from_utf8(sandbox.read("codes")).unwrap(), done.err)
    };
    let sealed = |own: &str, peer: &str| format!("-i {own}.id --end-to-end $(cat {peer}.pub)");
    // Bob sends nothing, or something.
    for back in [&[][..], &back] {
        sandbox.write("back", back);
        let (codes, said) = both(&sealed("bob", "alice"), &sealed("alice", "bob"));
        assert_eq!(codes, "alice 0\nbob 0\n", "{said}");
        assert!(sandbox.read("at_bob") == there && sandbox.read("at_alice") == back);
    }
    // Eve's key instead of Bob's, as a relay would use that tries to read the data.
    let (codes, said) = both(&sealed("eve", "alice"), &sealed("alice", "bob"));
    assert!(codes.contains(" 3") && !codes.contains(" 0"), "{codes} {said}");
    assert!(said.contains("not authentic") && sandbox.read("at_bob").is_empty() && sandbox.read("at_alice").is_empty());
    // Only one of the two clients seals.
    let (codes, said) = both("", &sealed("alice", "bob"));
    assert!(codes.contains("alice 1") && said.contains("hint: both clients need --end-to-end"), "{codes} {said}");
    // Bob's disk is full: the error names that, and neither side reports success.
    assert_eq!(sandbox.sh("rm at_bob && ln -s /dev/full at_bob").code, 0);
    let (codes, said) = both(&sealed("bob", "alice"), &sealed("alice", "bob"));
    assert_eq!(codes, "alice 1\nbob 1\n", "{said}");
    assert!(
        said.contains("standard output: cannot write: No space left on device") && said.contains("bob gave up"),
        "{said}"
    );
    sandbox.fails("client trial/alice.toml --to bob --end-to-end seal1x -i alice.id", 2, "recipient");
    sandbox.fails("client trial/alice.toml --to bob --end-to-end seal1x", 2, "--pair");
}

/// A configuration that contains a name twice cannot be read, so such a name is refused before anything is written.
#[test]
fn who_is_a_client_by_a_cluster_or_revoked_by_a_wildcard_is_not_added() {
    let sandbox = Sandbox::new();
    sandbox.ok("serve --init trial --client alice");
    change(&sandbox, "relay.toml", |text| format!("{text}\n[clusters]\nnorth = [\"carol\"]\n"));
    std::fs::write(sandbox.path("trial/revoked.txt"), "*.sensors.example\n").unwrap();
    let state = || {
        let mut files: Vec<_> =
            std::fs::read_dir(sandbox.path("trial")).unwrap().map(|file| file.unwrap().file_name()).collect();
        files.sort();
        (files, std::fs::read_to_string(sandbox.path("trial/clients.txt")).ok())
    };
    let before = state();
    sandbox.fails("relay add carol -c trial/relay.toml", 1, "carol is a client already (clusters.north)");
    let revoked = "1.sensors.example was revoked, by *.sensors.example";
    sandbox.fails("relay add 1.sensors.example -c trial/relay.toml", 1, revoked);
    assert_eq!(state(), before);
    sandbox.ok("relay check trial/relay.toml");
}
