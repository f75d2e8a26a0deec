//! A directory as one sealed file: complete or not at all, nothing outside of it, and single files without the others.
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    os::unix::fs::{MetadataExt, chown, symlink},
    time::Duration,
};

use sealwright_transcripts::{Sandbox, have, skipped, text};

/// A sandbox with the directory `d`, which contains every kind of entry that is sealed.
fn with_tree() -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, len) in [("d/a", 5), ("d/empty", 0), ("d/e/b", 100_000), ("d/e/f/c", 16_384), ("d/z\nü", 7), ("d/.h", 1)]
    {
        sandbox.write(name, text(len));
    }
    fs::create_dir(sandbox.path("d/e/nothing")).unwrap();
    sandbox.chmod("d/a", 0o640);
    sandbox.chmod("d/e", 0o750);
    let old = fs::metadata(sandbox.path("d/a")).unwrap().modified().unwrap() - Duration::from_secs(1_000_000);
    fs::File::options().write(true).open(sandbox.path("d/a")).unwrap().set_modified(old).unwrap();
    sandbox
}

/// Everything below `root`: names, and contents of files.
fn below(sandbox: &Sandbox, root: &str) -> Vec<(String, Option<Vec<u8>>)> {
    let names = sandbox.names().into_iter().filter_map(|name| Some(name.strip_prefix(root)?.to_owned()));
    let names = names.filter(|name| !name.is_empty());
    names.map(|name| (name.clone(), (!name.ends_with('/')).then(|| sandbox.read(&format!("{root}{name}"))))).collect()
}

#[test]
fn a_directory_comes_back_as_it_was() {
    let sandbox = with_tree();
    sandbox.ok("seal --key-file k d");
    sandbox.ok("open --key-file k d.seal -C private");
    sandbox.ok("open --key-file k d.seal -C kept --preserve");
    let before = below(&sandbox, "d/");
    assert!(before.len() == 9, "{before:?}");
    assert!(below(&sandbox, "private/d/") == before && below(&sandbox, "kept/d/") == before);
    assert_eq!((sandbox.mode("private/d/a"), sandbox.mode("private/d/e")), (0o600, 0o700));
    assert_eq!((sandbox.mode("kept/d/a"), sandbox.mode("kept/d/e")), (0o640, 0o750));
    let time = |name: &str| fs::metadata(sandbox.path(name)).unwrap().modified().unwrap();
    for name in ["a", "e", "e/nothing", "e/f/c"] {
        assert_eq!(time(&format!("kept/d/{name}")), time(&format!("d/{name}")), "{name}");
    }
    // Through pipes on both ends, and with a trailing slash.
    let said = sandbox.sh("sealwright seal --key-file k d/ -o - | sealwright open --key-file k -C piped");
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert!(below(&sandbox, "piped/d/") == before);
}

/// A regression: `--remove` left the sealed file, and `--range` unpacked everything, both silently.
#[test]
fn what_is_for_files_is_refused_for_sealed_directories() {
    let sandbox = with_tree();
    sandbox.ok("seal --key-file k d -o d.seal");
    fs::remove_dir_all(sandbox.path("d")).unwrap();
    for (option, hint) in [("--remove", "by hand"), ("--range 0..1 -o x", "--entry PATH")] {
        let said = sandbox.sh(&format!("sealwright open --key-file k {option} d.seal"));
        assert_eq!(said.code, 2, "{option}: {}", said.err);
        assert!(said.err.contains("d.seal") && said.err.contains(hint), "{option}: {}", said.err);
        assert!(!sandbox.path("d").exists() && sandbox.path("d.seal").exists(), "{option}");
    }
}

