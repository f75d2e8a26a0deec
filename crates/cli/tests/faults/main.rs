//! Every system call that writes, syncs or names a file fails in turn, or the program is killed there: outputs are
//! complete or absent, a replaced file is the old or the new one, and exit codes are right. The faults are injected by
//! strace; without it, the tests are skipped.
#![allow(clippy::unwrap_used)]

mod disk;
mod fallbacks;
mod jobs;
mod killed;
mod power;

use std::{collections::BTreeMap, fs, process::Command, sync::Mutex};

use sealwright_transcripts::{Finished, Sandbox, have, skipped, text};

use crate::jobs::{JOBS, Job, OPEN, SEAL, UNPACK, UNPACK_MANY, clear, leftovers, opens, sandbox};

/// System calls that change something, or may.
const CALLS: [&str; 27] = [
    "openat",
    "write",
    "pwrite64",
    "writev",
    "pwritev",
    "pwritev2",
    "ftruncate",
    "copy_file_range",
    "sendfile",
    "fsync",
    "fdatasync",
    "syncfs",
    "fchmod",
    "fchown",
    "flock",
    "link",
    "linkat",
    "rename",
    "renameat",
    "renameat2",
    "mkdir",
    "mkdirat",
    "unlink",
    "unlinkat",
    "rmdir",
    "utimensat",
    "fadvise64",
];

/// System calls that write the contents of files.
const WRITES: [&str; 7] = ["write", "pwrite64", "writev", "pwritev", "pwritev2", "copy_file_range", "sendfile"];

/// System calls that only read.
const READS: [&str; 7] = ["read", "pread64", "readv", "preadv", "preadv2", "getdents64", "statx"];

/// Runs `line` with the fault `inject` in one call. Returns the result, and whether that call was reached.
fn injected(sandbox: &Sandbox, line: &str, call: &str, inject: &str) -> (Finished, bool) {
    let trace =
        format!("strace -f -qq -o trace -e trace={call} -e inject={call}:{inject} sealwright {line} --threads 1");
    let trace = if line.starts_with("rekey") { trace.replace(" --threads 1", "") } else { trace };
    let finished = sandbox.sh(&trace);
    let log = fs::read_to_string(sandbox.path("trace")).unwrap_or_default();
    // A signal ends strace as well; the shell reports that as 137.
    let killed = finished.code == -1 || finished.code == 137;
    (finished, log.contains("INJECTED") || killed)
}

/// Whether faults can be injected here and strace knows `call`; determined once.
fn can_inject(sandbox: &Sandbox, call: &str) -> bool {
    static KNOWN: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());
    if let Some(known) = KNOWN.lock().unwrap().get(call) {
        return *known;
    }
    let said = sandbox.sh(&format!("strace -f -qq -o trace -e trace={call} -e inject={call}:error=EIO:when=9999 true"));
    KNOWN.lock().unwrap().insert(call.to_owned(), said.code == 0);
    said.code == 0
}

