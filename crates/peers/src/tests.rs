#![allow(clippy::unwrap_used)]
use sealwright_transcripts::skipped;

use super::*;

/// Whether no library is available; the skipped test is then reported.
fn none_here() -> bool {
    let none = found().0.is_empty();
    if none {
        skipped("none of the libraries in C is installed");
    }
    none
}

#[test]
fn every_shim_is_here_or_named_as_absent() {
    let (here, absent) = found();
    assert_eq!(here.len() + absent.len(), shims().len());
    assert!(here.iter().all(|library| library.version().contains('.')), "{here:?}");
    assert!(absent.iter().all(|absent| absent.to_string().contains(" is not measured: ")), "{absent:?}");
}

#[test]
fn threads_may_look_for_them_at_one_time() {
    if none_here() {
        return;
    }
    let known = || {
        let known = |library: Library| library.key(Algorithm::Aes256Gcm, &[7; 32]).is_some();
        found().0.into_iter().all(known)
    };
    std::thread::scope(|scope| {
        let threads = [(); 8].map(|()| scope.spawn(known));
        assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
    });
}

#[test]
fn many_messages_are_each_as_if_alone() {
    let mut asked = false;
    for library in found().0 {
        let Some(mut key) = library.key(Algorithm::Aes256Cbc, &[7; 32]) else { continue };
        let ivs: Vec<Vec<u8>> = (0..16).map(|i| vec![i; 16]).collect();
        let ivs: Vec<&[u8]> = ivs.iter().map(Vec::as_slice).collect();
        let mut many = vec![[5; 96]; 16];
        let mut messages: Vec<&mut [u8]> = many.iter_mut().map(|one| &mut one[..]).collect();
        if key.encrypt_many(&ivs, &mut messages).is_err() {
            assert_ne!(library.name(), "ipsec-mb");
            continue;
        }
        assert_eq!(key.encrypt_many(&ivs[..2], &mut messages), Err(RefusedError));
        for (iv, together) in ivs.iter().zip(&many) {
            let mut alone = [5; 96];
            key.seal(iv, b"", &mut alone).unwrap();
            assert_eq!(&alone, together, "{library:?}");
        }
        asked = true;
    }
    if !asked {
        skipped("no library that encrypts many messages at once is installed");
    }
}

/// The algorithms that a library has, and those that some of its releases have.
fn known(library: &Library) -> (Vec<Algorithm>, &'static [Algorithm]) {
    use Algorithm::*;
    const SIV: &[Algorithm] = &[Aes128GcmSiv, Aes256GcmSiv];
    let all_but = |others: &[Algorithm]| Algorithm::ALL.into_iter().filter(|one| !others.contains(one)).collect();
    match library.name() {
        "ipsec-mb" | "ipsec-mb-other" => (vec![Aes128Gcm, Aes256Gcm, Aes128Cbc, Aes256Cbc], &[]),
        "openssl" | "openssl-other" => {
            (vec![Aes128Gcm, Aes256Gcm, Aes128Ocb, Aes256Ocb, Aes128Cbc, Aes256Cbc, ChaCha20Poly1305], &[])
        }
        "libgcrypt" if from_1_10(library.version()) => (all_but(&[]), &[]),
        // Botan 2 has no AES-GCM-SIV
        "libgcrypt" | "botan" => (all_but(SIV), SIV),
        other => panic!("{other} is not listed"),
    }
}

/// libgcrypt has AES-GCM-SIV from 1.10 on.
fn from_1_10(version: &str) -> bool {
    let numbers: Vec<u32> = version.split('.').take(2).map(|number| number.parse().unwrap()).collect();
    numbers >= vec![1, 10]
}

