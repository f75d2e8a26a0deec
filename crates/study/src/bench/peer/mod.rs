//! The implementations in a bench: Sealwright at each level, and the other libraries, one per file.
//!
//! To add a suite, add a line to the tables of the peers that support it. To add a peer, add a file, and a line in
//! [`all`].

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

/// All other libraries: those compiled in, and the C libraries that are installed.
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

/// Why other libraries do not take part, one sentence each.
pub fn absent() -> Vec<String> {
    sealwright_peers::found().1.iter().map(ToString::to_string).collect()
}
