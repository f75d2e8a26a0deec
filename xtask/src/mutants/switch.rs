//! Source text in which an environment variable selects the change.

use std::{collections::BTreeMap, ops::Range};

use super::{changes::Change, places::Place};

/// The number of the change that the program makes; without it, it makes none.
pub(super) const VARIABLE: &str = "SEALWRIGHT_XTASK_CHANGE";

/// A module for the root of the crate, with the function that the choices call: of `count` changes from `first` on, the
/// one that is made, from 1 on, or 0. The variable is read once.
pub(super) const MODULE: &str = r#"
#[doc(hidden)]
#[allow(warnings)]
pub mod xtask_change {
    extern crate std;
    use core::sync::atomic::{AtomicU32, Ordering};
    static MADE: AtomicU32 = AtomicU32::new(u32::MAX);
    #[inline]
    pub fn made(first: u32, count: u32) -> u32 {
        let mut made = MADE.load(Ordering::Relaxed);
        if made == u32::MAX {
            made = read();
        }
        let at = made.wrapping_sub(first);
        if at < count { at + 1 } else { 0 }
    }
    #[cold]
    fn read() -> u32 {
        let word = std::env::var("SEALWRIGHT_XTASK_CHANGE");
        let made = word.ok().and_then(|word| word.parse().ok()).unwrap_or(u32::MAX - 1);
        MADE.store(made, Ordering::Relaxed);
        made
    }
}
"#;

/// A file in which changes can be selected.
pub(super) struct Switched {
    pub(super) text: String,
    /// The changes in the order of their numbers, the first of which the caller gave.
    pub(super) order: Vec<usize>,
    /// Which bytes of the text only serve which changes, in the order of the text; those of a place come with all of
    /// its changes.
    pub(super) parts: Vec<(Range<usize>, Vec<usize>)>,
}

/// Makes the given changes of a text selectable; their numbers begin at `first`.
pub(super) fn switch(text: &str, changes: &[Change], places: &BTreeMap<usize, Place>, first: usize) -> Switched {
    let mut groups = BTreeMap::<&Place, Vec<usize>>::new();
    for (index, place) in places {
        groups.entry(place).or_default().push(*index);
    }
    let mut groups: Vec<(&Place, Vec<usize>)> = groups.into_iter().collect();
    // What is before an expression comes before it, and the larger one of two that begin together
    groups.sort_by_key(|(place, _)| match place {
        Place::Arm(at) => (*at, 0, 0),
        Place::Body(at) => (*at, 1, 0),
        Place::Expression(start, end) => (*start, 2, text.len() - end),
    });
    let mut writer = Writer {
        text,
        changes,
        groups: groups.into_iter().peekable(),
        next: first,
        done: Switched { text: String::new(), order: Vec::new(), parts: Vec::new() },
    };
    writer.copy(0..text.len());
    writer.done
}

struct Writer<'a, G: Iterator<Item = (&'a Place, Vec<usize>)>> {
    text: &'a str,
    changes: &'a [Change],
    groups: std::iter::Peekable<G>,
    next: usize,
    done: Switched,
}

impl<'a, G: Iterator<Item = (&'a Place, Vec<usize>)>> Writer<'a, G> {
    /// Writes a part of the text with all choices in it.
    fn copy(&mut self, range: Range<usize>) {
        let mut at = range.start;
        while let Some((place, group)) = self.groups.next_if(|(place, _)| starts(place) < range.end) {
            self.done.text += &self.text[at..starts(place)];
            at = starts(place);
            let begin = self.done.text.len();
            let call = format!("crate::xtask_change::made({}, {})", self.next, group.len());
            self.next += group.len();
            self.done.order.extend(&group);
            match place {
                Place::Arm(_) => self.done.text += &format!(" if {call} == 0"),
                Place::Body(_) => {
                    self.done.text += &format!("match {call} {{ ");
                    for (number, index) in group.iter().enumerate() {
                        let change = &self.changes[*index];
                        self.choice(*index, &format!("{} => return {},", number + 1, change.replacement));
                    }
                    self.done.text += " _ => {} }; ";
                }
                Place::Expression(_, end) => {
                    self.done.text += &format!("(match {call} {{ 0 => ");
                    self.copy(at..*end);
                    self.done.text += ",";
                    for (number, index) in group.iter().enumerate() {
                        let (text, change) = (self.text, &self.changes[*index]);
                        let (before, behind) = (&text[at..change.range.start], &text[change.range.end..*end]);
                        let part = format!(" {} => {before}{}{behind},", number + 1, change.replacement);
                        self.choice(*index, &part);
                    }
                    self.done.text += " _ => ::core::unreachable!() })";
                    at = *end;
                }
            }
            self.done.parts.push((begin..self.done.text.len(), group));
        }
        self.done.text += &self.text[at..range.end];
    }

    fn choice(&mut self, index: usize, part: &str) {
        let begin = self.done.text.len();
        self.done.text += part;
        self.done.parts.push((begin..self.done.text.len(), vec![index]));
    }
}

