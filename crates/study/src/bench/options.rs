//! What to measure.

use super::{row::Direction, subject::Subject, way::Way};

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The suites to measure; by default all except those for research only.
    pub subjects: Vec<Subject>,
    /// Message sizes in bytes.
    pub bytes: Vec<usize>,
    /// Keys and order of the messages. Opening is measured with one key only.
    pub ways: Vec<Way>,
    /// Takes about 20 seconds instead of some minutes; intervals are wider.
    pub quick: bool,
    /// The commit that the program was built from; empty if it is unknown.
    pub commit: String,
}

impl Default for Options {
    fn default() -> Self {
        let subjects = Subject::all().filter(|subject| !subject.research_only()).collect();
        Options {
            subjects,
            bytes: vec![40, 64, 256, 576, 1500, 4096, 16384, 1 << 20],
            ways: vec![Way::OneKey],
            quick: false,
            commit: String::new(),
        }
    }
}

impl Options {
    /// The number of comparisons.
    pub fn comparisons(&self) -> usize {
        self.asked().count()
    }

    /// All comparisons.
    pub(super) fn asked(&self) -> impl Iterator<Item = (Subject, usize, Way, Direction)> {
        let ways = |(subject, bytes)| self.ways.iter().map(move |&way| (subject, bytes, way));
        let directions = |(subject, bytes, way): (Subject, usize, Way)| {
            let all = Direction::BOTH.into_iter();
            let all = all.filter(move |&direction| way == Way::OneKey || direction == Direction::Seal);
            all.map(move |direction| (subject, bytes, way, direction))
        };
        // Records are measured with one key only, because the provider counts the record numbers itself
        let counted =
            |(subject, _, way): &(Subject, usize, Way)| *subject == Subject::Tls13Records && *way != Way::OneKey;
        self.pairs().flat_map(ways).filter(move |asked| !counted(asked)).flat_map(directions)
    }

    /// Subjects with the sizes that they accept.
    fn pairs(&self) -> impl Iterator<Item = (Subject, usize)> {
        let sizes = |&subject: &Subject| self.bytes.iter().map(move |&bytes| (subject, bytes));
        self.subjects.iter().flat_map(sizes).filter(|(subject, bytes)| subject.takes(*bytes))
    }
}
