use super::*;
use crate::access::{Access, Kind};

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
    assert!((67..=75).contains(&count(Kind::Load)) && (40..=48).contains(&count(Kind::Store)), "{all:?}");
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
