//! Hexadecimal, both ways.

use std::fmt::Write;

/// The bytes of an even number of hexadecimal digits.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|value| value as u8);
    digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

/// Bytes as digits, long ones cut.
pub(crate) fn brief(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes.iter().take(24) {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
    }
    if bytes.len() > 24 {
        write!(text, "… ({} bytes)", bytes.len()).expect("writing to a string cannot fail");
    }
    text
}
