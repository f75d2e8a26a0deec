//! A paper's claim with one verdict for each circumstance it was tried in: its own table, whole processes, the library
//! alone, a machine without AES instructions. They need not agree, and where they do not lies the lesson.

use schemars::JsonSchema;
use sealwright_measure::{Claim, Interval, Verdict};
use serde::{Deserialize, Serialize};

use crate::{figure::shown, paper::Sentence};

/// A claim and all its verdicts.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// Which of the paper's claims.
    pub id: String,
    /// The claim in a few words.
    pub short: String,
    /// The predicate in words.
    pub reading: String,
    /// A verdict for each circumstance.
    pub verdicts: Vec<Scoped>,
}

/// A verdict in one circumstance.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Scoped {
    /// The circumstance: `whole processes`.
    pub scope: String,
    /// The sentence, where it stands, the verdict and the figures behind it.
    #[serde(flatten)]
    pub claim: Claim,
}

impl Judged {
    /// The claim of `sentence`, not yet tried anywhere.
    pub fn new(sentence: &Sentence) -> Judged {
        let Sentence { id, short, reading, .. } = sentence;
        Judged { id: id.clone(), short: short.clone(), reading: reading.clone(), verdicts: Vec::new() }
    }

    /// Adds what `found` says of `sentence` in the circumstance `scope`.
    pub fn add(&mut self, sentence: &Sentence, scope: &str, found: Judgement) {
        let claim = Claim::new(&sentence.sentence, &sentence.place, found.verdict, found.evidence);
        self.verdicts.push(Scoped { scope: scope.to_owned(), claim });
    }

    /// The verdict in the circumstance `scope`.
    pub fn verdict(&self, scope: &str) -> Option<Verdict> {
        self.verdicts.iter().find(|scoped| scoped.scope == scope).map(|scoped| scoped.claim.verdict)
    }
}

/// What a predicate found: the verdict and the figures behind it in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The figures.
    pub evidence: String,
}

/// One case of a claim about many: its name, its figure, its verdict.
#[derive(Clone, Debug)]
pub struct Case {
    /// `10 MB text`.
    pub name: String,
    /// The figure that decides.
    pub figure: Interval,
    /// The case's verdict.
    pub verdict: Verdict,
}

/// A claim about every one of `cases`: one that does not hold decides, else one that cannot be told leaves it open.
/// `what` names the figure. `None` without cases.
pub fn every(what: &str, cases: &[Case]) -> Option<Judgement> {
    let verdict = Verdict::all(cases.iter().map(|case| case.verdict));
    // The case to show is one that decides; where all do, the one with the widest reach towards the other verdict
    let deciding = cases.iter().filter(|case| case.verdict == verdict);
    let example = deciding.max_by(|a, b| a.figure.relative_width().total_cmp(&b.figure.relative_width()))?;
    let Case { name, figure, .. } = example;
    if let [_] = cases {
        return Some(Judgement { verdict, evidence: format!("{name}: {what} {}", shown(*figure)) });
    }
    let count = |verdict| cases.iter().filter(|case| case.verdict == verdict).count();
    let tally: Vec<String> = [Verdict::Holds, Verdict::DoesNotHold, Verdict::CannotBeTold]
        .into_iter()
        .filter(|&verdict| count(verdict) > 0)
        .map(|verdict| format!("{verdict} in {}", count(verdict)))
        .collect();
    let evidence = format!("Of {} cases: {}. Such as {name}: {what} {}", cases.len(), tally.join(", "), shown(*figure));
    Some(Judgement { verdict, evidence })
}

/// The quotient of two figures measured apart: its interval reaches as far as both ends allow.
pub fn quotient(a: Interval, b: Interval) -> Interval {
    Interval { median: a.median / b.median, low: a.low / b.high, high: a.high / b.low }
}
