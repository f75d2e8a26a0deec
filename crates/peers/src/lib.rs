//! Libraries in C that `sealwright-lab bench` measures beside ours: ipsec-mb, libgcrypt, Botan; and OpenSSL, which with them is a
//! referee of the fuzz targets.
//!
//! A shim of each is compiled where its header is installed (Debian: `libipsec-mb-dev`, `libgcrypt20-dev`, `libbotan-2-dev`, `libssl-dev`),
//! and loads the library when the program runs. `SEALWRIGHT_IPSEC_MB`, set while this crate is built, names a folder with `intel-ipsec-mb.h` and
//! `libIPSec_MB.so` of another release, which then takes part too. What is not here is told by name ([`found`]).

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    fmt,
    ptr::NonNull,
    sync::OnceLock,
};

/// What a shim gives; its twin is `struct peer` in `shim/peer.h`.
#[repr(C)]
struct Table {
    version: unsafe extern "C" fn() -> *const c_char,
    create: unsafe extern "C" fn(c_int) -> *mut c_void,
    set_key: unsafe extern "C" fn(*mut c_void, *const u8) -> c_int,
    seal: Crypt,
    open: Crypt,
    destroy: unsafe extern "C" fn(*mut c_void),
}

type Crypt = unsafe extern "C" fn(*mut c_void, *const u8, *const u8, usize, *mut u8, usize) -> c_int;

unsafe extern "C" {
    #[cfg(ipsec_mb)]
    safe static sealwright_peer_ipsec_mb: Table;
    #[cfg(ipsec_mb_other)]
    safe static sealwright_peer_ipsec_mb_other: Table;
    #[cfg(gcrypt)]
    safe static sealwright_peer_gcrypt: Table;
    #[cfg(botan)]
    safe static sealwright_peer_botan: Table;
    #[cfg(openssl)]
    safe static sealwright_peer_openssl: Table;
}

/// What the shims know. The numbers are those of `shim/peer.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// AES-128-GCM.
    Aes128Gcm = 0,
    /// AES-256-GCM.
    Aes256Gcm = 1,
    /// AES-128-OCB.
    Aes128Ocb = 2,
    /// AES-256-OCB.
    Aes256Ocb = 3,
    /// Serpent-256-GCM.
    Serpent256Gcm = 4,
    /// Serpent-256-OCB.
    Serpent256Ocb = 5,
    /// AES-128-GCM-SIV.
    Aes128GcmSiv = 6,
    /// AES-256-GCM-SIV.
    Aes256GcmSiv = 7,
    /// AES-128-CBC, whole blocks without padding.
    Aes128Cbc = 8,
    /// AES-256-CBC.
    Aes256Cbc = 9,
    /// Serpent-256 in counter mode, 128 bits counting.
    Serpent256Ctr = 10,
}

impl Algorithm {
    /// Every one.
    pub const ALL: [Algorithm; 11] = [
        Algorithm::Aes128Gcm,
        Algorithm::Aes256Gcm,
        Algorithm::Aes128Ocb,
        Algorithm::Aes256Ocb,
        Algorithm::Serpent256Gcm,
        Algorithm::Serpent256Ocb,
        Algorithm::Aes128GcmSiv,
        Algorithm::Aes256GcmSiv,
        Algorithm::Aes128Cbc,
        Algorithm::Aes256Cbc,
        Algorithm::Serpent256Ctr,
    ];

    /// Bytes of its key.
    pub fn key_len(self) -> usize {
        match self {
            Algorithm::Aes128Gcm | Algorithm::Aes128Ocb | Algorithm::Aes128GcmSiv | Algorithm::Aes128Cbc => 16,
            _ => 32,
        }
    }

    /// Bytes of its nonce, IV or first counter block.
    pub fn nonce_len(self) -> usize {
        if self.tag_len() == 0 { 16 } else { 12 }
    }

    /// Bytes of its tag; none where nothing is authenticated.
    pub fn tag_len(self) -> usize {
        match self {
            Algorithm::Aes128Cbc | Algorithm::Aes256Cbc | Algorithm::Serpent256Ctr => 0,
            _ => 16,
        }
    }
}

/// A library that was loaded.
#[derive(Clone, Copy)]
pub struct Library {
    name: &'static str,
    version: &'static str,
    table: &'static Table,
}

/// A library that could be here and is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is not measured: {why}")]
pub struct AbsentError {
    /// Its name.
    pub name: &'static str,
    /// What is missing.
    pub why: &'static str,
}

