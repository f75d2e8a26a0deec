//! Everybody who seals in a bench: ourselves at each level, and the libraries compiled in beside us, one a file.
//!
//! A new suite is a new line in the tables of the peers that know it; a new peer is a new file and a line in [`all`].

mod composed;
mod graviola;
pub mod openssl;
mod ours;
mod records;
mod ring;
mod rustcrypto;
pub mod sealing;

pub use openssl::OpenSsl;
pub use ours::Ours;
use sealing::Peer;

/// The libraries compiled in.
pub fn all() -> Vec<Box<dyn Peer>> {
    vec![Box::new(ring::AwsLc), Box::new(ring::Ring), Box::new(graviola::Graviola), Box::new(rustcrypto::RustCrypto)]
}
