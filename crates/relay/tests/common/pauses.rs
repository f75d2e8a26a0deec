//! Checks of what holds only on a machine that does not pause.

use std::{
    sync::mpsc::{RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use sealwright_transcripts::skipped;

/// The interval at which a thread looks whether it runs.
const STEP: Duration = Duration::from_millis(10);

/// Fails if the test returns false, and says that it is skipped if a thread was held up for more than `pause`
/// meanwhile.
pub(crate) fn holds_without_pause(what: &str, pause: Duration, test: impl FnOnce() -> bool) {
    // Dropped if the test panics, so that the thread ends
    let (end, ended) = channel::<()>();
    let watch = std::thread::spawn(move || {
        let mut longest = Duration::ZERO;
        loop {
            let before = Instant::now();
            match ended.recv_timeout(STEP) {
                Err(RecvTimeoutError::Timeout) => longest = longest.max(before.elapsed().saturating_sub(STEP)),
                _ => return longest,
            }
        }
    });
    let holds = test();
    drop(end);
    let longest = watch.join().expect("it measures");
    if !holds && longest > pause {
        skipped(format_args!("{what}: the machine was so busy that a thread was held up for {longest:?}"));
    } else {
        assert!(holds, "{what}");
    }
}
