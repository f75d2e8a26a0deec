//! The encoding of slots as in docs/FORMAT.md, byte for byte.
#![allow(clippy::unwrap_used)]

use super::*;

const FIXED: Fixed = *b"twelve bytes";

fn secret(byte: u8) -> Secret {
    Secret::new(vec![byte; 32])
}

/// One slot kind of each type, with its type number and its content before the wrapped file key.
fn kinds() -> Vec<(SlotKind, u8, Vec<u8>)> {
    let costs = Costs { memory_kib: 64, passes: 3, lanes: 4 };
    let passphrase = [&[0, 0, 0, 64, 0, 0, 0, 3, 0, 0, 0, 4][..], &[7; 16]].concat();
    let behind_mark = |len: usize| [&[5; 16][..], &vec![6; len]].concat();
    let mut kinds = vec![
        (SlotKind::Raw, 1, vec![]),
        (SlotKind::Passphrase { costs, salt: [7; 16] }, 2, passphrase),
        (SlotKind::Public { encapsulated: Box::new([6; 1120]), mark: [5; 16] }, 3, behind_mark(1120)),
        (SlotKind::SshEd25519 { mark: [5; 16], share: [6; 32] }, 4, behind_mark(32)),
    ];
    for len in [256, 512, 1024] {
        kinds.push((SlotKind::SshRsa { mark: [5; 16], encrypted: vec![6; len] }, 5, behind_mark(len)));
    }
    kinds
}

fn slot(kind: SlotKind) -> Slot {
    Slot::new(kind, &secret(1), &secret(2), &FIXED).unwrap()
}

/// The encoding of a slot.
fn bytes(id: u8, content: &[u8]) -> Vec<u8> {
    [&[id, 0][..], &(content.len() as u16).to_be_bytes(), content].concat()
}

fn read(bytes: &[u8]) -> Result<Slots, Error> {
    Slots::read(&mut &bytes[..], bytes.len() as u32, 16)
}

fn is_malformed(bytes: &[u8]) -> bool {
    matches!(read(bytes), Err(Error::NotAuthentic(Flaw::Slots)))
}

#[test]
fn slots_stand_as_the_format_says_and_open() {
    let file_key = secret(2);
    let all: Vec<Slot> = kinds().into_iter().map(|(kind, ..)| slot(kind)).collect();
    for (slot, (kind, id, parameters)) in all.iter().zip(kinds()) {
        let mut written = Vec::new();
        slot.write(&mut written);
        assert_eq!(slot.wrapped.len(), 104);
        assert_eq!(written, bytes(id, &[&parameters[..], &slot.wrapped].concat()));
        let more = [&written[..], b"more"].concat();
        assert_eq!(Slot::read(&more), Some((slot.clone(), &b"more"[..])));
        assert_eq!(slot.kind(), &kind);
        assert_eq!(slot.open(&secret(1), &FIXED).unwrap(), Some(file_key.clone()));
        assert_eq!(slot.open(&secret(3), &FIXED).unwrap(), None, "another key");
        assert_eq!(slot.open(&secret(1), b"other bytes!").unwrap(), None, "another file");
        let mut edited = slot.clone();
        *edited.wrapped.last_mut().unwrap() ^= 1;
        assert_eq!(edited.open(&secret(1), &FIXED).unwrap(), None, "edited");
    }
    let slots = Slots::new(all.clone(), &file_key, &FIXED).unwrap();
    assert!(slots.iter().eq(&all));
    let again = read(&slots.to_bytes()).unwrap();
    assert_eq!(again, slots);
    assert!(again.are_authentic(&file_key, &FIXED));
    assert!(!again.are_authentic(&secret(3), &FIXED) && !again.are_authentic(&file_key, b"other bytes!"));
}

#[test]
fn the_mac_covers_the_preamble_without_it() {
    let slots = Slots::new(vec![slot(SlotKind::Raw)], &secret(2), &FIXED).unwrap();
    let written = slots.to_bytes();
    let mut key = [0; 64];
    hkdf_expand(&secret(2), &[b"SEALWRIGHT header MAC v1"], &mut key);
    let mut mac = Hmac::<Sha512>::new_from_slice(&key).unwrap();
    mac.update(&FIXED);
    mac.update(&(written.len() as u32).to_be_bytes());
    mac.update(&written[..written.len() - 32]);
    assert_eq!((written.len(), &written[108..]), (140, &mac.finalize().into_bytes()[..32]));
}

