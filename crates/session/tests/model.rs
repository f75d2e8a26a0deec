//! Model check of one session, exhaustive: frames arrive in any order, repeatedly, changed, late, after new keys or
//! after the end of the session. Every step also runs through a table and a client, whose answers must be the model's
//! in every reachable state.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeSet, HashSet, VecDeque};

use sealwright_session::{Client, FrameJob, Material, Plan, SessionError, Sessions, frame, table};

/// Bounds of the exploration: frames up, frames down, and how many times there are new keys.
const UP: usize = 3;
const DOWN: usize = 2;
const EPOCHS: u8 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The client is admitted, or gets new keys.
    Admit,
    /// The relay forgets the session.
    Remove,
    /// The client seals one more frame.
    SealUp,
    /// A frame arrives at the relay: again, if it did before.
    Up(usize),
    /// It arrives with a bit of its tag changed.
    UpForged(usize),
    /// All frames so far arrive in one batch, each changed and then twice as it is.
    UpAll,
    /// The relay seals one more frame.
    SealDown,
    /// A frame arrives at the client.
    Down(usize),
    /// It arrives changed.
    DownForged(usize),
}

/// What is known of a frame: the keys that sealed it.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Direction {
    epochs: Vec<u8>,
    opened: BTreeSet<usize>,
}

/// A planted fault of the model, which the code must contradict.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
enum Fault {
    #[default]
    None,
    /// A number that was received opens again.
    OpensTwice,
    /// A forged frame uses up its number.
    ForgedCounts,
}

/// The session as it should be.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Model {
    fault: Fault,
    /// How many times there were new keys. The client keeps the last that it got.
    epoch: u8,
    live: bool,
    up: Direction,
    down: Direction,
}

type Answer = Result<(), SessionError>;

impl Direction {
    /// What becomes of frame `i` at a receiver with the keys of `epoch`.
    fn arrives(&mut self, i: usize, epoch: u8, changed: bool, fault: Fault) -> Answer {
        if self.epochs[i] != epoch {
            return Err(SessionError::Stale);
        }
        if self.opened.contains(&i) {
            return Err(SessionError::Replayed);
        }
        if !changed && fault != Fault::OpensTwice || changed && fault == Fault::ForgedCounts {
            self.opened.insert(i);
        }
        if changed {
            return Err(SessionError::Forged);
        }
        Ok(())
    }
}

impl Model {
    fn steps(&self) -> Vec<Step> {
        let mut steps = vec![Step::Remove];
        if self.epoch < EPOCHS {
            steps.push(Step::Admit);
        }
        if self.epoch > 0 {
            if self.up.epochs.len() < UP {
                steps.push(Step::SealUp);
            }
            if self.down.epochs.len() < DOWN {
                steps.push(Step::SealDown);
            }
        }
        if !self.up.epochs.is_empty() {
            steps.push(Step::UpAll);
        }
        steps.extend((0..self.up.epochs.len()).flat_map(|i| [Step::UpForged(i), Step::Up(i)]));
        steps.extend((0..self.down.epochs.len()).flat_map(|i| [Step::DownForged(i), Step::Down(i)]));
        steps
    }

    /// Takes a step. Returns what table and client must answer.
    fn take(&mut self, step: Step) -> Vec<Answer> {
        let unless_gone = |live: bool, answer: Answer| if live { answer } else { Err(SessionError::Unknown) };
        let fault = self.fault;
        match step {
            Step::Admit => (self.epoch, self.live) = (self.epoch + 1, true),
            Step::Remove => self.live = false,
            Step::SealUp => self.up.epochs.push(self.epoch),
            Step::SealDown => {
                if self.live {
                    self.down.epochs.push(self.epoch);
                }
                return vec![unless_gone(self.live, Ok(()))];
            }
            Step::Up(i) | Step::UpForged(i) => {
                let answer =
                    if self.live { self.up.arrives(i, self.epoch, step == Step::UpForged(i), fault) } else { Ok(()) };
                return vec![unless_gone(self.live, answer)];
            }
            Step::UpAll => {
                let thrice = (0..self.up.epochs.len()).flat_map(|i| [(i, true), (i, false), (i, false)]);
                let (live, epoch) = (self.live, self.epoch);
                let mut answer = |(i, changed)| {
                    unless_gone(live, if live { self.up.arrives(i, epoch, changed, fault) } else { Ok(()) })
                };
                return thrice.map(&mut answer).collect();
            }
            // The client does not learn that the relay forgot it.
            Step::Down(i) | Step::DownForged(i) => {
                return vec![self.down.arrives(i, self.epoch, step == Step::DownForged(i), fault)];
            }
        }
        vec![Ok(())]
    }
}

