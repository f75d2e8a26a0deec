//! The C libraries that `sealwright-lab bench` compares with Sealwright: ipsec-mb, libgcrypt, Botan and OpenSSL.
//!
//! Each has a shim, which is compiled if the library's header is installed (Debian: `libipsec-mb-dev`,
//! `libgcrypt20-dev`, `libbotan-2-dev`, `libssl-dev`) and loads the library at run time. Another release of a library
//! takes part as well if a variable names its folder when this crate is built: `SEALWRIGHT_IPSEC_MB` a folder with
//! `intel-ipsec-mb.h` and `libIPSec_MB.so`, `SEALWRIGHT_OPENSSL` one with `openssl/evp.h` and `libcrypto.so`.
//! [`found`] lists the libraries that are present, and the absent ones with the reason.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    fmt,
    ptr::NonNull,
    sync::OnceLock,
};

/// The functions of a shim. The layout must be that of `struct peer` in `shim/peer.h`.
#[repr(C)]
struct Table {
    version: unsafe extern "C" fn() -> *const c_char,
    create: unsafe extern "C" fn(c_int) -> *mut c_void,
    set_key: unsafe extern "C" fn(*mut c_void, *const u8) -> c_int,
    seal: Crypt,
    open: Crypt,
    destroy: unsafe extern "C" fn(*mut c_void),
    encrypt_many: Option<EncryptMany>,
}

type EncryptMany = unsafe extern "C" fn(*mut c_void, *const *const u8, *const *mut u8, usize, c_int) -> c_int;
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
    #[cfg(openssl_other)]
    safe static sealwright_peer_openssl_other: Table;
}

/// The maximum number of messages for [`Key::encrypt_many`].
pub const SIDE_BY_SIDE: usize = 16;

/// The algorithms of the shims. The numbers must be those in `shim/peer.h`.
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
    /// Serpent-256 in counter mode with a counter of 128 bits.
    Serpent256Ctr = 10,
    /// ChaCha20-Poly1305.
    ChaCha20Poly1305 = 11,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Algorithm; 12] = [
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
        Algorithm::ChaCha20Poly1305,
    ];

    /// Length of the key in bytes.
    pub fn key_len(self) -> usize {
        match self {
            Algorithm::Aes128Gcm | Algorithm::Aes128Ocb | Algorithm::Aes128GcmSiv | Algorithm::Aes128Cbc => 16,
            _ => 32,
        }
    }

    /// Length of the nonce, IV or first counter block in bytes.
    pub fn nonce_len(self) -> usize {
        if self.tag_len() == 0 { 16 } else { 12 }
    }

    /// Length of the tag in bytes; 0 if nothing is authenticated.
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

/// A library that is not available.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is not measured: {why}")]
pub struct AbsentError {
    /// The library's name.
    pub name: &'static str,
    /// What is missing.
    pub why: &'static str,
}

/// The library refused the operation: the message is not authentic, or a length is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("refused")]
pub struct RefusedError;

/// A shim: the peer's name, the table if it was compiled, and what to install if it was not.
type Shim = (&'static str, Option<&'static Table>, &'static str);

/// The table of a shim, or `None` if it was not compiled.
macro_rules! table {
    ($name:ident, $table:ident) => {{
        #[cfg($name)]
        let table = Some(&$table);
        #[cfg(not($name))]
        let table = None;
        table
    }};
}

fn shims() -> [Shim; 6] {
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
        (
            "openssl",
            table!(openssl, sealwright_peer_openssl),
            "openssl/evp.h was not there when this was built (Debian: libssl-dev)",
        ),
        (
            "openssl-other",
            table!(openssl_other, sealwright_peer_openssl_other),
            "SEALWRIGHT_OPENSSL was not set when this was built",
        ),
    ]
}

/// The libraries that are available, and those that are not.
pub fn found() -> (Vec<Library>, Vec<AbsentError>) {
    // Loaded only once: the shims keep the loaded library in static variables, and another thread could use a library
    // that is only partly loaded
    static FOUND: OnceLock<(Vec<Library>, Vec<AbsentError>)> = OnceLock::new();
    FOUND.get_or_init(look).clone()
}

fn look() -> (Vec<Library>, Vec<AbsentError>) {
    let (mut here, mut absent) = (Vec::new(), Vec::new());
    for (name, table, missing) in shims() {
        let Some(table) = table else {
            absent.push(AbsentError { name, why: missing });
            continue;
        };
        // SAFETY: the function takes no arguments and returns null or a string with static lifetime.
        let version = unsafe {
            let version = (table.version)();
            (!version.is_null()).then(|| CStr::from_ptr(version))
        };
        match version {
            Some(version) => here.push(Library { name, version: version.to_str().unwrap_or("unknown"), table }),
            None => absent.push(AbsentError { name, why: "its shared library cannot be loaded" }),
        }
    }
    (here, absent)
}

