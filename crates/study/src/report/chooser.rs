//! All answers of the chooser in the report. They are computed in advance; the page contains no rules.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::advise::{Advice, Measured, Question, advise};

/// What the chooser offers, and what it answers.
#[derive(Debug, Serialize)]
pub(crate) struct Chooser {
    pub(crate) sizes: Vec<usize>,
    pub(crate) sessions: Vec<u64>,
    /// Each different advice once.
    pub(crate) advice: Vec<Advice>,
    /// `bytes/sessions/hardware/ad/misuse/commit` to its advice; the last four are 0 or 1.
    pub(crate) answers: BTreeMap<String, usize>,
}

/// Sizes to choose from where nothing was measured.
const SIZES: [usize; 5] = [64, 256, 1500, 16384, 1 << 20];
const SESSIONS: [u64; 5] = [1, 1000, 100_000, 1_000_000, 10_000_000];

/// Everything that can be asked, answered from what `bench` measured.
pub(crate) fn chooser(everything: Measured<'_>) -> Chooser {
    let bench = everything.bench;
    let measured: BTreeSet<usize> = bench.into_iter().flat_map(|report| &report.rows).map(|row| row.bytes).collect();
    let sizes = if measured.is_empty() { SIZES.to_vec() } else { measured.into_iter().collect() };
    let (mut advice, mut answers) = (Vec::new(), BTreeMap::new());
    let mut known: HashMap<Advice, usize> = HashMap::new();
    for (&bytes, &sessions) in sizes.iter().flat_map(|bytes| SESSIONS.iter().map(move |sessions| (bytes, sessions))) {
        for needs in 0..16 {
            let [hardware, ad, misuse, commit] = [8, 4, 2, 1].map(|bit| needs & bit != 0);
            let found = advise(&Question { bytes, sessions, hardware, ad, misuse, commit }, everything);
            let number = *known.entry(found.clone()).or_insert_with(|| {
                advice.push(found);
                advice.len() - 1
            });
            let [hardware, ad, misuse, commit] = [hardware, ad, misuse, commit].map(u8::from);
            answers.insert(format!("{bytes}/{sessions}/{hardware}/{ad}/{misuse}/{commit}"), number);
        }
    }
    Chooser { sizes, sessions: SESSIONS.to_vec(), advice, answers }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::example;

    #[test]
    fn the_chooser_answers_everything_that_it_offers_as_advise_does() {
        let bench = example::bench(3.0);
        let everything = Measured { bench: Some(&bench), sessions: None };
        let chooser = chooser(everything);
        assert_eq!(chooser.sizes, [1500]);
        assert_eq!(chooser.answers.len(), chooser.sizes.len() * chooser.sessions.len() * 16);
        let asked = Question { hardware: false, commit: true, sessions: 1000, ..example::PLAIN };
        let number = chooser.answers["1500/1000/0/0/0/1"];
        assert_eq!(chooser.advice[number], advise(&asked, everything));
    }
}