/// The code under test.
struct Code {
    relay: Box<dyn Sessions>,
    client: Option<Client>,
    up: Vec<Vec<u8>>,
    down: Vec<Vec<u8>>,
}

impl Code {
    fn new(scheme: &str) -> Code {
        let relay = table(Plan::new(scheme.parse().unwrap(), 2).cluster(2)).unwrap();
        Code { relay, client: None, up: Vec::new(), down: Vec::new() }
    }

    fn take(&mut self, step: Step) -> Vec<Answer> {
        let forged = |frame: &[u8]| {
            let mut frame = frame.to_vec();
            *frame.last_mut().unwrap() ^= 4;
            frame
        };
        let answer = match step {
            Step::Admit => {
                self.relay.admit(1, 1, &Material::random().unwrap()).map(|grant| self.client = Some(Client::new(grant)))
            }
            Step::Remove => {
                self.relay.remove(1);
                Ok(())
            }
            Step::SealUp => {
                let sealed = self.client.as_mut().unwrap().seal(1, b"up");
                sealed.map(|frame| self.up.push(frame))
            }
            Step::SealDown => {
                let mut frame = frame::unsealed(1, b"down");
                let sealed = self.relay.seal(1, 1, &mut frame);
                sealed.map(|()| self.down.push(frame))
            }
            Step::Up(i) => self.relay.open(1, &mut self.up[i].clone()),
            Step::UpForged(i) => self.relay.open(1, &mut forged(&self.up[i])),
            Step::UpAll => {
                let (mut buffer, mut jobs) = (Vec::new(), Vec::new());
                for frame in self.up.iter().flat_map(|frame| [forged(frame), frame.clone(), frame.clone()]) {
                    jobs.push(FrameJob::new(buffer.len()..buffer.len() + frame.len(), 1, 1));
                    buffer.extend_from_slice(&frame);
                }
                self.relay.open_all(&mut buffer, &mut jobs);
                return jobs.iter().map(|job| job.outcome.unwrap()).collect();
            }
            Step::Down(i) => self.client.as_mut().unwrap().open(&mut self.down[i].clone()).map(drop),
            Step::DownForged(i) => self.client.as_mut().unwrap().open(&mut forged(&self.down[i])).map(drop),
        };
        vec![answer]
    }
}

/// Explores every reachable state. Returns the numbers of states and steps.
///
/// # Errors
/// If an answer of the code differs from the model's.
fn explore(scheme: &str, fault: Fault) -> Result<(usize, usize), String> {
    let start = Model { fault, ..Model::default() };
    let mut known = HashSet::from([start.clone()]);
    let mut open = VecDeque::from([(start, Vec::new())]);
    let mut taken = 0;
    while let Some((state, path)) = open.pop_front() {
        // The code cannot be cloned, so each step that changes the state replays the path to it.
        let walk = |path: &[Step]| {
            let mut code = Code::new(scheme);
            path.iter().for_each(|&step| drop(code.take(step)));
            code
        };
        let after = |step| {
            let mut next = state.clone();
            let expected = next.take(step);
            (step, next, expected)
        };
        let (same, changing): (Vec<_>, Vec<_>) =
            state.steps().into_iter().map(after).partition(|after| after.1 == state);
        // Before each step that changes the state, every step that must be refused is tried: none may change anything.
        for change in changing.iter().map(Some).chain(changing.is_empty().then_some(None)) {
            let mut code = walk(&path);
            for (step, next, expected) in same.iter().chain(change) {
                let answer = code.take(*step);
                if answer != *expected {
                    return Err(format!("{scheme}: {step:?} after {path:?}: {answer:?}, not {expected:?}"));
                }
                taken += 1;
                if *next != state && known.insert(next.clone()) {
                    open.push_back((next.clone(), [&path[..], &[*step]].concat()));
                }
            }
        }
    }
    Ok((known.len(), taken))
}

#[test]
fn the_code_answers_as_the_model_does_in_every_state() {
    for scheme in ["gcm-on64", "gcm-derived", "gscm-h"] {
        let (states, steps) = explore(scheme, Fault::None).unwrap();
        eprintln!("{scheme}: {states} states, {steps} steps");
        assert!(states > 500 && steps > states, "{scheme}: {states} states, {steps} steps");
    }
}

/// The exploration must be able to fail: the code contradicts models in which a frame opens twice, or a forged frame
/// blocks a genuine one.
#[test]
fn wrong_models_are_contradicted() {
    for (fault, step) in [(Fault::OpensTwice, "Up"), (Fault::ForgedCounts, "Up")] {
        let contradicted = explore("gcm-on64", fault).unwrap_err();
        assert!(contradicted.starts_with(&format!("gcm-on64: {step}")), "{contradicted}");
    }
}
