//! Nothing is lost silently: neither text on standard input, nor a removed input, nor output to a closed stream, nor
//! the work done before a mistake is noticed.
#![allow(clippy::unwrap_used)]

use std::{
    io::{Read, Seek, SeekFrom, Write},
    os::unix::fs::{MetadataExt, symlink},
    process::{Command, Stdio},
};

use sealwright_transcripts::{Sandbox, binaries, have, skipped, text};

#[test]
fn a_passphrase_command_does_not_read_the_text() {
    let sandbox = Sandbox::new();
    let said = sandbox.sh(
        "printf 'secret text' | sealwright seal --cost 1MiB --passphrase-command 'cat >/dev/null; echo pw' -o s.seal && \
         sealwright open --passphrase-command 'echo pw' s.seal -o -",
    );
    assert_eq!((said.code, said.out.as_slice()), (0, &b"secret text"[..]), "{}", said.err);
}

#[test]
fn an_input_is_removed_only_for_a_file_on_a_disk() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    symlink("a", sandbox.path("link")).unwrap();
    assert!(Command::new("mkfifo").arg(sandbox.path("pipe")).status().unwrap().success());
    for (line, word) in [
        ("a -o /dev/null", "/dev/null: --remove needs an output that is a file on a disk"),
        ("a -o /dev/stdout", "--remove needs an output that is a file"),
        ("a -o pipe", "pipe: --remove needs an output that is a file on a disk"),
        ("link", "link: is a symbolic link: --remove would not remove the text"),
        ("pipe -o out", "pipe: --remove removes regular files only"),
    ] {
        let said = sandbox.run(&format!("seal --key-file k --remove {line}"));
        assert!(matches!(said.code, 1 | 2) && said.err.contains(word), "{line}: {} {}", said.code, said.err);
        assert_eq!(sandbox.names(), ["a", "link", "pipe"], "{line}");
    }
    assert_eq!(sandbox.read("a"), b"text");
}

/// A regression: removing one name of a file changes its metadata time, which was taken for a change of its content
/// when it was read by another name.
#[test]
fn files_with_two_names_are_removed() {
    let sandbox = Sandbox::new();
    for i in 0..20 {
        sandbox.write(&format!("d/{i}"), text(300_000));
        std::fs::hard_link(sandbox.path(&format!("d/{i}")), sandbox.path(&format!("d/{i} too"))).unwrap();
    }
    sandbox.ok("seal --key-file k --each --remove d");
    let names = sandbox.names();
    assert!(names.iter().all(|name| name.ends_with('/') || name.contains(".seal")), "{names:?}");
    assert_eq!(names.iter().filter(|name| name.ends_with(".seal")).count(), 40, "{names:?}");
    sandbox.ok("open --key-file k --each d");
    assert!((0..20).all(|i| sandbox.read(&format!("d/{i} too")) == text(300_000)));
}

/// `--remove *` would remove the key, and `-o` could overwrite it: what was sealed could never be opened.
#[test]
fn a_key_in_use_is_neither_removed_nor_overwritten() {
    let sandbox = Sandbox::new();
    sandbox.ok("key new -o my.key");
    sandbox.ok("seal --key-file my.key my.key -o sealed");
    sandbox.write("d/letter", "text");
    std::fs::copy(sandbox.path("my.key"), sandbox.path("d/my.key")).unwrap();
    sandbox.chmod("d/my.key", 0o600);
    std::fs::hard_link(sandbox.path("my.key"), sandbox.path("second name")).unwrap();
    sandbox.write("ad", "bound to this");
    let before = sandbox.names();
    let key = sandbox.read("my.key");
    for line in [
        "seal --key-file my.key --remove ad my.key",
        "seal --key-file my.key --remove 'second name'",
        "seal --key-file d/my.key --each --remove d",
        "seal --key-fd 3 --remove my.key 3<my.key",
        "seal --key-file my.key --ad-file ad --remove ad",
        "seal --key-file my.key -f --remove -o my.key d/letter",
        "seal --key-file my.key -f -o 'second name' d/letter",
        "open --key-file my.key -f -o my.key sealed",
        "open --key-file my.key --ad-file ad -f -o ad sealed",
    ] {
        let said = sandbox.sh(&format!("sealwright {line}"));
        assert_eq!(said.code, 2, "{line}: {}", said.err);
        assert!(said.err.contains("is in use") && said.err.contains("hint: "), "{line}: {}", said.err);
        assert!(sandbox.names() == before && sandbox.read("my.key") == key, "{line}");
    }
    // A key that is not removed may be sealed.
    sandbox.ok("seal --key-file my.key my.key");
}

