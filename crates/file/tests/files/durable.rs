//! Nothing is lost: what is removed exists elsewhere, what cannot be written is detected before the work, and a process
//! that is killed leaves no partial text.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::Read,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Stdio},
};

use sealwright_file::{
    Error, Input, Key, Opening, Output, OutputOptions, Sealing, output::create_directory, remove_input,
};
use sealwright_transcripts::skipped;

use crate::support::*;

/// After the input is removed, only the output has the text: so it must be a synced file on a disk.
#[test]
fn an_input_is_kept_while_no_durable_output_exists() {
    let dir = Dir::new();
    let plain = dir.write("plain", b"text");
    let key = key256();
    let synced = OutputOptions::default().force(true);
    let input = || Input::open(&plain).unwrap();
    for output in [
        Output::file(Path::new("/dev/null"), synced).unwrap(),
        Output::writer(std::io::sink(), "sink"),
        Output::file(dir.path("unsynced"), place()).unwrap(),
    ] {
        let done = Sealing::new(&key).seal(input(), output).unwrap();
        assert!(!done.durable);
        let error = remove_input(&plain, &done).unwrap_err();
        assert!(matches!(error, Error::NotDurable(_)) && plain.exists(), "{error}");
    }
    let done = seal_synced(&plain, &dir.path("out"));
    assert!(done.durable);
    remove_input(&plain, &done).unwrap();
    assert!(!plain.exists());
}

#[test]
fn a_symbolic_link_is_not_removed_for_its_text() {
    let dir = Dir::new();
    dir.write("plain", b"text");
    symlink("plain", dir.path("link")).unwrap();
    let done = seal_synced(&dir.path("link"), &dir.path("out"));
    let error = remove_input(&dir.path("link"), &done).unwrap_err();
    assert!(matches!(error, Error::Link(_)), "{error}");
    assert_eq!(dir.names(), ["link", "out", "plain"]);
}

/// Removing a name changes the time of the file's metadata, as writing does.
#[test]
fn a_file_may_lose_another_name_meanwhile() {
    let dir = Dir::new();
    let plain = dir.write("plain", &text(4 << 20));
    let other = |name| {
        let path = dir.path(name);
        fs::hard_link(&plain, &path).unwrap();
        path
    };
    let (one, two) = (other("one"), other("two"));
    let sealed = |name, stream| {
        let remove = |path: std::path::PathBuf| {
            move || {
                std::thread::sleep(std::time::Duration::from_millis(30));
                fs::remove_file(&path).unwrap();
            }
        };
        let work = At::work(1 << 20, 1, remove(if stream { one.clone() } else { two.clone() }));
        let output = Output::file(dir.path(name), OutputOptions::default()).unwrap();
        Sealing::new(&key256()).pad(stream).work(work).seal(Input::open(&plain).unwrap(), output).unwrap()
    };
    sealed("a", true);
    sealed("b", false);
    let done = {
        let last = other("last");
        let done = seal_synced(&plain, &dir.path("c"));
        std::thread::sleep(std::time::Duration::from_millis(30));
        fs::remove_file(last).unwrap();
        done
    };
    remove_input(&plain, &done).unwrap();
    assert_eq!(dir.names(), ["a", "b", "c"]);
}

/// A smaller number of names does not explain a different content.
#[test]
fn an_edit_of_a_file_that_lost_a_name_is_noticed() {
    let dir = Dir::new();
    let plain = dir.write("plain", b"text");
    fs::hard_link(&plain, dir.path("other")).unwrap();
    let done = seal_synced(&plain, &dir.path("out"));
    fs::write(&plain, b"another text").unwrap();
    fs::remove_file(dir.path("other")).unwrap();
    assert!(matches!(remove_input(&plain, &done), Err(Error::Replaced(_))) && plain.exists());
}

/// A program can set the modification time back, but not the time of the last metadata change.
#[test]
fn an_edit_whose_time_was_set_back_is_noticed() {
    let dir = Dir::new();
    let plain = dir.write("plain", b"text");
    let done = seal_synced(&plain, &dir.path("out"));
    let modified = fs::metadata(&plain).unwrap().modified().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(30));
    fs::write(&plain, b"TEXT").unwrap();
    File::options().write(true).open(&plain).unwrap().set_modified(modified).unwrap();
    let error = remove_input(&plain, &done).unwrap_err();
    assert!(matches!(error, Error::Replaced(_)) && plain.exists(), "{error}");
    // Nor by an additional name: only a removed one explains a later time.
    let done = seal_synced(&plain, &dir.path("again"));
    std::thread::sleep(std::time::Duration::from_millis(30));
    fs::hard_link(&plain, dir.path("another")).unwrap();
    assert!(matches!(remove_input(&plain, &done), Err(Error::Replaced(_))));
}

/// A regression: on a file system that ignores case, the output of `img.jpg` replaced that of `IMG.jpg`, and with
/// `--remove` both inputs were lost. Two names of one directory take the place of such a file system here.
#[test]
fn an_output_does_not_replace_one_of_the_same_run() {
    let dir = Dir::new();
    child("durable::keep_own_child", "", dir.0.path());
    assert_eq!(opened_by(&Opening::new(&key256()), &fs::read(dir.path("d/x")).unwrap()).0, b"one");
    assert_eq!(fs::read_dir(dir.path("d")).unwrap().count(), 1);
}

