//! When a cipher's work is done: AES engines, and the pads that are kept ready from them.
//!
//! The thesis gives the engine's latency and never says how often it may begin a line. That decides its result, so it has
//! a name here: [`Model`].

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// A point of time, in processor cycles.
pub type Cycle = u64;

/// How often an AES engine may begin a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Every cycle: what the thesis's sentence on five pads within a latency says.
    Window,
    /// Every latency / 4 cycles: what the thesis's GB/s say (64 bytes in 80 cycles at 1 GHz are 0.8 GB/s).
    #[default]
    Pipelined,
    /// After the line before is done: what "takes 320 cycles" says of an engine without stages.
    Iterative,
}

impl Model {
    /// Every model, for sweeps.
    pub const ALL: [Model; 3] = [Model::Window, Model::Pipelined, Model::Iterative];

    /// Its name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Model::Window => "window",
            Model::Pipelined => "pipelined",
            Model::Iterative => "iterative",
        }
    }

    fn interval(self, latency: u64) -> u64 {
        match self {
            Model::Window => 0,
            Model::Pipelined => latency.div_ceil(4),
            Model::Iterative => latency,
        }
    }
}

/// The engines of a node's security unit, which schemes share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Engines {
    /// How often the AES engine may begin a line.
    pub model: Model,
    /// Its cycles a line; else as the scheme's publication has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<u64>,
    /// Its cycles from one line's beginning to the next; else as the model says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<u64>,
    /// Cycles to combine a line with its pad or mask.
    pub xor: u64,
    /// Cycles of GHASH before a line may be used.
    pub ghash: u64,
}

impl Default for Engines {
    fn default() -> Self {
        Engines { model: Model::Pipelined, latency: None, interval: None, xor: 1, ghash: 4 }
    }
}

/// An AES engine.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    latency: u64,
    interval: u64,
    free: Cycle,
}

impl Engine {
    pub(crate) fn new(model: Model, latency: u64, interval: Option<u64>) -> Engine {
        Engine { latency, interval: interval.unwrap_or(model.interval(latency)), free: 0 }
    }

    /// When a line asked for at `now` is done.
    pub(crate) fn line(&mut self, now: Cycle) -> Cycle {
        let start = self.free.max(now);
        self.free = start + self.interval;
        start + self.latency
    }
}

/// Pads made ahead, oldest first: when each is or will be ready.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    ready: VecDeque<Cycle>,
}

impl Pool {
    /// A pool of `pads`, all ready.
    pub(crate) fn new(pads: usize) -> Pool {
        Pool { ready: vec![0; pads].into() }
    }

    /// Takes the oldest pad at `now` and has the engine make another: when the pad may be used.
    pub(crate) fn take(&mut self, now: Cycle, engine: &mut Engine) -> Cycle {
        let made = engine.line(now);
        self.ready.push_back(made);
        // Without pads kept ready, the one just asked for
        self.ready.pop_front().unwrap_or(made).max(now)
    }
}

/// Waits for a cipher: how many, and how long together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Waits {
    /// Uses.
    pub uses: u64,
    /// Uses that had to wait.
    pub waited: u64,
    /// Cycles waited.
    pub cycles: u64,
}

impl Waits {
    /// Notes a use asked for at `now` and had at `ready`, which it returns.
    pub(crate) fn note(&mut self, now: Cycle, ready: Cycle) -> Cycle {
        self.uses += 1;
        self.waited += u64::from(ready > now);
        self.cycles += ready.saturating_sub(now);
        ready.max(now)
    }

    /// The share of uses that did not wait.
    pub fn ready_share(&self) -> f64 {
        if self.uses == 0 { 1.0 } else { 1.0 - self.waited as f64 / self.uses as f64 }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn burst(model: Model, pads: usize, uses: usize) -> Vec<Cycle> {
        let (mut engine, mut pool) = (Engine::new(model, 320, None), Pool::new(pads));
        (0..uses).map(|_| pool.take(1000, &mut engine)).collect()
    }

    #[test]
    fn five_pads_serve_a_burst_of_five() {
        for model in Model::ALL {
            assert_eq!(burst(model, 5, 5), [1000; 5], "{model:?}");
        }
    }

    #[test]
    fn the_sixth_waits_as_the_model_says() {
        assert_eq!(burst(Model::Window, 5, 7)[5..], [1320, 1320]);
        assert_eq!(burst(Model::Pipelined, 5, 7)[5..], [1320, 1400]);
        assert_eq!(burst(Model::Iterative, 5, 7)[5..], [1320, 1640]);
        assert_eq!(burst(Model::Pipelined, 0, 2), [1320, 1400]);
    }
}