/// The library refused: a text or a tag that is not authentic, or a length that it does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("refused")]
pub struct RefusedError;

/// A name, the table if the shim was compiled, and what to install where it was not.
type Shim = (&'static str, Option<&'static Table>, &'static str);

/// The table of a shim, if it was compiled.
macro_rules! table {
    ($name:ident, $table:ident) => {{
        #[cfg($name)]
        let table = Some(&$table);
        #[cfg(not($name))]
        let table = None;
        table
    }};
}

fn shims() -> [Shim; 4] {
    [
        (
            "ipsec-mb",
            table!(ipsec_mb, sealwright_peer_ipsec_mb),
            "intel-ipsec-mb.h was not there when this was built (Debian: libipsec-mb-dev)",
        ),
        (
            "ipsec-mb-other",
            table!(ipsec_mb_other, sealwright_peer_ipsec_mb_other),
            "SEALWRIGHT_IPSEC_MB was not set when this was built",
        ),
        (
            "libgcrypt",
            table!(gcrypt, sealwright_peer_gcrypt),
            "gcrypt.h was not there when this was built (Debian: libgcrypt20-dev)",
        ),
        (
            "botan",
            table!(botan, sealwright_peer_botan),
            "botan/ffi.h was not there when this was built (Debian: libbotan-2-dev)",
        ),
    ]
}

/// The libraries that are here, and those that are not.
pub fn found() -> (Vec<Library>, Vec<AbsentError>) {
    // Loaded once: shims keep what they found in variables of the process, and a library may not be ready while another
    // thread loads it.
    static FOUND: OnceLock<(Vec<Library>, Vec<AbsentError>)> = OnceLock::new();
    FOUND.get_or_init(look).clone()
}

fn look() -> (Vec<Library>, Vec<AbsentError>) {
    let (mut here, mut absent) = (Vec::new(), Vec::new());
    for shim in shims() {
        match load(shim) {
            Ok(library) => here.push(library),
            Err(error) => absent.push(error),
        }
    }
    (here, absent)
}

/// OpenSSL, which is not among those [`found`]: `bench` measures it through its own program.
///
/// # Errors
/// [`AbsentError`] where it is not installed.
pub fn openssl() -> Result<Library, AbsentError> {
    static FOUND: OnceLock<Result<Library, AbsentError>> = OnceLock::new();
    let missing = "openssl/evp.h was not there when this was built (Debian: libssl-dev)";
    *FOUND.get_or_init(|| load(("openssl", table!(openssl, sealwright_peer_openssl), missing)))
}

fn load((name, table, missing): Shim) -> Result<Library, AbsentError> {
    let table = table.ok_or(AbsentError { name, why: missing })?;
    // SAFETY: the shim's function takes nothing and returns null or a string that stays.
    let version = unsafe {
        let version = (table.version)();
        (!version.is_null()).then(|| CStr::from_ptr(version))
    };
    match version {
        Some(version) => Ok(Library { name, version: version.to_str().unwrap_or("unknown"), table }),
        None => Err(AbsentError { name, why: "its shared library cannot be loaded" }),
    }
}

impl Library {
    /// Its name: `ipsec-mb`; `ipsec-mb-other` is the release that `SEALWRIGHT_IPSEC_MB` named.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its version, as it says.
    pub fn version(&self) -> &'static str {
        self.version
    }

    /// A key of `algorithm`, if the library has it and `key` its length.
    pub fn key(&self, algorithm: Algorithm, key: &[u8]) -> Option<Key> {
        if key.len() != algorithm.key_len() {
            return None;
        }
        // SAFETY: the library was loaded; the number is one of the shim's.
        let state = NonNull::new(unsafe { (self.table.create)(algorithm as c_int) })?;
        let mut made = Key { table: self.table, state, algorithm };
        made.set(key).ok()?;
        Some(made)
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library").field("name", &self.name).field("version", &self.version).finish_non_exhaustive()
    }
}

/// A key in a library's own memory.
pub struct Key {
    table: &'static Table,
    state: NonNull<c_void>,
    algorithm: Algorithm,
}

// SAFETY: the state is memory of its own that no thread is bound to.
unsafe impl Send for Key {}

impl Key {
    /// Another key in the same memory.
    ///
    /// # Errors
    /// [`RefusedError`] for another length.
    pub fn set(&mut self, key: &[u8]) -> Result<(), RefusedError> {
        if key.len() != self.algorithm.key_len() {
            return Err(RefusedError);
        }
        // SAFETY: the state came from `create`; the key has its length.
        done(unsafe { (self.table.set_key)(self.state.as_ptr(), key.as_ptr()) })
    }

