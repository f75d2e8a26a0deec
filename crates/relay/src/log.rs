//! The log: events as lines of JSON with time, event name and details. Never contains keys or plaintext.

use std::{
    fmt,
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::{Duration, Instant},
};

use serde_json::{Map, Value};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// The most lines that may wait for a slow reader of the log, and the most bytes in them.
const MAX_WAITING_LINES: usize = 8192;
const MAX_WAITING_BYTES: usize = 4 << 20;

/// A log. A separate thread writes its lines, so a slow reader never blocks the relay; lines that do not fit into the
/// queue are dropped and counted.
pub struct Log {
    queue: SyncSender<Entry>,
    lost: Arc<AtomicU64>,
    /// Bytes of the lines that wait.
    bytes: Arc<AtomicUsize>,
}

enum Entry {
    Line(String),
    /// Report once everything before this is written.
    Flush(SyncSender<()>),
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("lost", &self.lost.load(Ordering::Relaxed)).finish_non_exhaustive()
    }
}

impl Log {
    /// A log that writes to `out`. If no thread can be started, all lines are lost.
    pub fn to(out: impl Write + Send + 'static) -> Log {
        let (queue, entries) = sync_channel(MAX_WAITING_LINES);
        let lost = Arc::new(AtomicU64::new(0));
        let bytes = Arc::new(AtomicUsize::new(0));
        let (counter, waiting) = (lost.clone(), bytes.clone());
        let _ = std::thread::Builder::new().name("log".into()).spawn(move || write(out, &entries, &counter, &waiting));
        Log { queue, lost, bytes }
    }

