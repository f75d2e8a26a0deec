//! Vectors that must move, because they have no room and something is behind them.

use std::hint::black_box;

use sealwright::Aead;

use crate::{LEN, aead, search::stop};

/// Runs a case.
pub(crate) fn child(case: &str, text: &mut Vec<u8>) {
    match case {
        "a vector that grows" => {
            // It has no room for the tag, and something behind it, so that it must move.
            let (aead, behind) = (aead(case), black_box(vec![1_u8; LEN]));
            stop("alive");
            assert_eq!(text.capacity(), LEN);
            aead.seal_vec(&[1; 12], b"ad", text).unwrap();
            black_box(&behind);
        }
        "one after the other" => {
            // Texts behind texts in a vector that grows, with something behind it each time, so that it must move.
            let (aead, mut message) = (aead(case), Vec::new());
            aead.seal_into(&[1; 12], b"ad", text, &mut message).unwrap();
            text.fill(0);
            stop("alive");
            let (mut texts, mut behind) = (Vec::new(), Vec::new());
            for i in 1..10 {
                aead.open_into(&[1; 12], b"ad", &message, &mut texts).unwrap();
                behind.push(black_box(vec![1_u8; i * LEN]));
            }
            assert_eq!(texts.len(), 9 * LEN);
            texts.fill(0);
            black_box((&texts, &behind));
        }
        "a vector that is used again" => {
            // Behind its end is the text of before; what is behind the vector makes it move.
            let (aead, mut message) = (aead(case), Vec::new());
            aead.seal_into(&[1; 12], b"ad", text, &mut message).unwrap();
            text.fill(0);
            let mut longer = Vec::new();
            aead.seal_into(&[2; 12], b"ad", &[0; 4 * LEN], &mut longer).unwrap();
            stop("alive");
            let mut out = Vec::with_capacity(LEN);
            let behind = black_box(vec![1_u8; LEN]);
            aead.open_into(&[1; 12], b"ad", &message, &mut out).unwrap();
            out.clear();
            aead.open_into(&[2; 12], b"ad", &longer, &mut out).unwrap();
            black_box((&out, &behind));
        }
        other => panic!("{other}"),
    }
}
