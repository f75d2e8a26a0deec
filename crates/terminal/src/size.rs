//! Sizes on the command line: `512MiB`, `2g`, `65536`.

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl Size {
    /// In KiB, as Argon2 counts.
    ///
    /// # Errors
    /// [`TooLargeError`] for 4 TiB or more.
    pub fn kib(self) -> Result<u32, TooLargeError> {
        u32::try_from(self.0 / 1024).map_err(|_| TooLargeError)
    }
}

/// The size does not fit where it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be less than 4 TiB")]
pub struct TooLargeError;

/// The text is not a size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a size such as 512MiB")]
pub struct SizeError(String);

/// Parses a size in bytes. The units k, M, G and T are powers of 1024, with or without `iB` or `B` after them.
///
/// # Errors
/// [`SizeError`] if `text` is anything else, or the size does not fit into 64 bits.
pub fn parse(text: &str) -> Result<Size, SizeError> {
    let wrong = || SizeError(text.to_owned());
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().map_err(|_| wrong())?;
    let shift = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(wrong()),
    };
    number.checked_mul(1 << shift).map(Size).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_count_by_1024() {
        for (text, bytes) in [("7", 7), ("64k", 65536), ("1 MiB", 1 << 20), ("2GB", 2 << 30), ("1t", 1 << 40)] {
            assert_eq!(parse(text), Ok(Size(bytes)), "{text}");
        }
        for text in ["", "MiB", "-1", "1.5G", "1x", "99999999999T"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
