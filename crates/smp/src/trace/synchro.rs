//! The text format of SynchroTraceGen, one file per thread. In its first version, `eid,tid,iops,flops,reads,writes` is
//! computation, with `$ from to` for writes and `* from to` for reads; `eid,tid # tid eid from to` reads data that
//! other threads wrote; and `eid,tid,pth_ty:N^0xADDR[&0xADDR]` is a call of pthreads. The second version has `@`, `#`
//! and `^` in place of the numbers of event and thread: `@ iops,flops,reads,writes`, `# tid eid from to` and `^
//! N^0xADDR[&0xADDR]`. `! N` counts instructions and is ignored.
//!
//! Addresses are ranges of bytes in hexadecimal, ends included. Call types are 1 lock, 2 unlock, 3 create, 4 join,
//! 5 barrier, 6 condition wait, 7 signal, 8 broadcast, 9 spin lock, 10 spin unlock. SynchroTraceGen does not write the
//! types 11 to 15, which other readers of its traces know: init, wait, post, getvalue and destroy of a semaphore. Of
//! condition variables, only the release and reacquisition of the lock are simulated. Which thread is created or joined
//! is in another file, so all threads start at once and nobody waits for their ends. Calls for condition variables and
//! for threads are counted as not played.

use std::io::{BufRead, Read};

use super::{BATCH, Stepper};
use crate::access::{Access, Operation, Source, SourceError};

/// Reads a thread's events as accesses of a processor.
pub struct SynchroTrace {
    input: Box<dyn BufRead>,
    name: String,
    stepper: Stepper,
    line: u64,
    number: u64,
    /// The thread that the first event names: all others name it too.
    thread: Option<u64>,
    unplayed: u64,
}

/// The longest range of one reference; longer ranges are rejected.
const LONGEST: u64 = 1 << 16;

/// The most accesses, and bytes of text, of one event. Each processor keeps one event in memory.
const MOST: usize = 1 << 17;

impl std::fmt::Debug for SynchroTrace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SynchroTrace").field("name", &self.name).field("line", &self.number).finish_non_exhaustive()
    }
}

impl SynchroTrace {
    /// Reads uncompressed text of thread `thread` for lines of `line` bytes; `name` is for messages.
    pub fn new(input: Box<dyn BufRead>, name: &str, line: usize, thread: usize) -> SynchroTrace {
        let (name, stepper) = (name.to_owned(), Stepper::new(line, thread));
        SynchroTrace { input, name, stepper, line: line as u64, number: 0, thread: None, unplayed: 0 }
    }

    fn wrong(&self, what: impl std::fmt::Display) -> SourceError {
        SourceError(format!("{}: line {}: {what}", self.name, self.number))
    }

    fn event(&mut self, text: &str, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        match text.as_bytes() {
            [b'!', count @ ..] => {
                let counts = std::str::from_utf8(count).is_ok_and(|count| number(count.trim()).is_some());
                return if counts { Ok(()) } else { Err(self.wrong("a marker has the form ! N")) };
            }
            [b'#', ..] => return self.edges(text, steps),
            [b'^', ..] => return self.call(text[1..].trim_start(), steps),
            [b'@', ..] => return self.computation(text[1..].trim_start(), steps),
            _ => {}
        }
        let Some((event, rest)) = text.split_once(',') else {
            return Err(self.wrong("no event: eid,tid,..., or @, #, ^ or ! first"));
        };
        let (thread, rest) = rest.split_at(rest.find([',', ' ', '#']).unwrap_or(rest.len()));
        let (Some(_), Some(thread)) = (number(event), number(thread)) else {
            return Err(self.wrong("an event begins with two numbers"));
        };
        let all = *self.thread.get_or_insert(thread);
        if thread != all {
            return Err(self.wrong(format_args!("an event of thread {thread} in the file of thread {all}")));
        }
        let rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        if let Some(call) = rest.strip_prefix("pth_ty:") {
            return self.call(call, steps);
        }
        if rest.starts_with('#') {
            return self.edges(rest, steps);
        }
        self.computation(rest, steps)
    }