/// Files that were not named as keys: a secret key must not be removed with what is sealed for its public key, and a
/// copy of a key may be the only one.
#[cfg(feature = "public-keys")]
#[test]
fn what_opens_the_sealed_files_stays() {
    let sandbox = Sandbox::new();
    sandbox.write("d/letter", "text");
    let public = String::from_utf8(sandbox.run("key new --pair -o d/me.id").out).unwrap();
    sandbox.write("note", [b"my key:\n", &sandbox.read("d/me.id")[..]].concat());
    sandbox.write("copy", sandbox.read("k"));
    let made = sandbox.sh("sealwright key new --pair --passphrase-command 'echo correct horse' -o sealed.id");
    let (public, sealed) = (public.trim(), String::from_utf8(made.out).unwrap());
    let sealed = sealed.trim();
    let before = sandbox.names();
    let identity = sandbox.read("d/me.id");
    let (opens, may_be) = ("holds a key that opens the sealed files", "may be the identity file of a recipient");
    for (line, word) in [
        (format!("seal -r {public} --remove d/me.id"), opens),
        (format!("seal -r {public} --remove d/letter d/me.id"), opens),
        (format!("seal -r {public} --each --remove d"), opens),
        (format!("seal -r {public} --each --remove ."), opens),
        (format!("seal -r {public} --key-file k --each --remove d"), opens),
        (format!("seal -r {public} --remove note"), opens),
        (format!("seal -r {public} -f -o d/me.id d/letter"), opens),
        (format!("seal -r {sealed} --remove sealed.id"), may_be),
        ("seal --key-file k --remove copy".to_owned(), opens),
        ("seal --key-file k --key-file other --remove copy".to_owned(), opens),
        ("seal --key-fd 3 --remove copy 3<k".to_owned(), opens),
    ] {
        let said = sandbox.sh(&format!("sealwright {line}"));
        assert_eq!(said.code, 2, "{line}: {}", said.err);
        assert!(said.err.contains(word) && said.err.contains("hint: "), "{line}: {}", said.err);
        assert!(sandbox.names() == before && sandbox.read("d/me.id") == identity, "{line}");
    }
    // Without these options, or when sealing for somebody else, they are ordinary files.
    sandbox.ok(&format!("seal -r {public} d/me.id -o for-me.seal"));
    sandbox.ok("seal --key-file k --each --remove d");
    sandbox.ok("seal --key-file other --remove copy");
    assert!(!sandbox.path("d/me.id").exists());
}

/// The same for a signing key, an identity file and a recipients file.
#[cfg(all(feature = "public-keys", feature = "signatures"))]
#[test]
fn keys_of_pairs_in_use_stay() {
    let sandbox = Sandbox::new();
    let public = sandbox.run("key new --pair -o my.id").out;
    sandbox.write("my.pub", public);
    sandbox.ok("key new --signing -o my.sign");
    sandbox.write("a", "text");
    sandbox.ok("seal -R my.pub a");
    for line in [
        "seal -R my.pub --sign my.sign --remove a my.sign",
        "seal -R my.pub --remove my.pub",
        "open -i my.id -f -o my.id a.seal",
    ] {
        sandbox.fails(line, 2, "is in use");
    }
    assert!(["a", "my.id", "my.pub", "my.sign"].iter().all(|name| sandbox.path(name).exists()));
}

/// Errors that can be detected in advance are reported before a passphrase is asked for; here there is no terminal to
/// ask on.
#[test]
fn checks_come_before_the_passphrase() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    sandbox.write("d/x", "");
    sandbox.ok("seal --key-file k a -o b.seal");
    sandbox.write("here", "precious");
    symlink("nowhere", sandbox.path("dangling")).unwrap();
    let long = "n".repeat(256);
    for (line, code, word) in [
        ("seal -p missing", 1, "missing: No such file or directory"),
        ("seal -p a -o here", 1, "here: exists already"),
        ("seal -p a -o d", 1, "d: is a directory"),
        ("seal -p a -o new/", 1, "new/: cannot be written: it ends with a slash, but there is no such directory"),
        ("seal -p a -o dangling", 1, "dangling: cannot be written: it is a symbolic link to a file"),
        ("seal -p a -o nowhere/x", 1, "nowhere/x: cannot create: No such file or directory"),
        (&format!("seal -p a -o {long}"), 1, "File name too long"),
        ("open -p a -o x", 3, "a: not authentic: this is not a sealed file"),
        ("open -p b.seal -o x", 4, "b.seal: a raw key is needed, not a passphrase"),
    ] {
        let said = sandbox.run(line);
        assert_eq!(said.code, code, "{line}: {}", said.err);
        assert!(said.err.contains(word) && !said.err.contains("no terminal"), "{line}: {}", said.err);
    }
    // What can be done is done, so the passphrase is asked for.
    assert!(sandbox.run("seal -p missing a").err.contains("no terminal"));
}