/// An algorithm that a shim lacks, or fails to make a key for, is silently neither measured nor a referee's.
#[test]
fn libraries_are_asked_for_everything_that_they_have() {
    let (here, absent) = found();
    for library in here {
        let (wanted, may) = known(&library);
        for algorithm in Algorithm::ALL.into_iter().filter(|algorithm| !may.contains(algorithm)) {
            let has = library.key(algorithm, &vec![7; algorithm.key_len()]).is_some();
            assert_eq!(has, wanted.contains(&algorithm), "{library:?} {algorithm:?}");
        }
    }
    for library in absent.iter().filter(|library| !library.name.ends_with("-other")) {
        skipped(library);
    }
}

/// That they compute the same as Sealwright is checked by `bench` before it measures.
#[test]
fn what_is_sealed_opens_and_what_is_forged_does_not() {
    if none_here() {
        return;
    }
    for library in found().0 {
        let known: Vec<_> = Algorithm::ALL
            .into_iter()
            .filter_map(|algorithm| Some((algorithm, library.key(algorithm, &vec![7; algorithm.key_len()])?)))
            .collect();
        assert!(known.iter().any(|(algorithm, _)| *algorithm == Algorithm::Aes256Gcm), "{library:?}");
        for (algorithm, mut key) in known {
            assert!(library.key(algorithm, &[7; 5]).is_none());
            // CBC needs whole blocks
            let (nonce, tag) = (vec![1; algorithm.nonce_len()], algorithm.tag_len());
            let len = if tag == 0 { 64 } else { 61 };
            let plain = vec![5; len + tag];
            let mut message = plain.clone();
            key.seal(&nonce, b"ad", &mut message).unwrap();
            assert_ne!(message[..len], plain[..len], "{library:?} {algorithm:?}");
            let mut forged = message.clone();
            forged[3] ^= 1;
            let opened = key.open(&nonce, b"ad", &mut forged);
            assert_eq!(opened.is_ok(), tag == 0, "{library:?} {algorithm:?}");
            key.open(&nonce, b"ad", &mut message).unwrap();
            assert_eq!(message[..len], plain[..len], "{library:?} {algorithm:?}");
            assert_eq!(key.seal(&nonce[1..], b"ad", &mut message), Err(RefusedError));
            key.set(&vec![8; algorithm.key_len()]).unwrap();
            let mut other = plain;
            key.seal(&nonce, b"ad", &mut other).unwrap();
            assert_eq!(key.set(&[8; 5]), Err(RefusedError));
            assert!(tag == 0 || key.seal(&nonce, b"ad", &mut [0; 15]) == Err(RefusedError));
        }
    }
}

/// After a change of keys a handle must behave like a new one: nothing of the previous key may remain.
#[test]
fn one_handle_takes_keys_in_turn() {
    if none_here() {
        return;
    }
    for library in found().0 {
        for algorithm in Algorithm::ALL {
            let keys = [[7; 32], [8; 32], [9; 32]].map(|key| key[..algorithm.key_len()].to_vec());
            let Some(mut turned) = library.key(algorithm, &keys[0]) else { continue };
            let nonce = vec![1; algorithm.nonce_len()];
            let plain = vec![5; 64 + algorithm.tag_len()];
            for (turn, key) in keys.iter().cycle().take(7).enumerate() {
                let who = format!("{library:?} {algorithm:?}, turn {turn}");
                turned.set(key).unwrap();
                let (mut message, mut other) = (plain.clone(), plain.clone());
                library.key(algorithm, key).unwrap().seal(&nonce, b"ad", &mut other).unwrap();
                // Some rounds open before they seal, and some do not open at all
                if turn % 3 == 1 {
                    let mut sealed = other.clone();
                    turned.open(&nonce, b"ad", &mut sealed).unwrap();
                    assert_eq!(sealed[..64], plain[..64], "{who}");
                }
                turned.seal(&nonce, b"ad", &mut message).unwrap();
                assert_eq!(message, other, "{who}");
                if turn % 3 > 0 {
                    turned.open(&nonce, b"ad", &mut message).unwrap();
                    assert_eq!(message[..64], plain[..64], "{who}");
                }
            }
        }
    }
}
