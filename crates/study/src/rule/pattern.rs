//! Patterns for names, with placeholders: `GCM : CBC/{direction}/text/{size}`. `{size:1 MB,10 MB}` also says which texts
//! are expected; it matches others, too.

use std::collections::BTreeMap;

/// The text that each placeholder matched, by its name.
pub(super) type Captures = BTreeMap<String, String>;

/// A pattern for names of quantities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Open { name: String, expected: Vec<String> },
}

impl Pattern {
    /// Parses a pattern; `None` if a brace is not closed or a placeholder has no name.
    pub(super) fn read(text: &str) -> Option<Pattern> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find('{') {
            let end = start + rest[start..].find('}')?;
            let (name, expected) = match rest[start + 1..end].split_once(':') {
                Some((name, expected)) => (name, expected.split(',').map(str::to_owned).collect()),
                None => (&rest[start + 1..end], Vec::new()),
            };
            if name.is_empty() || expected.iter().any(String::is_empty) {
                return None;
            }
            if start > 0 {
                pieces.push(Piece::Text(rest[..start].to_owned()));
            }
            pieces.push(Piece::Open { name: name.to_owned(), expected });
            rest = &rest[end + 1..];
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        (!pieces.is_empty()).then_some(Pattern(pieces))
    }

    /// Matches `name` and returns the captures; `None` if it does not match. Placeholders in `known` must match the
    /// same text.
    pub(super) fn fits(&self, name: &str, known: &Captures) -> Option<Captures> {
        fit(&self.0, name, known.clone())
    }

    /// The expected texts that none of `found` has, each after the name of its placeholder. If `found` has none of a
    /// placeholder's texts, it is about something else, and nothing is missing.
    pub(super) fn missing(&self, found: &[&Captures]) -> Vec<String> {
        let mut missing = Vec::new();
        for piece in &self.0 {
            let Piece::Open { name, expected } = piece else { continue };
            let there = |text: &&String| found.iter().any(|captures| captures.get(name) == Some(*text));
            let (_, without): (Vec<&String>, Vec<&String>) = expected.iter().partition(there);
            if without.len() < expected.len() {
                missing.extend(without.into_iter().map(|text| format!("{name} {text}")));
            }
        }
        missing
    }
}

/// A placeholder matches at least one character and no `/`; the shortest match with which the rest matches is used.
fn fit(pieces: &[Piece], name: &str, found: Captures) -> Option<Captures> {
    let Some((first, rest)) = pieces.split_first() else { return name.is_empty().then_some(found) };
    match first {
        Piece::Text(text) => fit(rest, name.strip_prefix(text.as_str())?, found),
        Piece::Open { name: place, .. } => {
            let most = name.find('/').unwrap_or(name.len());
            let ends = name.char_indices().map(|(at, one)| at + one.len_utf8()).take_while(|&end| end <= most);
            ends.into_iter().find_map(|end| {
                let (value, tail) = name.split_at(end);
                match found.get(place) {
                    Some(before) if before != value => None,
                    _ => {
                        let mut found = found.clone();
                        found.insert(place.clone(), value.to_owned());
                        fit(rest, tail, found)
                    }
                }
            })
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn fits(pattern: &str, name: &str) -> Option<Vec<String>> {
        let found = Pattern::read(pattern).unwrap().fits(name, &Captures::new())?;
        Some(found.into_iter().map(|(place, value)| format!("{place}={value}")).collect())
    }

    #[test]
    fn open_places_take_what_stands_between_slashes() {
        assert_eq!(fits("a/{x}/c", "a/b/c").unwrap(), ["x=b"]);
        assert_eq!(fits("a/{x}", "a/b/c"), None);
        assert_eq!(fits("a/{x}/{y}", "a/b/c").unwrap(), ["x=b", "y=c"]);
        assert_eq!(fits("{x} to {y}", "1 MB to 10 MB").unwrap(), ["x=1 MB", "y=10 MB"]);
        assert_eq!(fits("a", "a").unwrap(), Vec::<String>::new());
        assert_eq!(fits("a/{x}", "a/"), None, "nothing is not enough");
        assert_eq!(fits("{x}-OCB", "AES-OCB").unwrap(), ["x=AES"]);
        assert_eq!(fits("µ/{x}", "µ/é").unwrap(), ["x=é"]);
    }

    #[test]
    fn a_place_named_twice_holds_the_same_twice() {
        assert_eq!(fits("{x}/{x}", "a/a").unwrap(), ["x=a"]);
        assert_eq!(fits("{x}/{x}", "a/b"), None);
        let known = Captures::from([("x".to_owned(), "b".to_owned())]);
        assert_eq!(Pattern::read("{x}").unwrap().fits("a", &known), None);
        assert!(Pattern::read("{x}").unwrap().fits("b", &known).is_some());
    }

    #[test]
    fn what_was_expected_and_is_not_there_is_named() {
        let pattern = Pattern::read("a/{x:1,2 P}/{y}").unwrap();
        let found: Vec<Captures> =
            ["a/1/p", "a/7/q"].iter().filter_map(|name| pattern.fits(name, &[].into())).collect();
        assert_eq!(found.len(), 2, "others fit, too");
        assert_eq!(pattern.missing(&found.iter().collect::<Vec<_>>()), ["x 2 P"]);
        assert!(pattern.missing(&[&found[1]]).is_empty(), "it is about another x");
        assert!(Pattern::read("a/{y}").unwrap().missing(&[]).is_empty());
    }

    #[test]
    fn broken_patterns_are_refused() {
        assert_eq!(Pattern::read("a/{x"), None);
        assert_eq!(Pattern::read("{}"), None);
        assert_eq!(Pattern::read("{:1}"), None);
        assert_eq!(Pattern::read("{x:1,}"), None);
        assert_eq!(Pattern::read(""), None);
    }
}
