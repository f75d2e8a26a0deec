//! What to measure.

use super::{row::Direction, subject::Subject};

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// What to bench; by default everything that is not for research only.
    pub subjects: Vec<Subject>,
    /// Bytes of text in a message.
    pub bytes: Vec<usize>,
    /// About 20 seconds in all instead of some minutes, with wider intervals.
    pub quick: bool,
}

impl Default for Options {
    fn default() -> Self {
        let subjects = Subject::all().filter(|subject| !subject.research_only()).collect();
        Options { subjects, bytes: vec![64, 256, 1500, 16384, 1 << 20], quick: false }
    }
}

impl Options {
    /// How many comparisons they ask for.
    pub fn comparisons(&self) -> usize {
        self.pairs().count() * Direction::BOTH.len()
    }

    /// Subjects with the sizes that they take.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (Subject, usize)> {
        let sizes = |&subject: &Subject| self.bytes.iter().map(move |&bytes| (subject, bytes));
        self.subjects.iter().flat_map(sizes).filter(|(subject, bytes)| subject.takes(*bytes))
    }
}