/// A directory that is not readable or writable is completed without opening it again, and can be removed.
#[test]
fn directories_that_cannot_be_written_come_back() {
    let sandbox = Sandbox::new();
    for name in ["d/f", "d/sealed/g", "d/blind/h"] {
        sandbox.write(name, text(5));
    }
    if fs::metadata(sandbox.path("d")).unwrap().uid() != 0 || !have("setpriv") {
        skipped("only root can seal such a directory, and needs setpriv to open it as somebody else");
        return;
    }
    for (name, mode) in [("d/blind", 0o300), ("d/sealed", 0o555), ("d", 0o555), ("", 0o777)] {
        sandbox.chmod(name, mode);
    }
    sandbox.ok("seal --key-file k d -o whole");
    sandbox.chmod("whole", 0o644);
    let mut bytes = sandbox.read("whole");
    *bytes.last_mut().unwrap() ^= 1;
    sandbox.write("damaged", &bytes);
    chown(sandbox.path("k"), Some(65534), None).unwrap();
    let open = |words: &str| {
        let open = "setpriv --reuid=65534 --regid=65534 --clear-groups sealwright open --key-file k --preserve";
        sandbox.sh(&format!("exec {open} {words}"))
    };
    let said = open("damaged -C out");
    if said.err.contains("ermission denied") {
        skipped(format_args!("the program cannot be run by somebody else: {}", said.err));
        return;
    }
    assert_eq!(said.code, 3, "{}", said.err);
    assert_eq!(fs::read_dir(sandbox.path("out")).unwrap().count(), 0);
    for (directory, option) in [("out", ""), ("fast", "--no-sync")] {
        let said = open(&format!("whole -C {directory} {option}"));
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{directory}");
        let mode = |name: &str| sandbox.mode(&format!("{directory}/d{name}")) & 0o777;
        assert_eq!((mode(""), mode("/sealed"), mode("/blind")), (0o555, 0o555, 0o300), "{directory}");
        assert_eq!(sandbox.read(&format!("{directory}/d/blind/h")), text(5));
    }
}

/// A regression: generated files, which report a length of 0, were sealed as empty.
#[test]
fn files_that_only_say_that_they_are_empty_are_not_sealed_so() {
    let sandbox = Sandbox::new();
    if !fs::metadata("/proc/sys/kernel/random/boot_id").is_ok_and(|meta| meta.len() == 0) {
        skipped("there is no such file");
        return;
    }
    sandbox.fails("seal --key-file k /proc/sys/kernel/random -o r.seal", 1, "was written to while it was read");
    assert!(!sandbox.path("r.seal").exists());
}

/// The names are inside, so the name of the sealed file need not end in .seal if an output directory is given. A single
/// file needs it.
#[test]
fn a_sealed_directory_opens_whatever_its_file_s_name() {
    let sandbox = with_tree();
    sandbox.ok("seal --key-file k d -o archive");
    sandbox.ok("seal --key-file k d/a -o one");
    let before = below(&sandbox, "d/");
    sandbox.ok("open --key-file k archive -C out");
    assert!(below(&sandbox, "out/d/") == before);
    fs::remove_dir_all(sandbox.path("d")).unwrap();
    sandbox.ok("open --key-file k archive -C .");
    assert!(below(&sandbox, "d/") == before);
    let said = sandbox.sh("cat archive | sealwright open --key-file k /dev/stdin -C piped");
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert!(below(&sandbox, "piped/d/") == before);
    let said = sandbox.sh("script -qec 'sealwright open --key-file k -C terminal < archive' /dev/null");
    assert_eq!(said.code, 0, "nothing goes to the terminal: {:?}", said.out);
    assert!(below(&sandbox, "terminal/d/") == before);
    for line in ["open --key-file k one -C out", "open --key-file k /dev/stdin -C out < one", "open --key-file k one"] {
        let said = sandbox.sh(&format!("sealwright {line}"));
        assert!(said.code == 2 && said.err.ends_with("hint: use -o OUT\n"), "{line}: {}", said.err);
    }
    sandbox.ok("open --key-file k one -o a");
    assert_eq!(sandbox.read("a"), text(5));
}

