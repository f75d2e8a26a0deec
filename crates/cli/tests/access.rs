//! Access to files that the program replaces or derives from others: mode, owner and hard links.
#![allow(clippy::unwrap_used)]

use std::{fs, path::Path};

use rustix::fs::{XattrFlags, setxattr};
use sealwright_transcripts::{Sandbox, skipped};

/// Sets an access list that lets user 65534 write and gives the file's group nothing. Returns whether the file system
/// supports it.
fn give_list(path: &Path) -> bool {
    let mut list = vec![2, 0, 0, 0];
    for (tag, permissions, id) in
        [(0x01, 6, u32::MAX), (0x02, 6, 65_534), (0x04, 0, u32::MAX), (0x10, 6, u32::MAX), (0x20, 0, u32::MAX)]
    {
        list.extend([tag, 0, permissions, 0]);
        list.extend(id.to_le_bytes());
    }
    let given = setxattr(path, "system.posix_acl_access", &list, XattrFlags::empty());
    given.inspect_err(|error| skipped(format!("no access lists here: {error}"))).is_ok()
}

/// A regression: the mask of the list was taken for the group's permissions, so that the opened text was readable by
/// the group.
#[test]
fn what_an_access_list_gives_to_others_is_not_the_group_s() {
    let sandbox = Sandbox::new();
    sandbox.write("d/a", "text");
    sandbox.write("d/sub/b", "text");
    for name in ["d/a", "d/sub", "d/sub/b"] {
        if !give_list(&sandbox.path(name)) {
            return;
        }
    }
    sandbox.chmod("d/sub", 0o770);
    assert_eq!(sandbox.mode("d/a") & 0o777, 0o660);
    let mode = |name: &str| sandbox.mode(name) & 0o777;
    sandbox.ok("seal --key-file k d -o d.seal");
    sandbox.ok("open --key-file k --preserve d.seal -C tree");
    assert_eq!((mode("tree/d/a"), mode("tree/d/sub"), mode("tree/d/sub/b")), (0o600, 0o700, 0o600));
    sandbox.ok("seal --key-file k d/a -o a.seal");
    assert_eq!(mode("a.seal"), 0o600);
    sandbox.ok("seal --key-file k --each d -C each");
    assert_eq!((mode("each/d/sub"), mode("each/d/sub/b.seal")), (0o700, 0o600));
    give_list(&sandbox.path("a.seal"));
    sandbox.ok("open --key-file k --preserve a.seal -o a");
    assert_eq!(mode("a"), 0o600);
    if cfg!(feature = "signatures") {
        sandbox.sh("sealwright key new --signing -o s > s.pub");
        sandbox.ok("sign --sign s d/a");
        assert_eq!(mode("d/a.sig"), 0o600);
    }
    if cfg!(feature = "public-keys") {
        sandbox.ok("seal --key-file k --key-file other d/a -o two.seal");
        give_list(&sandbox.path("two.seal"));
        sandbox.ok("rekey -q two.seal --key-file k --remove-key-file other");
        assert_eq!(mode("two.seal"), 0o600);
    }
}

/// A regression: users who could read a listed file could not read the manifest, and so not open the directory.
#[test]
fn a_manifest_can_be_read_by_who_can_read_a_file_that_it_lists() {
    let sandbox = Sandbox::new();
    for (name, mode) in [("a", 0o640), ("sub/b", 0o604), ("c", 0o755)] {
        sandbox.write(&format!("d/{name}"), "text");
        sandbox.chmod(&format!("d/{name}"), mode);
    }
    let manifest = "d/.seal-manifest";
    let mode = || sandbox.mode(manifest) & 0o777;
    fs::remove_file(sandbox.path("d/c")).unwrap();
    sandbox.ok("seal --key-file k --each d");
    assert_eq!(mode(), 0o644);
    for given in [0o600, 0o640] {
        sandbox.chmod(manifest, given);
        sandbox.write("d/c", "another text");
        sandbox.ok("seal -q --key-file k --each -f d");
        assert_eq!(mode(), given);
    }
    // Also if it is sealed for other keys and none of its files stays.
    sandbox.ok("seal -q --key-file other --each -f d");
    assert_eq!(mode(), 0o640);
    fs::remove_file(sandbox.path(manifest)).unwrap();
    for name in ["a.seal", "sub/b.seal", "c.seal", "a", "sub/b", "c"] {
        sandbox.chmod(&format!("d/{name}"), 0o600);
    }
    sandbox.ok("seal -q --key-file k --each -f d");
    assert_eq!(mode(), 0o600);
}

