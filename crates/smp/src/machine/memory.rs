//! The memory controller: memory's contents and their protection, and the table of lines that nodes own.

use super::{
    bus::Bus,
    context::Context,
    dram::{Banks, RowCounters},
    request::Request,
};
use crate::{
    attack::Attackers,
    config::{self, Config, Protect},
    engine::Cycle,
    memory::{
        CounterTree, Image, InMemory, LineCipher, MOST_PAGES, Owners, Protection, ProtectionCounters, Stored, Tampered,
    },
    message::{Command, LONGEST_LINE},
};

/// Memory and its controller.
pub(super) struct Memory {
    config: config::Memory,
    line: usize,
    image: Image,
    owners: Owners,
    banks: Option<Banks>,
    protection: Option<Box<dyn Protection>>,
    /// The most pages that may be written, plaintext and ciphertext together.
    pub(super) most: usize,
}

/// Unprotected memory, as an attacker sees it.
struct Bare<'a> {
    image: &'a mut Image,
    line: usize,
}

impl InMemory for Bare<'_> {
    fn stored(&self, address: u64) -> Option<Stored> {
        let mut stored = Stored::default();
        self.image.read(address, &mut stored.text[..self.line]);
        Some(stored)
    }

    fn put(&mut self, address: u64, stored: Stored) {
        self.image.write(address, &stored.text[..self.line]);
    }
}

/// A line that memory sends to a requestor.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) text: [u8; LONGEST_LINE],
    /// When memory has it ready.
    pub(super) at: Cycle,
}

impl Memory {
    pub(super) fn new(config: &Config, image: Image) -> Memory {
        let protection: Option<Box<dyn Protection>> = match config.memory.protect {
            Protect::None => None,
            Protect::Xts => Some(Box::new(LineCipher::new(config, &image, false))),
            Protect::XtsMac => Some(Box::new(LineCipher::new(config, &image, true))),
            Protect::Tree => Some(Box::new(CounterTree::new(config, &image))),
        };
        Memory {
            config: config.memory.clone(),
            line: config.machine.line,
            protection,
            image,
            owners: Owners::default(),
            banks: Banks::new(&config.memory),
            most: MOST_PAGES,
        }
    }

    /// Pages that were written, plaintext and ciphertext together.
    pub(super) fn pages(&self) -> usize {
        self.image.pages() + self.protection.as_ref().map_or(0, |protection| protection.pages())
    }

    /// Memory's plaintext; with protection, only the initial contents.
    pub(super) fn image(&self) -> &Image {
        &self.image
    }

    /// Counters of the banks, if there are any.
    pub(super) fn rows(&self) -> Option<RowCounters> {
        self.banks.as_ref().map(|banks| banks.counters)
    }

    /// Counters of the protection, if there is any.
    pub(super) fn protected(&self) -> Option<ProtectionCounters> {
        self.protection.as_ref().map(|protection| protection.counters())
    }

    /// The node that owns a line according to memory's table; `None` if memory itself does.
    pub(super) fn owner(&self, line: u64) -> Option<usize> {
        self.owners.of(line)
    }

    /// Memory sees a command: it answers for lines that no node owns, and takes lines that their owners write back.
    pub(super) fn snoop(
        &mut self,
        index: usize,
        request: Request,
        bus: &mut Bus,
        attackers: &mut Attackers,
        context: &mut Context,
    ) -> Option<Answer> {
        let owner = self.owners.of(request.line);
        if request.command == Command::PutX {
            let text = bus.unload(index);
            if owner == Some(request.node) {
                match text {
                    Some(text) => self.write(request.node, request.line, &text, context),
                    // A clean line: memory's bytes are up to date
                    None if request.clean => self.owners.take_back(request.line),
                    None => {}
                }
            }
            return None;
        }
        let answer = if owner.is_none() { self.answer(request, attackers, context) } else { None };
        if request.command == Command::GetX || request.alone {
            self.owners.give(request.line, request.node);
        }
        answer
    }

    /// Memory takes the line that its owner sends to a reader, and owns it again.
    pub(super) fn take(&mut self, node: usize, line: u64, text: &[u8; LONGEST_LINE], context: &mut Context) {
        self.write(node, line, text, context);
    }

