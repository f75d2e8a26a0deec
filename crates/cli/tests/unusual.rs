//! Unusual conditions: names that consist of dots, a parent that ignores SIGCHLD, a system without /proc.
#![allow(clippy::unwrap_used)]

use sealwright_transcripts::{Sandbox, have, skipped};

/// A regression: the output would have been named `.` or `..`, and with --each the file was silently skipped.
#[test]
fn dots_are_no_name_of_an_output() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    let why = "its name without .seal is not a file name";
    for name in [".seal", "..seal", "...seal"] {
        sandbox.ok(&format!("seal --key-file k a -o {name}"));
        for line in [format!("open --key-file k {name}"), format!("open --key-file k ./{name} -C out")] {
            sandbox.fails(&line, 2, &format!("{name}: {why}\nhint: use -o OUT"));
        }
        sandbox.ok(&format!("open --key-file k {name} -o b -f"));
        assert_eq!(sandbox.read("b"), b"text");
    }
    // With another dot it is a name.
    sandbox.ok("seal --key-file k a -o ....seal");
    sandbox.ok("open --key-file k ....seal");
    assert_eq!(sandbox.read("..."), b"text");
    sandbox.write("d/...seal", sandbox.read("...seal"));
    sandbox.write("d/a.seal", sandbox.read("...seal"));
    let said = sandbox.run("open --key-file k --each d -C out");
    assert!(said.code == 0 && said.err.contains(&format!("d/...seal: skipped, {why}\n")), "{}", said.err);
    assert_eq!(sandbox.read("out/d/a"), b"text");
}

/// A regression: the exit status of the command was unknown, and its passphrase was not used.
#[test]
fn a_passphrase_command_works_where_ends_are_ignored() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    let ignoring = |line: &str| sandbox.sh(&format!("exec env --ignore-signal=CHLD sealwright {line}"));
    let said = ignoring("seal --cost 1MiB --passphrase-command 'echo pw' a");
    if said.code == 125 {
        return skipped(format_args!("env cannot ignore signals here: {}", said.err));
    }
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let opened = sandbox.sh("echo pw | sealwright open --passphrase-fd 0 a.seal -o -");
    assert_eq!(opened.out, b"text");
    // A failure is not taken for success, and the command itself does not ignore SIGCHLD.
    let said = ignoring("open --passphrase-command 'echo pw; exit 3' a.seal -o -");
    assert!(said.code == 1 && said.err.contains("the passphrase command failed (exit status: 3)"), "{}", said.err);
    let said =
        ignoring("open --passphrase-command 'grep -q SigIgn.*00010000$ /proc/self/status || echo pw' a.seal -o -");
    assert_eq!((said.code, said.out.as_slice()), (0, &b"text"[..]), "{}", said.err);
}

#[test]
fn without_proc_no_descriptor_is_said_not_to_be_open() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    let hidden = |script: &str| {
        sandbox.write("hidden.sh", format!("mount -t tmpfs none /proc && {script}"));
        sandbox.sh("unshare -rm sh hidden.sh")
    };
    if !have("unshare") || hidden("true").code != 0 {
        return skipped("no file system can be mounted here");
    }
    let said = hidden("sealwright seal --key-fd 3 a -o b 3< k");
    let told = "sealwright: /proc/self/fdinfo: cannot tell whether file descriptor 3 is open: No such file or directory\nhint: ";
    assert!(said.code == 1 && said.err.starts_with(told), "{}", said.err);
    // For standard input there is a safe handle.
    let said = hidden("sealwright seal --key-fd 0 a -o b < k");
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    sandbox.fails("seal --key-fd 9 a -o c", 1, "file descriptor 9 is not open\nhint: ");
}
