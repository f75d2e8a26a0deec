//! All answers of the chooser in the report. They are computed in advance, so the page contains no rules.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::advise::{Advice, Measured, Question, advise};

/// The options of the chooser, and its answers.
#[derive(Debug, Serialize)]
pub(crate) struct Chooser {
    /// The distinct texts. Most texts occur in many answers, so advice refers to them by index.
    pub(crate) texts: Vec<String>,
    pub(crate) sizes: Vec<usize>,
    pub(crate) sessions: Vec<u64>,
    /// The distinct pieces of advice.
    pub(crate) advice: Vec<Numbered>,
    /// Maps `bytes/sessions/hardware/ad/misuse/commit` to the index of the advice; the last four are 0 or 1.
    pub(crate) answers: BTreeMap<String, usize>,
}

/// Advice as indices into the texts.
#[derive(Debug, Serialize)]
pub(crate) struct Numbered {
    suite: usize,
    scheme_words: usize,
    why: Vec<usize>,
    numbers: Vec<[usize; 2]>,
    mind: Vec<usize>,
}

/// The distinct texts in order of first occurrence.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    known: HashMap<String, usize>,
}

impl Texts {
    fn number(&mut self, text: &str) -> usize {
        *self.known.entry(text.to_owned()).or_insert_with(|| {
            self.all.push(text.to_owned());
            self.all.len() - 1
        })
    }

    fn numbered(&mut self, advice: &Advice) -> Numbered {
        Numbered {
            suite: self.number(advice.suite),
            scheme_words: self.number(advice.scheme_words),
            why: advice.why.iter().map(|text| self.number(text)).collect(),
            numbers: advice.numbers.iter().map(|(what, figure)| [self.number(what), self.number(figure)]).collect(),
            mind: advice.mind.iter().map(|text| self.number(text)).collect(),
        }
    }
}

/// The sizes to choose from if nothing was measured.
const SIZES: [usize; 5] = [64, 256, 1500, 16384, 1 << 20];
const SESSIONS: [u64; 5] = [1, 1000, 100_000, 1_000_000, 10_000_000];

/// The answers to all possible questions, based on the measurements.
pub(crate) fn chooser(everything: Measured<'_>) -> Chooser {
    let bench = everything.bench;
    let measured: BTreeSet<usize> = bench.into_iter().flat_map(|report| &report.rows).map(|row| row.bytes).collect();
    let sizes = if measured.is_empty() { SIZES.to_vec() } else { measured.into_iter().collect() };
    let (mut texts, mut advice, mut answers) = (Texts::default(), Vec::new(), BTreeMap::new());
    let mut known: HashMap<Advice, usize> = HashMap::new();
    for (&bytes, &sessions) in sizes.iter().flat_map(|bytes| SESSIONS.iter().map(move |sessions| (bytes, sessions))) {
        for needs in 0..16 {
            let [hardware, ad, misuse, commit] = [8, 4, 2, 1].map(|bit| needs & bit != 0);
            let found = advise(&Question { bytes, sessions, hardware, ad, misuse, commit }, everything);
            let number = *known.entry(found.clone()).or_insert_with(|| {
                advice.push(texts.numbered(&found));
                advice.len() - 1
            });
            let [hardware, ad, misuse, commit] = [hardware, ad, misuse, commit].map(u8::from);
            answers.insert(format!("{bytes}/{sessions}/{hardware}/{ad}/{misuse}/{commit}"), number);
        }
    }
    Chooser { texts: texts.all, sizes, sessions: SESSIONS.to_vec(), advice, answers }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
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
        let shown = serde_json::to_value(&chooser).unwrap();
        let expected = advise(&asked, everything);
        let given = &shown["advice"][shown["answers"]["1500/1000/0/0/0/1"].as_u64().unwrap() as usize];
        let text =
            |number: &serde_json::Value| shown["texts"][number.as_u64().unwrap() as usize].as_str().unwrap().to_owned();
        let list = |name: &str| given[name].as_array().unwrap().iter().map(text).collect::<Vec<_>>();
        assert_eq!([text(&given["suite"]), text(&given["scheme_words"])], [expected.suite, expected.scheme_words]);
        assert_eq!([list("why"), list("mind")], [expected.why, expected.mind]);
        let numbers: Vec<_> =
            given["numbers"].as_array().unwrap().iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect();
        assert_eq!(numbers, expected.numbers);
        // No text occurs twice
        let texts = shown["texts"].as_array().unwrap();
        assert!(texts.iter().enumerate().all(|(i, text)| !texts[..i].contains(text)));
    }
}
