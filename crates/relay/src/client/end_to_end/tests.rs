#![allow(clippy::unwrap_used)]

use std::{
    io::{self, Cursor},
    sync::Mutex,
    thread,
    time::Duration,
};

use hpke::{Deserializable, Kem as _, Serializable, kem::XWing};

use super::{
    agreement::{DATA, ENCAPSULATED_KEY_BYTES, END, FIRST_MESSAGE_BYTES, RECEIPT, Secret, State},
    sealing::record,
    *,
};

const KEYS: [[u8; 32]; 3] = [[1; 32], [2; 32], [3; 32]];

fn public(secret: &[u8; 32]) -> Vec<u8> {
    XWing::sk_to_pk(&Secret::from_bytes(secret).unwrap()).to_bytes().to_vec()
}

fn end(own: usize, peer: usize, names: [&str; 2]) -> EndToEnd {
    EndToEnd::with_rekey(&KEYS[own], &public(&KEYS[peer]), names, 40_000).unwrap()
}

/// A text without repetition.
fn text(len: usize) -> Vec<u8> {
    (0..len).map(|at| ((at * 31) >> 3) as u8).collect()
}

/// Length of the record that proves the keys, and of the one that ends the stream.
const EMPTY_STREAM_BYTES: usize = 19 + 19;

/// Passes on this many bytes.
fn pass(from: &mut impl Read, to: &mut impl Write, len: usize) {
    let mut bytes = vec![0; len];
    from.read_exact(&mut bytes).unwrap();
    to.write_all(&bytes).unwrap();
}

/// An output that another thread reads.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Passes on a stream in pieces. `change` gets each piece with its offset, and may change it.
fn carry(mut from: impl Read, mut to: impl Write, change: impl Fn(usize, &mut Vec<u8>)) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let mut piece = vec![0; 3000];
        let much = from.read(&mut piece)?;
        if much == 0 {
            return Ok(all);
        }
        piece.truncate(much);
        all.extend_from_slice(&piece);
        change(all.len() - much, &mut piece);
        to.write_all(&piece)?;
    }
}

type Carried = io::Result<Vec<u8>>;

/// Runs both directions between two ends. Returns what each received, and the bytes in transit from `a` to `b`.
fn speak(
    (a, b): (&EndToEnd, &EndToEnd),
    texts: [Vec<u8>; 2],
    change: impl Fn(usize, &mut Vec<u8>) + Send + Sync,
) -> ([Vec<u8>; 2], [Carried; 2]) {
    let [from_a, from_b] = texts.map(Cursor::new);
    speak_from((a, b), (from_a, from_b), change)
}

fn speak_from(
    (a, b): (&EndToEnd, &EndToEnd),
    (from_a, from_b): (impl Read + Send, impl Read + Send),
    change: impl Fn(usize, &mut Vec<u8>) + Send + Sync,
) -> ([Vec<u8>; 2], [Carried; 2]) {
    let (at_a, at_b) = (Output::default(), Output::default());
    let carried = thread::scope(|scope| {
        let back = scope.spawn(|| carry(b.sealing(from_b), a.opening(at_a.clone()), |_, _| ()));
        let there = carry(a.sealing(from_a), b.opening(at_b.clone()), &change);
        [there, back.join().unwrap()]
    });
    let bytes = |output: Output| output.0.lock().unwrap().clone();
    ([bytes(at_a), bytes(at_b)], carried)
}

#[test]
fn texts_go_both_ways_and_nothing_of_them_is_seen_on_the_way() {
    for lengths in [[0, 0], [1, 0], [200_000, 100_000]] {
        let (a, b) = (end(0, 1, ["alice", "bob"]), end(1, 0, ["Bob", "alice"]));
        let texts = lengths.map(text);
        let (received, carried) = speak((&a, &b), texts.clone(), |_, _| ());
        let [there, _] = carried.map(|carried| carried.unwrap());
        assert!(received[1] == texts[0] && received[0] == texts[1]);
        assert_eq!(a.finished().unwrap(), (lengths[0] as u64, lengths[1] as u64));
        assert_eq!(b.finished().unwrap(), (lengths[1] as u64, lengths[0] as u64));
        let seen = |part: &[u8]| there.windows(part.len()).any(|window| window == part);
        // Records of 16 KiB, with new keys after every third one
        let records = lengths[0].div_ceil(16 << 10);
        let rekeys = records.saturating_sub(1) / 3;
        let overhead = FIRST_MESSAGE_BYTES
            + ENCAPSULATED_KEY_BYTES
            + 19 * (records + 2)
            + 27
            + (ENCAPSULATED_KEY_BYTES + 19) * rekeys;
        assert_eq!(there.len(), lengths[0] + overhead);
        assert!(lengths[0] < 64 || !texts[0].chunks(5000).any(|part| seen(&part[..64.min(part.len())])));
    }
}

