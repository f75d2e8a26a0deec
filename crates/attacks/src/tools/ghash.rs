//! GHASH by its definition (SP 800-38D, 6.3 and 6.4). Elements of GF(2^128) are numbers whose highest bit is bit 0.

use sealwright::Block;

/// The number 1 of the field.
pub(crate) const ONE: u128 = 1 << 127;

/// Product.
pub(crate) fn mul(x: u128, mut y: u128) -> u128 {
    let mut product = 0;
    for bit in (0..128).rev() {
        if x >> bit & 1 == 1 {
            product ^= y;
        }
        let carry = y & 1;
        y >>= 1;
        if carry == 1 {
            y ^= 0xe1 << 120;
        }
    }
    product
}

/// 1 / x, for x other than 0: x^(2^128 - 2).
pub(crate) fn inverse(x: u128) -> u128 {
    let (mut power, mut product) = (x, ONE);
    for _ in 1..128 {
        power = mul(power, power);
        product = mul(product, power);
    }
    product
}

/// The blocks that GHASH takes: associated data, text, lengths.
pub(crate) fn blocks(ad: &[u8], text: &[u8]) -> Vec<u128> {
    let part = |bytes: &[u8]| -> Vec<u128> {
        bytes
            .chunks(16)
            .map(|chunk| {
                let mut block = [0; 16];
                block[..chunk.len()].copy_from_slice(chunk);
                u128::from_be_bytes(block)
            })
            .collect()
    };
    let lengths = ((8 * ad.len() as u128) << 64) | (8 * text.len() as u128);
    [part(ad), part(text), vec![lengths]].concat()
}

/// GHASH under `h`.
pub(crate) fn ghash(h: u128, ad: &[u8], text: &[u8]) -> u128 {
    blocks(ad, text).into_iter().fold(0, |hash, block| mul(hash ^ block, h))
}

/// A block as a number.
pub(crate) fn number(block: &Block) -> u128 {
    u128::from_be_bytes(*block)
}

#[cfg(test)]
mod tests {
    use super::{ONE, inverse, mul};

    #[test]
    fn a_number_times_its_inverse_is_one() {
        for x in [ONE, 2, 0x1234_5678_9abc_def0_1122_3344_5566_7788, u128::MAX] {
            assert_eq!(mul(x, inverse(x)), ONE);
        }
    }
}
