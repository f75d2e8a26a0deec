//! The paper's three fastest as software of 2009 has them: AES by tables of words, GHASH by tables, a key schedule made anew
//! for each packet in GCM-On. Lookups depend on secrets: for this comparison alone.

use std::sync::LazyLock;

use sealwright::{
    Block, Isa, SealError,
    block::aes2s::SecondaryKeys,
    ghash::{Ghash, Serial, Table4k_vartime, Table64k_vartime},
    mode::{gcm, gscm},
};

/// SubBytes, and SubBytes with MixColumns of the first row; the other rows' words are turned ones.
struct Words {
    sub: [u8; 256],
    mixed: [[u32; 256]; 4],
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let (mut sub, mut mixed) = ([0; 256], [[0; 256]; 4]);
    // 3 generates the field, and what it is multiplied by, its inverse is divided by.
    let (mut p, mut q) = (1u8, 1u8);
    let double = |x: u8| x << 1 ^ (if x & 0x80 == 0 { 0 } else { 0x1b });
    loop {
        p ^= double(p);
        q ^= q << 1;
        q ^= q << 2;
        q ^= q << 4;
        if q & 0x80 != 0 {
            q ^= 0x09;
        }
        sub[usize::from(p)] = q ^ q.rotate_left(1) ^ q.rotate_left(2) ^ q.rotate_left(3) ^ q.rotate_left(4) ^ 0x63;
        if p == 1 {
            break;
        }
    }
    sub[0] = 0x63;
    for (i, &s) in sub.iter().enumerate() {
        let word = u32::from_be_bytes([double(s), s, s, double(s) ^ s]);
        for (row, table) in mixed.iter_mut().enumerate() {
            table[i] = word.rotate_right(8 * row as u32);
        }
    }
    Words { sub, mixed }
});

/// The round keys of AES-128.
pub(super) type Schedule = [[u32; 4]; 11];

/// Words of a block.
fn words(block: &Block) -> [u32; 4] {
    std::array::from_fn(|i| u32::from_be_bytes([block[4 * i], block[4 * i + 1], block[4 * i + 2], block[4 * i + 3]]))
}

pub(super) fn expand(key: &Block) -> Schedule {
    let Words { sub, .. } = &*WORDS;
    let mut schedule = [[0; 4]; 11];
    schedule[0] = words(key);
    let mut constant = 1u8;
    for round in 1..11 {
        let before = schedule[round - 1];
        let last = before[3].rotate_left(8).to_be_bytes().map(|byte| sub[usize::from(byte)]);
        let mut word = u32::from_be_bytes(last) ^ u32::from(constant) << 24;
        for (new, old) in schedule[round].iter_mut().zip(before) {
            word ^= old;
            *new = word;
        }
        constant = constant << 1 ^ (if constant & 0x80 == 0 { 0 } else { 0x1b });
    }
    schedule
}

fn encrypt(schedule: &Schedule, block: &Block) -> Block {
    let Words { sub, mixed } = &*WORDS;
    let mut x = words(block);
    for (word, key) in x.iter_mut().zip(schedule[0]) {
        *word ^= key;
    }
    let byte = |word: u32, row: usize| (word >> (24 - 8 * row)) as usize & 0xff;
    for key in &schedule[1..10] {
        let y = x;
        for (i, word) in x.iter_mut().enumerate() {
            *word = mixed[0][byte(y[i], 0)]
                ^ mixed[1][byte(y[(i + 1) % 4], 1)]
                ^ mixed[2][byte(y[(i + 2) % 4], 2)]
                ^ mixed[3][byte(y[(i + 3) % 4], 3)]
                ^ key[i];
        }
    }
    let mut out = [0; 16];
    for i in 0..4 {
        let bytes = [0, 1, 2, 3].map(|row| sub[byte(x[(i + row) % 4], row)]);
        out[4 * i..][..4].copy_from_slice(&(u32::from_be_bytes(bytes) ^ schedule[10][i]).to_be_bytes());
    }
    out
}

/// One direction of a client.
pub(super) enum Flow {
    /// Schedule and table kept.
    Pre(Schedule, Table4k_vartime),
    /// Key and table kept.
    On(Block, Table4k_vartime),
    /// Secondary keys kept.
    Gscm([Block; 2]),
}

/// What a cluster shares in one direction.
pub(super) struct Cluster {
    key: Block,
    schedule: Schedule,
    table: Table64k_vartime,
}

impl Cluster {
    pub(super) fn new(key: &Block) -> Cluster {
        let schedule = expand(key);
        let table = Ghash::new(Isa::best(), &encrypt(&schedule, &[0; 16]));
        Cluster { key: *key, schedule, table }
    }
}

impl Flow {
    pub(super) fn pre(key: &Block) -> Flow {
        let schedule = expand(key);
        Flow::Pre(schedule, Ghash::new(Isa::best(), &encrypt(&schedule, &[0; 16])))
    }

    pub(super) fn on(key: &Block) -> Flow {
        Flow::On(*key, Ghash::new(Isa::best(), &encrypt(&expand(key), &[0; 16])))
    }

