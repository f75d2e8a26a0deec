//! Two ways over the spans of a file: by position, in any order, when both ends are files; in order, through a window
//! of bounded size, when one is a stream.

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

/// Runs `each` over spans `0..count` on as many threads as `work` allows, every one with a single buffer that it uses
/// again and again. `each` returns the bytes of input it dealt with.
///
/// # Errors
/// That of the first failing span, by position in the file: spans are handed out in order, so what comes before the
/// first failure has been seen.
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

/// Reads spans, does `each` of them, and writes them in order. While one window is worked on and written, the next is
/// read; there are never more than two windows of `work.threads` spans.
///
/// `read` fills a span and returns the bytes of input it took; it sets `last` when the input has ended.
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
    // A short text is done by the thread that is here; starting others takes longer than it does.
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

/// A span on its way through the window.
struct Slot {
    span: Span,
    /// Bytes of input in it.
    got: usize,
    done: Result<(), Error>,
}

/// Reads until all of `parts` are full or the input ends; returns how much came.
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