/// An entry at the path that would be derived from the sealed file's name does not matter and is left unchanged. With
/// `--each` a sealed directory is unpacked beside itself, under the name of its file only, or where its neighbours'
/// outputs go. A regression: it was unpacked below the working directory.
#[test]
fn a_sealed_directory_takes_no_name_from_its_file() {
    let sandbox = with_tree();
    fs::create_dir_all(sandbox.path("s/sub")).unwrap();
    sandbox.ok("seal --key-file k d -o s/sub/other.seal");
    sandbox.ok("seal --key-file k d/a -o s/sub/one.seal");
    let before = below(&sandbox, "d/");
    fs::remove_dir_all(sandbox.path("d")).unwrap();
    sandbox.write("out/other", text(3));
    sandbox.ok("open --key-file k s/sub/other.seal -C out");
    assert!(below(&sandbox, "out/d/") == before && sandbox.read("out/other") == text(3));
    fs::create_dir(sandbox.path("s/sub/other")).unwrap();
    sandbox.ok("open --key-file k s/sub/other.seal -C .");
    assert!(below(&sandbox, "d/") == before && below(&sandbox, "s/sub/other/").is_empty());
    fs::remove_dir_all(sandbox.path("d")).unwrap();
    fs::rename(sandbox.path("s/sub/other"), sandbox.path("s/sub/former")).unwrap();
    for (line, place) in [(" -C each", "each/s/sub/"), (" -o root", "root/sub/"), ("", "s/sub/")] {
        if line.is_empty() {
            fs::rename(sandbox.path("s/sub/other.seal"), sandbox.path("s/sub/d.seal")).unwrap();
        }
        let said = sandbox.sh(&format!("sealwright open --key-file k --each s{line}"));
        assert!(said.code == 0 && said.err.contains("warning: s: has no manifest"), "{line}: {}", said.err);
        assert!(below(&sandbox, &format!("{place}d/")) == before, "{line}");
        assert_eq!(sandbox.read(&format!("{place}one")), text(5), "{line}");
        assert!(!sandbox.path("d").exists(), "{line}");
        fs::remove_dir_all(sandbox.path(&format!("{place}d"))).unwrap();
        fs::remove_file(sandbox.path(&format!("{place}one"))).unwrap();
    }
}

/// Short files are written by several threads in batches, long ones are not; very many are synced together.
#[test]
fn trees_of_many_files_come_back_whatever_the_threads() {
    let sandbox = Sandbox::new();
    for i in 0..200 {
        let len = [0, 1, 5000, 70_000, 262_144, 262_145, 3][i % 7];
        sandbox.write(&format!("d/{}/{i}", i % 9), text(len + i % 2));
    }
    (0..70).for_each(|i| sandbox.write(&format!("d/empty/{i}"), ""));
    sandbox.ok("seal --key-file k d");
    let before = below(&sandbox, "d/");
    assert_eq!(before.len(), 200 + 70 + 10);
    for words in ["--threads 1", "--threads 2", "--threads 5", "--threads 3 --no-sync", ""] {
        sandbox.ok(&format!("open --key-file k d.seal -C out {words}"));
        assert!(below(&sandbox, "out/d/") == before, "{words}");
        fs::remove_dir_all(sandbox.path("out")).unwrap();
    }
}

/// One of several threads cannot write: the job ends with the reason, and leaves nothing behind.
#[test]
fn a_file_that_cannot_be_written_ends_the_job() {
    let sandbox = Sandbox::new();
    (0..300).for_each(|i| sandbox.write(&format!("d/{i}"), text(if i == 150 { 200_000 } else { 5000 })));
    sandbox.ok("seal --key-file k d");
    for threads in [1, 2, 4] {
        let said =
            sandbox.sh(&format!("ulimit -f 100; exec sealwright open --key-file k d.seal -C out --threads {threads}"));
        assert_eq!(said.code, 1, "{threads}: {}", said.err);
        assert!(said.err.contains("File too large"), "{threads}: {}", said.err);
        assert_eq!(fs::read_dir(sandbox.path("out")).unwrap().count(), 0, "{threads}");
    }
}