#[test]
fn parameters_have_their_lengths() {
    for (_, id, parameters) in kinds() {
        let wrapped = [0; 104];
        let with = |parameters: &[u8]| Slot::read(&bytes(id, &[parameters, &wrapped].concat())).is_some();
        assert!(with(&parameters), "type {id}");
        // The length of an RSA ciphertext is variable within limits.
        let (longer, shorter) = ([&parameters[..], &[1]].concat(), parameters.split_last().map(|(_, rest)| rest));
        assert_eq!(with(&longer), id == 5 && parameters.len() < 16 + 1024, "type {id}, longer");
        if let Some(shorter) = shorter {
            assert_eq!(with(shorter), id == 5 && parameters.len() > 16 + 256, "type {id}, shorter");
        }
        assert_eq!(Slot::read(&bytes(id, &[0; 103])), None, "no room for a file key in type {id}");
    }
    assert_eq!(Slot::read(&bytes(2, &[0; 28 + 104])), None, "costs that Argon2 does not have");
}

#[test]
fn types_of_others_are_kept_and_zero_is_none() {
    for id in [6, 255] {
        for content in [&b""[..], b"content"] {
            let kind = SlotKind::Unknown { id, content: content.to_vec() };
            let all = [bytes(id, content), vec![8; 32]].concat();
            let slots = read(&all).unwrap();
            assert_eq!(slots.iter().map(Slot::kind).collect::<Vec<_>>(), [&kind]);
            assert_eq!((slots.to_bytes(), kind.id()), (all, id));
        }
    }
    assert_eq!(Slot::read(&bytes(0, b"content")), None);
    assert_eq!(Slot::read(&[9, 1, 0, 0]), None, "the second byte is zero");
    assert_eq!(Slot::read(&[9, 0, 0, 1]), None, "cut");
}

#[test]
fn lengths_and_ends() {
    for len in 0..36 {
        assert!(is_malformed(&vec![0; len]), "{len} bytes");
    }
    let most = [bytes(9, &vec![1; 65_536 - 32 - 4 - 4]), bytes(9, &[]), vec![8; 32]].concat();
    assert_eq!((most.len(), read(&most).unwrap().to_bytes()), (65_536, most.clone()));
    let more = [bytes(9, &vec![1; 65_536 - 32 - 4 - 3]), bytes(9, &[]), vec![8; 32]].concat();
    assert!(is_malformed(&more));
    assert!(matches!(Slots::read(&mut &most[..], u32::MAX, 16), Err(Error::NotAuthentic(Flaw::Slots))));
    for got in [0, 1, 35, 99] {
        let cut = Slots::read(&mut &most[..got], 100, 16);
        assert!(matches!(cut, Err(Error::NotAuthentic(Flaw::Truncated { offset })) if offset == 16 + got as u64));
    }
}

#[test]
fn so_many_slots_and_no_more() {
    let (_, _, parameters) = &kinds()[1];
    let all = |n| [bytes(2, &[&parameters[..], &[0; 104]].concat()).repeat(n), vec![8; 32]].concat();
    for n in [1, 7, 8] {
        assert_eq!(read(&all(n)).unwrap().passphrases(), n);
    }
    assert!(is_malformed(&all(9)));
    let slots = |n| Slots::new(read(&all(8)).unwrap().slots.into_iter().cycle().take(n).collect(), &secret(2), &FIXED);
    assert!(matches!(slots(0), Err(Error::NoSlots)) && slots(8).is_ok());
    assert!(matches!(slots(9), Err(Error::TooManySlots)));
    // A slot for a raw key has 108 bytes.
    let raw = |n| Slots::new(vec![slot(SlotKind::Raw); n], &secret(2), &FIXED);
    assert!(raw(65_504 / 108).is_ok() && matches!(raw(65_504 / 108 + 1), Err(Error::TooManySlots)));
}

#[test]
fn what_a_file_key_gives() {
    let key = new_file_key().unwrap();
    assert_eq!(key.len(), 32);
    assert_ne!(key, new_file_key().unwrap());
    let input = input_key(&secret(2), Suite::Aes128Gcm);
    let mut wanted = [0; 16];
    hkdf_expand(&secret(2), &[b"SEALWRIGHT input key v1"], &mut wanted);
    assert_eq!(input[..], wanted);
    #[cfg(feature = "public-keys")]
    {
        hkdf_expand(&secret(2), &[b"SEALWRIGHT recipient v1", b"a public key"], &mut wanted);
        assert_eq!(mark(&secret(2), b"a public key"), wanted);
        let marks: Vec<Option<[u8; 16]>> = kinds().iter().map(|(kind, ..)| kind.mark().copied()).collect();
        let some = Some([5; 16]);
        assert_eq!(marks, [None, None, some, some, some, some, some]);
    }
}