impl Library {
    /// The peer's name, such as `ipsec-mb`. `ipsec-mb-other` and `openssl-other` are the releases named by
    /// `SEALWRIGHT_IPSEC_MB` and `SEALWRIGHT_OPENSSL`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The version that the library reports.
    pub fn version(&self) -> &'static str {
        self.version
    }

    /// A key for `algorithm`; `None` if the library lacks the algorithm or the key has the wrong length.
    pub fn key(&self, algorithm: Algorithm, key: &[u8]) -> Option<Key> {
        if key.len() != algorithm.key_len() {
            return None;
        }
        // SAFETY: the library is loaded, and the number is one of those in `shim/peer.h`.
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

/// A key; its state is memory that the library allocated.
pub struct Key {
    table: &'static Table,
    state: NonNull<c_void>,
    algorithm: Algorithm,
}

// SAFETY: the state is owned by this value, and no library binds it to a thread.
unsafe impl Send for Key {}

impl Key {
    /// Replaces the key, in the same memory.
    ///
    /// # Errors
    /// [`RefusedError`] if the key has the wrong length.
    pub fn set(&mut self, key: &[u8]) -> Result<(), RefusedError> {
        if key.len() != self.algorithm.key_len() {
            return Err(RefusedError);
        }
        // SAFETY: the state came from `create`, and the key has the required length.
        done(unsafe { (self.table.set_key)(self.state.as_ptr(), key.as_ptr()) })
    }

    /// Encrypts the text at the front of `message` and writes the tag to its last 16 bytes, if the algorithm has a
    /// tag.
    ///
    /// # Errors
    /// [`RefusedError`] if the message is shorter than a tag, the nonce has another length, or the library refuses.
    #[inline]
    pub fn seal(&mut self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        self.crypt(self.table.seal, nonce, ad, message)
    }

    /// Checks the tag in the last 16 bytes of `message` and decrypts the text before it. Without a tag, it decrypts
    /// all of `message`.
    ///
    /// # Errors
    /// [`RefusedError`] if the message is not authentic or the nonce has the wrong length. The content of `message` is
    /// then unspecified.
    #[inline]
    pub fn open(&mut self, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        self.crypt(self.table.open, nonce, ad, message)
    }

    /// Encrypts several messages of the same length at once, each with its own IV: CBC without authentication, whole
    /// blocks only.
    ///
    /// # Errors
    /// [`RefusedError`] if the library has no such function, if there are more than [`SIDE_BY_SIDE`] messages, if
    /// their lengths differ, or if an IV has the wrong length.
    pub fn encrypt_many(&mut self, ivs: &[&[u8]], messages: &mut [&mut [u8]]) -> Result<(), RefusedError> {
        let (Some(run), Some(len)) = (self.table.encrypt_many, messages.first().map(|first| first.len())) else {
            return Err(RefusedError);
        };
        let alike = messages.iter().all(|message| message.len() == len) && ivs.iter().all(|iv| iv.len() == 16);
        let chained = matches!(self.algorithm, Algorithm::Aes128Cbc | Algorithm::Aes256Cbc) && len.is_multiple_of(16);
        if !alike || !chained || messages.len() != ivs.len() || messages.len() > SIDE_BY_SIDE {
            return Err(RefusedError);
        }
        let (mut from, mut to) = ([std::ptr::null(); SIDE_BY_SIDE], [std::ptr::null_mut(); SIDE_BY_SIDE]);
        for (at, (iv, message)) in ivs.iter().zip(&mut *messages).enumerate() {
            (from[at], to[at]) = (iv.as_ptr(), message.as_mut_ptr());
        }
        // SAFETY: the state came from `create`, and the number and lengths of IVs and messages were checked above.
        done(unsafe { run(self.state.as_ptr(), from.as_ptr(), to.as_ptr(), len, messages.len() as c_int) })
    }

    #[inline]
    fn crypt(&mut self, run: Crypt, nonce: &[u8], ad: &[u8], message: &mut [u8]) -> Result<(), RefusedError> {
        let text_len = message.len().checked_sub(self.algorithm.tag_len()).ok_or(RefusedError)?;
        if nonce.len() != self.algorithm.nonce_len() {
            return Err(RefusedError);
        }
        let (state, message) = (self.state.as_ptr(), message.as_mut_ptr());
        // SAFETY: the state came from `create`; nonce, associated data and message (with its tag) have the given
        // lengths.
        done(unsafe { run(state, nonce.as_ptr(), ad.as_ptr(), ad.len(), message, text_len) })
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: the state came from `create`, and this value is its only owner.
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
mod tests;
