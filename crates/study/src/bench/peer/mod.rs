//! Everybody who seals in a bench: ourselves at each level, and the libraries compiled in beside us, one a file.
//!
//! A new suite is a new line in the tables of the peers that know it; a new peer is a new file and a line in [`all`].

mod c;
mod composed;
mod graviola;
mod ours;
mod records;
mod ring;
mod rustcrypto;
pub mod sealing;

pub use ours::Ours;
use sealing::Peer;

/// The libraries compiled in, and those in C that are installed.
pub fn all() -> Vec<Box<dyn Peer>> {
    let mut all: Vec<Box<dyn Peer>> = vec![
        Box::new(ring::AwsLc),
        Box::new(ring::Ring),
        Box::new(graviola::Graviola),
        Box::new(rustcrypto::RustCrypto),
    ];
    let installed = sealwright_peers::found().0.into_iter();
    all.extend(installed.map(|library| Box::new(c::InC(library)) as Box<dyn Peer>));
    all
}

/// Why others do not take part: a sentence each.
pub fn absent() -> Vec<String> {
    sealwright_peers::found().1.iter().map(ToString::to_string).collect()
}