/// Repeats a job, with a fault in each of its `calls` in turn, until none is left.
fn every_call(job: &Job, calls: &[&str], inject: &str, check: impl Fn(&Sandbox, &Finished, &str)) -> usize {
    let sandbox = sandbox();
    let mut injections = 0;
    for call in calls {
        if !can_inject(&sandbox, call) {
            skipped(format_args!("strace cannot make {call} fail"));
            continue;
        }
        // The dynamic loader makes some of these calls too. Calls are numbered per thread.
        for when in 1.. {
            assert!(when < 200, "{}: {call}: no end", job.line);
            (job.before)(&sandbox);
            let (finished, came_so_far) = injected(&sandbox, job.line, call, &format!("{inject}:when={when}"));
            let what = format!("{}: {call} {when}: {inject}: exit {}: {}", job.line, finished.code, finished.err);
            // It failed while the program was being loaded.
            if finished.code == 127 && finished.err.contains("error while loading shared libraries") {
                assert!((job.undone)(&sandbox), "{what}");
                continue;
            }
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

/// A single call fails: the job reports it and changes nothing, or it succeeds nevertheless.
fn fails_cleanly(calls: &[&str], inject: &str) {
    if !have("strace") {
        return;
    }
    let mut all = 0;
    for job in JOBS {
        let injections = every_call(job, calls, inject, |sandbox, finished, what| {
            match finished.code {
                0 => assert!((job.done)(sandbox), "{what}"),
                1 => assert!((job.undone)(sandbox) || (job.done)(sandbox), "{what}"),
                // A sealed file that appears truncated is not authentic.
                3 if inject == "retval=0" => assert!((job.undone)(sandbox), "{what}"),
                _ => panic!("{what}"),
            }
            // If `write` fails, the error message may be lost as well.
            let silent = what.contains(": write ") && finished.err.is_empty();
            assert!(finished.code == 0 || silent || finished.err.starts_with("sealwright: "), "{what}");
            let left = leftovers(&sandbox.path(""));
            // A directory whose removal failed stays.
            let stuck = what.contains(": rmdir ") && left.iter().all(|name| fs::remove_dir(sandbox.path(name)).is_ok());
            assert!(left.is_empty() || stuck, "{what}: {left:?}");
        });
        assert!(injections > 0, "{}: no call failed", job.line);
        eprintln!("{}: {injections} calls: {inject}", job.line);
        all += injections;
    }
    eprintln!("{all} calls: {inject}");
}

#[test]
fn a_call_fails() {
    fails_cleanly(&CALLS, "error=EIO");
}

#[test]
fn the_disk_is_full_at_any_call() {
    fails_cleanly(&CALLS, "error=ENOSPC");
}

#[test]
fn a_read_fails() {
    fails_cleanly(&READS, "error=EIO");
}

/// Reads return 0 bytes, as if the file had been truncated meanwhile.
#[test]
fn a_read_finds_nothing() {
    fails_cleanly(&["read", "pread64", "readv", "preadv", "preadv2"], "retval=0");
}

/// Writes return 0 bytes, as if the file system did not accept any.
#[test]
fn a_write_writes_nothing() {
    fails_cleanly(&WRITES, "retval=0");
}

/// Very many files are synced with one call, and its failure applies to all of them.
#[test]
fn many_files_at_once() {
    let sandbox = sandbox();
    if !have("strace") {
        return;
    }
    if !can_inject(&sandbox, "syncfs") {
        skipped("strace cannot make syncfs fail");
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

/// Without `RENAME_NOREPLACE`, which some file systems do not support.
#[test]
fn a_directory_is_named_where_renaming_may_replace() {
    let sandbox = sandbox();
    if !have("strace") {
        return;
    }
    for error in ["EINVAL", "ENOSYS", "EOPNOTSUPP"] {
        (UNPACK.before)(&sandbox);
        let (finished, came_so_far) = injected(&sandbox, UNPACK.line, "renameat2", &format!("error={error}"));
        assert_eq!((finished.code, finished.err.as_str(), came_so_far), (0, "", true), "{error}");
        assert!((UNPACK.done)(&sandbox), "{error}");
        assert_eq!(leftovers(&sandbox.path("out")), [""; 0], "{error}");
    }
}

/// Without locks, the later process finds that the file that it copied was replaced.
#[cfg(feature = "public-keys")]
#[test]
fn changed_keys_are_not_undone_where_there_are_no_locks() {
    let sandbox = sandbox();
    if !have("strace") {
        return;
    }
    (crate::jobs::REKEY.before)(&sandbox);
    let strace = "strace -f -qq -e trace=flock,fsync -e inject=flock:error=ENOLCK";
    // The later process is delayed at its end until after the other one has begun.
    let said = sandbox.sh(&format!(
        "{strace} -o late -e inject=fsync:delay_enter=15000000:when=1 \
         sealwright rekey r.seal --key-file k --add-key-file other & \
         for i in $(seq 600); do grep -qs 'fsync(' late && break; sleep 0.1; done; \
         {strace} -o soon sealwright rekey -q r.seal --key-file k --remove-key-file third && wait $!"
    ));
    let word = "r.seal: was changed or replaced meanwhile and is kept\nhint: nothing was changed; try again";
    assert!(said.code == 1 && said.err.contains(word), "{} {}", said.code, said.err);
    assert!(!opens(&sandbox, "r.seal", "--key-file third", &text(40_000)));
    assert!(opens(&sandbox, "r.seal", "--key-file k", &text(40_000)));
    assert_eq!(leftovers(&sandbox.path("")), [""; 0]);
}

/// Calls that a signal interrupted are repeated.
#[test]
fn interrupted_calls() {
    if !have("strace") {
        return;
    }
    for job in [SEAL, OPEN] {
        let injections = every_call(&job, &WRITES, "error=EINTR", |sandbox, finished, what| {
            assert_eq!((finished.code, finished.err.as_str()), (0, ""), "{what}");
            assert!((job.done)(sandbox), "{what}");
        });
        assert!(injections > 0, "{}: no call was interrupted", job.line);
        eprintln!("{}: {injections} calls were interrupted", job.line);
    }
}

/// A file system of a few KiB, in a namespace of its own.
#[test]
fn a_full_disk() {
    let sandbox = sandbox();
    let small = |size: &str, script: &str| {
        let script = format!("mkdir -p small && mount -t tmpfs -o size={size} tmpfs small && {script}");
        let path = sandbox.path("small.sh");
        fs::write(&path, script).unwrap();
        sandbox.sh("unshare -rm sh small.sh")
    };
    if !Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|done| done.success())
        || small("32k", "true").code != 0
    {
        skipped("no file system can be mounted here");
        return;
    }
    sandbox.write("large/first", text(10));
    sandbox.write("large/second", text(50_000));
    sandbox.ok("seal --key-file k large -o large.seal");
    let rekeyed: &[&str] =
        if cfg!(feature = "public-keys") { &["rekey -q small/r.seal --key-file k --add-key-file other"] } else { &[] };
    for line in [
        "seal -q --key-file k a -C small",
        "seal -q --key-file k large -o small/large.seal",
        "seal -q --key-file k --each large -C small",
        "open -q --key-file k b.seal -C small",
        "open -q --key-file k p.seal -o small/b",
        "open -q --key-file k large.seal -C small/out",
        "enc -e -aes-256-cbc -keyfile k -iv 00000000000000000000000000000000 -in a -out small/a",
    ]
    .iter()
    .chain(rekeyed)
    {
        // What exists before, the free space, and what may exist afterwards.
        let (size, before, left) = match line {
            line if line.starts_with("rekey") => ("64k", "cp shared.seal small/r.seal", "small/r.seal\n"),
            line if line.contains("--each") => ("32k", "true", "small/large/first.seal\n"),
            _ => ("32k", "true", ""),
        };
        let said = small(
            size,
            &format!("{before}; sealwright {line}; code=$?; find small -type f; cp -r small kept; exit $code"),
        );
        assert_eq!((said.code, text_of(&said.out)), (1, left), "{line}: {}", said.err);
        assert!(said.err.contains("No space left on device"), "{line}: {}", said.err);
        if line.ends_with("small/out") {
            // The message names the final path, not the hidden one, which no longer exists.
            assert!(said.err.contains("small/out/large/second: cannot write"), "{}", said.err);
        }
        if line.starts_with("rekey") {
            assert_eq!(sandbox.read("kept/r.seal"), sandbox.read("shared.seal"));
        }
        if line.contains("--each") {
            assert!(opens(&sandbox, "kept/large/first.seal", "--key-file k", &text(10)));
        }
        clear(&sandbox, &["kept"]);
    }
    // Enough space for the smaller tree.
    let said = small("32k", "sealwright open -q --key-file k tree.seal -C small/out && cp -r small/out .");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!((UNPACK.done)(&sandbox));
}

fn text_of(output: &[u8]) -> &str {
    std::str::from_utf8(output).unwrap()
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

/// Some containers forbid the system call that duplicates an inherited descriptor. Its file is then opened again, at
/// the same position.
#[test]
fn descriptors_where_duplicating_is_forbidden() {
    let sandbox = sandbox();
    if !have("strace") {
        return;
    }
    if !can_inject(&sandbox, "pidfd_getfd") {
        skipped("strace cannot make pidfd_getfd fail");
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
        // `read` takes a whole buffer from a pipe, but only its line from a file.
        let opened = sandbox.sh(&format!("sealwright open --passphrase-command 'echo second line' {error}.seal -o -"));
        assert!(opened.code == 0 && opened.out == text(40_000), "{error}: {}", opened.err);
        let piped = sandbox.sh(&format!(
            "printf 'second line\\n' | strace -f -qq -o trace -e trace=pidfd_getfd -e inject=pidfd_getfd:error={error} \
             sealwright open --passphrase-fd 0 {error}.seal -o -"
        ));
        assert!(piped.code == 0 && piped.out == text(40_000), "{error}: {}", piped.err);
    }
}
