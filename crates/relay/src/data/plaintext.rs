//! Buffers of plaintext that leave no copies in memory, neither when they are dropped nor when they grow.

use zeroize::Zeroizing;

/// Plaintext, wiped on drop. It must grow only through `append`: a growing vector leaves its old contents behind.
pub(crate) type Plaintext = Zeroizing<Vec<u8>>;

/// Appends these parts. If they do not fit, all is copied to new memory and the old memory is wiped.
pub(crate) fn append(bytes: &mut Plaintext, parts: &[&[u8]]) {
    let needed = bytes.len() + parts.iter().map(|part| part.len()).sum::<usize>();
    if needed > bytes.capacity() {
        let mut larger = Plaintext::new(Vec::with_capacity(needed.max(2 * bytes.capacity())));
        larger.extend_from_slice(bytes);
        *bytes = larger;
    }
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{fs::File, os::unix::fs::FileExt};

    use super::*;

    /// How often these bytes occur in the memory around an address, freed memory included.
    fn found(place: usize, wanted: &[u8]) -> usize {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let range = |line: &str| {
            let (from, to) = line.split(' ').next()?.split_once('-')?;
            Some(usize::from_str_radix(from, 16).ok()?..usize::from_str_radix(to, 16).ok()?)
        };
        let around = maps.lines().filter_map(range).find(|range| range.contains(&place)).unwrap();
        let mut bytes = vec![0; around.len()];
        let copy = bytes.as_ptr() as usize..bytes.as_ptr() as usize + bytes.len();
        let read = File::open("/proc/self/mem").unwrap().read_at(&mut bytes, around.start as u64).unwrap();
        let there = bytes[..read].windows(wanted.len()).enumerate().filter(|(_, part)| *part == wanted);
        // The buffer that the memory is read into may lie there itself
        there.filter(|(at, _)| !copy.contains(&(around.start + at))).count()
    }

    #[test]
    fn what_grows_leaves_nothing_behind() {
        let mut secret = Plaintext::new(vec![0; 64]);
        getrandom::fill(&mut secret).unwrap();
        let (mut bytes, mut whole) = (Plaintext::default(), 0);
        for _ in 0..300 {
            append(&mut bytes, &[&secret[..40], &[], &secret[40..]]);
            whole += 1;
        }
        assert!(bytes.len() == whole * 64 && bytes.chunks(64).all(|chunk| chunk == &secret[..]));
        let place = bytes.as_ptr() as usize;
        assert!(found(place, &secret) >= whole, "they are seen while they are there");
        drop(bytes);
        assert!(found(place, &secret) <= 1, "the first of them alone is left");
    }
}
