//! What stands between a node and the bus: one scheme a file, behind [`BusScheme`].
//!
//! Time and function are apart. `send` and `receive` say when a line may leave and when it may be used; `seal`, `hear`
//! and `command` work on real bytes, in the order of the bus, and find what was changed on it.

mod chain;
mod clear;
mod commands;
mod exchange;
mod gcm;
mod i2sems;
mod ide;
mod nonce;
mod shu;

use std::fmt;

pub use exchange::Exchange;
pub(crate) use exchange::derive;
pub use nonce::{Collision, NonceAudit};
use serde::Serialize;
pub use shu::{Flits, Iv, Mac, Name, Scope, Shu};

use crate::{
    engine::{Cycle, Waits},
    message::{How, Message},
};

/// An encrypting and authenticating unit at every node (or chip), seen from outside.
pub trait BusScheme: fmt::Debug + Send {
    /// Whether it takes part in this transfer; most leave memory's alone.
    fn concerns(&self, message: &Message) -> bool {
        message.from.is_some()
    }

    /// When a line that its owner has at `now` may enter the bus.
    fn send(&mut self, now: Cycle, from: Option<usize>, to: usize) -> Cycle;

    /// When a line that left the bus at `now` may be used.
    fn receive(&mut self, now: Cycle, from: Option<usize>, to: usize) -> Cycle;

    /// Bytes beside the line and its header that the transfer sends, on average.
    fn extra_bytes(&self) -> f64 {
        0.0
    }

    /// Seals the line as it enters the bus.
    fn seal(&mut self, _message: &mut Message) {}

    /// What `unit` makes of a line on the bus; the receiver decrypts it in place.
    ///
    /// # Errors
    /// How it is seen that this is not what was sealed.
    fn hear(&mut self, _unit: usize, _message: &mut Message) -> Result<(), How> {
        Ok(())
    }

    /// A command was ordered on the address bus and `unit` did or did not see it.
    ///
    /// # Errors
    /// How it is seen that one before was kept from it.
    fn command(&mut self, _unit: usize, _seen: bool) -> Result<(), How> {
        Ok(())
    }

    /// Bits of storage in one unit.
    fn storage_bits(&self) -> u64;

    /// What was counted.
    fn counts(&self) -> SchemeCounts;
}

/// What a scheme counted in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SchemeCounts {
    /// Waits of senders for a pad or mask.
    pub send: Waits,
    /// Waits of receivers for a pad or mask.
    pub receive: Waits,
    /// Cycles of authentication on the way of lines to their use.
    pub authentication_cycles: u64,
    /// Nonces used, each proven new; absent where the scheme has none.
    pub nonces: Option<NonceAudit>,
    /// Bytes of the public-key exchange before the run; 0 where nothing is sealed.
    pub exchange_bytes: u64,
}

/// Bits of storage in one unit of the machine that `config` describes.
pub fn storage_bits(config: &crate::Config) -> u64 {
    build(&config.shu, config.units(), config.machine.line, config.bus.width, config.machine.seed).storage_bits()
}

/// The scheme that `shu` describes, for `units` units lines of `line` bytes and a bus of `width` bytes a cycle.
pub(crate) fn build(shu: &Shu, units: usize, line: usize, width: u64, seed: u64) -> Box<dyn BusScheme> {
    match shu.scheme {
        Name::Clear => Box::new(clear::Clear),
        Name::Gcm => Box::new(gcm::Gcm::new(shu, units, line, seed)),
        Name::Cbc | Name::Senss => Box::new(chain::Chain::new(shu, units, line, seed)),
        Name::I2sems => Box::new(i2sems::I2sems::new(shu, units, line, seed)),
        Name::CxlIde | Name::PcieIde => Box::new(ide::Ide::new(shu, units, line, width, seed)),
    }
}
