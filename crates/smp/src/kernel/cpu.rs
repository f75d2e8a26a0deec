//! The operations of a kernel's processor: reads and writes of shared words, computation, and synchronisation.

use std::{
    cell::{Cell, RefCell, RefMut},
    future::Future,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use crate::{
    access::{Access, Operation, Source, SourceError},
    memory::Image,
};

/// Shared memory: words that all processors share, from an address on.
#[derive(Clone)]
pub(crate) struct Shared {
    base: u64,
    words: Rc<[Cell<u64>]>,
}

impl Shared {
    pub(crate) fn new(base: u64, words: usize) -> Shared {
        Shared { base, words: vec![Cell::new(0); words].into() }
    }

    pub(crate) fn set(&self, at: usize, value: u64) {
        self.words[at].set(value);
    }

    /// The initial contents of memory.
    pub(crate) fn image(&self) -> Image {
        let mut image = Image::default();
        for (i, word) in self.words.iter().enumerate() {
            image.write(self.base + 8 * i as u64, &word.get().to_le_bytes());
        }
        image
    }
}

/// Accesses that were emitted, and the number of instructions since the last of them.
#[derive(Default)]
struct Recording {
    steps: Vec<Access>,
    gap: u32,
}

/// A kernel's processor.
#[derive(Clone)]
pub(crate) struct Cpu {
    pub(crate) id: usize,
    shared: Shared,
    recording: Rc<RefCell<Recording>>,
}

/// Emits the accesses of a processor between two synchronisations.
pub(crate) struct Emitter<'a> {
    shared: &'a Shared,
    recording: RefMut<'a, Recording>,
}

/// Number of pending accesses at which a processor stops to let the machine catch up.
const ENOUGH: usize = 4096;

impl Cpu {
    /// Emits accesses. Must be dropped before the next wait.
    pub(crate) fn out(&self) -> Emitter<'_> {
        Emitter { shared: &self.shared, recording: self.recording.borrow_mut() }
    }

    /// Lets the machine catch up if enough accesses are pending.
    pub(crate) async fn catch_up(&self) {
        if self.recording.borrow().steps.len() >= ENOUGH {
            Pause(false).await;
        }
    }

    /// Synchronises with other processors; continues once the machine has done so.
    async fn synchronise(&self, kind: Operation, object: u64) {
        {
            let mut recording = self.recording.borrow_mut();
            let gap = std::mem::take(&mut recording.gap);
            recording.steps.push(Access { address: object, value: 0, gap, kind, size: 0 });
        }
        Pause(false).await;
    }

    pub(crate) async fn barrier(&self) {
        self.synchronise(Operation::Barrier, 0).await;
    }

    pub(crate) async fn post(&self, object: u64) {
        self.synchronise(Operation::Post, object).await;
    }

    pub(crate) async fn wait(&self, object: u64) {
        self.synchronise(Operation::Wait, object).await;
    }
}

impl Emitter<'_> {
    #[inline]
    fn step(&mut self, at: usize, value: u64, kind: Operation) {
        let address = self.shared.base + 8 * at as u64;
        let gap = std::mem::take(&mut self.recording.gap);
        self.recording.steps.push(Access { address, value, gap, kind, size: 8 });
    }

    /// Counts instructions that access no shared word.
    #[inline]
    pub(crate) fn work(&mut self, instructions: u32) {
        self.recording.gap += instructions;
    }

    #[inline]
    pub(crate) fn load(&mut self, at: usize) -> u64 {
        self.step(at, 0, Operation::Load);
        self.shared.words[at].get()
    }

    #[inline]
    pub(crate) fn store(&mut self, at: usize, value: u64) {
        self.step(at, value, Operation::Store);
        self.shared.words[at].set(value);
    }

    #[inline]
    pub(crate) fn number(&mut self, at: usize) -> f64 {
        f64::from_bits(self.load(at))
    }

    #[inline]
    pub(crate) fn write(&mut self, at: usize, value: f64) {
        self.store(at, value.to_bits());
    }
}

/// A future that is pending once.
struct Pause(bool);

impl Future for Pause {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// An async function of a processor as a source of accesses.
struct Running {
    recording: Rc<RefCell<Recording>>,
    function: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

impl Source for Running {
    fn fill(&mut self, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        steps.clear();
        while steps.is_empty() {
            let Some(function) = &mut self.function else { return Ok(()) };
            if function.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                self.function = None;
            }
            std::mem::swap(steps, &mut self.recording.borrow_mut().steps);
        }
        Ok(())
    }
}

/// One source per processor, from an async function of the processor.
pub(crate) fn sources<F: Future<Output = ()> + 'static>(
    processors: usize,
    shared: &Shared,
    function: impl Fn(Cpu) -> F,
) -> Vec<Box<dyn Source>> {
    (0..processors)
        .map(|id| {
            let recording = Rc::new(RefCell::new(Recording::default()));
            let cpu = Cpu { id, shared: shared.clone(), recording: recording.clone() };
            let function: Pin<Box<dyn Future<Output = ()>>> = Box::pin(function(cpu));
            Box::new(Running { recording, function: Some(function) }) as Box<dyn Source>
        })
        .collect()
}