    /// Reads of data that other threads wrote: each follows a mark and the numbers of thread and event.
    fn edges(&mut self, edges: &str, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        for edge in edges.split('#').skip(1) {
            let words: Vec<&str> = edge.split_whitespace().collect();
            let [thread, event, from, to] = words[..] else {
                return Err(self.wrong("an edge has the form # tid eid from to, with two addresses in hexadecimal"));
            };
            if number(thread).is_none() || number(event).is_none() {
                return Err(self.wrong("an edge begins with the numbers of a thread and of an event"));
            }
            self.range(Some(from), Some(to), Operation::Load, steps)?;
        }
        Ok(())
    }

    /// A computation: counts of operations, and the ranges that they write and read.
    fn computation(&mut self, rest: &str, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        let (head, tail) = rest.split_at(rest.find([' ', '$', '*']).unwrap_or(rest.len()));
        let counts: Option<Vec<u64>> = head.strip_suffix(',').unwrap_or(head).split(',').map(number).collect();
        let Some([whole, floating, _, _]) = counts.as_deref() else {
            return Err(self.wrong("no counts of operations: iops,flops,reads,writes"));
        };
        for operations in [whole, floating] {
            self.stepper.work(*operations).map_err(|error| self.wrong(error))?;
        }
        let mut words = tail.split_whitespace();
        while let Some(mark) = words.next() {
            let kind = match mark {
                "$" => Operation::Store,
                "*" => Operation::Load,
                _ => return Err(self.wrong(format_args!("{mark:?} is neither $ nor *"))),
            };
            self.range(words.next(), words.next(), kind, steps)?;
        }
        Ok(())
    }

    fn range(
        &mut self,
        from: Option<&str>,
        to: Option<&str>,
        kind: Operation,
        steps: &mut Vec<Access>,
    ) -> Result<(), SourceError> {
        let (Some(from), Some(to)) = (from.and_then(hex), to.and_then(hex)) else {
            return Err(self.wrong("a range is two addresses in hexadecimal"));
        };
        let length = to.wrapping_sub(from).wrapping_add(1);
        if to < from {
            return Err(self.wrong(format_args!("the range {from:#x} to {to:#x} is none")));
        }
        // The whole address space has 2^64 bytes, which wraps to 0
        if length > LONGEST || length == 0 {
            return Err(self.wrong(format_args!("the range {from:#x} to {to:#x} has more than {LONGEST} bytes")));
        }
        if steps.len() > MOST {
            return Err(self.wrong(format_args!("an event of more than {MOST} references")));
        }
        let mut at = from;
        while at <= to {
            // A word at a time
            let n = (8 - at % 8).min(to - at + 1).min(self.line);
            self.stepper.reference(steps, kind, at, n);
            let Some(next) = at.checked_add(n) else { break };
            at = next;
        }
        Ok(())
    }

    fn synchronise(&mut self, steps: &mut Vec<Access>, kind: Operation, object: u64) -> Result<(), SourceError> {
        self.stepper.synchronise(steps, kind, object, 0).map_err(|error| self.wrong(error))
    }

    fn call(&mut self, call: &str, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        let Some((kind, objects)) = call.split_once('^') else {
            return Err(self.wrong("a call has the form N^0xADDR"));
        };
        let objects: Option<Vec<u64>> = objects.trim().split('&').map(hex).collect();
        let (object, lock) = match objects.as_deref() {
            Some([object]) => (*object, None),
            Some([object, lock]) => (*object, Some(*lock)),
            _ => return Err(self.wrong("a call names an address, or two with & between them")),
        };
        match kind.trim() {
            "1" | "9" => self.synchronise(steps, Operation::Lock, object)?,
            "2" | "10" => self.synchronise(steps, Operation::Unlock, object)?,
            "12" => self.synchronise(steps, Operation::Wait, object)?,
            "13" => self.synchronise(steps, Operation::Post, object)?,
            "5" => self.synchronise(steps, Operation::Barrier, object)?,
            "6" => {
                let Some(lock) = lock else {
                    return Err(self.wrong("a wait names condition and lock"));
                };
                self.synchronise(steps, Operation::Unlock, lock)?;
                self.synchronise(steps, Operation::Lock, lock)?;
                self.unplayed += 1;
            }
            "3" | "4" | "7" | "8" => self.unplayed += 1,
            "11" | "14" | "15" => {}
            other => return Err(self.wrong(format_args!("calls of type {other:?} are not known"))),
        }
        Ok(())
    }
}

