//! Formats numbers of bytes.

/// Exact, in the largest unit that divides the number: 1500 B, 16 KiB.
pub(crate) fn exact(bytes: usize) -> String {
    match bytes {
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

/// Rounded, in a unit suited to the size.
pub(crate) fn rounded(bytes: u64) -> String {
    match bytes {
        0..=9999 => format!("{bytes} B"),
        10_000..=9_999_999 => format!("{:.0} KiB", bytes as f64 / 1024.0),
        10_000_000..=9_999_999_999 => format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20)),
        _ => format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
    }
}
