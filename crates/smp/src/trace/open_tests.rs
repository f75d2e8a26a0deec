use super::*;
use crate::access::{Access, Operation};

#[test]
fn files_are_found_by_their_prefix_or_it_is_told_why_not() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = |name: &str| folder.path().join(name);
    for name in [
        "a.0.smpt.zst",
        "a.1.smpt.zst",
        "g.0.smpt.zst",
        "g.1.smpt.zst",
        "g.3.smpt.zst",
        "b.0.trace.gz",
        "b.1.trace.gz",
        "c.0.sigil",
    ] {
        std::fs::write(prefix(name), []).unwrap();
    }
    let found = |name: &str| Trace::find(&prefix(name));
    assert_eq!(found("a").unwrap().threads(), 2);
    assert_eq!(found("b").unwrap().format, Format::Drmemtrace);
    for (name, what) in [("c", "one thread"), ("g", "g.2.smpt.zst: missing, though"), ("e", "does not exist")] {
        let why = found(name).unwrap_err().to_string();
        assert!(why.contains(what), "{why}");
    }
}

#[test]
fn threads_beyond_those_of_a_machine_are_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: String| std::fs::write(folder.path().join(name), []).unwrap();
    (0..66).for_each(|thread| write(format!("m.{thread}.smpt")));
    (0..64).chain([70]).for_each(|thread| write(format!("n.{thread}.smpt")));
    (0..64).for_each(|thread| write(format!("all.{thread}.smpt")));
    // Names of other things
    ["all.064.smpt", "all.+65.smpt", "all.x.smpt", "all.66.txt"].into_iter().for_each(|name| write(name.to_owned()));
    let found = |name: &str| Trace::find(&folder.path().join(name));
    assert_eq!(found("all").unwrap().threads(), 64);
    for (name, what) in [("m", "m.64.smpt: a trace of 66 threads"), ("n", "n.64.smpt: missing, though")] {
        let why = found(name).unwrap_err().to_string();
        assert!(why.contains(what), "{why}");
    }
    std::fs::create_dir(folder.path().join("dir")).unwrap();
    (0..65).for_each(|thread| write(format!("dir/a.{thread}.trace.zip")));
    let why = found("dir").unwrap_err().to_string();
    assert!(why.contains("a trace of 65 threads"), "{why}");
}

/// Opening a pipe to which nobody writes would never return.
#[cfg(unix)]
#[test]
fn only_regular_files_of_a_folder_are_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for thread in 0..2 {
        std::fs::write(path(&format!("t.{thread}.trace.zip")), REAL).unwrap();
    }
    std::fs::create_dir(path("t.2.trace.zip")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(path("t.3.trace.zip")).status().unwrap().success());
    let (done, result) = std::sync::mpsc::channel();
    let trace = Trace::find(folder.path()).unwrap();
    std::thread::spawn(move || done.send((trace.threads(), trace.open(64).map(drop).is_ok())));
    assert_eq!(result.recv_timeout(std::time::Duration::from_secs(20)), Ok((2, true)));
}

/// A thread of DynamoRIO's test `threadsig`, cut to 600 entries in two chunks (BSD licence).
const REAL: &[u8] = include_bytes!("../../tests/data/threadsig.0.trace.zip");

#[test]
fn drmemtrace_is_read_as_dynamorio_writes_it_in_every_compression() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for thread in 0..2 {
        std::fs::write(path(&format!("zip.{thread}.trace.zip")), REAL).unwrap();
    }
    let mut plain = Vec::new();
    Chunks::open(&path("zip.0.trace.zip")).unwrap().read_to_end(&mut plain).unwrap();
    assert_eq!(plain.len(), 601 * 12, "both chunks");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    let gzip = gzip.finish().unwrap();
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    lz4.write_all(&plain).unwrap();
    let lz4 = lz4.finish().unwrap();
    std::fs::create_dir(path("dir")).unwrap();
    for thread in 0..2 {
        std::fs::write(path(&format!("gz.{thread}.trace.gz")), &gzip).unwrap();
        std::fs::write(path(&format!("lz4.{thread}.trace.lz4")), &lz4).unwrap();
        std::fs::write(path(&format!("plain.{thread}.trace")), &plain).unwrap();
        std::fs::write(path(&format!("dir/drmemtrace.threadsig.87290{thread}.1041.trace.zip")), REAL).unwrap();
    }
    std::fs::write(path("dir/cpu_schedule.bin.zip"), [0; 4]).unwrap();
    let steps = |name: &str| {
        let trace = Trace::find(&path(name)).unwrap();
        assert_eq!((trace.format, trace.threads()), (Format::Drmemtrace, 2), "{name}");
        let mut steps = Vec::new();
        trace.open(64).unwrap()[1].fill(&mut steps).unwrap();
        steps
    };
    let all = steps("zip");
    let count = |kind| all.iter().filter(|step| step.kind == kind).count();
    // 67 loads and 40 stores in the file, of which some cross a line
    assert!((67..=75).contains(&count(Operation::Load)) && (40..=48).contains(&count(Operation::Store)), "{all:?}");
    // 248 in the file, 5 of which have two references; the last one has none, and nothing follows it
    assert_eq!(all.iter().map(Access::instructions).sum::<u64>(), 248 + 5 - 1);
    for name in ["gz", "lz4", "plain", "dir"] {
        assert_eq!(steps(name), all, "{name}");
    }
}

