//! Trees: a directory with all in it as one text, sealed like any other.
//!
//! The text begins with a manifest, which has the names, modes, times and lengths of all entries in one order, followed by the
//! contents of the files in the same order. Since all of it is one sealed text, no entry can be changed, swapped,
//! renamed or removed unnoticed; since the manifest comes first, one entry can be read without the others, and the text
//! can be unpacked from a pipe.

mod manifest;
mod pack;
mod unpack;

pub use manifest::{Entry, EntryKind, Manifest};
pub use pack::{Packed, pack};
pub use unpack::{Unpacking, read_manifest};