fn hex(word: &str) -> Option<u64> {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
}

fn number(word: &str) -> Option<u64> {
    word.parse().ok().filter(|_| !word.starts_with('+'))
}

impl Source for SynchroTrace {
    fn fill(&mut self, steps: &mut Vec<Access>) -> Result<(), SourceError> {
        steps.clear();
        let mut text = String::new();
        while steps.len() < BATCH {
            text.clear();
            self.number += 1;
            match (&mut self.input).take(MOST as u64).read_line(&mut text) {
                Ok(MOST) => return Err(self.wrong(format_args!("a line of more than {MOST} bytes"))),
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => return Err(self.wrong(error)),
            }
            let text = text.trim();
            if !text.is_empty() {
                self.event(text, steps)?;
            }
        }
        Ok(())
    }

    fn unplayed(&self) -> u64 {
        self.unplayed
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::trace::tests::read_damaged;

    fn read(text: &str) -> Result<Vec<Access>, SourceError> {
        let input = Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
        let (mut source, mut steps) = (SynchroTrace::new(input, "test", 64, 0), Vec::new());
        source.fill(&mut steps)?;
        Ok(steps)
    }

    #[test]
    fn events_become_steps() {
        let text = "1,2,10,4,1,1 $ 0x1000 0x1007 * 0x2004 0x200b\n2,2,# 1 7 0x3000 0x3003\n3,2,pth_ty:5^0x77\n4,2,pth_ty:6^0x9&0xa\n";
        let steps: Vec<_> = read(text).unwrap().iter().map(|s| (s.kind, s.address, s.size, s.gap)).collect();
        assert_eq!(
            steps,
            [
                (Operation::Store, 0x1000, 8, 14),
                (Operation::Load, 0x2004, 4, 0),
                (Operation::Load, 0x2008, 4, 0),
                (Operation::Load, 0x3000, 4, 0),
                (Operation::Barrier, 0x77, 0, 0),
                (Operation::Unlock, 0xa, 0, 0),
                (Operation::Lock, 0xa, 0, 0),
            ]
        );
    }

    /// Lines as SynchroTraceGen's logger formats them, with only a space before an edge; then the same in its second
    /// version.
    #[test]
    fn lines_are_read_as_synchrotracegen_writes_them() {
        let first = "\
            1,1,100,4,1,1 $ 0x1000 0x1007 * 0x2000 0x2007\n\
            2,1 # 2 7 0x3000 0x3003 # 3 9 0x3010 0x3017\n\
            ! 4096\n\
            3,1,0,0,0,0\n\
            4,1,pth_ty:9^0x77\n\
            5,1,pth_ty:10^0x77\n\
            6,1,pth_ty:6^0x9&0xa\n\
            7,1,pth_ty:8^0x9\n\
            8,1,pth_ty:11^0x50\n\
            9,1,pth_ty:12^0x50\n\
            10,1,pth_ty:13^0x50\n";
        let second = "\
            @ 100,4,1,1 $ 0x1000 0x1007 * 0x2000 0x2007 \n\
            # 2 7 0x3000 0x3003 # 3 9 0x3010 0x3017 \n\
            ! 4096\n\
            @ 0,0,0,0 \n\
            ^ 9^0x77\n\
            ^ 10^0x77\n\
            ^ 6^0x9&0xa\n\
            ^ 8^0x9\n\
            ^ 11^0x50\n\
            ^ 12^0x50\n\
            ^ 13^0x50\n";
        let steps: Vec<_> = read(first).unwrap().iter().map(|s| (s.kind, s.address, s.size, s.gap)).collect();
        assert_eq!(
            steps,
            [
                (Operation::Store, 0x1000, 8, 104),
                (Operation::Load, 0x2000, 8, 0),
                (Operation::Load, 0x3000, 4, 0),
                (Operation::Load, 0x3010, 8, 0),
                (Operation::Lock, 0x77, 0, 0),
                (Operation::Unlock, 0x77, 0, 0),
                (Operation::Unlock, 0xa, 0, 0),
                (Operation::Lock, 0xa, 0, 0),
                (Operation::Wait, 0x50, 0, 0),
                (Operation::Post, 0x50, 0, 0),
            ]
        );
        let again: Vec<_> = read(second).unwrap().iter().map(|s| (s.kind, s.address, s.size, s.gap)).collect();
        assert_eq!(again, steps);
    }

    #[test]
    fn calls_that_are_not_played_are_counted() {
        let calls = "^ 3^0x50\n^ 4^0x50\n^ 6^0x9&0xa\n^ 7^0x9\n^ 8^0x9\n^ 1^0xa\n^ 11^0x60\n";
        let input = Box::new(std::io::Cursor::new(calls.as_bytes().to_vec()));
        let (mut source, mut steps) = (SynchroTrace::new(input, "test", 64, 0), Vec::new());
        source.fill(&mut steps).unwrap();
        assert_eq!((steps.len(), source.unplayed()), (3, 5));
    }

    #[test]
    fn damage_is_told_with_its_line() {
        for (text, what) in [
            ("nonsense", "line 1: no event"),
            ("1,2,3,4,0,0\n1,x,3,4,0,0", "line 2: an event begins"),
            ("1,2", "line 1: no counts of operations"),
            ("@ 1", "line 1: no counts of operations"),
            ("1,0,10,4,zzz,qq $ 0x10 0x17", "line 1: no counts of operations"),
            ("@ 10,4,1,1,1", "line 1: no counts of operations"),
            ("# foo bar 0x3000 0x3003", "an edge begins with the numbers"),
            ("# 1 7 0x3000 0x3003 junk", "an edge has the form"),
            ("1,2,3,4,0,0\n2,99,3,4,0,0", "line 2: an event of thread 99 in the file of thread 2"),
            ("^ 6^0x9&0xa&0xb", "a call names an address, or two"),
            ("^ 1^0x9 junk", "a call names an address, or two"),
            ("! many", "a marker has the form ! N"),
            ("1,2 # 3 4 0x10", "two addresses"),
            ("1,2,3,4,1,0 $ 0x10 0x0", "is none"),
            ("1,2,3,4,1,0 $ 0x10", "two addresses"),
            ("1,2,pth_ty:77^0x1", "not known"),
            ("1,2,3,4,1,0 $ 0x10 0x10010", "has more than 65536 bytes"),
            (&" ".repeat(1 << 17), "a line of more than 131072 bytes"),
            (&format!("1,2,3,4,1,0{}", " $ 0x0 0xffff".repeat(20)), "an event of more than 131072 references"),
        ] {
            let error = read(text).unwrap_err().0;
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn damaged_text_gives_steps_or_an_error() {
        let one = "1,2,10,4,1,1 $ 0x1000 0x1007 * 0x2004 0x200b\n2,2,# 1 7 0x3000 0x3003\n3,2,pth_ty:5^0x77\n";
        let two = "@ 10,4,1,1 $ 0x1000 0x1007 * 0x2004 0x200b\n! 7\n# 1 7 0x3000 0x3003\n^ 6^0x9&0xa\n";
        for text in [one.repeat(3), two.repeat(3), [one, two].concat()] {
            read_damaged(text.as_bytes(), |bytes| {
                SynchroTrace::new(Box::new(std::io::Cursor::new(bytes)), "test", 64, 0)
            });
        }
    }
}
