//! Compressed traces.

use std::{
    fs,
    io::{Cursor, Write},
    sync::LazyLock,
};

use sealwright_smp::{
    access::Access,
    trace::{Format, Part, Trace, Writer},
};

const ENDINGS: [(Format, &str); 7] = [
    (Format::Drmemtrace, "trace.zip"),
    (Format::Drmemtrace, "trace.gz"),
    (Format::Drmemtrace, "trace.lz4"),
    (Format::Smpt, "smpt.zst"),
    (Format::Synchro, "sigil.gz"),
    (Format::ChampSim, "champsim.zst"),
    (Format::ChampSim, "champsim.gz"),
];

/// What a trace says, up to so many batches of steps, and the error that ends it.
fn said(trace: &Trace, name: &str) -> (Vec<Access>, Option<String>) {
    const BATCHES: usize = 20;
    let (mut all, mut steps) = (Vec::new(), Vec::new());
    let ended = |error: String| {
        assert!(error.starts_with(name), "{error}");
        Some(error)
    };
    let mut source = match trace.open(64) {
        Ok(mut sources) => sources.remove(0),
        Err(error) => return (all, ended(error.to_string())),
    };
    for _ in 0..BATCHES {
        match source.fill(&mut steps) {
            Err(error) => return (all, ended(error.0)),
            Ok(()) if steps.is_empty() => break,
            Ok(()) => all.extend_from_slice(&steps),
        }
    }
    (all, None)
}

/// What bytes in a file of this ending say.
fn of(format: Format, ending: &str, bytes: &[u8]) -> (Vec<Access>, Option<String>) {
    let folder = crate::folder::folder();
    let path = folder.path().join(format!("t.0.{ending}"));
    fs::write(&path, bytes).unwrap();
    let name = path.display().to_string();
    said(&Trace { format, parts: vec![Part::File(path)], windows: None }, &name)
}

/// A trace that other libraries compress, with every checksum that the format has.
fn packed(how: &str, bytes: &[u8]) -> Vec<u8> {
    match how {
        "gz" => {
            let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            to.write_all(bytes).unwrap();
            to.finish().unwrap()
        }
        "lz4" => {
            let info = lz4_flex::frame::FrameInfo::new().content_checksum(true);
            let mut to = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
            to.write_all(bytes).unwrap();
            to.finish().unwrap()
        }
        "zip" => {
            let mut to = zip::ZipWriter::new(Cursor::new(Vec::new()));
            // One file that is compressed, and one that is not
            let parts = bytes.split_at(bytes.len() / 2);
            let methods = [(parts.0, zip::CompressionMethod::Deflated), (parts.1, zip::CompressionMethod::Stored)];
            for (number, (part, method)) in methods.into_iter().enumerate() {
                let options = zip::write::SimpleFileOptions::default().compression_method(method);
                to.start_file(format!("chunk.{number:04}"), options).unwrap();
                to.write_all(part).unwrap();
            }
            to.finish().unwrap().into_inner()
        }
        _ => {
            let mut to = zstd::Encoder::new(Vec::new(), 1).unwrap();
            to.include_checksum(true).unwrap();
            to.write_all(bytes).unwrap();
            to.finish().unwrap()
        }
    }
}

/// A trace of each format, plain.
fn genuine(format: Format) -> Vec<u8> {
    const RECORDS: u64 = 12;
    let entry =
        |kind: u16, address: u64| [&kind.to_le_bytes()[..], &8u16.to_le_bytes(), &address.to_le_bytes()].concat();
    let numbers = 1..=RECORDS;
    match format {
        Format::Drmemtrace => {
            let loads = numbers.map(|number| entry(0, 8 * number)).collect::<Vec<_>>().concat();
            [entry(25, 7), loads, entry(26, 0)].concat()
        }
        Format::Smpt => {
            let mut to = Writer::new(Vec::new());
            numbers.for_each(|number| to.refer(1, false, 8 * number, 3).unwrap());
            to.into_inner()
        }
        Format::Synchro => numbers
            .flat_map(|number| format!("{number},0,1,1,1,0 $ {:x} {:x}\n", 8 * number, 8 * number + 7).into_bytes())
            .collect(),
        Format::ChampSim => {
            let record = |number: u64| {
                let mut record = [0; 64];
                record[..8].copy_from_slice(&(4 * number).to_le_bytes());
                record[32..40].copy_from_slice(&(0x1000 + 8 * number).to_le_bytes());
                record
            };
            numbers.flat_map(record).collect()
        }
    }
}

/// What is damaged: a compressed trace of each ending, and what it says.
static GENUINE: LazyLock<[(Vec<u8>, Vec<Access>); 7]> = LazyLock::new(|| {
    ENDINGS.map(|(format, ending)| {
        let bytes = packed(ending.split_once('.').unwrap().1, &genuine(format));
        let (steps, error) = of(format, ending, &bytes);
        assert!(error.is_none() && steps.len() >= 12, "{ending}: {error:?}");
        (bytes, steps)
    })
});

/// A truncated trace is refused; one with a wrong bit is refused or gives the same steps.
fn damaged(which: usize, cut: bool, place: usize) {
    let ((format, ending), (bytes, expected)) = (ENDINGS[which], &GENUINE[which]);
    let mut bytes = bytes.clone();
    if cut {
        bytes.truncate(1 + place % (bytes.len() - 1));
    } else {
        let place = place % (bytes.len() * 8);
        bytes[place / 8] ^= 1 << (place % 8);
    }
    let (steps, error) = of(format, ending, &bytes);
    assert!(error.is_some() || !cut && steps == *expected, "{ending}, cut {cut}, {place}");
}

/// Takes arbitrary bytes as a compressed trace: the result is steps, or an error that names the file. Or compresses
/// them as a trace: the result is that of the plain trace. Or damages a genuine compressed trace.
pub(crate) fn smp_packed(bytes: &[u8]) {
    /// From this choice on, a genuine trace is damaged.
    const DAMAGED: u8 = 0xe0;
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let which = usize::from(choice >> 1) % ENDINGS.len();
    if choice >= DAMAGED {
        let Some((&place, _)) = bytes.split_first_chunk() else { return };
        return damaged(which, choice & 1 == 0, usize::from(u16::from_le_bytes(place)));
    }
    let (format, ending) = ENDINGS[which];
    if choice & 1 == 0 {
        of(format, ending, bytes);
        return;
    }
    let (plain, how) = ending.split_once('.').unwrap();
    let ((steps, error), (expected, wrong)) = (of(format, ending, &packed(how, bytes)), of(format, plain, bytes));
    assert!(steps == expected && error.is_some() == wrong.is_some(), "{error:?}, {wrong:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cut_and_no_wrong_bit_is_taken_for_another_trace() {
        for (which, (bytes, _)) in GENUINE.iter().enumerate() {
            (0..bytes.len() - 1).for_each(|place| damaged(which, true, place));
            (0..bytes.len() * 8).for_each(|place| damaged(which, false, place));
        }
    }
}
