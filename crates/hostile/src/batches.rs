//! Batches of messages, each under a key of its own.

use std::collections::BTreeSet;

use sealwright::{Batch, BatchError, BatchMessage, OpenError, Suite};

use crate::{case::Case, referees::by_rustcrypto};

/// A message of the batch, and what RustCrypto makes of it.
struct Message {
    key: Vec<u8>,
    nonce: [u8; 12],
    ad: Vec<u8>,
    text: Vec<u8>,
    sealed: Vec<u8>,
}

impl Message {
    /// Eight bytes of the associated data choose each message: its lengths, and whether key or nonce are those of
    /// another one.
    fn new(case: &Case, at: usize, choices: [u8; 8], rest: &mut &[u8]) -> Message {
        let [kind, a, b, ad_len, key_at, key_by, nonce_at, nonce_by] = choices;
        let suite = if kind & 1 == 0 { Suite::Aes128Gcm } else { Suite::Aes256Gcm };
        let mut key = case.key[..suite.key_len()].to_vec();
        let key_len = key.len();
        key[usize::from(key_at) % key_len] ^= key_by;
        let mut nonce = *case.nonce.first_chunk().unwrap();
        nonce[usize::from(nonce_at) % 12] ^= nonce_by;
        // Most inputs would stop at a nonce that is used twice
        if kind & 2 == 0 {
            nonce[11] ^= at as u8;
        }
        // Most texts are those that are processed side by side
        let most = if kind & 4 == 0 { 530 } else { 2000 };
        let (text, left) = rest.split_at(rest.len().min(usize::from(u16::from_be_bytes([a, b])) % most));
        *rest = left;
        let ad = case.ad[..case.ad.len().min(usize::from(ad_len) % if kind & 8 == 0 { 17 } else { 70 })].to_vec();
        let sealed = by_rustcrypto(suite, &key, &nonce, &ad, text).expect("RustCrypto has AES-GCM");
        Message { key, nonce, ad, text: text.to_vec(), sealed }
    }
}

/// The messages with these texts and tags.
fn batch_of<'a>(messages: &'a [Message], texts: &'a mut [Vec<u8>], tags: &[[u8; 16]]) -> Vec<BatchMessage<'a>> {
    let with = messages.iter().zip(texts).zip(tags);
    let message = |((message, text), tag): ((&'a Message, &'a mut Vec<u8>), &[u8; 16])| BatchMessage {
        key: &message.key,
        nonce: message.nonce,
        ad: &message.ad,
        text,
        tag: *tag,
    };
    with.map(message).collect()
}

/// RustCrypto seals the same messages one by one. One that was changed is refused, and no other.
pub(crate) fn batches(case: &Case) {
    let mut rest = &case.text[..];
    let choices = case.ad.as_chunks::<8>().0.iter().take(70).enumerate();
    let messages: Vec<Message> = choices.map(|(at, choices)| Message::new(case, at, *choices, &mut rest)).collect();
    let (mut sealing, mut opening) = (Batch::new(case.one), Batch::new(case.other));
    let mut texts: Vec<Vec<u8>> = messages.iter().map(|message| message.text.clone()).collect();
    let mut seen = BTreeSet::new();
    let once = messages.iter().all(|message| seen.insert((message.key.clone(), message.nonce)));
    let mut batch = batch_of(&messages, &mut texts, &vec![[0; 16]; messages.len()]);
    let done = sealing.seal(&mut batch);
    let mut tags: Vec<[u8; 16]> = batch.iter().map(|message| message.tag).collect();
    if !once {
        let Err(BatchError::NonceTwice { first, second }) = done else { panic!("a nonce twice: {done:?}") };
        let [one, other] = [first, second].map(|at| (&messages[at].key, messages[at].nonce));
        assert!(first != second && one == other, "messages {first} and {second}");
        let unchanged = messages.iter().zip(&texts).all(|(message, text)| message.text == *text);
        assert!(unchanged, "a refused batch changed a text");
        return;
    }
    assert_eq!(done, Ok(()));
    for (at, message) in messages.iter().enumerate() {
        let ours = [&texts[at][..], &tags[at]].concat();
        assert!(ours == message.sealed, "message {at} of {} at {}", messages.len(), case.one);
    }

    // The cut chooses a message, the fault changes it.
    let at = usize::from(case.cut) % messages.len().max(1);
    let mut changed = None;
    if let Some(message) = messages.get(at) {
        let mut sealed = message.sealed.clone();
        if case.fault.change(&mut [], &mut [], &mut sealed, 16) {
            let (text, tag) = sealed.split_last_chunk().unwrap();
            (texts[at], tags[at], changed) = (text.to_vec(), *tag, Some(at));
        }
    }
    let results = opening.open(&mut batch_of(&messages, &mut texts, &tags));
    assert_eq!(results.len(), messages.len());
    for (at, result) in results.into_iter().enumerate() {
        let expected = if changed == Some(at) { vec![0; texts[at].len()] } else { messages[at].text.clone() };
        assert_eq!(result, if changed == Some(at) { Err(OpenError) } else { Ok(()) }, "message {at} at {}", case.other);
        assert!(texts[at] == expected, "message {at} opened at {}", case.other);
    }
}
