//! No protection: lines are sent in plaintext. The baseline of all overheads.

use super::{
    unit::{Platform, Scheme, SchemeCounters},
    registration::{parameters, register},
};
use crate::{engine::Cycle, message::Message};

parameters!(Parameters {});
register!("clear", "nothing is encrypted", Parameters, |_: &Platform, _: Parameters| Clear);

/// Lines in the clear.
#[derive(Debug)]
struct Clear;

impl Scheme for Clear {
    fn protects(&self, _message: &Message) -> bool {
        false
    }
    fn send(&mut self, now: Cycle, _message: &mut Message) -> Cycle {
        now
    }
    fn receive(&mut self, now: Cycle, _message: &mut Message) -> Cycle {
        now
    }
    fn storage_bits(&self) -> u64 {
        0
    }
    fn counters(&self) -> SchemeCounters {
        SchemeCounters::default()
    }
}
