//! Two ways to process the spans of a file: by position and in any order, if input and output are files; in order,
//! through a window of bounded size, if one of them is a stream.

use std::{
    io::{self, IoSlice, IoSliceMut, Read, Write},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use rayon::prelude::*;

use crate::{
    error::Error,
    progress::Work,
    span::{PLAIN, Span},
};

/// Runs `each` for spans `0..count` on as many threads as `work` allows. Each thread reuses a single buffer. `each`
/// returns the number of input bytes that it processed.
///
/// # Errors
/// The error of the failing span that comes first in the file: spans are handed out in order, so all spans before it
/// were processed.
pub(crate) fn by_position(
    text: u64,
    work: &Work,
    each: impl Fn(&mut Span) -> Result<u64, Error> + Sync,
) -> Result<(), Error> {
    let count = text / PLAIN as u64 + 1;
    let next = AtomicU64::new(0);
    let failed = AtomicBool::new(false);
    let first: Mutex<Option<(u64, Error)>> = Mutex::new(None);
    let worker = || {
        let mut span = Span::with_room(text);
        while !failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                break;
            }
            span.index = index;
            span.last = index + 1 == count;
            span.text = if span.last { (text % PLAIN as u64) as usize } else { PLAIN };
            match work.interrupt.check().and_then(|()| each(&mut span)) {
                Ok(bytes) => work.progress.advance(bytes),
                Err(error) => {
                    failed.store(true, Ordering::Relaxed);
                    let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
                    if first.as_ref().is_none_or(|(earlier, _)| index < *earlier) {
                        *first = Some((index, error));
                    }
                }
            }
        }
    };
    let workers = (work.threads.max(1) as u64).min(count);
    if workers == 1 {
        worker();
    } else {
        rayon::scope(|scope| (0..workers).for_each(|_| scope.spawn(|_| worker())));
    }
    match first.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

/// Reads spans, runs `each` on them, and writes them in order. While one window of `work.threads` spans is processed
/// and written, the next one is read; no more than these two exist.
///
/// `read` fills a span and returns the number of input bytes that it read; at the end of the input it sets `last`.
pub(crate) fn in_order(
    work: &Work,
    mut read: impl FnMut(&mut Span) -> Result<usize, Error> + Send,
    each: impl Fn(&mut Span, usize) -> Result<(), Error> + Sync,
    mut write: impl FnMut(&Span) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let mut index = 0;
    let mut fill = |window: &mut Vec<Slot>| -> Result<bool, Error> {
        let mut used = 0;
        let mut last = false;
        while !last && used < work.threads.max(1) {
            work.interrupt.check()?;
            if window.len() == used {
                window.push(Slot { span: Span::with_room(u64::MAX), got: 0, done: Ok(()) });
            }
            let slot = &mut window[used];
            slot.span.index = index;
            slot.got = read(&mut slot.span)?;
            last = slot.span.last;
            index += 1;
            used += 1;
        }
        window.truncate(used);
        Ok(last)
    };
    let mut now = Vec::new();
    let mut next = Vec::new();
    let mut last = fill(&mut now)?;
    // A single span is processed on this thread, because starting others would take longer.
    if let (true, [slot]) = (last, &mut now[..]) {
        each(&mut slot.span, slot.got)?;
        work.interrupt.check()?;
        write(&slot.span)?;
        work.progress.advance(slot.got as u64);
        return Ok(());
    }
    loop {
        let (filled, done) = rayon::join(
            || if last { Ok(true) } else { fill(&mut next) },
            || -> Result<(), Error> {
                now.par_iter_mut().for_each(|slot| slot.done = each(&mut slot.span, slot.got));
                for slot in &mut now {
                    std::mem::replace(&mut slot.done, Ok(()))?;
                    work.interrupt.check()?;
                    write(&slot.span)?;
                    work.progress.advance(slot.got as u64);
                }
                Ok(())
            },
        );
        done?;
        if last {
            return Ok(());
        }
        last = filled?;
        std::mem::swap(&mut now, &mut next);
    }
}

/// A span in a window.
struct Slot {
    span: Span,
    /// Bytes of input in the span.
    got: usize,
    done: Result<(), Error>,
}

/// Reads until all of `parts` are full or the input ends; returns the number of bytes read.
pub(crate) fn fill_parts(from: &mut (impl Read + ?Sized), mut parts: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
    let mut got = 0;
    while !parts.is_empty() {
        match from.read_vectored(parts) {
            Ok(0) => break,
            Ok(n) => {
                got += n;
                IoSliceMut::advance_slices(&mut parts, n);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

/// Writes all of `parts`.
pub(crate) fn write_parts(to: &mut (impl Write + ?Sized), mut parts: &mut [IoSlice<'_>]) -> io::Result<()> {
    while !parts.is_empty() {
        match to.write_vectored(parts) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => IoSlice::advance_slices(&mut parts, n),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