#[test]
fn other_keys_and_other_names_open_nothing() {
    let alice = || end(0, 1, ["alice", "bob"]);
    for (who, other) in [
        ("another secret key", end(2, 0, ["bob", "alice"])),
        ("another public key", end(1, 2, ["bob", "alice"])),
        ("another name", end(1, 0, ["bob", "carol"])),
    ] {
        let a = alice();
        let (received, carried) = speak((&a, &other), [text(1000), text(1000)], |_, _| ());
        assert!(carried.iter().any(Result::is_err), "{who}");
        assert!(received.iter().all(Vec::is_empty) && a.finished().is_err(), "{who}");
    }
    assert_eq!(EndToEnd::new(&KEYS[0], &public(&KEYS[1]), ["alice", "ALICE"]).err(), Some(EndToEndError::Oneself));
    assert_eq!(EndToEnd::new(&KEYS[0], &[0; 40], ["alice", "bob"]).err(), Some(EndToEndError::Key));
    let long = "a".repeat(70_000);
    assert_eq!(EndToEnd::new(&KEYS[0], &public(&KEYS[1]), ["alice", &long]).err(), Some(EndToEndError::Name));
}

#[test]
fn a_stream_that_was_changed_anywhere_is_not_authentic() {
    // In the magic, the fresh key, both encapsulations, a record's length, a record, and behind new keys
    for at in [
        3,
        500,
        2000,
        2400,
        FIRST_MESSAGE_BYTES + ENCAPSULATED_KEY_BYTES,
        FIRST_MESSAGE_BYTES + ENCAPSULATED_KEY_BYTES + 40,
        70_000,
    ] {
        let (a, b) = (end(0, 1, ["alice", "bob"]), end(1, 0, ["bob", "alice"]));
        let change = |start: usize, piece: &mut Vec<u8>| {
            if let Some(byte) = at.checked_sub(start).and_then(|at| piece.get_mut(at)) {
                *byte ^= 1;
            }
        };
        let (received, carried) = speak((&a, &b), [text(100_000), Vec::new()], change);
        assert!(carried.iter().any(Result::is_err), "{at}");
        assert!(b.finished().is_err(), "{at}");
        assert!(text(100_000).starts_with(&received[1]), "{at}: nothing changed was written");
    }
}

#[test]
fn a_stream_that_was_cut_or_repeated_is_noticed() {
    let (a, b) = (end(0, 1, ["alice", "bob"]), end(1, 0, ["bob", "alice"]));
    let (received, _) = speak((&a, &b), [text(100_000), Vec::new()], |start, piece| {
        if start > 50_000 {
            piece.clear();
        }
    });
    assert_eq!(b.finished(), Err(EndToEndError::Cut));
    assert!(received[1].len() < 100_000);
    // Another session's records do not open, and no record opens twice
    let (a, b) = (end(0, 1, ["alice", "bob"]), end(1, 0, ["bob", "alice"]));
    let (_, carried) = speak((&a, &b), [text(10), Vec::new()], |_, _| ());
    let old = carried.into_iter().next().unwrap().unwrap();
    let later = end(1, 0, ["bob", "alice"]);
    let output = Output::default();
    assert!(later.opening(output.clone()).write_all(&old).is_err() && output.0.lock().unwrap().is_empty());
    assert!(b.opening(Output::default()).write_all(b"GET / HTTP/1.1").is_err(), "another protocol");
}