    fn answer(&mut self, request: Request, attackers: &mut Attackers, context: &mut Context) -> Option<Answer> {
        let now = context.schedule.now();
        let address = request.line * self.line as u64;
        // Reads only: a line requested for writing may be overwritten before anybody reads it
        let moment = context.moment().filter(|_| !attackers.is_empty() && request.command == Command::GetS);
        if moment.is_some() {
            match &mut self.protection {
                Some(protection) => attackers.answer(address, protection.as_mut(), moment),
                None => attackers.answer(address, &mut Bare { image: &mut self.image, line: self.line }, moment),
            }
        }
        let mut at = match &mut self.banks {
            Some(banks) => banks.serve(address, now),
            None => now + self.config.latency,
        };
        if self.config.jitter > 0 {
            at += context.random.up_to(self.config.jitter);
        }
        let mut text = [0; LONGEST_LINE];
        let out = &mut text[..self.line];
        match &mut self.protection {
            Some(protection) => match protection.read(address, out, now, at) {
                Ok(ready) => at = ready,
                Err(Tampered { detector, after }) => {
                    context.expect_at(now + after, detector, request.node);
                    return None;
                }
            },
            None => self.image.read(address, out),
        }
        context.counters.fills += 1;
        Some(Answer { text, at })
    }

    fn write(&mut self, node: usize, line: u64, text: &[u8; LONGEST_LINE], context: &mut Context) {
        self.owners.take_back(line);
        if let Some(banks) = &mut self.banks {
            banks.serve(line * self.line as u64, context.schedule.now());
        }
        let address = line * self.line as u64;
        let text = &text[..self.line];
        match &mut self.protection {
            Some(protection) => {
                if let Err(Tampered { detector, after }) = protection.write(address, text) {
                    context.expect_at(context.schedule.now() + after, detector, node);
                }
            }
            None => self.image.write(address, text),
        }
    }

    /// The bytes of a line as memory holds them, without any effect on timing.
    pub(super) fn peek(&self, line: u64, out: &mut [u8]) {
        let address = line * self.line as u64;
        match &self.protection {
            Some(protection) => protection.peek(address, out),
            None => self.image.read(address, out),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{
        access::Source,
        machine::{Machine, MachineError},
        trace::{Smpt, Writer},
    };

    /// A program that stores once in each of `pages` pages, beside one that does nothing.
    fn machine(settings: &[&str], pages: u64) -> Machine {
        let (mut writer, idle) = (Writer::new(Vec::new()), Writer::new(Vec::new()));
        (0..pages).for_each(|page| writer.refer(0, true, page << 12, 3).unwrap());
        let threads = [writer, idle].into_iter().enumerate();
        let source = |(thread, writer): (usize, Writer<Vec<u8>>)| -> Box<dyn Source> {
            Box::new(Smpt::new(Box::new(std::io::Cursor::new(writer.into_inner())), "test", 64, thread))
        };
        let small = ["machine.processors=2", "l1.bytes=1024", "l2.bytes=1024"];
        let config = small.iter().chain(settings).fold(Config::default(), |config, one| config.set(one).unwrap());
        Machine::new(&config, Image::default(), threads.map(source).collect()).unwrap()
    }

    /// Stores to a new page each make the simulator allocate 4096 bytes or more for each byte of the trace.
    #[test]
    fn a_program_that_writes_to_too_many_pages_is_ended() {
        for (protect, checked, times) in [("none", false, 1), ("none", true, 2), ("xts", false, 1), ("tree", true, 2)] {
            let set = format!("memory.protect={protect}");
            let run = |most: usize| {
                let mut machine = machine(&[&set], 3000);
                machine.memory.most = most;
                if checked {
                    machine.check_values();
                }
                machine.run(u64::MAX).map(drop)
            };
            run(times * 3000).unwrap();
            let why = run(times * 1000).unwrap_err();
            assert!(matches!(why, MachineError::Pages(most) if most == times * 1000), "{protect}: {why}");
            assert!(why.to_string().contains(&format!("{} pages of 4096 bytes", times * 1000)), "{why}");
        }
        assert_eq!(machine(&[], 0).memory.most, 4_194_304);
    }
}
