//! The stream that a recorder's plugin sends.

use std::{array, fs};

use sealwright_smp::record::kept_stream;

/// The number that ends a stream.
const LAST: u32 = u32::MAX;
/// Threads of a trace.
const THREADS: usize = 64;

/// The content of a stream: the records of each thread, and whether recording began.
#[derive(Debug, Default, PartialEq)]
struct Said {
    threads: Vec<Vec<u8>>,
    began: Option<bool>,
}

/// The frames, up to the last or to the end of a truncated stream; none if it is not a valid stream.
fn said(mut stream: &[u8]) -> Option<Said> {
    let mut said = Said::default();
    while let Some((head, bytes)) = stream.split_first_chunk::<8>() {
        let [number, length] = [0, 4].map(|at| u32::from_le_bytes(array::from_fn(|i| head[at + i])));
        if length > 1 << 16 || number != LAST && length % 8 != 0 {
            return None;
        }
        let Some((records, rest)) = bytes.split_at_checked(length as usize) else { break };
        if number == LAST {
            said.began = Some(records.first() == Some(&1));
            break;
        }
        let number = number as usize;
        if number >= THREADS {
            return None;
        }
        said.threads.resize(said.threads.len().max(number + 1), Vec::new());
        said.threads[number].extend_from_slice(records);
        stream = rest;
    }
    Some(said)
}

/// Arbitrary bytes as a stream, or as frames: the number of a thread, a length, and so many bytes.
fn stream(bytes: &[u8]) -> Vec<u8> {
    let Some((&how, mut bytes)) = bytes.split_first() else { return Vec::new() };
    if how & 1 == 0 {
        return bytes.to_vec();
    }
    let mut stream = Vec::new();
    while let Some((&[number, length], rest)) = bytes.split_first_chunk() {
        let odd = if number & 0x80 == 0 { 8 } else { 1 };
        let number = if number & 0x7f == 0x7f { LAST } else { u32::from(number & 0x7f) };
        let length = (usize::from(length) * odd).min(rest.len());
        let (records, rest) = rest.split_at(length);
        stream.extend(number.to_le_bytes().into_iter().chain((length as u32).to_le_bytes()));
        stream.extend_from_slice(records);
        bytes = rest;
    }
    stream.truncate(stream.len() - usize::from(how >> 1).min(stream.len()));
    stream
}

/// Takes any stream of a recorder, complete or truncated: the result is a file for each thread, with exactly the
/// records that were sent, or an error and no file.
pub(crate) fn recorder(bytes: &[u8]) {
    let stream = stream(bytes);
    let folder = crate::folder::folder();
    let names: [_; THREADS] = array::from_fn(|thread| folder.path().join(format!("t.{thread}.smpt.zst")));
    let kept = kept_stream(&stream, folder.path(), &names);
    let there = || fs::read_dir(folder.path()).unwrap().count();
    let (Ok((records, began)), Some(said)) = (&kept, said(&stream)) else {
        assert!(kept.is_err() && said(&stream).is_none(), "{kept:?}");
        return assert_eq!(there(), 0);
    };
    let threads: Vec<Vec<u8>> =
        names[..records.len()].iter().map(|name| zstd::decode_all(fs::File::open(name).unwrap()).unwrap()).collect();
    assert_eq!(there(), threads.len());
    assert!(threads.iter().zip(records).all(|(bytes, records)| bytes.len() as u64 == 8 * records));
    assert_eq!(Said { threads, began: *began }, said);
}