#[test]
fn records_are_neither_left_out_nor_repeated_nor_moved() {
    let orders: [(&str, &[usize]); 4] = [
        ("left out", &[0, 1, 3]),
        ("repeated", &[0, 1, 1, 2]),
        ("moved", &[0, 2, 1]),
        ("after the receipt", &[0, 1, 2, 3, 4, 4]),
    ];
    for (what, order) in orders {
        let (a, b) = (end(0, 1, ["alice", "bob"]), end(1, 0, ["bob", "alice"]));
        let output = Output::default();
        let (mut from_a, mut to_a) = (a.sealing(Cursor::new(text(30_000))), a.opening(io::sink()));
        let (mut from_b, mut to_b) = (b.sealing(io::empty()), b.opening(output.clone()));
        pass(&mut from_b, &mut to_a, FIRST_MESSAGE_BYTES);
        pass(&mut from_a, &mut to_b, FIRST_MESSAGE_BYTES + ENCAPSULATED_KEY_BYTES);
        pass(&mut from_b, &mut to_a, ENCAPSULATED_KEY_BYTES + EMPTY_STREAM_BYTES);
        let mut sealed = Vec::new();
        from_a.read_to_end(&mut sealed).unwrap();
        // The record that proves the keys, two of text, the end, and the receipt
        let (mut rest, mut records) = (&sealed[..], Vec::new());
        while let Some(length) = rest.first_chunk::<2>() {
            let (record, others) = rest.split_at(2 + usize::from(u16::from_be_bytes(*length)));
            records.push(record);
            rest = others;
        }
        assert_eq!(records.len(), 5);
        let opened = order.iter().try_for_each(|&at| to_b.write_all(records[at]));
        assert!(opened.is_err(), "{what}");
        assert!(text(30_000).starts_with(&output.0.lock().unwrap()), "{what}");
    }
}

#[test]
fn who_waits_for_one_that_does_not_seal_is_told() {
    let a = end(0, 1, ["alice", "bob"]);
    let sealing = a.sealing(io::empty());
    drop(a.opening(io::sink()));
    let error = carry(sealing, io::sink(), |_, _| ()).unwrap_err();
    assert_eq!(error.to_string(), EndToEndError::Other.to_string());
    assert_eq!(a.finished(), Err(EndToEndError::Other));
}

/// An input that delivers nothing before the other side's end has arrived.
struct Later<'a>(&'a EndToEnd, Cursor<Vec<u8>>);

impl Read for Later<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let waits = |state: &State| !state.ended && state.failed.is_none();
        while waits(&self.0.0.state()) {
            thread::sleep(Duration::from_millis(1));
        }
        self.1.read(buffer)
    }
}

#[test]
fn one_side_may_end_long_before_the_other() {
    let (a, b) = (end(0, 1, ["alice", "bob"]), end(1, 0, ["bob", "alice"]));
    let from_b = Later(&b, Cursor::new(text(50_000)));
    let (received, carried) = speak_from((&a, &b), (Cursor::new(text(1000)), from_b), |_, _| ());
    assert!(carried.iter().all(Result::is_ok), "{:?} {:?}", a.finished(), b.finished());
    assert!(received == [text(50_000), text(1000)]);
    assert_eq!((a.finished(), b.finished()), (Ok((1000, 50_000)), Ok((50_000, 1000))));
}

#[test]
fn a_relay_that_drops_what_one_side_says_and_acknowledges_it_is_noticed() {
    let (a, b) = (end(0, 1, ["alice", "bob"]), end(1, 0, ["bob", "alice"]));
    let output = Output::default();
    let (mut from_a, mut to_a) = (a.sealing(Cursor::new(text(100_000))), a.opening(io::sink()));
    let (mut from_b, mut to_b) = (b.sealing(io::empty()), b.opening(output.clone()));
    pass(&mut from_b, &mut to_a, FIRST_MESSAGE_BYTES);
    pass(&mut from_a, &mut to_b, FIRST_MESSAGE_BYTES + ENCAPSULATED_KEY_BYTES);
    pass(&mut from_b, &mut to_a, ENCAPSULATED_KEY_BYTES + EMPTY_STREAM_BYTES);
    // All of alice's records are dropped, and bob's stream gets a forged end
    from_a.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!(a.finished(), Err(EndToEndError::Unconfirmed));
    drop(to_a);
    assert_eq!(a.finished(), Err(EndToEndError::Unconfirmed));
    // Bob confirms nothing that did not arrive, and does not wait once his input has ended
    drop(to_b);
    assert!(from_b.read_to_end(&mut Vec::new()).is_err());
    assert_eq!(b.finished(), Err(EndToEndError::Cut));
    assert!(output.0.lock().unwrap().is_empty());
}

/// A record: its kind and content.
type Told<'a> = (u8, &'a [u8]);

/// Alice, who sent `sent` bytes (`None`: no end yet), opens these records of bob's.
fn told(sent: Option<usize>, records: &[Told]) -> (io::Result<()>, EndToEnd) {
    let (a, b) = (end(0, 1, ["alice", "bob"]), end(1, 0, ["bob", "alice"]));
    b.0.agree(a.0.ends.first.clone()).unwrap();
    let mut to_a = a.opening(io::sink());
    to_a.write_all(&b.0.ends.first).unwrap();
    if let Some(sent) = sent {
        let mut from_a = a.sealing(Cursor::new(text(sent)));
        pass(
            &mut from_a,
            &mut io::sink(),
            FIRST_MESSAGE_BYTES + ENCAPSULATED_KEY_BYTES + EMPTY_STREAM_BYTES + 19 * sent.min(1) + sent,
        );
    }
    let (mut stream, mut context) = b.0.sender(&b.0.secret_to_send().unwrap()).unwrap();
    for (kind, data) in records {
        stream.extend(record(&mut context, *kind, data).unwrap());
    }
    let opened = to_a.write_all(&stream);
    drop(to_a);
    (opened, a)
}