#[test]
fn a_tree_is_listed_and_verified_and_read_in_part() {
    let sandbox = with_tree();
    sandbox.ok("seal --key-file k d -o t.seal");
    let said = sandbox.run("inspect --list --key-file k t.seal");
    let listed = String::from_utf8(said.out).unwrap();
    let names: Vec<&str> = listed.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
    let wanted = ["d/", "d/.h", "d/a", "d/e/", "d/e/b", "d/e/f/", "d/e/f/c", "d/e/nothing/", "d/empty", "d/z\\nü"];
    assert_eq!(names, wanted, "{}", said.err);
    assert!(listed.contains("-640            5 d/a\n"), "{listed}");
    assert_eq!(sandbox.run("verify -q --key-file k t.seal").code, 0);
    assert!(String::from_utf8(sandbox.run("inspect t.seal").out).unwrap().contains("  holds    a directory\n"));
    sandbox.ok("open --key-file k t.seal --entry d/e/b -o b");
    assert!(sandbox.read("b") == text(100_000));
    for option in ["--entry d/e/b", "--range 0..1"] {
        let said = sandbox.run(&format!("open --key-file k t.seal {option} -o x --preserve"));
        assert!(said.code == 2 && said.err.contains("--preserve"), "{option}: {} {}", said.code, said.err);
    }
    sandbox.fails("open --key-file k t.seal --entry d/e -o x", 1, "t.seal: there is no file d/e in it");
    sandbox.fails("open --key-file other t.seal --entry d/e/b -o x", 4, "wrong key");
    sandbox.fails("inspect --list --key-file other t.seal", 4, "wrong key");
    sandbox.ok("seal --key-file k d/a -o one.seal");
    sandbox.fails("inspect --list --key-file k one.seal", 1, "one.seal: it holds one file, not a directory");
    sandbox.fails("open --key-file k t.seal -o x", 1, "t.seal: it holds a directory\nhint: -C DIR");
    assert!(!sandbox.path("x").exists());
}

#[test]
fn a_tree_appears_whole_or_not_at_all() {
    let sandbox = with_tree();
    sandbox.ok("seal --key-file k d");
    let sealed = sandbox.read("d.seal");
    sandbox.fails("open --key-file k d.seal -C .", 1, "d: ");
    fs::rename(sandbox.path("d"), sandbox.path("original")).unwrap();
    let before = sandbox.names();
    for (what, bytes) in [
        ("a byte in the last chunk", changed(&sealed, sealed.len() - 20)),
        ("a byte in the middle", changed(&sealed, sealed.len() / 2)),
        ("a byte of the list", changed(&sealed, 100)),
        ("cut", sealed[..sealed.len() - 1].to_vec()),
        ("cut by a chunk", sealed[..sealed.len() - 16_400].to_vec()),
        ("opened as one file", changed(&sealed, 11)),
    ] {
        sandbox.write("d.seal", &bytes);
        for script in ["sealwright open --key-file k d.seal", "cat d.seal | sealwright open --key-file k -C ."] {
            let said = sandbox.sh(script);
            // A sealed file from a pipe has no name from which an output name could be derived.
            assert!(
                matches!(said.code, 3 | 4) || said.code == 2 && what == "opened as one file",
                "{what}, {script}: {} {}",
                said.code,
                said.err
            );
            assert_eq!(sandbox.names(), before, "{what}, {script}");
        }
    }
    // An existing directory is never replaced, not even with --force, and no hint suggests it.
    sandbox.write("d.seal", &sealed);
    sandbox.write("d", "precious");
    let word =
        "d: exists already\nhint: -C DIR unpacks elsewhere; a directory is never replaced, not even with --force\n";
    for line in ["open --key-file k d.seal", "open --key-file k d.seal -f"] {
        let said = sandbox.run(line);
        assert!(said.code == 1 && said.err.ends_with(word), "{line}: {}", said.err);
    }
    assert_eq!(sandbox.read("d"), b"precious");
}

