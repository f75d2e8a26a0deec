//! Each write, sync and naming fails in its turn, or the program is killed there: outputs are whole or absent, the old file or
//! the new one, and exit codes tell. The calls are made to fail by strace; where it is missing, the tests are skipped.
#![allow(clippy::unwrap_used)]

mod disk;
mod jobs;
mod killed;
mod power;

use std::{fs, process::Command};

use sealwright_transcripts::{Finished, Sandbox, have, text};

#[cfg(feature = "public-keys")]
use crate::jobs::REKEY;
use crate::jobs::{EACH, Job, OPEN, PACK, PADDED, REMOVE, REPLACE, SEAL, UNPACK, UNPACK_MANY, leftovers, sandbox};

/// Calls that change something. Opening and reading files is left to the other tests: the loader needs these too.
const CALLS: [&str; 19] = [
    "write",
    "pwrite64",
    "writev",
    "pwritev",
    "pwritev2",
    "copy_file_range",
    "sendfile",
    "fsync",
    "fdatasync",
    "fchmod",
    "fchown",
    "link",
    "linkat",
    "rename",
    "renameat",
    "renameat2",
    "mkdir",
    "mkdirat",
    "utimensat",
];

/// Runs `line` while `inject` applies to one call. Returns how it ended, and whether it came so far.
fn injected(sandbox: &Sandbox, line: &str, call: &str, inject: &str) -> (Finished, bool) {
    let trace =
        format!("strace -f -qq -o trace -e trace={call} -e inject={call}:{inject} sealwright {line} --threads 1");
    let trace = if line.starts_with("rekey") { trace.replace(" --threads 1", "") } else { trace };
    let finished = sandbox.sh(&trace);
    let log = fs::read_to_string(sandbox.path("trace")).unwrap_or_default();
    // A signal ends strace as well, and the shell tells it by 137.
    let killed = finished.code == -1 || finished.code == 137;
    (finished, log.contains("INJECTED") || killed)
}

/// Whether calls can be made to fail here, and this machine's strace knows `call`.
fn can_inject(sandbox: &Sandbox, call: &str) -> bool {
    let said = sandbox.sh(&format!("strace -f -qq -o trace -e trace={call} -e inject={call}:error=EIO:when=9999 true"));
    said.code == 0
}

/// Runs a job again and again, until no call is left to fail.
fn every_call(job: &Job, inject: &str, check: impl Fn(&Sandbox, &Finished, &str)) -> usize {
    let sandbox = sandbox();
    let mut injections = 0;
    for call in CALLS {
        if !can_inject(&sandbox, call) {
            continue;
        }
        for when in 1..200 {
            (job.before)(&sandbox);
            let (finished, came_so_far) = injected(&sandbox, job.line, call, &format!("{inject}:when={when}"));
            let what = format!("{}: {call} {when}: {inject}: exit {}: {}", job.line, finished.code, finished.err);
            check(&sandbox, &finished, &what);
            if !came_so_far {
                assert!((job.done)(&sandbox), "{what}");
                break;
            }
            injections += 1;
        }
    }
    injections
}

/// A call fails once: the job says so and changes nothing, or it did all of it nevertheless.
fn fails_cleanly(job: &Job, error: &str) {
    if !have("strace") {
        return;
    }
    let injections = every_call(job, &format!("error={error}"), |sandbox, finished, what| {
        match finished.code {
            0 => assert!((job.done)(sandbox), "{what}"),
            1 => assert!((job.undone)(sandbox) || (job.done)(sandbox), "{what}"),
            _ => panic!("{what}"),
        }
        // Where `write` fails, the message may not be written either.
        let silent = what.contains(": write ") && finished.err.is_empty();
        assert!(finished.code == 0 || silent || finished.err.starts_with("sealwright: "), "{what}");
        assert_eq!(leftovers(&sandbox.path("")), [""; 0], "{what}");
    });
    assert!(injections > 2, "{}: only {injections} calls failed", job.line);
}

#[test]
fn seal() {
    fails_cleanly(&SEAL, "EIO");
    fails_cleanly(&SEAL, "ENOSPC");
}

#[test]
fn replace() {
    fails_cleanly(&REPLACE, "EIO");
}

#[test]
fn remove() {
    fails_cleanly(&REMOVE, "EIO");
}

#[test]
fn open() {
    fails_cleanly(&OPEN, "EIO");
    fails_cleanly(&PADDED, "ENOSPC");
}

#[test]
#[cfg(feature = "public-keys")]
fn rekey() {
    fails_cleanly(&REKEY, "EIO");
}

#[test]
fn archives() {
    fails_cleanly(&PACK, "EIO");
    fails_cleanly(&UNPACK, "EIO");
    fails_cleanly(&UNPACK, "ENOSPC");
}

