//! Sealed files: sealing, opening, reading at random, looking without a key; and the bytes of `openssl enc`.
//!
//! The format is described in [`mod@format`]: a preamble that says how to find the key, then a body after the C2SP
//! chunked encryption specification, whose chunks can be sealed, opened and read independently and whose length cannot
//! be changed unnoticed.
//!
//! ```
//! use sealwright_file::{Input, Key, Opening, Output, Sealing, SealedReader, Suite};
//! use std::io::{Cursor, Read, Seek, SeekFrom};
//!
//! let key = Key::generate(Suite::Aes256Gcm)?;
//! let mut sealed = sealwright_file::Shared::default();
//! Sealing::new(&key).seal(Input::reader(Cursor::new(b"a text"), "text"), Output::writer(sealed.clone(), "sealed"))?;
//!
//! // Anywhere in the file, without opening what comes before.
//! let mut reader = SealedReader::new(Cursor::new(sealed.take()), &Opening::new(&key))?;
//! reader.seek(SeekFrom::Start(2))?;
//! let mut text = String::new();
//! reader.read_to_string(&mut text)?;
//! assert_eq!(text, "text");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Sealing`] and [`Opening`] take an [`Input`] to an [`Output`], each a file or a stream; [`SealedReader`] is
//! `Read + Seek` over a sealed file; [`inspect()`] tells what is known without a key; [`enc`] speaks OpenSSL's bytes.
//! Programs that have no use for files take the body alone, `Write` and `Read`, from the crate `sealwright-stream`.
//! Every [`Error`] knows its exit code and, where one helps, a hint.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(target_os = "linux"))]
compile_error!("sealwright-file runs on Linux only");

mod access;
pub mod armor;
mod body;
mod content;
mod costs;
#[cfg(feature = "signatures")]
mod detached;
pub mod enc;
mod error;
/// The format of sealed files, version 1.
#[cfg_attr(not(doctest), doc = "", doc = include_str!("../FORMAT.md"))]
pub mod format {}
mod file_id;
mod form;
mod found;
#[cfg(feature = "public-keys")]
mod identity;
pub mod input;
pub mod inspect;
pub mod key;
mod layout;
pub mod list;
mod list_form;
mod lock;
mod of_process;
mod open;
pub mod output;
mod pool;
pub mod preamble;
pub mod progress;
mod read;
mod reader;
mod recipient;
mod rekey;
mod seal;
mod secret;
#[cfg(feature = "signatures")]
pub mod sign;
pub mod slots;
mod span;
pub mod tree;
mod unlock;
mod window;

pub use costs::{Ceiling, Costs};
#[cfg(feature = "signatures")]
pub use detached::{Signature, sign_file, verify_file};
pub use error::{Error, Flaw, KeyFault, KeyKind, OutputFault, Unsupported};
pub use file_id::{Commitment, FileId, Summary};
pub use found::Found;
#[cfg(feature = "public-keys")]
pub use identity::{read_identities, read_recipients};
#[cfg(feature = "signatures")]
pub use identity::{read_signing_key, read_verifying_keys};
pub use input::Input;
pub use inspect::{Inspection, inspect};
pub use key::Key;
#[cfg(feature = "public-keys")]
pub use key::{PublicKey, SecretKey};
pub use layout::{Content, Layout};
pub use list::FileList;
pub use lock::DirectoryLock;
pub use open::Opening;
pub use output::{Output, OutputOptions, Shared, remove_input};
pub use pool::{pooled, threads_for};
pub use preamble::{KeySource, Preamble};
pub use progress::{Interrupt, Progress, Quiet, Work};
pub use reader::SealedReader;
pub use recipient::Recipient;
pub use rekey::{Rekeyed, Rekeying, Removal};
pub use seal::{Lock, Sealing};
pub use sealwright::{Isa, RandomError, Suite};
pub use sealwright_stream::chunk;
#[cfg(feature = "signatures")]
pub use sign::{SigningKey, VerifyingKey};
pub use zeroize::Zeroizing;