#[test]
fn a_receipt_counts_once_behind_both_ends_and_with_the_right_number() {
    let [none, seven, eight] = [0_u64, 7, 8].map(u64::to_be_bytes);
    let (end, data): (Told, Told) = ((END, &[]), (DATA, b"text"));
    let (opened, a) = told(Some(7), &[data, end, (RECEIPT, &seven)]);
    opened.unwrap();
    assert_eq!(a.finished(), Ok((7, 4)));
    let cases: [(&str, Option<usize>, &[Told], EndToEndError); 9] = [
        ("before anything", Some(0), &[(RECEIPT, &none)], EndToEndError::NotAuthentic),
        ("before the end", Some(7), &[data, (RECEIPT, &seven), end], EndToEndError::NotAuthentic),
        ("before ours", None, &[end, (RECEIPT, &none)], EndToEndError::Unconfirmed),
        ("too few", Some(8), &[end, (RECEIPT, &seven)], EndToEndError::Unconfirmed),
        ("too many", Some(7), &[end, (RECEIPT, &eight)], EndToEndError::Unconfirmed),
        ("short", Some(0), &[end, (RECEIPT, &none[1..])], EndToEndError::Unconfirmed),
        ("twice", Some(7), &[end, (RECEIPT, &seven), (RECEIPT, &seven)], EndToEndError::NotAuthentic),
        ("data instead", Some(7), &[end, data], EndToEndError::NotAuthentic),
        ("the end twice", Some(7), &[end, end], EndToEndError::NotAuthentic),
    ];
    for (what, sent, records, error) in cases {
        let (opened, a) = told(sent, records);
        assert!(opened.is_err() && a.finished() == Err(error), "{what}: {opened:?} {:?}", a.finished());
    }
    let (opened, a) = told(Some(7), &[end]);
    opened.unwrap();
    assert_eq!(a.finished(), Err(EndToEndError::Unconfirmed), "it is missing");
    assert!(a.missing_receipt().is_some_and(|error| error.to_string() == EndToEndError::Unconfirmed.to_string()));
    // A receipt is accepted once both ends were sent
    let cases: [(Option<usize>, &[Told]); 3] =
        [(None, &[end]), (Some(7), &[data]), (Some(7), &[end, (RECEIPT, &seven)])];
    for (sent, records) in cases {
        let (opened, a) = told(sent, records);
        assert!(opened.is_ok() && a.missing_receipt().is_none());
    }
}

#[test]
fn another_version_is_told_from_another_protocol() {
    let a = end(0, 1, ["alice", "bob"]);
    let error = a.opening(io::sink()).write_all(b"SEALE2E1 and more").unwrap_err();
    assert_eq!((error.to_string(), a.finished()), (EndToEndError::Version.to_string(), Err(EndToEndError::Version)));
    let sealing = a.sealing(io::empty());
    assert_eq!(carry(sealing, io::sink(), |_, _| ()).unwrap_err().to_string(), EndToEndError::Version.to_string());
}

/// Fails like a full disk.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }
}

#[test]
fn what_is_not_written_is_not_confirmed() {
    for text in [text(10), Vec::new()] {
        let (a, b) = (end(0, 1, ["alice", "bob"]), end(1, 0, ["bob", "alice"]));
        let (mut from_a, mut to_a) = (a.sealing(Cursor::new(text.clone())), a.opening(io::sink()));
        let (mut from_b, mut to_b) = (b.sealing(io::empty()), b.opening(Full));
        pass(&mut from_b, &mut to_a, FIRST_MESSAGE_BYTES);
        pass(&mut from_a, &mut to_b, FIRST_MESSAGE_BYTES + ENCAPSULATED_KEY_BYTES);
        pass(&mut from_b, &mut to_a, ENCAPSULATED_KEY_BYTES + EMPTY_STREAM_BYTES);
        let error = io::copy(&mut from_a, &mut to_b).unwrap_err();
        // The error is that of the output; those that wait for the stream are woken afterwards
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(b.0.state().failed, None);
        drop(to_b);
        assert!(from_b.read_to_end(&mut Vec::new()).is_err());
    }
}
