//! The fastest schemes of the paper's three families as software of 2009 implements them: AES with tables of 32-bit
//! words, GHASH with tables, and in GCM-On a new key schedule for each packet. Lookups depend on secrets, so this code
//! is for this comparison only.

use std::sync::LazyLock;

use sealwright::{
    Aead, Block, Isa, KeyLengthError, SealError,
    block::aes2s::SecondaryKeys,
    ghash::{Ghash, Serial, Table4k_vartime, Table64k_vartime},
    mode::{gcm, gscm},
};

/// The S-box, and the tables that combine SubBytes and MixColumns; those of the other rows are rotations of the first.
struct Words {
    sub: [u8; 256],
    mixed: [[u32; 256]; 4],
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let (mut sub, mut mixed) = ([0; 256], [[0; 256]; 4]);
    // 3 generates the multiplicative group of the field. When p is multiplied by it, its inverse q is divided by it
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

/// The words of a block.
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

/// What a server stores for one direction of a client. The size of the record depends on the scheme.
pub(super) trait Flow: Sized {
    /// Bytes of its own table, which lies outside the record.
    const TABLE: usize;

    /// Makes the record from two keys; GCM uses only the first.
    fn new(keys: &[Block; 2]) -> Self;

    /// The key schedule for a packet.
    fn schedule(&self, cluster: &Cluster) -> Schedule;

    /// GHASH of a ciphertext.
    fn hash(&self, cluster: &Cluster, text: &[u8]) -> Block;

    /// The same scheme with AES instructions, from the keys alone.
    fn elsewhere(cluster: &Cluster, keys: &[Block; 2]) -> Result<Box<dyn Aead>, KeyLengthError>;

    /// The tag of a ciphertext: GHASH XOR the encrypted first counter block.
    fn tag(&self, cluster: &Cluster, schedule: &Schedule, nonce: &[u8; 12], text: &[u8]) -> Block {
        let hash = self.hash(cluster, text);
        let mask = encrypt(schedule, &counter(nonce, 1));
        std::array::from_fn(|i| hash[i] ^ mask[i])
    }

    /// Seals in place and returns the tag.
    fn seal(&self, cluster: &Cluster, nonce: &[u8; 12], text: &mut [u8]) -> Block {
        let schedule = self.schedule(cluster);
        ctr(&schedule, nonce, text);
        self.tag(cluster, &schedule, nonce, text)
    }

    /// Seals in place as a client on another computer does, and returns the tag. It uses no tables and the client's
    /// own keys, so neither the server's tables nor its record of the client are loaded into a cache.
    fn sealed_elsewhere(
        cluster: &Cluster,
        keys: &[Block; 2],
        nonce: &[u8; 12],
        text: &mut [u8],
    ) -> Result<Block, SealError> {
        let aead = Self::elsewhere(cluster, keys).expect("16 bytes are a key");
        let tag = aead.seal_in_place(nonce, &[], text)?;
        Ok(tag.as_ref().try_into().expect("a tag of 16 bytes"))
    }

    /// Opens in place if the tag is right; returns whether it is.
    fn open(&self, cluster: &Cluster, nonce: &[u8; 12], text: &mut [u8], tag: &Block) -> bool {
        let schedule = self.schedule(cluster);
        if self.tag(cluster, &schedule, nonce, text) != *tag {
            return false;
        }
        ctr(&schedule, nonce, text);
        true
    }
}

/// GCM-Pre: key schedule and table are stored.
pub(super) struct Pre(Schedule, Table4k_vartime);

/// GCM-On: key and table are stored.
pub(super) struct On(Block, Table4k_vartime);

/// GSCM: only the secondary keys are stored.
pub(super) struct Gscm([Block; 2]);

fn gcm_elsewhere(key: &Block) -> Result<Box<dyn Aead>, KeyLengthError> {
    gcm::by_key(Isa::best(), key, gcm::TagLen::T16)
}

fn own_table(schedule: &Schedule) -> Table4k_vartime {
    Ghash::new(Isa::best(), &encrypt(schedule, &[0; 16]))
}

impl Flow for Pre {
    const TABLE: usize = Table4k_vartime::STATE_BYTES;

