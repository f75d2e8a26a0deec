//! Full disks, closed pipes, failing readers, and memory use.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use sealwright_file::{Error, Input, Key, Opening, Output, Sealing, Shared};
use sealwright_transcripts::skipped;

use crate::support::*;

/// A writer that accepts a number of bytes, then is full.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let n = bytes.len().min(self.0);
        self.0 -= n;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_stream() {
    let text = text(3 << 20);
    let whole = sealed(&text);
    let key = key256();
    for room in [0, 10, 72, 100_000, 2 << 20] {
        let output = || Output::writer(Full(room), "full");
        let errors = [
            Sealing::new(&key).seal(Input::bytes(text.clone(), "t"), output()).unwrap_err(),
            Opening::new(&key).open(Input::bytes(whole.clone(), "s"), output()).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.exit_code(), 1);
            assert!(error.to_string().starts_with("cannot write full: "), "{error}");
        }
    }
}

#[test]
fn the_full_device() {
    let dir = Dir::new();
    let key = key256();
    let plain = dir.write("plain", &text(100_000));
    let error = seal_file(&Sealing::new(&key), &plain, Path::new("/dev/full")).unwrap_err();
    assert_eq!(error.to_string(), "cannot write /dev/full: No space left on device (os error 28)");
}

/// A file that is longer than the free space is refused before the work: a sparse one, which takes no space itself.
#[test]
fn no_room_for_all_of_it() {
    let dir = Dir::new();
    let disk = rustix::fs::statvfs(dir.0.path()).unwrap();
    let plain = File::create(dir.path("plain")).unwrap();
    if let Err(error) = plain.set_len(disk.f_bfree * disk.f_frsize + (1 << 40)) {
        skipped(format_args!("no such long file on this file system: {error}"));
        return;
    }
    let error = seal_file(&Sealing::new(&key256()), &dir.path("plain"), &dir.path("sealed")).unwrap_err();
    assert!(error.to_string().ends_with("No space left on device (os error 28)"), "{error}");
    assert_eq!(error.exit_code(), 1);
    assert_eq!(dir.names(), ["plain"]);
}

/// A limit on file sizes in place of a full disk: the same calls fail.
#[test]
fn a_full_disk() {
    let dir = Dir::new();
    let text = text(3 << 20);
    dir.write("plain", &text);
    dir.write("sealed", &sealed(&text));
    child("failing::full_disk_child", "ulimit -f 1000; trap '' XFSZ;", dir.0.path());
    assert_eq!(dir.names(), ["plain", "sealed"]);
}

/// The same on a small file system, if this machine permits mounting one.
#[test]
fn a_small_file_system() {
    let dir = Dir::new();
    fs::create_dir(dir.path("small")).unwrap();
    let allowed = std::process::Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|s| s.success());
    if !allowed {
        skipped("unshare -rm is not allowed here");
        return;
    }
    let text = text(3 << 20);
    dir.write("plain", &text);
    dir.write("sealed", &sealed(&text));
    let small = dir.path("small");
    let wrapper = format!(
        "SEALWRIGHT_TEST_OUT={0} unshare -rm sh -c 'mount -t tmpfs -o size=2m none {0} && exec \"$@\"' --",
        small.display()
    );
    child("failing::full_disk_child", &wrapper, dir.0.path());
}

#[test]
#[ignore = "needs a limit on file sizes: run as a child by a_full_disk"]
fn full_disk_child() {
    let Some(dir) = given_dir() else { return };
    let outdir = std::env::var_os("SEALWRIGHT_TEST_OUT").map_or(dir.clone(), Into::into);
    let key = key256();
    for stream in [false, true] {
        let input = |name: &str| {
            let path = dir.join(name);
            if stream { Input::reader(File::open(path).unwrap(), name) } else { Input::open(&path).unwrap() }
        };
        let output = || Output::file(outdir.join("out"), place()).unwrap();
        let errors = [
            Sealing::new(&key).work(work(2)).seal(input("plain"), output()).unwrap_err(),
            Opening::new(&key).work(work(2)).open(input("sealed"), output()).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.exit_code(), 1);
            assert!(matches!(error, Error::Io { doing: "write", .. }), "{error}");
        }
        let left =
            fs::read_dir(&outdir).unwrap().filter(|e| e.as_ref().unwrap().file_type().unwrap().is_file()).count();
        assert_eq!(left, if outdir == dir { 2 } else { 0 });
    }
}

/// A reader that returns a number of bytes, then fails.
struct Failing(usize);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::Error::other("the cable is out"));
        }
        let n = buffer.len().min(self.0);
        self.0 -= n;
        Ok(n)
    }
}

#[test]
fn a_failing_input_leaves_nothing() {
    let dir = Dir::new();
    let key = key256();
    for given in [0, 5, 1 << 20, 5 << 20] {
        let output = Output::file(dir.path("out"), place()).unwrap();
        let error = Sealing::new(&key).seal(Input::reader(Failing(given), "tape"), output).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.exit_code()), ("cannot read tape: the cable is out", 1));
        assert!(dir.names().is_empty());
    }
}

