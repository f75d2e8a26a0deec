//! Hexadecimal encoding and decoding.

/// The bytes of an even number of hexadecimal digits.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    base16ct::mixed::decode_vec(text).ok()
}

/// Bytes in hexadecimal, shortened if long.
pub(crate) fn brief(bytes: &[u8]) -> String {
    let text = base16ct::lower::encode_string(&bytes[..bytes.len().min(24)]);
    if bytes.len() > 24 { format!("{text}… ({} bytes)", bytes.len()) } else { text }
}
