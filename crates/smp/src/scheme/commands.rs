//! Authenticated commands carry their number and a tag. A unit detects a forged command at once, and a command that was
//! hidden from it at the next one.

use sealwright::{Aead, Suite};

use super::exchange::derive;
use crate::message::{BusCommand, Command, CommandTag, Detector};

/// The units' key for commands, and the number of commands that each unit has seen.
pub(super) struct Commands {
    aead: Box<dyn Aead>,
    seen: Vec<u64>,
}

impl Commands {
    pub(super) fn new(units: usize, seed: u64) -> Commands {
        let key = derive::<16>(seed, "command key", 0);
        let aead = Suite::Aes128Gcm.aead(key.as_ref()).expect("16 bytes are the suite's key length");
        Commands { aead, seen: vec![0; units] }
    }

    /// The GMAC tag of a command. The nonce is the command's number, which is unique.
    pub(super) fn seal(&self, command: &BusCommand) -> CommandTag {
        let (nonce, words) = words(command);
        let tag = self.aead.seal_in_place(&nonce, &words, &mut []).expect("a command is a short text");
        let mut bytes = CommandTag::default();
        bytes.copy_from_slice(tag.as_ref());
        bytes
    }

    /// `unit` sees a command: checks its tag, and that it follows the last command.
    pub(super) fn check(&mut self, unit: usize, command: &BusCommand) -> Result<(), Detector> {
        self.seen[unit] += 1;
        let (nonce, words) = words(command);
        let tag = command.tag.unwrap_or_default();
        let genuine = self.aead.open_in_place(&nonce, &words, &mut [], &tag).is_ok();
        if genuine && self.seen[unit] == command.number { Ok(()) } else { Err(Detector::Command) }
    }
}

/// The nonce of a command, which is its number, and the authenticated data: node, request and line.
fn words(command: &BusCommand) -> ([u8; 12], [u8; 10]) {
    let (mut nonce, mut words) = ([0; 12], [0; 10]);
    nonce[4..].copy_from_slice(&command.number.to_be_bytes());
    words[0] = command.node as u8;
    words[1] = match command.command {
        Command::GetS => 0,
        Command::GetX => 1,
        Command::PutX => 2,
    };
    words[2..].copy_from_slice(&command.line.to_be_bytes());
    (nonce, words)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn command(commands: &Commands, number: u64, line: u64) -> BusCommand {
        let command = BusCommand { number, node: 1, command: Command::GetX, line, tag: None };
        BusCommand { tag: Some(commands.seal(&command)), ..command }
    }

    #[test]
    fn commands_that_are_missing_changed_or_old_are_noticed() {
        let mut commands = Commands::new(2, 7);
        let (first, second) = (command(&commands, 1, 5), command(&commands, 2, 6));
        assert_eq!(commands.check(0, &first), Ok(()));
        assert_eq!(commands.check(0, &second), Ok(()));
        assert_eq!(commands.check(1, &second), Err(Detector::Command), "one is missing");
        let mut commands = Commands::new(8, 7);
        let changed = [
            BusCommand { node: 2, ..first },
            BusCommand { command: Command::GetS, ..first },
            BusCommand { line: 6, ..first },
            BusCommand { tag: None, ..first },
            BusCommand { number: 1, ..second },
        ];
        for (unit, changed) in changed.iter().enumerate() {
            assert_eq!(commands.check(unit, changed), Err(Detector::Command), "{changed:?}");
        }
        assert_eq!(commands.check(7, &first), Ok(()));
        assert_eq!(commands.check(7, &first), Err(Detector::Command), "an old one");
    }
}