#[cfg(feature = "public-keys")]
#[test]
fn other_names_of_a_file_keep_its_former_keys_and_that_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    sandbox.ok("seal --key-file k --key-file other a");
    let told = "sealwright: warning: a.seal: 2 other names of the file (hard links) were not changed: the former keys still open it there\n";
    for name in ["b.seal", "c.seal"] {
        fs::hard_link(sandbox.path("a.seal"), sandbox.path(name)).unwrap();
    }
    let said = sandbox.run("rekey a.seal --key-file k --remove-key-file other");
    assert_eq!((said.code, said.err.as_str()), (0, told));
    sandbox.fails("open --key-file other a.seal -o x", 4, "none of the given keys");
    sandbox.ok("open --key-file other b.seal -o x");
    let said = sandbox.run("rekey b.seal --key-file k --remove-key-file other");
    assert!(said.code == 0 && said.err.contains("b.seal: 1 other name of the file (hard links)"), "{}", said.err);
    sandbox.ok("rekey c.seal --key-file k --remove-key-file other");
    // No warning if nothing was done, or with `--quiet`.
    fs::hard_link(sandbox.path("a.seal"), sandbox.path("d.seal")).unwrap();
    sandbox.fails("rekey a.seal --key-file k --remove-key-file other", 1, "does not open it");
    assert!(!sandbox.run("rekey a.seal --key-file k --remove-key-file other").err.contains("hard links"));
    sandbox.ok("rekey -q a.seal --key-file k --add-key-file other");
}

/// Files of another owner, with a group of which the caller is a member and with one of which he is not.
#[cfg(feature = "public-keys")]
#[test]
fn a_file_of_another_owner_keeps_its_group_or_is_no_more_open_than_to_all() {
    use std::os::unix::fs::{MetadataExt, chown};

    use sealwright_transcripts::have;

    let sandbox = Sandbox::new();
    if fs::metadata(sandbox.path("k")).unwrap().uid() != 0 || !have("setpriv") {
        skipped("only root can make files of other owners, and needs setpriv to be somebody else");
        return;
    }
    sandbox.write("a", "text");
    sandbox.chmod("", 0o777);
    for key in ["k", "other"] {
        chown(sandbox.path(key), Some(65534), None).unwrap();
    }
    let own = |name: &str| {
        fs::metadata(sandbox.path(name)).map(|meta| (meta.uid(), meta.gid(), meta.mode() & 0o777)).unwrap()
    };
    let said = sandbox.sh("setpriv --reuid=65534 --clear-groups sealwright key show nothing");
    if said.err.contains("ermission denied") || [126, 127].contains(&said.code) {
        skipped(format_args!("the program cannot be run by somebody else: {}", said.err));
        return;
    }
    for (groups, mode, then) in [
        ("--groups=777", 0o644, (65534, 777, 0o644)),
        ("--groups=777", 0o660, (65534, 777, 0o660)),
        ("--clear-groups", 0o644, (65534, 65534, 0o644)),
        ("--clear-groups", 0o664, (65534, 65534, 0o644)),
    ] {
        sandbox.sh("rm -f a.seal; setpriv --reuid=65534 --clear-groups sealwright seal --key-file k --key-file other -o a.seal < a");
        chown(sandbox.path("a.seal"), Some(1234), Some(777)).unwrap();
        sandbox.chmod("a.seal", mode);
        let said = sandbox.sh(&format!(
            "exec setpriv --reuid=65534 --regid=65534 {groups} sealwright rekey a.seal --key-file k --remove-key-file other"
        ));
        let told =
            format!("a.seal: belongs to user 65534 and group {} now, and before to user 1234 and group 777", then.1);
        assert!(said.code == 0 && said.err.contains(&told), "{groups} {mode:o}: {}", said.err);
        assert_eq!(own("a.seal"), then, "{groups} {mode:o}");
    }
    // Root keeps both, so there is no warning.
    for key in ["k", "other"] {
        chown(sandbox.path(key), Some(0), None).unwrap();
    }
    chown(sandbox.path("a.seal"), Some(1234), Some(777)).unwrap();
    sandbox.ok("rekey a.seal --key-file k --add-key-file other");
    assert_eq!(own("a.seal"), (1234, 777, 0o644));
}
