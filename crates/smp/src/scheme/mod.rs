//! The schemes that protect transfers on the bus: one a file, which registers itself with its parameters.
//!
//! To add a scheme, write a file with its parameters, its state and its registration, and name the file in the list
//! below. A scheme is one state machine: it says when a line may enter the bus and when it may be used, and, where lines are
//! really encrypted, does so with the same counters, masks and epochs that its timing goes by.

mod chain;
mod commands;
mod exchange;
mod ide;
mod nonce;
mod registry;

use std::fmt;

pub use exchange::Exchange;
pub(crate) use exchange::derive;
pub use nonce::{Collision, NonceAudit};
pub use registry::{Parameter, Registration, SchemeConfig, SchemeName};
use serde::Serialize;

use crate::{
    config::{self, Config},
    engine::{Cycle, Engine, Waits},
    message::{Detector, Message},
};

/// Declares the files and the registry.
macro_rules! schemes {
    ($($file:ident),+) => {
        $(mod $file;)+

        /// Every scheme, the base first.
        pub static REGISTRY: &[Registration] = &[$($file::REGISTRATION),+];
    };
}

schemes!(clear, gcm, cbc, senss, i2sems, cxl_ide, pcie_ide);

/// The security units of all nodes (or chips) of one scheme, seen from outside.
pub trait Scheme: fmt::Debug + Send {
    /// Whether the scheme protects this transfer. Most leave memory's transfers alone.
    fn protects(&self, message: &Message) -> bool {
        message.from.is_some()
    }

    /// The owner has the line at `now` and takes what protects it: a pad, a mask, a counter. When the line may enter the
    /// bus.
    fn send(&mut self, now: Cycle, message: &mut Message) -> Cycle;

    /// The line enters the data bus, in the bus's order, and arrives at `arrives`: fixes what authenticates it and, where
    /// lines are really encrypted, encrypts it. The cycle at which [`verify`](Self::verify) is due, where lines are
    /// verified together.
    fn transmit(&mut self, _arrives: Cycle, _message: &mut Message) -> Option<Cycle> {
        None
    }

    /// What `unit` makes of a line on the bus, in the bus's order; the receiver decrypts it in place. Called only where
    /// lines are really encrypted.
    ///
    /// # Errors
    /// What detected that this is not the line that was sent.
    fn observe(&mut self, _unit: usize, _message: &mut Message) -> Result<(), Detector> {
        Ok(())
    }

    /// Verifies what was authenticated together and is complete at `now`.
    ///
    /// # Errors
    /// The unit that detected that it is not what was sent, and how.
    fn verify(&mut self, _now: Cycle) -> Result<(), (usize, Detector)> {
        Ok(())
    }

    /// When a line that has crossed the bus at `now` may be used by its receiver.
    fn receive(&mut self, now: Cycle, message: &Message) -> Cycle;

    /// Bytes that the transfer of a line adds to the line and its header, on average.
    fn extra_bytes(&self) -> f64 {
        0.0
    }

    /// A command was ordered on the address bus, and `unit` did or did not see it. Called only where lines are really
    /// encrypted.
    ///
    /// # Errors
    /// What detected that an earlier command was kept from it.
    fn command(&mut self, _unit: usize, _seen: bool) -> Result<(), Detector> {
        Ok(())
    }

    /// Bits of storage in one unit.
    fn storage_bits(&self) -> u64;

    /// What was counted.
    fn counters(&self) -> SchemeCounters;
}

/// What a scheme counted in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SchemeCounters {
    /// Waits of senders for a pad or mask.
    pub send: Waits,
    /// Waits of receivers for a pad or mask.
    pub receive: Waits,
    /// Cycles that lines waited for authentication before use.
    pub authentication_cycles: u64,
    /// Nonces used, and whether any was used twice; absent where the scheme has none or nothing is encrypted.
    pub nonces: Option<NonceAudit>,
    /// Bytes of the key exchange before the run; 0 where nothing is encrypted.
    pub exchange_bytes: u64,
}

/// The machine that a scheme is built for.
#[derive(Clone, Debug)]
pub(crate) struct Platform {
    /// Security units: one a chip.
    units: usize,
    /// Bytes of a line.
    line: usize,
    /// Bytes that the bus carries a cycle.
    width: u64,
    seed: u64,
    /// Whether lines are really encrypted, beside their timing.
    functional: bool,
    engines: config::Engines,
}

impl Platform {
    pub(crate) fn new(config: &Config) -> Platform {
        Platform {
            units: config.units(),
            line: config.machine.line,
            width: config.bus.width,
            seed: config.machine.seed,
            functional: config.scheme.functional,
            engines: config.engines.clone(),
        }
    }

    /// Cycles of AES for a line, where the scheme's publication says `published`.
    fn latency(&self, published: u64) -> u64 {
        self.engines.latency.unwrap_or(published)
    }

    /// An AES engine, where the scheme's publication says `published` cycles a line.
    fn aes(&self, published: u64) -> Engine {
        Engine::new(self.engines.model, self.latency(published), self.engines.interval)
    }
}

/// The scheme that `config` names.
pub(crate) fn build(config: &Config) -> Box<dyn Scheme> {
    let SchemeConfig { name, .. } = config.scheme;
    (name.registration().build)(&Platform::new(config), config.scheme.table(name))
}

/// Bits of storage in one unit of the machine that `config` describes.
pub fn storage_bits(config: &Config) -> u64 {
    build(config).storage_bits()
}
