//! The directory at each line's home: which nodes have a copy of the line, or will have one through a command that is
//! ordered already. The owner is in the table of the memory at the same home.

use super::{request::Request, set::Set};
use crate::{memory::Numbered, message::Command};

/// The directories of all homes. They are kept in one table, since a line has one home.
#[derive(Debug, Default)]
pub(super) struct Directory {
    holders: Numbered<Set>,
}

impl Directory {
    /// Nodes that may have a copy: a shared line is evicted without notifying the home.
    pub(super) fn holders(&self, line: u64) -> Set {
        self.holders.get(&line).copied().unwrap_or_default()
    }

    /// Whether no node but `node` may have a copy.
    pub(super) fn alone(&self, node: usize, line: u64) -> bool {
        self.holders(line).without(node).is_empty()
    }

    /// Updates the directory for a command that is ordered while `owner` owns the line; returns the nodes that it
    /// reaches, the requestor included.
    pub(super) fn order(&mut self, request: &Request, owner: Option<usize>) -> Set {
        let own = Set::one(request.node);
        match request.command {
            Command::GetS => {
                let holders = self.holders.entry(request.line).or_default();
                *holders = holders.with(request.node);
                owner.map_or(own, |owner| own.with(owner))
            }
            Command::GetX => self.holders.insert(request.line, own).unwrap_or_default().with(request.node),
            Command::PutX => {
                let left = self.holders(request.line).without(request.node);
                if left.is_empty() {
                    self.holders.remove(&request.line);
                } else {
                    self.holders.insert(request.line, left);
                }
                own
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn commands_go_to_the_owner_or_to_all_that_may_have_a_copy() {
        let mut directory = Directory::default();
        let mut order = |node, command, owner| {
            directory.order(&Request::new(node, command, 5, 1), owner).iter().collect::<Vec<_>>()
        };
        assert_eq!(order(3, Command::GetS, None), [3]);
        assert_eq!(order(1, Command::GetS, None), [1], "memory answers, and other readers need not know");
        assert_eq!(order(2, Command::GetX, None), [1, 2, 3], "both copies are invalid now");
        assert_eq!(order(7, Command::GetS, Some(2)), [2, 7], "the owner answers");
        assert_eq!(order(2, Command::PutX, Some(2)), [2]);
        assert_eq!(order(4, Command::GetX, None), [4, 7]);
        assert_eq!(directory.holders(5), Set::one(4));
        assert!(directory.alone(4, 5) && !directory.alone(7, 5) && directory.alone(7, 6));
    }
}