    /// Encrypts the text at the front of `message` and writes the tag over its last 16 bytes, if there is one.
    ///
    /// # Errors
    /// [`RefusedError`] if the message is shorter than a tag, the nonce has another length, or the library refuses.
    #[inline]
    pub fn seal(&mut self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        self.crypt(self.table.seal, nonce, ad, message)
    }

    /// Decrypts the text at the front of `message` if its last 16 bytes are its tag; without a tag, in any case.
    ///
    /// # Errors
    /// [`RefusedError`] if they are not, or the nonce has another length. What then is in `message` is up to the library.
    #[inline]
    pub fn open(&mut self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        self.crypt(self.table.open, nonce, ad, message)
    }

    #[inline]
    fn crypt(&mut self, run: Crypt, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        let text_len = message.len().checked_sub(self.algorithm.tag_len()).ok_or(RefusedError)?;
        if nonce.len() != self.algorithm.nonce_len() {
            return Err(RefusedError);
        }
        let (state, message) = (self.state.as_ptr(), message.as_mut_ptr());
        // SAFETY: the state came from `create`; nonce, associated data, and message with its tag are as long as said.
        done(unsafe { run(state, nonce.as_ptr(), ad.as_ptr(), ad.len(), message, text_len) })
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: the state came from `create`, and nobody else has it.
        unsafe { (self.table.destroy)(self.state.as_ptr()) }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

#[inline]
fn done(code: c_int) -> Result<(), RefusedError> {
    if code == 0 { Ok(()) } else { Err(RefusedError) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_shim_is_here_or_named_as_absent() {
        let (here, absent) = found();
        assert_eq!(here.len() + absent.len(), shims().len());
        assert!(here.iter().all(|library| library.version().contains('.')), "{here:?}");
        assert!(absent.iter().all(|absent| absent.to_string().contains(" is not measured: ")), "{absent:?}");
    }

    #[test]
    fn threads_may_look_for_them_at_one_time() {
        let known = || {
            let known = |library: Library| library.key(Algorithm::Aes256Gcm, &[7; 32]).is_some();
            found().0.into_iter().all(known)
        };
        std::thread::scope(|scope| {
            let threads = [(); 8].map(|()| scope.spawn(known));
            assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
        });
    }

    /// That they compute what ours computes is checked by `bench`, before it measures.
    #[test]
    fn what_is_sealed_opens_and_what_is_forged_does_not() {
        for library in found().0.into_iter().chain(openssl()) {
            let known: Vec<_> = Algorithm::ALL
                .into_iter()
                .filter_map(|algorithm| Some((algorithm, library.key(algorithm, &vec![7; algorithm.key_len()])?)))
                .collect();
            assert!(known.iter().any(|(algorithm, _)| *algorithm == Algorithm::Aes256Gcm), "{library:?}");
            for (algorithm, mut key) in known {
                assert!(library.key(algorithm, &[7; 5]).is_none());
                // CBC takes whole blocks.
                let (nonce, tag) = (vec![1; algorithm.nonce_len()], algorithm.tag_len());
                let len = if tag == 0 { 64 } else { 61 };
                let plain = vec![5; len + tag];
                let mut message = plain.clone();
                key.seal(&nonce, b"ad", &mut message).unwrap();
                assert_ne!(message[..len], plain[..len], "{library:?} {algorithm:?}");
                let mut forged = message.clone();
                forged[3] ^= 1;
                let opened = key.open(&nonce, b"ad", &mut forged);
                assert_eq!(opened.is_ok(), tag == 0, "{library:?} {algorithm:?}");
                assert_eq!(key.open(&nonce, b"ad", &mut message), Ok(()), "{library:?} {algorithm:?}");
                assert_eq!(message[..len], plain[..len], "{library:?} {algorithm:?}");
                assert_eq!(key.seal(&nonce[1..], b"ad", &mut message), Err(RefusedError));
                key.set(&vec![8; algorithm.key_len()]).unwrap();
                let mut other = plain;
                key.seal(&nonce, b"ad", &mut other).unwrap();
                assert_eq!(key.set(&[8; 5]), Err(RefusedError));
                assert!(tag == 0 || key.seal(&nonce, b"ad", &mut [0; 15]) == Err(RefusedError));
            }
        }
    }
}
