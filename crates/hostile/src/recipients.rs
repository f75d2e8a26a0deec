//! Files that several keys open: an attacker's changes to the key slots, and opening with each kind of key.

use std::{fs, slice, sync::OnceLock};

use sealwright_file::{
    Ceiling, Costs, Error, Input, Key, Opening, Recipient, Rekeying, Removal, Sealing, SecretKey, Shared,
    read_identities,
};

use crate::{
    files::{edited, preamble, sealed, to, work},
    folder::folder,
    keys::file_with,
};

const COSTS: Costs = Costs { memory_kib: 64, passes: 1, lanes: 1 };
/// Limit on the cost of a passphrase: generated files demand more.
const CEILING: Ceiling = Ceiling { memory_kib: 256, passes: 2, lanes: 2 };
/// Bytes before the slots: constant fields, and the length of the slots.
const FIXED: usize = 12;
const START: usize = FIXED + 4;
const MAC: usize = 32;

/// A file with a slot for a key of each kind.
struct Genuine {
    keys: Vec<Key>,
    file: Vec<u8>,
    /// Its slots, each with its head.
    slots: Vec<Vec<u8>>,
    mac: Vec<u8>,
}

fn ssh(key: &[u8]) -> Key {
    let none = || Err::<Key, Error>(Error::EmptyPassphrase);
    read_identities(file_with(key), none).unwrap().remove(0)
}

fn raw() -> Key {
    Key::raw(vec![5; 32])
}

fn passphrase() -> Key {
    Key::passphrase("a passphrase").unwrap()
}

fn recipient(key: &Key) -> Recipient {
    match key.public_key() {
        Some(public) => Recipient::PublicKey(public),
        None if key.is_passphrase() => Recipient::Key(passphrase()),
        None => Recipient::Key(raw()),
    }
}

impl Genuine {
    fn new() -> Genuine {
        let ed25519 = ssh(include_bytes!("../../cli/tests/keys/ed25519"));
        let rsa = ssh(include_bytes!("../../cli/tests/keys/rsa"));
        let keys = vec![raw(), passphrase(), Key::pair(SecretKey::generate().unwrap()), ed25519, rsa];
        let recipients: Vec<_> = keys.iter().map(recipient).collect();
        let mut sealing = Sealing::for_recipients(&recipients);
        sealing.costs = COSTS;
        let file = sealed(&sealing, b"a text");
        let len = u32::from_be_bytes(*file[FIXED..].first_chunk().unwrap()) as usize;
        let (mut rest, mac) = file[START..START + len].split_at(len - MAC);
        let (mut slots, mac) = (Vec::new(), mac.to_vec());
        while let [_, _, high, low, ..] = *rest {
            let (slot, more) = rest.split_at(4 + usize::from(u16::from_be_bytes([high, low])));
            slots.push(slot.to_vec());
            rest = more;
        }
        assert_eq!((rest.len(), slots.len()), (0, keys.len()));
        Genuine { keys, file, slots, mac }
    }

    fn header(&self) -> &[u8] {
        &self.file[..START + self.slots.concat().len() + MAC]
    }

    /// Puts these slots and what is behind them into the file.
    fn with(&self, slots: &[u8]) -> Vec<u8> {
        let body = &self.file[self.header().len()..];
        [&self.file[..FIXED], &(slots.len() as u32).to_be_bytes(), slots, body].concat()
    }

    /// It opens with this key only if nothing was changed.
    fn opens_only_if_genuine(&self, key: &Key, file: &[u8]) {
        let mut out = Shared::default();
        let opening = Opening::new(key).work(work()).ceiling(CEILING);
        let done = opening.open(Input::bytes(file.to_vec(), "fuzz"), to(&out));
        assert_eq!(done.is_ok(), file == self.file, "{}", key.kind());
        assert!(b"a text".starts_with(&out.take()));
    }

    /// Other keys can open it only if the header is genuine; else it stays as it is.
    fn changes_only_if_genuine(&self, key: &Key, file: &[u8], remove: bool) {
        let folder = folder();
        let path = folder.path().join("file");
        fs::write(&path, file).unwrap();
        let add = [Recipient::Key(Key::raw(vec![9; 32]))];
        let gone: &[Removal] = if remove { &[Removal::Passphrases] } else { &[] };
        let rekeying = Rekeying::new(slice::from_ref(key)).adding(&add).removing(gone).costs(COSTS);
        let done = rekeying.ceiling(CEILING).sync(false).work(work()).run(&path);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "something is left behind");
        let now = fs::read(&path).unwrap();
        assert_eq!(done.is_ok(), file.starts_with(self.header()), "{}", key.kind());
        let Ok(done) = done else { return assert!(now == file) };
        assert_eq!(done.slots, self.slots.len() + 1 - usize::from(remove));
        assert!(now.ends_with(&file[self.header().len()..]));
        let opened = Opening::new(&Key::raw(vec![9; 32])).work(work()).verify(Input::bytes(now, "fuzz"));
        assert_eq!(opened.is_ok(), file == self.file);
    }
}

/// Takes the header of a file that five kinds of keys open: edited, with arbitrary bytes instead of its slots, or with
/// slots of the right lengths that are changed, repeated, omitted or reordered. Each key detects this, and so does a
/// change of the file's recipients.
pub(crate) fn slots(bytes: &[u8]) {
    static GENUINE: OnceLock<Genuine> = OnceLock::new();
    let genuine = GENUINE.get_or_init(Genuine::new);
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let key = &genuine.keys[usize::from(choice >> 2 & 15) % genuine.keys.len()];
    let file = match choice & 3 {
        0 => edited(&genuine.file, bytes),
        1 => genuine.with(bytes),
        // Which slots: the next byte says how many, each of so many more which. Then what is XORed into them, again and
        // again.
        _ => {
            let Some((&count, bytes)) = bytes.split_first() else { return };
            let (order, bytes) = bytes.split_at(bytes.len().min(usize::from(count) % 8));
            let mut slots: Vec<u8> =
                order.iter().flat_map(|&at| genuine.slots[usize::from(at) % genuine.slots.len()].clone()).collect();
            let mut at = 0;
            for &[skip, with] in bytes.as_chunks().0 {
                // To 2 KiB further on, in a file of up to some KiB
                at += usize::from(skip) * if with & 1 == 0 { 1 } else { 8 };
                slots.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= with);
            }
            genuine.with(&[slots, genuine.mac.clone()].concat())
        }
    };
    preamble(&file);
    genuine.opens_only_if_genuine(key, &file);
    if choice & 64 != 0 {
        genuine.changes_only_if_genuine(key, &file, choice & 128 != 0);
    }
}
