//! How output files get their names: complete, atomically, with the right mode, and without replacing another unless
//! asked.

use std::{
    fs::{self, OpenOptions, Permissions},
    io::Write,
    os::unix::fs::{FileTypeExt, PermissionsExt, symlink},
    path::Path,
    sync::{Arc, Mutex},
};

use sealwright_file::{Error, Input, Key, Opening, Output, Sealing, remove_input};

use crate::support::*;

const LONG: usize = 5 << 20;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn nothing_is_clobbered_unasked() {
    let dir = Dir::new();
    let (plain, there) = (dir.write("plain", b"text"), dir.write("there", b"precious"));
    let key = key256();
    let error = seal_file(&Sealing::new(&key), &plain, &there).unwrap_err();
    assert!(matches!(error, Error::Exists(_)) && error.exit_code() == 1, "{error}");
    // What allows it is the caller's to say.
    assert_eq!(error.hint(), None);
    let force = place().force(true);
    Sealing::new(&key).seal(Input::open(&plain).unwrap(), Output::file(&there, force).unwrap()).unwrap();
    assert_eq!(fs::read(&there).unwrap()[..4], [0x89, b'S', b'E', b'A']);
    assert_eq!(dir.names(), ["plain", "there"]);
}

/// Even if the name is taken while the work is in progress.
#[test]
fn a_name_taken_meanwhile_is_left_alone() {
    let dir = Dir::new();
    let (plain, out) = (dir.write("plain", &text(LONG)), dir.path("out"));
    let key = key256();
    let taken = out.clone();
    let work = At::work(1 << 20, 2, move || fs::write(&taken, b"precious").unwrap());
    let error = seal_file(&Sealing::new(&key).work(work), &plain, &out).unwrap_err();
    assert!(matches!(error, Error::Exists(_)), "{error}");
    assert_eq!(fs::read(&out).unwrap(), b"precious");
    assert_eq!(dir.names(), ["out", "plain"]);
}