    /// Logs one event.
    pub fn say(&self, event: &str, about: &[(&str, Value)]) {
        let line = line(event, about);
        let length = line.len();
        let full = self.bytes.fetch_add(length, Ordering::Relaxed) + length > MAX_WAITING_BYTES;
        if full || self.queue.try_send(Entry::Line(line)).is_err() {
            self.bytes.fetch_sub(length, Ordering::Relaxed);
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Logs a failure with its reason and a hint.
    pub(crate) fn failed(&self, event: &str, why: &dyn fmt::Display, hint: Option<&str>) {
        let about = [("why", why.to_string().into())].into_iter();
        self.say(event, &about.chain(hint.map(|hint| ("hint", hint.into()))).collect::<Vec<_>>());
    }

    /// Waits until all lines so far are written, for at most `limit`.
    pub fn flush(&self, limit: Duration) {
        let until = Instant::now() + limit;
        let (reply, written) = sync_channel(1);
        while self.queue.try_send(Entry::Flush(reply.clone())).is_err() {
            if Instant::now() >= until {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = written.recv_timeout(until.saturating_duration_since(Instant::now()));
    }
}

/// The present time as UTC in the form of RFC 3339.
fn now() -> String {
    // A clock before the year 0 or after 9999 has no such form.
    OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default()
}

fn line(event: &str, about: &[(&str, Value)]) -> String {
    let mut line = Map::new();
    line.insert("time".into(), now().into());
    line.insert("event".into(), event.into());
    line.extend(about.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    Value::Object(line).to_string()
}

fn write(mut out: impl Write, entries: &Receiver<Entry>, lost: &AtomicU64, waiting: &AtomicUsize) {
    // Whether the last line was written only in part
    let mut cut = false;
    for entry in entries {
        let mut count = lost.swap(0, Ordering::Relaxed);
        let about = [("lines", count.into())];
        let mut text = if cut { "\n".to_owned() } else { String::new() };
        if count > 0 {
            text += &(line("log-lines-lost", &about) + "\n");
        }
        let written = match entry {
            Entry::Line(line) => {
                waiting.fetch_sub(line.len(), Ordering::Relaxed);
                text += &(line + "\n");
                count += 1;
                None
            }
            Entry::Flush(reply) => Some(reply),
        };
        // A failing output must not stop the relay: what it did not accept is lost
        if !text.is_empty() && out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
            lost.fetch_add(count, Ordering::Relaxed);
            cut = true;
        } else {
            cut = false;
        }
        let _ = written.map(|reply| reply.try_send(()));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::{Condvar, Mutex};

    use super::*;

    /// An output that blocks until it is released.
    #[derive(Clone, Default)]
    struct Pipe(Arc<Gate>);

    #[derive(Default)]
    struct Gate {
        is_open: Mutex<bool>,
        opened: Condvar,
        bytes: Mutex<Vec<u8>>,
    }

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            drop(self.0.opened.wait_while(self.0.is_open.lock().unwrap(), |is_open| !*is_open).unwrap());
            self.0.bytes.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// A full disk: accepts half of what it is given, then nothing, a few times.
    #[derive(Clone, Default)]
    struct Full(Arc<Mutex<(Vec<u8>, u32)>>);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let (written, calls) = &mut *self.0.lock().unwrap();
            *calls += 1;
            let taken = match *calls {
                1 | 3 | 5 => &bytes[..bytes.len() / 2],
                2 | 4 | 6 => return Err(std::io::ErrorKind::StorageFull.into()),
                _ => bytes,
            };
            written.extend_from_slice(taken);
            Ok(taken.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_could_not_be_written_are_counted_and_join_no_others() {
        let disk = Full::default();
        let log = Log::to(disk.clone());
        for number in 0..3 {
            log.say("event", &[("number", number.into())]);
            while log.bytes.load(Ordering::Relaxed) > 0 || disk.0.lock().unwrap().1 < 2 * (number + 1) {
                std::thread::yield_now();
            }
        }
        log.say("last", &[]);
        log.flush(Duration::from_secs(60));
        let text = String::from_utf8(disk.0.lock().unwrap().0.clone()).unwrap();
        let whole: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let events: Vec<_> = whole.iter().map(|line| line["event"].as_str().unwrap()).collect();
        assert_eq!(events, ["log-lines-lost", "last"], "{text}");
        assert_eq!(whole[0]["lines"], 3);
    }

    #[test]
    fn long_lines_that_wait_take_so_many_bytes_and_no_more() {
        let pipe = Pipe::default();
        let log = Log::to(pipe.clone());
        for _ in 0..100 {
            log.say("event", &[("text", "x".repeat(MAX_WAITING_BYTES / 10).into())]);
        }
        assert!(log.bytes.load(Ordering::Relaxed) <= MAX_WAITING_BYTES);
        *pipe.0.is_open.lock().unwrap() = true;
        pipe.0.opened.notify_all();
        log.flush(Duration::from_secs(60));
        assert_eq!(log.bytes.load(Ordering::Relaxed), 0);
        let text = String::from_utf8(pipe.0.bytes.lock().unwrap().clone()).unwrap();
        let (mut written, mut lost) = (0, log.lost.load(Ordering::Relaxed));
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            match line.get("lines").and_then(Value::as_u64) {
                Some(lines) => lost += lines,
                None => written += 1,
            }
        }
        // Nine fit in the queue, and the writer may hold one
        assert!((9..=10).contains(&written) && written + lost == 100, "{written} written, {lost} lost");
    }

    #[test]
    fn a_log_that_nobody_reads_holds_up_nothing_and_counts_what_is_lost() {
        let pipe = Pipe::default();
        let log = Log::to(pipe.clone());
        for number in 0..MAX_WAITING_LINES + 100 {
            log.say("event", &[("number", number.into())]);
        }
        let start = Instant::now();
        log.flush(Duration::from_millis(50));
        assert!(start.elapsed() < Duration::from_secs(10), "flushing waits no longer than it may");
        *pipe.0.is_open.lock().unwrap() = true;
        pipe.0.opened.notify_all();
        log.flush(Duration::from_secs(30));
        log.say("last", &[]);
        log.flush(Duration::from_secs(30));
        let text = String::from_utf8(pipe.0.bytes.lock().unwrap().clone()).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let lost: u64 = lines
            .iter()
            .filter(|line| line["event"] == "log-lines-lost")
            .map(|line| line["lines"].as_u64().unwrap())
            .sum();
        let written = lines.iter().filter(|line| line["event"] == "event").count() as u64;
        assert_eq!(written + lost, MAX_WAITING_LINES as u64 + 100);
        assert!(lost > 0 && lines.last().unwrap()["event"] == "last");
    }
    /// A flush waits for room in the queue, and for the lines before it.
    #[test]
    fn flushing_waits_until_everything_is_written() {
        let (pipe, before) = (Pipe::default(), now());
        let log = Log::to(pipe.clone());
        // The writer takes one line and blocks
        (0..MAX_WAITING_LINES + 2).for_each(|number| log.say("event", &[("number", number.into())]));
        let gate = pipe.clone();
        let opens = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            *gate.0.is_open.lock().unwrap() = true;
            gate.0.opened.notify_all();
        });
        log.flush(Duration::from_secs(60));
        let text = String::from_utf8(pipe.0.bytes.lock().unwrap().clone()).unwrap();
        assert!(text.lines().count() >= MAX_WAITING_LINES, "{} lines", text.lines().count());
        opens.join().unwrap();
        let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let time = first["time"].as_str().unwrap();
        // To the second: up to there all times have the same form
        assert!(before[..19] <= time[..19] && time[..19] <= now()[..19] && time.ends_with('Z'), "{time}");
    }
}