#[test]
fn archives_that_are_damaged_are_refused_with_their_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |thread: usize| folder.path().join(format!("bad.{thread}.trace.zip"));
    std::fs::write(path(0), &REAL[..REAL.len() / 2]).unwrap();
    std::fs::write(path(1), REAL).unwrap();
    let Err(error) = Trace::find(&folder.path().join("bad")).unwrap().open(64) else { panic!("half an archive") };
    assert!(error.to_string().contains("bad.0.trace.zip"), "{error}");
    let mut damaged = REAL.to_vec();
    damaged[100..140].fill(0xff);
    std::fs::write(path(0), damaged).unwrap();
    let mut steps = Vec::new();
    let read = Trace::find(&folder.path().join("bad")).unwrap().open(64).map(|mut all| all[0].fill(&mut steps));
    let error = match read {
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
        Ok(Ok(())) => panic!("a damaged chunk was read"),
    };
    assert!(error.contains("bad.0.trace.zip"), "{error}");
}

/// Many entries over one deflated file would be more than any disk holds.
#[test]
fn an_archive_whose_files_overlap_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zip");
    // Where the list of files has the start of a file, and the size of it as it is stored
    let entries: Vec<usize> = (0..REAL.len() - 4).filter(|at| REAL[*at..].starts_with(b"PK\x01\x02")).collect();
    let [first, second] = entries[..] else { panic!("two chunks") };
    let (start, size) = (42..46, 20..24);
    let field = |entry: usize, place: &std::ops::Range<usize>| entry + place.start..entry + place.end;
    let changed = |place: std::ops::Range<usize>, to: &[u8]| {
        let mut bytes = REAL.to_vec();
        bytes[place].copy_from_slice(to);
        std::fs::write(&path, bytes).unwrap();
        Chunks::open(&path)
    };
    let genuine = &REAL[field(second, &start)];
    assert!(changed(field(second, &start), genuine).is_ok());
    let longer = u32::from_le_bytes(REAL[field(first, &size)].try_into().unwrap()) + 200;
    for bad in [
        changed(field(second, &start), &REAL[field(first, &start)]),
        changed(field(first, &size), &longer.to_le_bytes()),
    ] {
        let Err(why) = bad else { panic!("files that overlap") };
        assert!(why.to_string().contains("before the file in front of it ends"), "{why}");
    }
}

#[test]
fn a_window_that_takes_much_memory_is_refused() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let fill = |window: u32| {
        let mut writer = crate::trace::Writer::new(Vec::new());
        writer.refer(0, true, 64, 3).unwrap();
        let mut zstd = zstd::Encoder::new(Vec::new(), 3).unwrap();
        zstd.window_log(window).unwrap();
        zstd.write_all(&writer.into_inner()).unwrap();
        let bytes = zstd.finish().unwrap();
        (0..2).for_each(|thread| std::fs::write(folder.path().join(format!("t.{thread}.smpt.zst")), &bytes).unwrap());
        Trace::find(&folder.path().join("t")).unwrap().open(64).unwrap()[1].fill(&mut Vec::new())
    };
    fill(23).unwrap();
    let why = fill(24).unwrap_err().to_string();
    assert!(why.contains("t.1.smpt.zst") && why.contains("8 MiB") && why.contains("zstd -19"), "{why}");
}

/// A drmemtrace of so many loads, each of another word.
fn loads(count: u64) -> Vec<u8> {
    let entry =
        |kind: u16, address: u64| [&kind.to_le_bytes()[..], &8u16.to_le_bytes(), &address.to_le_bytes()].concat();
    let all = (0..count).map(|load| entry(0, 8 * load));
    std::iter::once(entry(25, 7)).chain(all).chain([entry(26, 0)]).flatten().collect()
}

/// How many references a file has, or why it is refused.
fn references(ending: &str, bytes: &[u8]) -> Result<u64, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("t.0.{ending}"));
    std::fs::write(&path, bytes).unwrap();
    let trace = Trace { format: Format::Drmemtrace, parts: vec![Part::File(path)], windows: None };
    trace.check(64).map(|summary| summary.references).map_err(|error| error.to_string())
}

fn refused(ending: &str, bytes: &[u8], why: &str) {
    let found = references(ending, bytes).unwrap_err();
    assert!(found.contains(&format!("t.0.{ending}: entry ")) && found.contains(why), "{ending}, {why}: {found}");
}

fn lz4(plain: &[u8], block: lz4_flex::frame::BlockSize, checked: bool) -> Vec<u8> {
    use std::io::Write;
    let info = lz4_flex::frame::FrameInfo::new().block_size(block).block_checksums(checked).content_checksum(checked);
    let mut to = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
    to.write_all(plain).unwrap();
    to.finish().unwrap()
}