/// Transfers few or many bytes at a time, never all, with `Interrupted` in between.
struct Little<T>(T, usize);

impl<T> Little<T> {
    /// The number of bytes to transfer this time, out of `len`.
    fn most(&mut self, len: usize) -> io::Result<usize> {
        self.1 += 1;
        match self.1 % 6 {
            0 => Err(io::ErrorKind::Interrupted.into()),
            turn => Ok(len.min([1, 15, 4095, 65_537, 17][turn - 1])),
        }
    }
}

impl<T: Read> Read for Little<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = self.most(buffer.len())?;
        self.0.read(&mut buffer[..most])
    }
}

impl<T: Write> Write for Little<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let most = self.most(bytes.len())?;
        self.0.write(&bytes[..most])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[test]
fn reads_and_writes_that_are_short() {
    let key = key256();
    for (len, padded) in [(0, false), (1, false), (40_000, true), (3 << 20, false), (3 << 20, true)] {
        for threads in [1, 2] {
            let (text, mut shared) = (text(len), Shared::default());
            let input = |bytes: Vec<u8>| Input::reader(Little(io::Cursor::new(bytes), 0), "in");
            let output = |shared: &Shared| Output::writer(Little(shared.clone(), 3), "out");
            let sealing = Sealing::new(&key).work(work(threads)).pad(padded);
            sealing.seal(input(text.clone()), output(&shared)).unwrap();
            let whole = shared.take();
            Opening::new(&key).work(work(threads)).open(input(whole.clone()), output(&shared)).unwrap();
            assert!(shared.take() == text, "{len} bytes, padded: {padded}");
            // Many small writes give the same file as a single one.
            Opening::new(&key).open(Input::bytes(whole, "in"), Output::writer(shared.clone(), "out")).unwrap();
            assert!(shared.take() == text, "{len} bytes, padded: {padded}");
        }
    }
}

/// Counts bytes that were read but not yet written.
#[derive(Clone)]
struct Between {
    inside: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    left: usize,
}

impl Read for Between {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = buffer.len().min(self.left);
        self.left -= n;
        let inside = self.inside.fetch_add(n, Ordering::SeqCst) + n;
        self.most.fetch_max(inside, Ordering::SeqCst);
        Ok(n)
    }
}

impl Write for Between {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let inside = self.inside.load(Ordering::SeqCst);
        self.inside.fetch_sub(bytes.len().min(inside), Ordering::SeqCst);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// However long the stream is, at most two windows of it are held in memory.
#[test]
fn a_stream_is_held_by_two_windows() {
    let key = key256();
    for threads in [1, 2, 5] {
        let between = Between { inside: Arc::default(), most: Arc::default(), left: 25 << 20 };
        let most = between.most.clone();
        let sealing = Sealing::new(&key).work(work(threads));
        sealing.seal(Input::reader(between.clone(), "in"), Output::writer(between, "out")).unwrap();
        let most = most.load(Ordering::SeqCst);
        assert!(most <= 2 * threads * (1 << 20), "{most} bytes with {threads} threads");
        assert!(most >= 1 << 20);
    }
}

/// The peak memory of a process does not grow with the file.
#[test]
fn memory_does_not_grow_with_the_file() {
    let dir = Dir::new();
    let mut peaks = [0_u64; 2];
    for (peak, mib) in peaks.iter_mut().zip([16, 80]) {
        File::create(dir.path("plain")).unwrap().set_len(mib << 20).unwrap();
        let said = child("failing::memory_child", "", dir.0.path());
        let line = said.lines().find_map(|line| line.split("VmHWM:").nth(1)).unwrap();
        *peak = line.split_whitespace().next().unwrap().parse().unwrap();
        ["sealed", "opened"].iter().for_each(|name| fs::remove_file(dir.path(name)).unwrap());
    }
    assert!(peaks[1] < peaks[0] + 8 * 1024, "{peaks:?} KiB for 16 and 80 MiB");
}

#[test]
#[ignore = "measures its own process: run as a child by memory_does_not_grow_with_the_file"]
fn memory_child() {
    let Some(dir) = given_dir() else { return };
    let [plain, sealed, opened] = ["plain", "sealed", "opened"].map(|name| dir.join(name));
    let key = Key::raw(vec![1; 32]);
    let (sealing, opening) = (Sealing::new(&key).work(work(2)), Opening::new(&key).work(work(2)));
    seal_file(&sealing, &plain, &sealed).unwrap();
    sealing.seal(Input::open(&plain).unwrap(), Output::writer(io::sink(), "sink")).unwrap();
    open_file(&opening, &sealed, &opened).unwrap();
    opening.open(Input::open(&sealed).unwrap(), Output::writer(io::sink(), "sink")).unwrap();
    let status = fs::read_to_string("/proc/self/status").unwrap();
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap());
}