#[test]
fn closed_streams_are_noticed() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    sandbox.ok("seal --key-file k a");
    for line in ["open --key-file k a.seal -o - >&-", "seal --key-file k a -o - >&-", "seal --key-file k -o b <&-"] {
        let said = sandbox.sh(&format!("sealwright {line}"));
        assert!(said.code == 1 && said.err.contains("Bad file descriptor"), "{line}: {} {}", said.code, said.err);
    }
    // What the runtime opens in place of a closed stream.
    for line in ["open --key-file k a.seal -o - 1<>/dev/null", "seal --key-file k -o b 0<>/dev/null"] {
        let said = sandbox.sh(&format!("sealwright {line}"));
        let word = "hint: it is closed, or it is /dev/null opened for both reading and writing";
        assert!(said.code == 1 && said.err.contains(word), "{line}: {} {}", said.code, said.err);
    }
    assert_eq!(sandbox.sh("sealwright open --key-file k a.seal -o - >/dev/null").code, 0);
    assert_eq!(sandbox.names(), ["a", "a.seal"]);
}

/// A descriptor is read from its position, and only descriptors of the caller are accepted.
#[test]
fn descriptors_are_read_where_they_are() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    sandbox.write("lines", "first\nsecond\nthird\n");
    let said = sandbox.sh("exec 5<lines; read -r skipped <&5; sealwright seal --cost 1MiB --passphrase-fd 5 a && \
         read -r rest <&5; echo \"$rest\"; echo second | sealwright open --passphrase-fd 0 a.seal -o -");
    assert_eq!((said.code, said.out.as_slice()), (0, &b"third\ntext"[..]), "{}", said.err);
    // If descriptor 3 is not open, -pass fd:3 must not read one that the program itself opened.
    for number in 3..9 {
        let said = sandbox
            .sh(&format!("exec {number}<&-; sealwright enc -aes-256-cbc -pbkdf2 -pass fd:{number} -in lines -out out"));
        let word = format!("file descriptor {number} is not open");
        assert!(said.code == 1 && said.err.contains(&word), "{number}: {} {}", said.code, said.err);
    }
    sandbox.fails("enc -aes-256-cbc -pbkdf2 -pass fd:x -in lines -out out", 2, "-pass fd: takes the number of");
}

/// A socket cannot be opened by name, but its descriptor can be read.
#[test]
fn a_passphrase_through_a_socket() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    let (mut here, there) = std::os::unix::net::UnixStream::pair().unwrap();
    here.write_all(b"through a socket\n").unwrap();
    let status = sandbox
        .command()
        .args(["seal", "--cost", "1MiB", "--passphrase-fd", "0", "a"])
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(there)))
        .status()
        .unwrap();
    assert!(status.success());
    let said = sandbox.sh("echo through a socket | sealwright open --passphrase-fd 0 a.seal -o -");
    assert_eq!(said.out, b"text");
}

#[test]
fn every_cost_that_was_paid_can_be_paid_again() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    let said = sandbox.sh("echo p | sealwright seal --cost 1MiB --passphrase-fd 0 a -o -");
    let mut sealed = said.out;
    // 17 passes, more than the default limit. The edited header makes the key wrong, but the cost is paid first.
    sealed[23] = 17;
    sandbox.write("costly.seal", &sealed);
    let open = |most: &str| sandbox.sh(&format!("echo p | sealwright open --passphrase-fd 0 {most} costly.seal -o b"));
    let refused = open("");
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(refused.err.contains("--max-cost MEMORY[,PASSES[,LANES]]"), "{}", refused.err);
    assert_eq!(open("--max-cost 1GiB,17").code, 4);
    // The hint names an option that exists.
    let list =
        |most: &str| sandbox.sh(&format!("echo p | sealwright inspect --list --passphrase-fd 0 {most} costly.seal"));
    let refused = list("");
    assert!(refused.code == 1 && refused.err.contains("raise the limit with --max-cost"), "{}", refused.err);
    assert!(
        [1, 4].contains(&list("--max-cost 1GiB,17").code) && !list("--max-cost 1GiB,17").err.contains("--max-cost")
    );
    assert_eq!(open("--max-cost 1GiB,16,64").code, 1);
    assert_eq!(open("--max-cost lots").code, 2);
}

#[test]
fn a_key_of_the_wrong_length_is_a_wrong_key() {
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    sandbox.ok("seal --key-file k a");
    sandbox.ok("key new --suite aes-128-gcm -o short");
    sandbox.fails("open --key-file short a.seal -o b", 4, "wrong key: it has 16 bytes, but aes-256-gcm takes 32");
    sandbox.fails("seal --key-file short a -o b", 2, "the key has 16 bytes, but aes-256-gcm takes 32");
}

