//! What to measure.

use super::{
    error::{BenchError, MOST_BYTES},
    row::Direction,
    subject::Subject,
    way::Way,
};

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The suites to measure; by default all except those for research only.
    pub subjects: Vec<Subject>,
    /// Message sizes in bytes.
    pub bytes: Vec<usize>,
    /// Keys and order of the messages. Opening is measured with one key only.
    pub ways: Vec<Way>,
    /// All comparisons share 20 seconds, instead of up to 5 for each; intervals are wider.
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
    /// Checks the sizes.
    ///
    /// # Errors
    /// [`BenchError::Size`], [`BenchError::Together`].
    pub fn check(&self) -> Result<(), BenchError> {
        for &size in &self.bytes {
            if size == 0 || size > MOST_BYTES {
                return Err(BenchError::Size(size));
            }
            if let Some(&way) = self.ways.iter().find(|way| size > MOST_BYTES / way.at_once()) {
                return Err(BenchError::Together(size, way));
            }
        }
        Ok(())
    }

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
        let pairs = self.pairs().filter(|(subject, bytes)| subject.takes(*bytes));
        pairs.flat_map(ways).filter(|(subject, _, way)| measures(*subject, *way)).flat_map(directions)
    }

    /// What was asked for and is not measured, each in a sentence without its full stop.
    pub fn skipped(&self) -> Vec<String> {
        let sizes = self.pairs().filter(|(subject, bytes)| !subject.takes(*bytes));
        let sizes = sizes.map(|(subject, bytes)| format!("{subject} does not take messages of {bytes} bytes"));
        let ways = self.subjects.iter().flat_map(|&subject| self.ways.iter().map(move |&way| (subject, way)));
        let ways = ways.filter(|(subject, way)| !measures(*subject, *way));
        sizes.chain(ways.map(|(subject, way)| format!("{subject} is not measured with --way {way}"))).collect()
    }

    /// Subjects with all sizes.
    fn pairs(&self) -> impl Iterator<Item = (Subject, usize)> {
        self.subjects.iter().flat_map(|&subject| self.bytes.iter().map(move |&bytes| (subject, bytes)))
    }
}

/// Records are measured with one key only, because the provider counts the record numbers itself.
fn measures(subject: Subject, way: Way) -> bool {
    subject != Subject::Tls13Records || way == Way::OneKey
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A window holds all messages of a batch.
    #[test]
    fn messages_taken_together_must_fit_into_memory_together() {
        for (way, least, most) in [(Way::Batch, 1 << 25, 1 << 30), (Way::SideBySide, 1 << 26, 1 << 30)] {
            let of =
                |bytes: usize| Options { bytes: vec![64, bytes], ways: vec![Way::OneKey, way], ..Options::default() };
            of(least).check().unwrap();
            for bytes in [least + 1, most] {
                let error = of(bytes).check().unwrap_err().to_string();
                for said in [bytes.to_string(), least.to_string(), way.to_string(), way.at_once().to_string()] {
                    assert!(error.contains(&said), "{error}: {said}");
                }
            }
        }
        Options { bytes: vec![1 << 30], ways: vec![Way::OneKey, Way::Waiting], ..Options::default() }.check().unwrap();
    }

    #[test]
    fn what_is_skipped_is_named() {
        let of = |subjects: &[Subject], bytes: &[usize], ways: &[Way]| Options {
            subjects: subjects.to_vec(),
            bytes: bytes.to_vec(),
            ways: ways.to_vec(),
            ..Options::default()
        };
        let some = of(&[Subject::Rkc, Subject::Aes256GcmSiv], &[40, 64], &[Way::OneKey]);
        assert_eq!(some.skipped(), ["rkc does not take messages of 40 bytes"]);
        assert_eq!(some.comparisons(), 2 * 3);
        let none = of(&[Subject::Tls13Records], &[64], &[Way::NewKey]);
        assert_eq!(none.skipped(), ["tls13-aes-256-gcm is not measured with --way new-key"]);
        assert_eq!(none.comparisons(), 0);
    }
}