/// While the work is in progress, the output has no name, or a hidden one if the file system does not support unnamed
/// files; then only the owner can read it.
#[test]
fn the_draft_is_hidden_and_private() {
    let dir = Dir::new();
    let plain = dir.write("plain", &text(LONG));
    chmod(&plain, 0o666);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (key, home, note) = (key256(), dir.0.path().to_owned(), seen.clone());
    let work = At::work(1 << 20, 1, move || {
        for entry in fs::read_dir(&home).unwrap() {
            let path = entry.unwrap().path();
            note.lock().unwrap().push((path.file_name().unwrap().to_str().unwrap().to_owned(), mode(&path)));
        }
    });
    seal_file(&Sealing::new(&key).work(work), &plain, &dir.path("out.seal")).unwrap();
    let mut seen = seen.lock().unwrap().clone();
    seen.sort();
    match &seen[..] {
        [(other, _)] => assert_eq!(other, "plain"),
        [(draft, bits), (other, _)] if !makes_unnamed_files(&dir) => {
            assert!(draft.starts_with(".out.seal.") && draft.len() == ".out.seal.".len() + 6, "{draft}");
            assert_eq!((*bits, other.as_str()), (0o600, "plain"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(dir.names(), ["out.seal", "plain"]);
}

#[test]
fn modes() {
    let dir = Dir::new();
    let (plain, sealed) = (dir.write("plain", b"text"), dir.path("sealed"));
    let key = key256();
    chmod(&plain, 0o640);
    seal_file(&Sealing::new(&key), &plain, &sealed).unwrap();
    assert_eq!(mode(&sealed), 0o640);
    chmod(&sealed, 0o4755);
    open_file(&Opening::new(&key), &sealed, &dir.path("private")).unwrap();
    assert_eq!(mode(&dir.path("private")), 0o600);
    let keep = place().preserve(true);
    Opening::new(&key).open(Input::open(&sealed).unwrap(), Output::file(dir.path("kept"), keep).unwrap()).unwrap();
    assert_eq!(mode(&dir.path("kept")), 0o755, "without the set-user-id bit");
    Sealing::new(&key)
        .seal(Input::bytes(b"text", "stream"), Output::file(dir.path("stream"), place()).unwrap())
        .unwrap();
    assert_eq!(mode(&dir.path("stream")), 0o600);
}

#[test]
fn input_and_output_the_same_file() {
    let dir = Dir::new();
    let plain = dir.write("plain", b"precious");
    fs::hard_link(&plain, dir.path("hard")).unwrap();
    symlink(&plain, dir.path("soft")).unwrap();
    let key = key256();
    for name in ["plain", "hard", "soft"] {
        let force = place().force(true);
        let output = || Output::file(dir.path(name), force).unwrap();
        let errors = [
            Sealing::new(&key).seal(Input::open(&plain).unwrap(), output()).unwrap_err(),
            Opening::new(&key).open(Input::open(&plain).unwrap(), output()).unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, Error::SameFile(_)) && error.exit_code() == 2, "{name}: {error}");
        }
        assert_eq!(fs::read(&plain).unwrap(), b"precious");
    }
    assert_eq!(dir.names(), ["hard", "plain", "soft"]);
}

/// A derived name must be that of no file or of a regular one: anything else that somebody put there is not written to.
#[test]
fn derived_names_are_not_written_through() {
    let dir = Dir::new();
    let (plain, target) = (dir.write("plain", b"text"), dir.write("target", b"precious"));
    symlink("target", dir.path("link")).unwrap();
    symlink("nowhere", dir.path("dangling")).unwrap();
    symlink("/dev/null", dir.path("null")).unwrap();
    fs::create_dir(dir.path("directory")).unwrap();
    let force = place().force(true);
    for name in ["link", "dangling", "null"] {
        assert!(matches!(Output::derived(dir.path(name), place()), Err(Error::Exists(_))), "{name}");
        assert!(matches!(Output::derived(dir.path(name), force), Err(Error::BadOutput { .. })), "{name}");
    }
    for place in [place(), force] {
        assert!(matches!(Output::derived(dir.path("directory"), place), Err(Error::Io { .. })));
        assert!(matches!(Output::derived(dir.path("plain/x"), place), Err(Error::Io { doing: "create", .. })));
    }
    assert!(matches!(Output::derived(&target, place()), Err(Error::Exists(_))));
    let key = key256();
    for (path, place) in [(&target, force), (&dir.path("new"), place())] {
        let output = Output::derived(path, place).unwrap();
        assert!(output.is_file());
        Sealing::new(&key).seal(Input::open(&plain).unwrap(), output).unwrap();
        assert_eq!(fs::read(path).unwrap()[..4], [0x89, b'S', b'E', b'A']);
    }
}

#[test]
fn a_symbolic_link_is_written_through() {
    let dir = Dir::new();
    let (plain, target) = (dir.write("plain", b"text"), dir.write("target", b"old"));
    symlink("target", dir.path("link")).unwrap();
    let key = key256();
    let force = place().force(true);
    Sealing::new(&key).seal(Input::open(&plain).unwrap(), Output::file(dir.path("link"), force).unwrap()).unwrap();
    assert!(fs::symlink_metadata(dir.path("link")).unwrap().is_symlink());
    assert_eq!(opened_by(&Opening::new(&key), &fs::read(&target).unwrap()).0, b"text");
}

#[test]
fn devices_and_pipes_are_written_not_replaced() {
    let dir = Dir::new();
    let plain = dir.write("plain", &text(100_000));
    let key = key256();
    seal_file(&Sealing::new(&key), &plain, Path::new("/dev/null")).unwrap();
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    let pipe = dir.path("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let (from, to) = (pipe.clone(), dir.path("opened"));
    let opener = std::thread::spawn(move || open_file(&Opening::new(&key256()), &from, &to).unwrap());
    seal_file(&Sealing::new(&key), &plain, &pipe).unwrap();
    assert_eq!(opener.join().unwrap().text, 100_000);
    assert_eq!(fs::read(dir.path("opened")).unwrap(), text(100_000));
}

#[test]
fn awkward_names() {
    let dir = Dir::new();
    let plain = dir.write("plain", b"text");
    let key = key256();
    let long = "n".repeat(255);
    for name in [long.as_str(), "with space\nand line", "-", ".hidden", "ünï"] {
        seal_file(&Sealing::new(&key), &plain, &dir.path(name)).unwrap();
        assert!(dir.names().contains(&name.to_owned()));
    }
    assert_eq!(dir.names().len(), 6);
    for bad in [dir.path("no/such/dir"), dir.0.path().to_owned(), dir.path("plain").join("x")] {
        let error = seal_file(&Sealing::new(&key), &plain, &bad).unwrap_err();
        assert!(matches!(error, Error::Io { .. }) && error.exit_code() == 1, "{error}");
    }
    let error = seal_file(&Sealing::new(&key), dir.0.path(), &dir.path("x")).unwrap_err();
    assert!(error.to_string().starts_with("cannot read /"), "{error}");
}

/// A file that is changed while it is sealed is refused, because half of it would be old.
#[test]
fn a_changing_input_is_refused() {
    for change in ["grow", "shrink", "overwrite"] {
        for to_file in [true, false] {
            let dir = Dir::new();
            let plain = dir.write("plain", &text(LONG));
            let (key, path) = (key256(), plain.clone());
            let work = At::work(1 << 20, 1, move || {
                // The resolution of change times may be a clock tick.
                std::thread::sleep(std::time::Duration::from_millis(30));
                let mut file = OpenOptions::new().write(true).open(&path).unwrap();
                match change {
                    "grow" => file.set_len(LONG as u64 + 4).unwrap(),
                    "shrink" => file.set_len(3 << 20).unwrap(),
                    _ => file.write_all(b"over the beginning").unwrap(),
                }
            });
            let output = if to_file {
                Output::file(dir.path("out"), place()).unwrap()
            } else {
                Output::writer(std::io::sink(), "sink")
            };
            let error = Sealing::new(&key).work(work).seal(Input::open(&plain).unwrap(), output).unwrap_err();
            let Error::Changed { before, after, .. } = error else { panic!("{change}: {error}") };
            assert_eq!(before, LONG as u64);
            let wanted = match change {
                "grow" => after > before,
                "shrink" => after < before,
                _ => after == before,
            };
            assert!(wanted, "{change}: {after}");
            assert_eq!(dir.names(), ["plain"]);
        }
    }
}

/// A stream may write to the file that is being read, so that it grows as fast as it is read.
#[test]
fn what_is_sealed_to_its_own_end_comes_to_an_end() {
    struct Appending(fs::File, usize);
    impl Write for Appending {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.1 += bytes.len();
            if self.1 > 4 * LONG { Err(std::io::Error::other("it goes on")) } else { self.0.write(bytes) }
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for len in [LONG, 1 << 20, 16_384, 1] {
        for sealing in [Sealing::new(&key256()), Sealing::new(&key256()).pad(true)] {
            let dir = Dir::new();
            let plain = dir.write("plain", &text(len));
            let appending = Appending(OpenOptions::new().append(true).open(&plain).unwrap(), 0);
            let error = sealing.seal(Input::open(&plain).unwrap(), Output::writer(appending, "stream")).unwrap_err();
            let Error::Changed { before, .. } = error else { panic!("{len}: {error}") };
            assert_eq!(before, len as u64);
        }
    }
}

#[test]
fn the_input_is_removed_only_if_it_is_still_itself() {
    let dir = Dir::new();
    let plain = dir.write("plain", b"text");
    let done = seal_synced(&plain, &dir.path("a"));
    fs::remove_file(&plain).unwrap();
    fs::write(dir.path("new"), b"another").unwrap();
    fs::rename(dir.path("new"), &plain).unwrap();
    let error = remove_input(&plain, &done).unwrap_err();
    assert!(matches!(error, Error::Replaced(_)) && plain.exists(), "{error}");
    let done = seal_synced(&plain, &dir.path("b"));
    OpenOptions::new().append(true).open(&plain).unwrap().write_all(b", and more").unwrap();
    assert!(matches!(remove_input(&plain, &done), Err(Error::Replaced(_))));
    let done = seal_synced(&plain, &dir.path("c"));
    remove_input(&plain, &done).unwrap();
    assert_eq!(dir.names(), ["a", "b", "c"]);
}

#[test]
fn key_files() {
    let dir = Dir::new();
    let path = dir.path("key");
    for form in [sealwright_file::key::KeyForm::Raw, sealwright_file::key::KeyForm::Hex] {
        let key = Key::generate(sealwright::Suite::Aes256Gcm).unwrap();
        key.write_file(&path, form).unwrap();
        assert_eq!(mode(&path), 0o600);
        assert!(matches!(key.write_file(&path, form), Err(Error::Exists(_))));
        let sealed = sealed_by(&Sealing::new(&key), b"text");
        assert_eq!(opened_by(&Opening::new(&Key::read_file(&path).unwrap()), &sealed).0, b"text");
        for loose in [0o640, 0o604, 0o660] {
            chmod(&path, loose);
            let error = Key::read_file(&path).unwrap_err();
            assert_eq!((error.exit_code(), error.hint()), (1, Some("chmod 600 it")));
        }
        fs::remove_file(&path).unwrap();
    }
    let error = Key::read_from(&b"too short"[..], "descriptor 3").unwrap_err().to_string();
    assert_eq!(error, "key file descriptor 3: it must hold 16 or 32 bytes, or as many in hex on one line");
}