/// Every relevant system call fails in turn: the exit code is right, and the output is complete or absent.
#[test]
fn every_failing_call_has_its_exit_code() {
    if !have("strace") {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("a", text(100_000));
    let traced = |inject: &str, line: &str| {
        sandbox.sh(&format!("strace -f -qq -o /dev/null -e inject={inject} sealwright {line}"))
    };
    if traced("fsync:error=EIO:when=99", "inspect --help").code != 0 {
        skipped("strace may not trace here");
        return;
    }
    for call in
        ["pwritev:error=ENOSPC", "fsync:error=EIO", "fsync:error=EIO:when=2", "linkat:error=EIO", "fchmod:error=EPERM"]
    {
        let said = traced(call, "seal --key-file k a -o out --remove");
        assert_eq!(said.code, 1, "{call}: {}", said.err);
        assert!(said.err.starts_with("sealwright: out: cannot "), "{call}: {}", said.err);
        // The name exists before its directory is synced; the input is kept nevertheless.
        let left: &[&str] = if call.ends_with("when=2") { &["a", "out"] } else { &["a"] };
        assert_eq!(sandbox.names(), left, "{call}");
        let _ = std::fs::remove_file(sandbox.path("out"));
    }
}

/// Typed characters must not be shown after the process is stopped at the prompt and continued.
#[test]
fn a_passphrase_is_not_shown_after_a_stop() {
    if !have("script") {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("a", "text");
    // The inner shell has job control: when the job stops, it takes back the terminal and turns the echo on.
    let inner = "set -m; sealwright seal -p --cost 1MiB a; stty echo; fg";
    let script = format!(
        "(for _ in $(seq 300); do grep -q Passphrase screen 2>/dev/null && break; sleep 0.1; done; printf '\\032'; sleep 1; printf 'tRuE-1\\n'; sleep 1; printf 'tRuE-1\\n'; sleep 2) | script -qefc \"bash -c '{inner}'\" screen"
    );
    let path = format!("{}:{}", binaries().display(), std::env::var("PATH").unwrap());
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .env("PATH", path)
        .current_dir(sandbox.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut screen = String::new();
    child.stdout.take().unwrap().read_to_string(&mut screen).unwrap();
    child.wait().unwrap();
    assert!(screen.matches("Passphrase: ").count() >= 2, "{screen}");
    assert!(!screen.contains("tRuE-1"), "{screen}");
    assert!(sandbox.path("a.seal").exists(), "{screen}");
    let mut head = [0; 4];
    let mut file = std::fs::File::open(sandbox.path("a.seal")).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_exact(&mut head).unwrap();
    assert_eq!(head, [0x89, b'S', b'E', b'A']);
}

/// A regression: if no thread could be started, or in a directory that can be written but not read, completed work was
/// reported as failed, or the program panicked: inputs were gone, and the manifest was missing.
#[test]
fn a_job_is_done_with_little() {
    let sandbox = Sandbox::new();
    if std::fs::metadata(sandbox.path("k")).unwrap().uid() != 0 || !have("setpriv") || !have("prlimit") {
        skipped("only root can run the program as somebody else, with setpriv and prlimit");
        return;
    }
    let run = |threads: usize, words: &str| {
        let who = format!("setpriv --reuid=65533 --regid=65533 --clear-groups prlimit --nproc={threads}");
        sandbox.sh(&format!("exec {who} sealwright {words}"))
    };
    for i in 0..40 {
        sandbox.write(&format!("d/{i}"), "text");
    }
    sandbox.write("drop/a", "text");
    sandbox.ok("seal --key-file k d -o tree");
    sandbox.chmod("drop", 0o333);
    assert_eq!(sandbox.sh("chown -R 65533 .").code, 0);
    let said = run(5, "seal --key-file k --each --threads 2 --remove d");
    if said.err.contains("ermission denied") {
        skipped(format_args!("the program cannot be run by somebody else: {}", said.err));
        return;
    }
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(sandbox.run("verify --key-file k --each d --manifest -q").code, 0);
    for line in ["seal --key-file k k -o drop/k.seal", "key new -o drop/new"] {
        let said = run(2, line);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{line}");
    }
    let said = run(2, "open --key-file k tree -C drop");
    assert_eq!(said.code, 1);
    assert!(said.err.contains("a thread: cannot start: Resource temporarily unavailable"), "{}", said.err);
    let without = run(20, "open --key-file k tree -C drop");
    assert_eq!((without.code, without.err.as_str()), (0, ""));
    assert_eq!(sandbox.read("drop/d/0"), b"text");
}