#[test]
#[ignore = "is for all of its process: run as a child by an_output_does_not_replace_one_of_the_same_run"]
fn keep_own_child() {
    let Some(dir) = given_dir() else { return };
    fs::create_dir(dir.join("d")).unwrap();
    symlink("d", dir.join("link")).unwrap();
    fs::write(dir.join("d/x"), "from before").unwrap();
    let seal = |path, text: &'static [u8]| {
        let output = Output::derived(dir.join(path), place().force(true)).unwrap();
        Sealing::new(&key256()).seal(Input::bytes(text, "text"), output)
    };
    sealwright_file::output::keep_own();
    seal("d/x", b"one").unwrap();
    let error = seal("link/x", b"two").unwrap_err();
    assert!(matches!(error, Error::BadOutput { .. }) && error.exit_code() == 1, "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("upper and lower case")), "{error}");
}

#[test]
fn names_that_no_file_can_have_are_refused_before_the_work() {
    let dir = Dir::new();
    symlink("nowhere", dir.path("dangling")).unwrap();
    for force in [false, true] {
        let place = place().force(force);
        for name in ["n".repeat(256), "new/".into(), "dangling".into()] {
            let mut path = OsString::from(dir.0.path());
            path.push("/");
            path.push(&name);
            let error = Output::file(Path::new(&path), place).unwrap_err();
            assert_eq!(error.exit_code(), 1, "{name}: {error}");
        }
    }
    assert_eq!(dir.names(), ["dangling"]);
    let longest = dir.path(&"n".repeat(255));
    seal_file(&Sealing::new(&key256()), &dir.write("plain", b"text"), &longest).unwrap();
    assert!(longest.exists());
}

#[test]
fn a_block_device_is_not_overwritten_unasked() {
    let Ok(devices) = fs::read_dir("/sys/class/block") else {
        skipped("there is no /sys/class/block");
        return;
    };
    let device = devices.filter_map(|entry| Some(Path::new("/dev").join(entry.ok()?.file_name())));
    let Some(device) = device.filter(|path| path.exists()).min() else {
        skipped("there is no block device");
        return;
    };
    let error = Output::file(&device, OutputOptions::default()).unwrap_err();
    assert!(matches!(error, Error::BlockDevice(_)) && error.exit_code() == 1, "{error}");
}

/// Killed at any moment, a process leaves either the input and nothing else, or the complete output.
#[test]
fn killed_at_any_moment_it_leaves_no_partial_text() {
    let dir = Dir::new();
    if !makes_unnamed_files(&dir) {
        skipped("this file system makes no files without a name");
        return;
    }
    let text = text(20 << 20);
    dir.write("sealed", &sealed(&text));
    for wait in [Some(0), Some(3), Some(10), Some(20), Some(40), Some(80), None] {
        let this = std::env::current_exe().unwrap();
        let mut child = Command::new(this)
            .args(["--ignored", "--exact", "durable::open_child", "--nocapture"])
            .env("SEALWRIGHT_TEST_DIR", dir.0.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // The first output of the test process: it has started.
        let mut begun = Vec::new();
        let mut out = child.stdout.take().unwrap();
        while !begun.ends_with(b"BEGUN") {
            let mut byte = [0];
            out.read_exact(&mut byte).unwrap();
            begun.push(byte[0]);
        }
        if let Some(wait) = wait {
            std::thread::sleep(std::time::Duration::from_millis(wait));
            child.kill().unwrap();
            child.wait().unwrap();
        } else {
            assert!(child.wait().unwrap().success(), "left alone, it opens the file");
        }
        let names = dir.names();
        if wait.is_none() || names != ["sealed"] {
            assert_eq!(names, ["opened", "sealed"], "after {wait:?} ms");
            assert!(fs::read(dir.path("opened")).unwrap() == text, "after {wait:?} ms");
            fs::remove_file(dir.path("opened")).unwrap();
        }
    }
}

#[test]
#[ignore = "is killed: run as a child by killed_at_any_moment_it_leaves_no_partial_text"]
fn open_child() {
    let Some(dir) = given_dir() else { return };
    println!("BEGUN");
    open_file(&Opening::new(&key256()).work(work(2)), &dir.join("sealed"), &dir.join("opened")).unwrap();
}

#[test]
fn directories_are_made_with_those_above_them() {
    let dir = Dir::new();
    for sync in [true, false] {
        create_directory(&dir.path("a/b/c"), 0o700, sync).unwrap();
        assert!(dir.path("a/b/c").is_dir());
        create_directory(&dir.path("a/b/c"), 0o700, sync).unwrap();
        fs::remove_dir_all(dir.path("a")).unwrap();
    }
    let file = dir.write("file", b"");
    assert!(create_directory(&file.join("x"), 0o700, true).is_err());
    assert!(create_directory(&file, 0o700, true).is_err());
}

/// A key of another length cannot be right: a wrong key when opening, a usage error when sealing.
#[test]
fn a_key_of_another_length() {
    let key = Key::raw(vec![1; 16]);
    let (_, done) = opened_by(&Opening::new(&key), &sealed(b"text"));
    let error = done.unwrap_err();
    assert_eq!(
        (error.exit_code(), error.to_string().as_str()),
        (4, "wrong key: it has 16 bytes, but aes-256-gcm takes 32")
    );
    let out = sealwright_file::Shared::default();
    let error = Sealing::new(&key).seal(Input::bytes(b"text", "text"), Output::writer(out, "memory")).unwrap_err();
    assert!(matches!(error, Error::KeyLength { .. }) && error.exit_code() == 2, "{error}");
}
