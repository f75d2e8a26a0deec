//! Loads and stores of less than a block, without a call and without touching a byte beyond it.

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

/// 32 bytes of `0xff`, 32 of zero: a window at `32 - n` keeps `n` bytes.
pub(super) static KEEP: [u8; 64] = {
    let mut mask = [0; 64];
    let mut i = 0;
    while i < 32 {
        mask[i] = 0xff;
        i += 1;
    }
    mask
};

/// `N` bytes of `bytes` from `at` on.
#[inline(always)]
fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut part = [0; N];
    part.copy_from_slice(&bytes[at..at + N]);
    part
}

/// All of `bytes`, at most 16, as a little-endian number.
#[inline(always)]
pub(super) fn number(bytes: &[u8]) -> u128 {
    let n = bytes.len();
    // Two loads, which may overlap: overlapping bytes are the same.
    match n {
        16.. => u128::from_le_bytes(part(bytes, 0)),
        8.. => {
            let (low, high) = (u64::from_le_bytes(part(bytes, 0)), u64::from_le_bytes(part(bytes, n - 8)));
            u128::from(low) | (u128::from(high) << (8 * (n - 8)))
        }
        4.. => {
            let (low, high) = (u32::from_le_bytes(part(bytes, 0)), u32::from_le_bytes(part(bytes, n - 4)));
            u128::from(u64::from(low) | (u64::from(high) << (8 * (n - 4))))
        }
        0 => 0,
        _ => {
            let [low, middle, high] = [bytes[0], bytes[n / 2], bytes[n - 1]].map(u32::from);
            u128::from(low | (middle << (8 * (n / 2))) | (high << (8 * (n - 1))))
        }
    }
}

/// Writes the low bytes of a number to `bytes`, at most 16, in little-endian order.
#[inline(always)]
pub(super) fn write(number: u128, bytes: &mut [u8]) {
    let n = bytes.len();
    match n {
        16.. => bytes[..16].copy_from_slice(&number.to_le_bytes()),
        8.. => {
            bytes[n - 8..].copy_from_slice(&((number >> (8 * (n - 8))) as u64).to_le_bytes());
            bytes[..8].copy_from_slice(&(number as u64).to_le_bytes());
        }
        4.. => {
            let number = number as u64;
            bytes[n - 4..].copy_from_slice(&((number >> (8 * (n - 4))) as u32).to_le_bytes());
            bytes[..4].copy_from_slice(&(number as u32).to_le_bytes());
        }
        0 => {}
        _ => {
            let number = number as u32;
            bytes[n - 1] = (number >> (8 * (n - 1))) as u8;
            bytes[n / 2] = (number >> (8 * (n / 2))) as u8;
            bytes[0] = number as u8;
        }
    }
}

/// Loads all of `bytes`, at most 16, followed by zeros.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn load(bytes: &[u8]) -> __m128i {
    if bytes.len() >= 16 {
        // SAFETY: 16 bytes are there, and every x86-64 has the instruction.
        return unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
    }
    let number = number(bytes).to_le_bytes();
    // SAFETY: 16 bytes are there, and every x86-64 has the instruction.
    unsafe { _mm_loadu_si128(number.as_ptr().cast()) }
}

/// Writes the start of a block to `bytes`, as many bytes as it has.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn store(block: __m128i, bytes: &mut [u8]) {
    if bytes.len() >= 16 {
        // SAFETY: 16 bytes are there, and every x86-64 has the instruction.
        return unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), block) };
    }
    let mut number = [0; 16];
    // SAFETY: 16 bytes are there, and every x86-64 has the instruction.
    unsafe { _mm_storeu_si128(number.as_mut_ptr().cast(), block) };
    write(u128::from_le_bytes(number), bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_comes_and_goes() {
        let all: [u8; 16] = core::array::from_fn(|i| 0xa0 + i as u8);
        for n in 0..=16 {
            let read = number(&all[..n]);
            let mut expected = [0; 16];
            expected[..n].copy_from_slice(&all[..n]);
            assert_eq!(read.to_le_bytes(), expected, "{n} bytes");
            let mut written = [0x55; 17];
            write(u128::from_le_bytes(all), &mut written[..n]);
            assert_eq!((&written[..n], &written[n..]), (&all[..n], &[0x55; 17][n..]), "{n} bytes");
        }
    }
}
