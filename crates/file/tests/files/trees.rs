//! Directories as one sealed file: long paths, and whatever verifies can be opened.

use std::{
    ffi::OsStr,
    fs::{self, File, Permissions},
    io::{Cursor, Read, Write},
    os::{
        fd::OwnedFd,
        unix::fs::{MetadataExt, PermissionsExt},
    },
    path::{Path, PathBuf},
    sync::{
        LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, mkdirat, openat, renameat_with};
use sealwright_file::{
    Content, Error, Flaw, Input, Key, Opening, Output, SealedReader, Sealing, Shared,
    tree::{Unpacking, pack, pack_without, read_manifest},
};
use sealwright_transcripts::skipped;

use crate::support::*;

static KEY: LazyLock<Key> = LazyLock::new(key256);

/// Opens the directory of this name, creating it first if `make` is set.
fn enter(at: &OwnedFd, name: &str, make: bool) -> OwnedFd {
    if make {
        mkdirat(at, name, Mode::RWXU).unwrap();
    }
    openat(at, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

/// Descends into these directories, each inside the previous one.
fn down(top: &Path, names: &[String], make: bool) -> OwnedFd {
    let top = openat(CWD, top, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
    names.iter().fold(top, |at, name| enter(&at, name, make))
}

/// The directory at `path`, sealed.
fn sealed_tree(path: &Path) -> Result<Vec<u8>, Error> {
    let mut out = Shared::default();
    let sealing = Sealing::new(&KEY).content(Content::Tree);
    sealing.seal(pack(path)?.input, Output::writer(out.clone(), "memory"))?;
    Ok(out.take())
}

/// Unpacks a sealed tree in memory.
fn unpack(sealed: &[u8], into: &Path) -> Result<PathBuf, Error> {
    let unpacking = Unpacking::new(into).sync(false);
    Opening::new(&KEY).work(work(2)).unpack(Input::bytes(sealed.to_vec(), "sealed"), &unpacking)
}

/// A regression: a path's length was stored modulo 65,536, and what was sealed could never be opened.
#[test]
fn a_path_that_has_no_place_is_not_sealed() {
    let dir = Dir::new();
    let names = vec!["n".repeat(255); 300];
    down(dir.0.path(), &names, true);
    let error = sealed_tree(dir.0.path()).unwrap_err();
    assert!(matches!(error, Error::LongPath { len: 65_536.., .. }) && error.exit_code() == 1, "{error}");
    assert!(error.to_string().contains(&names[0]), "{error}");
}

/// A regression: paths longer than a system call accepts could not be packed or unpacked.
#[test]
fn long_paths_come_back() {
    let dir = Dir::new();
    fs::create_dir(dir.path("tree")).unwrap();
    dir.write("tree/short", b"beside");
    // As long as one call accepts within the tree, though the path is longer while it is being unpacked; then longer
    // ones.
    let short: Vec<String> = (0..15).map(|_| "n".repeat(255)).chain(["n".repeat(240)]).collect();
    let long = vec!["m".repeat(255); 200];
    for names in [&short, &long] {
        let last = down(&dir.path("tree"), names, true);
        let file = openat(&last, "file", OFlags::WRONLY | OFlags::CREATE, Mode::RUSR | Mode::WUSR).unwrap();
        File::from(file).write_all(&text(300_000)).unwrap();
        let file = openat(&last, "too", OFlags::WRONLY | OFlags::CREATE, Mode::RUSR | Mode::WUSR).unwrap();
        File::from(file).write_all(b"text").unwrap();
    }
    let path = short.iter().fold(PathBuf::from("tree"), |path, name| path.join(name)).join("file");
    assert_eq!(path.as_os_str().len(), 4090);
    let sealed = sealed_tree(&dir.path("tree")).unwrap();
    Opening::new(&KEY).verify(Input::bytes(sealed.clone(), "sealed")).unwrap();
    fs::create_dir(dir.path("out")).unwrap();
    let opened = unpack(&sealed, &dir.path("out")).unwrap();
    assert_eq!(fs::read(opened.join("short")).unwrap(), b"beside");
    for names in [&short, &long] {
        let last = down(&opened, names, false);
        for (name, wanted) in [("file", text(300_000)), ("too", b"text".to_vec())] {
            let mut read = Vec::new();
            File::from(openat(&last, name, OFlags::RDONLY, Mode::empty()).unwrap()).read_to_end(&mut read).unwrap();
            assert!(read == wanted, "{name}");
        }
    }
    // Nothing is left of an incomplete tree, however long its paths.
    fs::create_dir(dir.path("damaged")).unwrap();
    let mut damaged = sealed;
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(unpack(&damaged, &dir.path("damaged")).unwrap_err().exit_code(), 3);
    assert_eq!(fs::read_dir(dir.path("damaged")).unwrap().count(), 0);
}

/// A regression: files that could not be opened were verified as authentic and complete.
#[test]
fn what_verifies_opens() {
    let dir = Dir::new();
    fs::create_dir(dir.path("tree")).unwrap();
    dir.write("tree/file", &text(40_000));
    let mut tree = Vec::new();
    let sealed = sealed_tree(&dir.path("tree")).unwrap();
    let mut reader = SealedReader::of_any_content(Cursor::new(sealed), &Opening::new(&KEY)).unwrap();
    reader.read_to_end(&mut tree).unwrap();
    let list = [&b"SEALLIST\0\x01a"[..], &[7; 32]].concat();
    #[cfg(feature = "signatures")]
    let signer = sealwright_file::SigningKey::generate().unwrap();
    // The offset of the first name in docs/FORMAT.md.
    for (content, whole, name) in [(Content::Tree, &tree, 16 + 25), (Content::List, &list, 8 + 2)] {
        let mut renamed = whole.clone();
        renamed[name] = b'/';
        let texts = [
            (whole.clone(), true),
            (whole[..whole.len() - 1].to_vec(), false),
            ([&whole[..], b"x"].concat(), false),
            (renamed, false),
            (b"a text".to_vec(), false),
            (Vec::new(), false),
        ];
        for (text, right) in texts {
            for (padded, signed) in [(false, false), (true, false), (false, true), (true, true)] {
                if signed && !cfg!(feature = "signatures") {
                    continue;
                }
                let sealing = Sealing::new(&KEY).content(content).pad(padded);
                #[cfg(feature = "signatures")]
                let sealing = sealing.sign(signed.then_some(&signer));
                let sealed = sealed_by(&sealing, &text);
                let verified = Opening::new(&KEY).verify(Input::bytes(sealed.clone(), "sealed"));
                let flaw = verified.as_ref().err().map(|error| (error.exit_code(), error.to_string()));
                match (content, verified) {
                    (_, Ok(done)) => assert!(right && done.text == text.len() as u64),
                    (Content::Tree, Err(Error::NotAuthentic(Flaw::Tree))) => assert!(!right),
                    (Content::List, Err(Error::NotAuthentic(Flaw::List))) => assert!(!right),
                    _ => panic!("{content:?}: {flaw:?}"),
                }
                if content == Content::Tree {
                    let out = Dir::new();
                    let opened = unpack(&sealed, out.0.path());
                    assert_eq!(opened.is_ok(), right);
                    assert!(right || matches!(opened, Err(Error::NotAuthentic(Flaw::Tree))), "{opened:?}");
                }
            }
        }
    }
}

/// Unpacks with other options than [`unpack`].
fn unpack_as(sealed: &[u8], unpacking: &Unpacking<'_>, threads: usize) -> Result<PathBuf, Error> {
    Opening::new(&KEY).work(work(threads)).unpack(Input::bytes(sealed.to_vec(), "sealed"), unpacking)
}

/// Lengths around the one up to which files are written in batches, and more files than are synced one by one.
#[test]
fn contents_modes_and_times_come_back() {
    let dir = Dir::new();
    let at = |seconds: i64| match u64::try_from(seconds) {
        Ok(seconds) => SystemTime::UNIX_EPOCH + Duration::new(seconds, 123_456_789),
        Err(_) => SystemTime::UNIX_EPOCH - Duration::from_secs(seconds.unsigned_abs()),
    };
    // Directories last, because creating entries changes their times.
    let mut files: Vec<(String, usize, u32)> = vec![("a/empty".into(), 0, 0o400), ("b/long".into(), 600_001, 0o755)];
    files.extend([65_535, 65_536, 65_537, 262_144].map(|len| (format!("b/{len}"), len, 0o640)));
    files.extend((0..140).map(|i| (format!("a/{i}"), i * 37, 0o600)));
    let directories = [("a", 0o750), ("b", 0o700), ("empty", 0o711), ("", 0o755)];
    let tree = dir.path("tree");
    for (name, _) in directories.iter().rev() {
        fs::create_dir(tree.join(name)).unwrap();
    }
    let set = |path: &Path, mode: u32, seconds: i64| {
        let file = File::open(path).unwrap();
        file.set_permissions(Permissions::from_mode(mode)).unwrap();
        file.set_modified(at(seconds)).unwrap();
    };
    for (i, (name, len, mode)) in files.iter().enumerate() {
        fs::write(tree.join(name), text(*len)).unwrap();
        set(&tree.join(name), *mode, if i % 2 == 0 { 1_000_000 + i as i64 } else { -100 });
    }
    for (i, (name, mode)) in directories.iter().enumerate() {
        set(&tree.join(name), *mode, 2_000_000 + i as i64);
    }
    let sealed = sealed_tree(&tree).unwrap();
    for (case, (preserve, sync, threads)) in
        [(false, false, 1), (true, false, 3), (true, true, 1), (false, true, 2)].into_iter().enumerate()
    {
        let out = dir.path(&format!("out{case}"));
        fs::create_dir(&out).unwrap();
        let unpacking = Unpacking::new(&out).name(OsStr::new("tree")).preserve(preserve).sync(sync);
        let opened = unpack_as(&sealed, &unpacking, threads).unwrap();
        assert_eq!(opened, out.join("tree"));
        let names = files.iter().map(|(name, ..)| name.as_str()).chain(directories.iter().map(|(name, _)| *name));
        for name in names {
            let [was, is] = [&tree, &opened].map(|top| fs::metadata(top.join(name)).unwrap());
            assert_eq!(is.modified().unwrap(), was.modified().unwrap(), "{case}: {name}");
            let plain = if is.is_dir() { 0o700 } else { 0o600 };
            let mode = if preserve { was.mode() & 0o777 } else { plain };
            assert_eq!(is.mode() & 0o777, mode, "{case}: {name}");
            if is.is_file() {
                let [was, is] = [&tree, &opened].map(|top| fs::read(top.join(name)).unwrap());
                assert!(was == is, "{case}: {name}");
            }
        }
    }
}

/// The name in the tree was chosen by whoever sealed it.
#[test]
fn a_tree_of_another_name_than_is_wanted_is_refused() {
    let dir = Dir::new();
    fs::create_dir(dir.path("tree")).unwrap();
    let sealed = sealed_tree(&dir.path("tree")).unwrap();
    let out = Dir::new();
    let unpacking = Unpacking::new(out.0.path()).name(OsStr::new("wood")).sync(false);
    let refused = unpack_as(&sealed, &unpacking, 1).unwrap_err();
    assert!(matches!(&refused, Error::OtherName { name, wanted } if name == "tree" && wanted == "wood"), "{refused}");
    assert_eq!(fs::read_dir(out.0.path()).unwrap().count(), 0);
}

/// Either what was listed is packed, or nothing is.
#[test]
fn files_that_change_after_they_were_listed_are_refused() {
    type Change = (&'static str, fn(&Path));
    let changes: [Change; 5] = [
        ("longer", |path| fs::write(path, text(100_001)).unwrap()),
        ("shorter", |path| fs::write(path, text(99_999)).unwrap()),
        ("empty", |path| fs::write(path, b"").unwrap()),
        ("other content", |path| fs::write(path, vec![7; 100_000]).unwrap()),
        ("another file", |path| {
            fs::remove_file(path).unwrap();
            fs::write(path, text(100_000)).unwrap();
        }),
    ];
    for (what, change) in changes {
        let dir = Dir::new();
        fs::create_dir(dir.path("tree")).unwrap();
        dir.write("tree/file", &text(100_000));
        let packed = pack(dir.path("tree")).unwrap();
        // The system's file times may have the resolution of a clock tick.
        std::thread::sleep(Duration::from_millis(20));
        change(&dir.path("tree/file"));
        let mut out = Shared::default();
        let sealing = Sealing::new(&KEY).content(Content::Tree);
        let refused = sealing.seal(packed.input, Output::writer(out.clone(), "memory")).unwrap_err();
        assert!(matches!(refused, Error::Changed { before: 100_000, .. }), "{what}: {refused}");
        assert!(unpack(&out.take(), dir.0.path()).is_err(), "{what}");
    }
}

/// The contents must have the lengths in the manifest: a text that is too short would be sealed and could never be
/// opened.
#[test]
fn a_file_that_becomes_shorter_while_it_is_read_is_refused() {
    let dir = Dir::new();
    fs::create_dir(dir.path("tree")).unwrap();
    let path = dir.write("tree/file", &text(16 << 20));
    let packed = pack(dir.path("tree")).unwrap();
    let cut = move || File::options().write(true).open(&path).unwrap().set_len(12 << 20).unwrap();
    let sealing = Sealing::new(&KEY).content(Content::Tree).work(At::work(1 << 20, 1, cut));
    let refused = sealing.seal(packed.input, Output::writer(Shared::default(), "memory")).unwrap_err();
    assert!(matches!(refused, Error::Changed { before: 0x100_0000, after: 0xc0_0000, .. }), "{refused}");
}

/// Generated files report a length of 0 or 4096 bytes, whatever their content.
#[test]
fn files_of_another_length_than_they_say_are_refused() {
    let cases = [("/proc/sys/kernel/random/boot_id", 0), ("/sys/module/kernel/parameters/consoleblank", 4096)];
    for (file, len) in cases {
        if !fs::metadata(file).is_ok_and(|meta| meta.len() == len) {
            skipped(format_args!("there is no {file} of {len} bytes"));
            continue;
        }
        // Of a file that reports a length of 0, only one byte is read.
        let found = if len == 0 { 1 } else { fs::read(file).unwrap().len() as u64 };
        let refused = sealed_tree(Path::new(file).parent().unwrap()).unwrap_err();
        let Error::Changed { place, before, after } = &refused else { panic!("{refused}") };
        assert_eq!((place.as_str(), *before, *after), (file, len, found));
    }
}

/// A backup inside the directory that it is made of does not contain the previous backup.
#[test]
fn what_is_replaced_is_not_packed() {
    let dir = Dir::new();
    fs::create_dir(dir.path("tree")).unwrap();
    dir.write("tree/file", b"text");
    let backup = dir.write("tree/backup", b"the former one");
    let output = Output::file(&backup, place().force(true)).unwrap();
    let packed = pack_without(dir.path("tree"), &output).unwrap();
    assert_eq!(packed.skipped, [backup.as_path()]);
    Sealing::new(&KEY).content(Content::Tree).seal(packed.input, output).unwrap();
    let mut reader = SealedReader::of_any_content(File::open(&backup).unwrap(), &Opening::new(&KEY)).unwrap();
    let manifest = read_manifest(&mut reader).unwrap();
    let paths: Vec<_> = manifest.entries().iter().map(|entry| entry.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["tree", "tree/file"]);
}

/// Somebody who can write to the directory cannot cause files from elsewhere to be packed.
#[test]
fn a_link_that_takes_a_directory_s_place_is_not_followed() {
    let dir = Dir::new();
    for name in ["tree", "tree/sub", "elsewhere"] {
        fs::create_dir(dir.path(name)).unwrap();
    }
    dir.write("elsewhere/secret", b"text");
    let [sub, link] = ["tree/sub", "link"].map(|name| dir.path(name));
    std::os::unix::fs::symlink(dir.path("elsewhere"), &link).unwrap();
    let exchange = || renameat_with(CWD, &sub, CWD, &link, RenameFlags::EXCHANGE);
    if exchange().is_err() {
        return skipped("this file system exchanges no names");
    }
    exchange().unwrap();
    let whole = pack(dir.path("tree")).unwrap().len;
    // While it is a link, it is left out.
    exchange().unwrap();
    let packed = pack(dir.path("tree")).unwrap();
    assert!(packed.len < whole && packed.skipped == [sub.as_path()], "{:?}", packed.skipped);
    exchange().unwrap();
    let done = AtomicBool::new(false);
    let changes = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                exchange().unwrap();
            }
        });
        // Repeated until the other thread has interfered often enough, which takes long on a busy machine.
        let (start, mut was_link, mut changes, mut longest) = (Instant::now(), false, 0, 0);
        while changes < 200 && start.elapsed() < Duration::from_secs(20) {
            // That it is a link at the moment may be reported as an error.
            let Ok(packed) = pack(dir.path("tree")) else { continue };
            longest = longest.max(packed.len);
            let is_link = !packed.skipped.is_empty();
            changes += usize::from(is_link != std::mem::replace(&mut was_link, is_link));
        }
        done.store(true, Ordering::Relaxed);
        assert!(longest <= whole, "{longest} bytes and not {whole}");
        changes
    });
    if changes < 200 {
        skipped(format_args!("in 20 s it was found {changes} times to be what it had not been before"));
    }
}

/// Whoever sealed the tree can claim any length: that allocates neither memory nor disk space.
#[test]
fn a_length_that_is_only_claimed_is_refused() {
    let entry = |kind: u8, len: u64, path: &[u8]| {
        let head = [&[kind, 1, 0o200][..], &[0; 12], &len.to_be_bytes(), &(path.len() as u16).to_be_bytes()].concat();
        [&head, path].concat()
    };
    for len in [5, 1 << 40, u64::MAX - (1 << 30) - 16] {
        let manifest = [entry(0, 0, b"tree"), entry(1, len, b"tree/file")].concat();
        let tree = [&b"SEALTREE"[..], &(manifest.len() as u64).to_be_bytes(), &manifest, b"text"].concat();
        let sealed = sealed_by(&Sealing::new(&KEY).content(Content::Tree), &tree);
        let out = Dir::new();
        let refused = unpack(&sealed, out.0.path()).unwrap_err();
        assert!(matches!(refused, Error::NotAuthentic(Flaw::Tree)), "{len}: {refused}");
        assert!(out.names().is_empty(), "{len}");
    }
}
