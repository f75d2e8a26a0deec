//! Directories as one sealed file: long paths, and nothing that verifies but does not open.

use std::{
    fs::{self, File},
    io::{Cursor, Read, Write},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use sealwright_file::{
    Content, Error, Flaw, Input, Key, Opening, Output, SealedReader, Sealing, Shared, SigningKey,
    tree::{Unpacking, pack},
};

use crate::support::*;

static KEY: LazyLock<Key> = LazyLock::new(key256);

/// Opens the directory of this name, after making it if that is wanted.
fn enter(at: &OwnedFd, name: &str, make: bool) -> OwnedFd {
    if make {
        mkdirat(at, name, Mode::RWXU).unwrap();
    }
    openat(at, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

/// Goes down these directories, each in the one before.
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

/// What opens these bytes.
fn unpack(sealed: &[u8], into: &Path) -> Result<PathBuf, Error> {
    let unpacking = Unpacking { directory: into, name: None, preserve: false, sync: false };
    Opening::new(&KEY).work(work(2)).unpack(Input::bytes(sealed.to_vec(), "sealed"), &unpacking)
}

/// A path's length was kept modulo 65,536: what was sealed was never opened again.
#[test]
fn a_path_that_has_no_place_is_not_sealed() {
    let dir = Dir::new();
    let names = vec!["n".repeat(255); 300];
    down(dir.0.path(), &names, true);
    let error = sealed_tree(dir.0.path()).unwrap_err();
    assert!(matches!(error, Error::LongPath { len: 65_536.., .. }) && error.exit_code() == 1, "{error}");
    assert!(error.to_string().contains(&names[0]) && error.hint().is_some(), "{error}");
}

/// Paths that the system does not take at once were sealed, or not read, and one of them kept the others from being opened.
#[test]
fn long_paths_come_back() {
    let dir = Dir::new();
    fs::create_dir(dir.path("tree")).unwrap();
    dir.write("tree/short", b"beside");
    // What one call takes within the tree, which has a longer name while it is unpacked; then longer ones.
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
    // Nothing is left of one that is not whole, however long its paths.
    fs::create_dir(dir.path("damaged")).unwrap();
    let mut damaged = sealed;
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(unpack(&damaged, &dir.path("damaged")).unwrap_err().exit_code(), 3);
    assert_eq!(fs::read_dir(dir.path("damaged")).unwrap().count(), 0);
}

/// What opens with an error was said to be authentic and complete.
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
    let signer = SigningKey::generate().unwrap();
    // And where the first name begins, behind what docs/FORMAT.md has there
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
                let sealing = Sealing::new(&KEY).content(content).pad(padded).sign(signed.then_some(&signer));
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