/// Very many files are synced by one call, whose failure is that of all.
#[test]
fn many_files_at_once() {
    let sandbox = sandbox();
    if !have("strace") || !can_inject(&sandbox, "syncfs") {
        return;
    }
    for error in ["EIO", "ENOSPC", "EDQUOT"] {
        (UNPACK_MANY.before)(&sandbox);
        let (finished, failed) = injected(&sandbox, UNPACK_MANY.line, "syncfs", &format!("error={error}:when=1"));
        assert!(failed, "the file system of the tests is not synced as a whole: {}", finished.err);
        assert_eq!(finished.code, 1, "{error}: {}", finished.err);
        assert!(
            finished.err.contains("out/m: cannot write") || finished.err.contains("cannot write out/m"),
            "{}",
            finished.err
        );
        assert!((UNPACK_MANY.undone)(&sandbox), "{error}");
        assert_eq!(fs::read_dir(sandbox.path("out")).unwrap().count(), 0, "{error}");
    }
}

#[test]
fn file_by_file() {
    fails_cleanly(&EACH, "EIO");
}

/// Calls that are interrupted by a signal are made again.
#[test]
fn interrupted_calls() {
    if !have("strace") {
        return;
    }
    for job in [SEAL, OPEN] {
        let sandbox = sandbox();
        for call in ["write", "pwritev", "writev"] {
            for when in 1..6 {
                (job.before)(&sandbox);
                let (finished, _) = injected(&sandbox, job.line, call, &format!("error=EINTR:when={when}"));
                assert_eq!((finished.code, finished.err.as_str()), (0, ""), "{}: {call} {when}", job.line);
                assert!((job.done)(&sandbox));
            }
        }
    }
}

/// A file system of a few KiB, in a namespace of its own.
#[test]
fn a_full_disk() {
    let sandbox = sandbox();
    let small = |script: &str| {
        let script = format!("mkdir -p small && mount -t tmpfs -o size=32k tmpfs small && {script}");
        let path = sandbox.path("small.sh");
        fs::write(&path, script).unwrap();
        sandbox.sh("unshare -rm sh small.sh")
    };
    if !Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|done| done.success())
        || small("true").code != 0
    {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    for line in [
        "seal -q --key-file k a -C small",
        "open -q --key-file k b.seal -C small",
        "open -q --key-file k p.seal -o small/b",
        "open -q --key-file k tree.seal -C small/out",
        "enc -e -aes-256-cbc -keyfile k -iv 00000000000000000000000000000000 -in a -out small/a",
    ] {
        let said = small(&format!("sealwright {line}; code=$?; find small -type f; exit $code"));
        if line.contains("tree") {
            // It has room for the smaller tree.
            assert_eq!(said.code, 0, "{line}: {}", said.err);
            continue;
        }
        assert_eq!((said.code, said.out.as_slice()), (1, &b""[..]), "{line}: {}", said.err);
        assert!(said.err.contains("No space left on device"), "{line}: {}", said.err);
    }
}

#[test]
fn a_limit_on_the_length_of_files() {
    let sandbox = sandbox();
    for line in ["seal -q --key-file k a", "open -q --key-file k b.seal", "open -q --key-file k p.seal -o b"] {
        let said = sandbox.sh(&format!("ulimit -f 8; exec sealwright {line}"));
        assert_eq!(said.code, 1, "{line}: {}", said.err);
        assert!(said.err.contains("File too large"), "{line}: {}", said.err);
        assert!(!sandbox.path("a.seal").exists() && !sandbox.path("b").exists(), "{line}");
        assert_eq!(leftovers(&sandbox.path("")), [""; 0], "{line}");
    }
}

/// Some containers forbid the call that duplicates an inherited descriptor: its file is opened anew, at the same position.
#[test]
fn descriptors_where_duplicating_is_forbidden() {
    let sandbox = sandbox();
    if !have("strace") || !can_inject(&sandbox, "pidfd_getfd") {
        return;
    }
    sandbox.write("lines", "first line\nsecond line\nthird line\n");
    for error in ["EPERM", "ENOSYS"] {
        let sealed = sandbox.sh(&format!(
            "exec 3<lines; read -r first <&3
             strace -f -qq -o trace -e trace=pidfd_getfd -e inject=pidfd_getfd:error={error} \
             sealwright seal -q --cost 64KiB --passphrase-fd 3 a -o {error}.seal"
        ));
        assert_eq!((sealed.code, sealed.err.as_str()), (0, ""), "{error}");
        assert!(fs::read_to_string(sandbox.path("trace")).unwrap().contains("INJECTED"));
        // `read` takes a whole buffer of a pipe, but of a file only its line.
        let opened = sandbox.sh(&format!("sealwright open --passphrase-command 'echo second line' {error}.seal -o -"));
        assert!(opened.code == 0 && opened.out == text(40_000), "{error}: {}", opened.err);
        let piped = sandbox.sh(&format!(
            "printf 'second line\\n' | strace -f -qq -o trace -e trace=pidfd_getfd -e inject=pidfd_getfd:error={error} \
             sealwright open --passphrase-fd 0 {error}.seal -o -"
        ));
        assert!(piped.code == 0 && piped.out == text(40_000), "{error}: {}", piped.err);
    }
}