fn starts(place: &Place) -> usize {
    match place {
        Place::Body(at) | Place::Arm(at) | Place::Expression(at, _) => *at,
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::{
        super::{
            changes::{Change, Kind},
            places::places,
        },
        switch,
    };

    const TEXT: &str = "const N: u8 = 1 + 2;\nfn f(a: u8, b: u8) -> bool {\n    a + b < N && !odd(a)\n}\n\
         fn g(x: u8) -> u8 {\n    match x { 0 => 1, _ if x > 3 => 2, _ => { 3 } }\n}\n";

    /// Of what stands in [`TEXT`] for the `nth` time, such a change.
    fn change(kind: Kind, what: &str, nth: usize, replacement: &str) -> Change {
        change_in(TEXT, kind, what, nth, replacement)
    }

    fn change_in(text: &str, kind: Kind, what: &str, nth: usize, replacement: &str) -> Change {
        let at = text.match_indices(what).nth(nth).expect("it is there").0;
        let range: Range<usize> = at..at + what.len();
        Change { name: String::new(), file: String::new(), kind, range, replacement: replacement.to_owned() }
    }

    #[test]
    fn a_number_chooses_each_change() {
        let changes = [
            change(Kind::Binary, "+", 0, "-"),
            change(Kind::Binary, "+", 1, "*"),
            change(Kind::Binary, "&&", 0, "||"),
            change(Kind::Unary, "!", 0, ""),
            change(Kind::Body, "a + b < N && !odd(a)", 0, "true"),
            change(Kind::Arm, "0 => 1,", 0, ""),
            change(Kind::Guard, "x > 3", 0, "false"),
        ];
        let places = places(TEXT, &changes).expect("it is a file");
        assert_eq!(places.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6], "no constant");
        let switched = switch(TEXT, &changes, &places, 10);
        assert_eq!(switched.order, [4, 1, 2, 3, 5, 6]);
        let made = |first: u32, count: u32| format!("crate::xtask_change::made({first}, {count})");
        let expected = TEXT
            .replace("!odd(a)", &format!("(match {} {{ 0 => !odd(a), 1 => odd(a), UNREACHABLE", made(13, 1)))
            .replace("    a + b < N && ", &format!("    BODY(match {} {{ 0 => a + b < N && ", made(11, 2)))
            .replace(
                "odd(a), UNREACHABLE\n",
                "odd(a), UNREACHABLE, 1 => a * b < N && !odd(a), 2 => a + b < N || !odd(a), UNREACHABLE\n",
            )
            .replace("BODY", &format!("match {} {{ 1 => return true, _ => {{}} }}; ", made(10, 1)))
            .replace("match x { 0", &format!("match x {{ 0 if {} == 0", made(14, 1)))
            .replace("if x > 3", &format!("if (match {} {{ 0 => x > 3, 1 => false, UNREACHABLE", made(15, 1)))
            .replace("UNREACHABLE", "_ => ::core::unreachable!() })");
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(plain(&switched.text), plain(&expected));
        for (range, of) in &switched.parts {
            let alone = [" 1 => a * b", " 2 => a + b < N ||", " 1 => odd", "1 => return", " 1 => false"];
            let part = &switched.text[range.clone()];
            assert!(of.len() > 1 || alone.iter().any(|begin| part.starts_with(begin)) || part.contains("made("));
        }
    }

    #[test]
    fn beside_a_let_nothing_is_wrapped() {
        let text = "fn f(a: bool, b: Option<u8>) -> u8 { if a && let Some(c) = b && c == 1 { 1 } else { 0 } }";
        let found = |what: &str| change_in(text, Kind::Binary, what, 0, "x");
        let places = places(text, &[found("&&"), found("==")]).expect("it is a file");
        assert_eq!(places.keys().copied().collect::<Vec<_>>(), [1]);
    }
    #[test]
    fn what_hides_its_type_returns_nothing_else() {
        let text = "fn f() -> Option<impl Fn()> { a() }\nfn g() -> Option<u8> { b() }";
        let change = |what: &str| change_in(text, Kind::Body, what, 0, "None");
        let places = places(text, &[change("a()"), change("b()")]).expect("it is a file");
        assert_eq!(places.keys().copied().collect::<Vec<_>>(), [1]);
    }
}
