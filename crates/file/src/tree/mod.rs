//! Trees: a directory with all in it as one text, sealed like any other.
//!
//! The text begins with a manifest, which has the names, modes, times and lengths of all entries in one order, followed
//! by the contents of the files in the same order. Since all of it is one sealed text, no entry can be changed,
//! swapped, renamed or removed unnoticed; since the manifest comes first, one entry can be read without the others, and
//! the text can be unpacked from a pipe.
//!
//! ```
//! use sealwright_file::{Content, Key, Opening, Output, SealedReader, Sealing, Shared, tree::{EntryKind, pack, read_manifest}};
//!
//! let directory = tempfile::tempdir()?;
//! let photos = directory.path().join("photos");
//! std::fs::create_dir(&photos)?;
//! std::fs::write(photos.join("1.jpg"), "not really")?;
//!
//! let (key, mut sealed) = (Key::generate(sealwright_file::Suite::Aes256Gcm)?, Shared::default());
//! let packed = pack(&photos)?;
//! Sealing::new(&key).content(Content::Tree).seal(packed.input, Output::writer(sealed.clone(), "sealed"))?;
//!
//! let mut text = SealedReader::of_any_content(std::io::Cursor::new(sealed.take()), &Opening::new(&key))?;
//! let manifest = read_manifest(&mut text)?; // what there is, without unpacking it
//! let names: Vec<_> = manifest.entries().iter().map(|entry| (entry.path.to_str(), entry.kind)).collect();
//! assert_eq!(names, [(Some("photos"), EntryKind::Directory), (Some("photos/1.jpg"), EntryKind::File)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod form;
mod manifest;
mod open;
mod pack;
mod steps;
mod unpack;
mod writers;

pub(crate) use form::TreeForm;
pub use manifest::{Entry, EntryKind, Manifest};
pub use pack::{Packed, pack, pack_without};
pub use unpack::{Unpacking, read_manifest};
