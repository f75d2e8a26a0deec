//! A file is marked as signed if and only if its signer signed it, however that was requested, and its text is restored
//! exactly.

use std::fs;

use sealwright_file::{Error, Input, Key, Opening, Recipient, Sealing, SigningKey, inspect};

use crate::support::*;

/// If an unsigned file were marked as signed, the end of its text would be taken for the signature.
#[test]
fn only_the_signer_tells_whether_a_file_is_signed() {
    let (dir, key, signer) = (Dir::new(), Key::raw(vec![7; 32]), SigningKey::generate().unwrap());
    let (recipients, signers) = ([Recipient::Key(Key::raw(vec![7; 32]))], [signer.verifying_key().clone()]);
    let text = text(100_000);
    let plain = dir.write("plain", &text);
    let ways = [Sealing::new(&key), Sealing::for_recipients(&recipients)];
    let ways = ways.into_iter().flat_map(|way| [way.clone(), way.sign(Some(&signer))]);
    for (i, way) in ways.flat_map(|way| [way.clone(), way.pad(true)]).enumerate() {
        for signed in [false, true] {
            let mut sealing = way.clone();
            sealing.signer = signed.then_some(&signer);
            let path = dir.path(&format!("{i} {signed}"));
            seal_file(&sealing, &plain, &path).unwrap();
            for sealed in [fs::read(&path).unwrap(), sealed_by(&sealing, &text)] {
                let layout = inspect(Input::bytes(sealed.clone(), "sealed")).unwrap().preamble.layout;
                assert_eq!((layout.signed, layout.padded), (signed, sealing.padded), "{i}");
                let (opened, done) = opened_by(&Opening::new(&key), &sealed);
                assert_eq!(done.unwrap().signer.is_some(), signed, "{i}");
                assert!(opened == text, "{i}, signed: {signed}: {} bytes", opened.len());
                let (opened, done) = opened_by(&Opening::new(&key).signers(&signers), &sealed);
                match done {
                    Ok(done) => assert!(signed && done.text == 100_000 && opened == text, "{i}"),
                    Err(error) => assert!(!signed && matches!(error, Error::NotSigned), "{i}: {error}"),
                }
            }
        }
    }
}