#[test]
fn all_frames_of_lz4_are_read_to_their_ends_or_refused() {
    use lz4_flex::frame::BlockSize::{Max4MB, Max64KB, Max256KB};
    let plain = loads(17_640);
    let small = lz4(&plain, Max64KB, false);
    assert_eq!(references("trace.lz4", &small), Ok(17_640));
    assert_eq!(references("trace.lz4", &lz4(&plain, Max64KB, true)), Ok(17_640));
    let halves = plain.split_at(plain.len() / 2 + 5);
    let cut = "the file was cut: it ends within a frame";
    for (first, second) in [(Max64KB, Max4MB), (Max256KB, Max64KB), (Max64KB, Max64KB)] {
        for checked in [false, true] {
            let (first, second) = (lz4(halves.0, first, checked), lz4(halves.1, second, !checked));
            let both = [&first[..], &second].concat();
            assert_eq!(references("trace.lz4", &both), Ok(17_640));
            refused("trace.lz4", &first, "ends within an entry");
            refused("trace.lz4", &both[..first.len() + 2], cut);
            refused("trace.lz4", &both[..first.len() + 4], cut);
        }
    }
    // The ends of all blocks, behind a head of 7 bytes
    let mut ends = vec![7];
    while ends.last().unwrap() + 4 < small.len() {
        let at = ends.last().unwrap();
        let size = u32::from_le_bytes(small[*at..at + 4].try_into().unwrap()) & 0x7fff_ffff;
        ends.push(at + 4 + size as usize);
    }
    assert_eq!(ends.len(), 5, "four blocks: {ends:?}");
    for end in ends {
        refused("trace.lz4", &small[..end], cut);
        refused("trace.lz4", &small[..end + 3], cut);
        // A block of nothing, stored
        let empty = [&small[..end], &[0, 0, 0, 0x80], &small[end..]].concat();
        assert_eq!(references("trace.lz4", &empty), Ok(17_640));
    }
    let behind = |what: &[u8]| [&small[..], what].concat();
    refused("trace.lz4", &behind(b"something else"), "agic");
    refused("trace.lz4", &behind(b"x"), cut);
    refused("trace.lz4", &behind(&0x184c_2102u32.to_le_bytes()), "compress it with lz4 anew");
}

#[test]
fn every_file_of_an_archive_is_what_its_checksum_says() {
    use std::io::{Cursor, Write};
    let plain = loads(100);
    let archive = |method| {
        let mut to = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (number, part) in [&plain[..600], &plain[600..]].into_iter().enumerate() {
            let options = zip::write::SimpleFileOptions::default().compression_method(method);
            to.start_file(format!("chunk.{number:04}"), options).unwrap();
            to.write_all(part).unwrap();
        }
        to.finish().unwrap().into_inner()
    };
    assert_eq!(references("trace.zip", &archive(zip::CompressionMethod::Deflated)), Ok(100));
    let stored = archive(zip::CompressionMethod::Stored);
    assert_eq!(references("trace.zip", &stored), Ok(100));
    let find = |what: &[u8]| stored.windows(what.len()).position(|bytes| bytes == what).unwrap();
    let (first, second) = (find(&plain[..600]), find(&plain[600..]));
    // The address of a load, the footer's, which means nothing, and an address in the second file
    for (at, number) in [(first + 28, 1), (second + plain.len() - 601, 2), (second + 4, 2)] {
        let mut damaged = stored.clone();
        damaged[at] ^= 1;
        refused("trace.zip", &damaged, &format!("file {number} of the archive is damaged: its checksum is another"));
    }
    // The lengths that the list of files has
    let listed = stored.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    for (length, why) in [(588u32, "file 1 of the archive is longer"), (612, "file 1 of the archive is shorter")] {
        let mut other = stored.clone();
        other[listed + 24..listed + 28].copy_from_slice(&length.to_le_bytes());
        refused("trace.zip", &other, why);
    }
}

#[test]
fn what_ends_without_a_footer_was_cut() {
    use std::io::Write;
    let plain = loads(100);
    let gzip = |bytes: &[u8]| {
        let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        to.write_all(bytes).unwrap();
        to.finish().unwrap()
    };
    let whole = gzip(&plain);
    assert_eq!((references("trace", &plain), references("trace.gz", &whole)), (Ok(100), Ok(100)));
    let cut = &plain[..12 * 50];
    refused("trace", cut, "entry 51: the trace ends without a footer: it was cut");
    refused("trace.gz", &gzip(cut), "entry 51: the trace ends without a footer: it was cut");
    // Behind the footer stands what tells that all of it is whole
    let mut damaged = whole.clone();
    damaged[whole.len() - 8] ^= 1;
    refused("trace.gz", &damaged, "entry 102: ");
    refused("trace.gz", &whole[..whole.len() - 1], "entry 102: ");
}
