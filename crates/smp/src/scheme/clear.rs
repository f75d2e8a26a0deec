//! No scheme: lines travel as they are. The base that losses are counted from.

use super::{BusScheme, SchemeCounts};
use crate::{engine::Cycle, message::Message};

/// Lines in the clear.
#[derive(Debug)]
pub(super) struct Clear;

impl BusScheme for Clear {
    fn concerns(&self, _message: &Message) -> bool {
        false
    }
    fn send(&mut self, now: Cycle, _from: Option<usize>, _to: usize) -> Cycle {
        now
    }
    fn receive(&mut self, now: Cycle, _from: Option<usize>, _to: usize) -> Cycle {
        now
    }
    fn storage_bits(&self) -> u64 {
        0
    }
    fn counts(&self) -> SchemeCounts {
        SchemeCounts::default()
    }
}
