//! Trial folders are complete or absent, and existing files are never overwritten.
#![allow(clippy::unwrap_used)]
use super::*;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Invalid arguments are reported before anything is written.
#[test]
fn a_folder_is_made_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let trial = folder.path().join("trial");
    let long = "a".repeat(64);
    for (hosts, clients, told) in [
        (&[][..], &["alice", "Alice"][..], "Alice: alice is a client already"),
        (&[], &["*.load.test", "load.test"], "load.test: *.load.test is a client already"),
        (&[], &["authority"], "authority: the relay has files of this name"),
        (&[], &["alice", "Relay"], "Relay: the relay has files of this name"),
        (&[], &[""], "\"\": not a name such as"),
        (&[], &["-alice"], "\"-alice\": not a name such as"),
        (&[], &[&long], "not a name such as"),
        (&["relay.example:7601"], &[], "\"relay.example:7601\": not a host such as"),
        (&["https://relay.example"], &[], "\"https://relay.example\": not a host such as"),
        (&["a b"], &[], "\"a b\": not a host such as"),
        (&["relay.example", ""], &[], "\"\": not a host such as"),
        (&["*.relay.example"], &[], "not a host such as"),
        (&["[::1]"], &[], "not a host such as"),
    ] {
        let refused = init(&trial, &words(hosts), &words(clients)).unwrap_err();
        assert!(refused.is_usage() && refused.hint().is_some() != told.contains("not a "), "{refused}");
        assert!(refused.to_string().contains(told), "{refused}");
        assert!(!trial.exists(), "{refused}");
    }
    // A name that passes the checks but is too long for a file
    let long = vec!["a".repeat(63); 4].join(".");
    assert!(is_name(&long[..253]) && init(&trial, &[], &[long[..253].to_owned()]).is_err());
    assert!(!trial.exists(), "half a folder stays");
    init(&trial, &[], &words(&["alice"])).unwrap();
    let refused = init(&trial, &[], &[]).unwrap_err();
    assert!(matches!(refused, InitError::Exists) && !refused.is_usage() && refused.hint().is_some(), "{refused}");
    assert!(trial.join("alice.key").exists());
}

#[test]
fn a_relay_listens_where_its_hosts_are() {
    let folder = tempfile::tempdir().unwrap();
    for (n, (hosts, any, address, known)) in [
        (&[][..], "127.0.0.1:7601", "localhost:7601", None),
        (&["relay.example"], "0.0.0.0:7601", "relay.example:7601", Some("relay.example")),
        (&["192.0.2.1", "b.example", "c.example"], "0.0.0.0:7601", "192.0.2.1:7601", Some("b.example")),
        (&["relay.example", "2001:db8::1"], "[::]:7601", "relay.example:7601", Some("relay.example")),
        (&["2001:db8::1"], "[::]:7601", "[2001:db8::1]:7601", None),
    ]
    .into_iter()
    .enumerate()
    {
        let trial = folder.path().join(n.to_string());
        init(&trial, &words(hosts), &words(&["alice"])).unwrap();
        let text = |name: &str| fs::read_to_string(trial.join(name)).unwrap();
        assert!(text("relay.toml").contains(&format!("control = \"{any}\"")), "{hosts:?}");
        assert!(text("alice.toml").contains(&format!("relay = \"{address}\"")), "{hosts:?}");
        assert_eq!(host_in(&trial.join("relay.pem")).as_deref(), known, "{hosts:?}");
    }
}

/// A client gets all of its files or none, and existing files are not touched.
#[test]
fn a_client_whose_files_are_there_is_not_added_by_half() {
    let folder = tempfile::tempdir().unwrap();
    let trial = folder.path().join("trial");
    init(&trial, &[], &[]).unwrap();
    let add = || add(&trial, &trial.join("clients.txt"), "*.carol.test", "localhost:1");
    let listed = fs::read(trial.join("clients.txt")).unwrap();
    for file in ["carol.test.pem", "carol.test.key", "carol.test.toml"] {
        fs::write(trial.join(file), "there before").unwrap();
        let refused = add().unwrap_err();
        assert_eq!(refused.to_string(), format!("{file}: File exists"));
        assert!(refused.hint().is_some());
        assert_eq!(fs::read(trial.join(file)).unwrap(), b"there before");
        fs::remove_file(trial.join(file)).unwrap();
        let made = fs::read_dir(&trial)
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("carol"));
        assert_eq!(made.count(), 0, "{file}");
    }
    assert_eq!(fs::read(trial.join("clients.txt")).unwrap(), listed);
    add().unwrap();
}

/// Without the check in advance: files written first are removed when a later one fails.
#[test]
fn no_key_is_written_over_and_what_was_written_before_goes_again() {
    let folder = tempfile::tempdir().unwrap();
    let authority = authority().unwrap();
    fs::write(folder.path().join("carol.key"), "there before").unwrap();
    let refused = client(folder.path(), &authority, "carol", "localhost:1").unwrap_err();
    assert_eq!(refused.to_string(), "carol.key: File exists");
    assert_eq!(fs::read(folder.path().join("carol.key")).unwrap(), b"there before");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(write(&folder.path().join("carol.key"), "other").is_err());
    assert_eq!(fs::read(folder.path().join("carol.key")).unwrap(), b"there before");
}