    fn new([key, _]: &[Block; 2]) -> Pre {
        let schedule = expand(key);
        Pre(schedule, own_table(&schedule))
    }

    fn schedule(&self, _: &Cluster) -> Schedule {
        self.0
    }

    fn hash(&self, _: &Cluster, text: &[u8]) -> Block {
        self.1.hash(&[], text)
    }

    fn elsewhere(_: &Cluster, [key, _]: &[Block; 2]) -> Result<Box<dyn Aead>, KeyLengthError> {
        gcm_elsewhere(key)
    }
}

impl Flow for On {
    const TABLE: usize = Table4k_vartime::STATE_BYTES;

    fn new([key, _]: &[Block; 2]) -> On {
        On(*key, own_table(&expand(key)))
    }

    fn schedule(&self, _: &Cluster) -> Schedule {
        expand(&self.0)
    }

    fn hash(&self, _: &Cluster, text: &[u8]) -> Block {
        self.1.hash(&[], text)
    }

    fn elsewhere(_: &Cluster, [key, _]: &[Block; 2]) -> Result<Box<dyn Aead>, KeyLengthError> {
        gcm_elsewhere(key)
    }
}

impl Flow for Gscm {
    const TABLE: usize = 0;

    fn new(keys: &[Block; 2]) -> Gscm {
        Gscm(*keys)
    }

    fn schedule(&self, cluster: &Cluster) -> Schedule {
        let mut schedule = cluster.schedule;
        (schedule[0], schedule[5]) = (words(&self.0[0]), words(&self.0[1]));
        schedule
    }

    fn hash(&self, cluster: &Cluster, text: &[u8]) -> Block {
        cluster.table.hash(&[], text)
    }

    fn elsewhere(cluster: &Cluster, [k1, k2]: &[Block; 2]) -> Result<Box<dyn Aead>, KeyLengthError> {
        gscm::research_only_by_key(Isa::best(), &cluster.key, &SecondaryKeys { k1: *k1, k2: *k2 })
    }
}

/// Data that the clients of a cluster share, for one direction.
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
    use super::*;

    /// The table-based code, the client's code and the library must compute the same tag and ciphertext.
    fn agrees<F: Flow>(cluster: &Cluster, keys: &[Block; 2], aead: &dyn Aead) {
        let (flow, nonce) = (F::new(keys), [3; 12]);
        for len in [0, 1, 16, 40, 1500] {
            let text: Vec<u8> = (0..len).map(|i| (i * 7) as u8).collect();
            let (mut ours, mut theirs) = (text.clone(), text.clone());
            let tag = flow.seal(cluster, &nonce, &mut ours);
            assert_eq!(aead.seal_in_place(&nonce, &[], &mut theirs).unwrap().as_ref(), tag, "{len}");
            assert_eq!(ours, theirs, "{len}");
            let mut elsewhere = text.clone();
            assert_eq!(F::sealed_elsewhere(cluster, keys, &nonce, &mut elsewhere).unwrap(), tag);
            assert_eq!(ours, elsewhere, "{len}");
            assert!(!flow.open(cluster, &nonce, &mut ours, &[0; 16]));
            assert!(flow.open(cluster, &nonce, &mut ours, &tag));
            assert_eq!(ours, text);
        }
    }

    #[test]
    fn tables_compute_gcm_and_gscm() {
        let (key, isa) = ([9; 16], Isa::best());
        let cluster = Cluster::new(&key);
        let keys = [[4; 16], [5; 16]];
        let gcm = gcm::by_key(isa, &keys[0], gcm::TagLen::T16).unwrap();
        agrees::<Pre>(&cluster, &keys, &*gcm);
        agrees::<On>(&cluster, &keys, &*gcm);
        let gscm = gscm::research_only_by_key(isa, &key, &SecondaryKeys { k1: keys[0], k2: keys[1] }).unwrap();
        agrees::<Gscm>(&cluster, &keys, &*gscm);
    }

    /// The record size determines how many records fit into a cache.
    #[test]
    fn a_record_takes_what_its_scheme_keeps() {
        assert_eq!(size_of::<Gscm>(), 2 * 16);
        assert!(size_of::<On>() < size_of::<Pre>() && size_of::<Pre>() >= size_of::<Schedule>());
    }
}
