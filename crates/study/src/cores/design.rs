//! The six architectures of the paper: combinations of a cipher and a mode.

use std::fmt;

use super::printed::PAPER;

/// A block cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cipher {
    Serpent,
    Aes,
}

/// The mode of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The cipher's pipelines alone.
    Alone,
    Ocb,
    Gcm,
}

/// One of the paper's six architectures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Design(pub(super) Cipher, pub(super) Mode);

/// The architectures in the order of the paper's table.
pub(super) const DESIGNS: [Design; 6] = [
    Design(Cipher::Serpent, Mode::Alone),
    Design(Cipher::Aes, Mode::Alone),
    Design(Cipher::Serpent, Mode::Ocb),
    Design(Cipher::Aes, Mode::Ocb),
    Design(Cipher::Serpent, Mode::Gcm),
    Design(Cipher::Aes, Mode::Gcm),
];

pub(super) const CIPHERS: [Cipher; 2] = [Cipher::Serpent, Cipher::Aes];

/// The width of four lanes: bits of input and output per cycle.
pub(super) const BITS: f64 = 512.0;

impl Design {
    /// Whether it authenticates.
    pub(super) fn seals(self) -> bool {
        self.1 != Mode::Alone
    }

    /// Its value in a column of the paper's table.
    pub(super) fn printed(self, column: Column) -> Option<f64> {
        PAPER.table("cores")?.value(&self.to_string(), column as usize)
    }
}

/// The columns of the paper's table.
#[derive(Clone, Copy, Debug)]
pub(super) enum Column {
    Alms,
    Memories,
    Clock,
    Gbps,
    Percent,
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cipher = match self.0 {
            Cipher::Serpent => "Serpent",
            Cipher::Aes => "AES",
        };
        f.pad(&match self.1 {
            Mode::Alone => cipher.to_owned(),
            Mode::Ocb => format!("{cipher}-OCB"),
            Mode::Gcm => format!("{cipher}-GCM"),
        })
    }
}