/// Reading in part needs a regular file. A regression: a pipe was opened twice, which blocked forever.
#[test]
fn parts_are_of_files() {
    let sandbox = with_tree();
    sandbox.ok("seal --key-file k d -o d.seal");
    sandbox.sh("mkfifo pipe");
    for (verb, option) in
        [("open", "--range 0..1 -o x"), ("open", "--entry d/a -o x"), ("inspect", "--list"), ("verify", "")]
    {
        let name = option.split(' ').next().unwrap();
        let script = |file: &str| format!("timeout 20 sealwright {verb} --key-file k {option} {file}");
        if verb != "verify" {
            for file in ["-", "", "- <d.seal"] {
                let said = sandbox.sh(&script(file));
                let word = format!("{name} needs a file, not standard input\n");
                assert!(said.code == 2 && said.err.contains(&word), "{option} {file}: {} {}", said.code, said.err);
            }
            let said = sandbox.sh(&script("pipe"));
            let word = format!("sealwright: pipe: {name} needs a regular file");
            assert!(said.code == 2 && said.err.starts_with(&word), "{option}: {} {}", said.code, said.err);
        } else {
            // Inputs that are read in order may be pipes.
            let said = sandbox.sh(&format!("cat d.seal >pipe & {}", script("pipe")));
            assert_eq!((said.code, said.err.as_str()), (0, ""));
        }
    }
    assert!(!sandbox.path("x").exists());
}

/// An attack: the sender would choose the name of the directory when a stream is redirected.
#[test]
fn from_standard_input_a_directory_goes_where_it_is_told() {
    let sandbox = with_tree();
    sandbox.ok("seal --key-file k d -o d.seal");
    fs::rename(sandbox.path("d"), sandbox.path("original")).unwrap();
    for input in ["<d.seal", "- <d.seal", "/dev/stdin <d.seal"] {
        let said = sandbox.sh(&format!("sealwright open --key-file k {input} >out"));
        let word = "sealwright: standard input: it holds a directory\nhint: -C DIR names the directory";
        assert!(said.code == 1 && said.err.starts_with(word), "{input}: {} {}", said.code, said.err);
        assert!(!sandbox.path("d").exists() && sandbox.read("out").is_empty(), "{input}");
    }
    assert_eq!(sandbox.sh("sealwright open --key-file k -C . <d.seal").code, 0);
    assert!(below(&sandbox, "d/") == below(&sandbox, "original/"));
}

fn changed(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    changed[at] ^= 1;
    changed
}

#[test]
fn links_are_left_out_and_said_so() {
    let sandbox = with_tree();
    symlink("/etc/passwd", sandbox.path("d/link")).unwrap();
    let said = sandbox.run("seal --key-file k d");
    assert_eq!((said.code, said.err.as_str()), (0, "sealwright: d/link: skipped, neither a file nor a directory\n"));
    sandbox.ok("open --key-file k d.seal -C out");
    assert!(!sandbox.path("out/d/link").exists());
    sandbox.fails("seal --key-file k d --remove -o x", 2, "--remove does not remove directories");
}

#[cfg(feature = "public-keys")]
#[test]
fn keys_of_a_tree_change_too() {
    let sandbox = with_tree();
    let public = sandbox.run("key new --pair -o me.id").out;
    sandbox.write("me.pub", public);
    sandbox.ok("seal -R me.pub d");
    assert_eq!(sandbox.run("rekey -q d.seal -i me.id --add-key-file k").code, 0);
    sandbox.ok("open --key-file k d.seal -C out");
    assert!(below(&sandbox, "out/d/") == below(&sandbox, "d/"));
}
