//! The project's glossary in the report: terms in a text are linked to their explanations.

use std::sync::LazyLock;

use html_escape::encode_text as escaped;
use serde::Serialize;

/// A term and its explanation as HTML.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Term {
    /// The name of the anchor.
    pub(super) id: String,
    /// The term.
    pub(super) word: String,
    /// The explanation.
    pub(super) meaning: String,
}

const GLOSSARY: &str = include_str!("../../../../docs/GLOSSARY.md");

/// The terms that occur in the report, as spelled in the glossary.
const WANTED: [&str; 21] = [
    "interval",
    "claim",
    "quantity",
    "case",
    "candidate",
    "sample",
    "round",
    "peer",
    "level",
    "strategy",
    "scheme",
    "suite",
    "mode",
    "cluster",
    "nonce",
    "IV",
    "tag",
    "pad",
    "mask",
    "engine",
    "core",
];

/// All explained terms. A word with a meaning in each of several fields is one term with all of them.
pub(super) static TERMS: LazyLock<Vec<Term>> = LazyLock::new(|| {
    let mut terms: Vec<Term> = Vec::new();
    for line in GLOSSARY.lines().filter_map(|line| line.strip_prefix("| **")) {
        let Some((words, rest)) = line.split_once('|') else { continue };
        let word = words.split(['*', '`']).next().unwrap_or_default().trim();
        if !WANTED.contains(&word) {
            continue;
        }
        // The field follows the words: "**round** (of a cipher)".
        let field = words.rsplit("**").next().unwrap_or_default();
        let meaning = rest.trim_end_matches('|').rsplit(" | ").next().unwrap_or(rest);
        let meaning = plain(&format!("{} {}", field.trim(), meaning.trim()));
        match terms.iter_mut().find(|term| term.word == word) {
            Some(term) => term.meaning = format!("{}; {meaning}", term.meaning),
            None => {
                let id = format!("term-{}", word.to_lowercase());
                terms.push(Term { id, word: word.to_owned(), meaning });
            }
        }
    }
    terms
});

/// Removes Markdown syntax.
fn plain(text: &str) -> String {
    let without_links = text.split('[').enumerate().map(|(number, part)| match (number, part.split_once("](")) {
        (1.., Some((words, rest))) => format!("{words}{}", rest.split_once(')').map_or("", |(_, rest)| rest)),
        _ => part.to_owned(),
    });
    without_links.collect::<String>().replace(['*', '`'], "").trim().to_owned()
}

/// Converts `text` to HTML, and links the first occurrence of each term to its explanation.
pub(super) fn linked(text: &str) -> String {
    let mut out = String::new();
    let mut used: Vec<&str> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let singular = word.strip_suffix('s').unwrap_or(word);
        let known = TERMS.iter().find(|term| term.word == word || term.word == singular);
        match known.filter(|term| !used.contains(&&term.id[..])) {
            Some(term) => {
                used.push(&term.id);
                out += &format!("<a class=\"term\" href=\"#{}\">{word}</a>", term.id);
            }
            None => out += &escaped(word),
        }
        let next = after.chars().next().map_or(0, char::len_utf8);
        out += &escaped(&after[..next]);
        rest = &after[next..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wanted_word_has_a_meaning() {
        let found: Vec<&str> = TERMS.iter().map(|term| &term.word[..]).collect();
        for word in WANTED {
            assert!(found.contains(&word), "{word} is not in docs/GLOSSARY.md");
        }
        assert!(
            TERMS.iter().all(|term| term.meaning.len() > 10 && !term.meaning.contains(['*', '`', '['])),
            "{TERMS:?}"
        );
    }

    #[test]
    fn words_link_once_and_text_stays_text() {
        let html = linked("An interval <of> intervals & a tag.");
        assert_eq!(
            html,
            "An <a class=\"term\" href=\"#term-interval\">interval</a> &lt;of&gt; intervals &amp; a \
             <a class=\"term\" href=\"#term-tag\">tag</a>."
        );
        assert_eq!(linked("tagged Über"), "tagged Über");
    }
}