    /// The schedule for a packet.
    fn schedule(&self, cluster: &Cluster) -> Schedule {
        match self {
            Flow::Pre(schedule, _) => *schedule,
            Flow::On(key, _) => expand(key),
            Flow::Gscm([k1, k2]) => {
                let mut schedule = cluster.schedule;
                (schedule[0], schedule[5]) = (words(k1), words(k2));
                schedule
            }
        }
    }

    /// GHASH and the mask: the tag of a ciphertext.
    fn tag(&self, cluster: &Cluster, schedule: &Schedule, nonce: &[u8; 12], text: &[u8]) -> Block {
        let hash = match self {
            Flow::Pre(_, table) | Flow::On(_, table) => table.hash(&[], text),
            Flow::Gscm(_) => cluster.table.hash(&[], text),
        };
        let mask = encrypt(schedule, &counter(nonce, 1));
        std::array::from_fn(|i| hash[i] ^ mask[i])
    }

    /// Seals in place; the tag.
    pub(super) fn seal(&self, cluster: &Cluster, nonce: &[u8; 12], text: &mut [u8]) -> Block {
        let schedule = self.schedule(cluster);
        ctr(&schedule, nonce, text);
        self.tag(cluster, &schedule, nonce, text)
    }

    /// What a client at another computer seals in place; the tag. It is computed by instructions and from keys alone, so none
    /// of the server's tables comes into a cache by it.
    pub(super) fn sealed_elsewhere(
        &self,
        cluster: &Cluster,
        nonce: &[u8; 12],
        text: &mut [u8],
    ) -> Result<Block, SealError> {
        let isa = Isa::best();
        let bytes = |words: &[u32; 4]| {
            let mut block = [0; 16];
            block.chunks_exact_mut(4).zip(words).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_be_bytes()));
            block
        };
        let gcm = |key: &Block| gcm::by_key(isa, key, gcm::TagLen::T16);
        let aead = match self {
            // The first round key of AES-128 is the key
            Flow::Pre(schedule, _) => gcm(&bytes(&schedule[0])),
            Flow::On(key, _) => gcm(key),
            Flow::Gscm([k1, k2]) => gscm::research_only_by_key(isa, &cluster.key, &SecondaryKeys { k1: *k1, k2: *k2 }),
        };
        let tag = aead.expect("16 bytes are a key").seal_in_place(nonce, &[], text)?;
        Ok(tag.as_ref().try_into().expect("a tag of 16 bytes"))
    }

    /// Opens in place, if the tag holds.
    pub(super) fn open(&self, cluster: &Cluster, nonce: &[u8; 12], text: &mut [u8], tag: &Block) -> bool {
        let schedule = self.schedule(cluster);
        if self.tag(cluster, &schedule, nonce, text) != *tag {
            return false;
        }
        ctr(&schedule, nonce, text);
        true
    }
}

fn counter(nonce: &[u8; 12], n: u32) -> Block {
    let mut block = [0; 16];
    block[..12].copy_from_slice(nonce);
    block[12..].copy_from_slice(&n.to_be_bytes());
    block
}

fn ctr(schedule: &Schedule, nonce: &[u8; 12], text: &mut [u8]) {
    for (n, chunk) in (2..).zip(text.chunks_mut(16)) {
        let stream = encrypt(schedule, &counter(nonce, n));
        for (byte, key) in chunk.iter_mut().zip(stream) {
            *byte ^= key;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use sealwright::Aead;

    use super::*;

    #[test]
    fn tables_compute_gcm_and_gscm() {
        let (key, nonce, isa) = ([9; 16], [3; 12], Isa::best());
        let cluster = Cluster::new(&key);
        let keys = SecondaryKeys { k1: [4; 16], k2: [5; 16] };
        let gcm = || gcm::by_key(isa, &key, gcm::TagLen::T16).unwrap();
        let cases: [(Flow, Box<dyn Aead>); 3] = [
            (Flow::pre(&key), gcm()),
            (Flow::on(&key), gcm()),
            (Flow::Gscm([keys.k1, keys.k2]), gscm::research_only_by_key(isa, &key, &keys).unwrap()),
        ];
        for (flow, aead) in &cases {
            for len in [0, 1, 16, 40, 1500] {
                let text: Vec<u8> = (0..len).map(|i| (i * 7) as u8).collect();
                let (mut ours, mut theirs) = (text.clone(), text.clone());
                let tag = flow.seal(&cluster, &nonce, &mut ours);
                assert_eq!(aead.seal_in_place(&nonce, &[], &mut theirs).unwrap().as_ref(), tag, "{len}");
                assert_eq!(ours, theirs, "{len}");
                let mut elsewhere = text.clone();
                assert_eq!(flow.sealed_elsewhere(&cluster, &nonce, &mut elsewhere).unwrap(), tag);
                assert_eq!(ours, elsewhere, "{len}");
                assert!(!flow.open(&cluster, &nonce, &mut ours, &[0; 16]));
                assert!(flow.open(&cluster, &nonce, &mut ours, &tag));
                assert_eq!(ours, text);
            }
        }
    }
}
