//! The parser of rules such as `every 'GCM : CBC/{direction}/{file}' > 1.02 and some 'x' over 'y' from 2 to 3`.

use super::pattern::Pattern;

/// Why a rule cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the rule `{rule}` cannot be read: {what}")]
pub struct RuleError {
    /// The rule.
    rule: String,
    /// What is wrong.
    what: String,
}

/// A rule: clauses that must all hold.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clauses(pub(super) Vec<Clause>);

/// One clause.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clause {
    pub(super) how_many: HowMany,
    pub(super) term: Term,
    pub(super) test: Test,
}

/// How many of the cases must pass the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HowMany {
    Every,
    /// More than half of them.
    Most,
    Some,
}

/// A pattern for figures, or two patterns whose figures are divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) figure: Pattern,
    pub(super) over: Option<Pattern>,
    /// The text of the term in the rule.
    pub(super) text: String,
}

/// The condition on a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Test {
    Above(f64),
    Below(f64),
    /// Inclusive bounds.
    Between(f64, f64),
}

/// Parses a rule.
pub(super) fn clauses(rule: &str) -> Result<Clauses, RuleError> {
    let mut reader = Reader { rule, rest: rule.trim_start() };
    let mut all = vec![reader.clause()?];
    while !reader.rest.is_empty() {
        reader.word("and")?;
        all.push(reader.clause()?);
    }
    Ok(Clauses(all))
}

/// Parses a single term, as used by magnitudes.
pub(super) fn term(text: &str) -> Result<Term, RuleError> {
    let mut reader = Reader { rule: text, rest: text.trim_start() };
    let term = reader.term()?;
    if reader.rest.is_empty() { Ok(term) } else { Err(reader.wrong("more than one figure")) }
}

struct Reader<'a> {
    rule: &'a str,
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn wrong(&self, what: impl Into<String>) -> RuleError {
        RuleError { rule: self.rule.to_owned(), what: what.into() }
    }

    /// The next word, if there is one.
    fn next(&mut self) -> Option<&'a str> {
        let end = self.rest.find(char::is_whitespace).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        (!word.is_empty()).then_some(word)
    }

    fn word(&mut self, wanted: &str) -> Result<(), RuleError> {
        match self.next() {
            Some(word) if word == wanted => Ok(()),
            found => Err(self.wrong(format!("`{wanted}` is missing, found `{}`", found.unwrap_or("the end")))),
        }
    }

    fn number(&mut self) -> Result<f64, RuleError> {
        let word = self.next().unwrap_or("the end");
        let number: Option<f64> = word.parse().ok();
        number.filter(|number| number.is_finite()).ok_or_else(|| self.wrong(format!("`{word}` is not a number")))
    }

    fn clause(&mut self) -> Result<Clause, RuleError> {
        let how_many = match self.next() {
            Some("every") => HowMany::Every,
            Some("most") => HowMany::Most,
            Some("some") => HowMany::Some,
            found => return Err(self.wrong(format!("`{}` is not every, most or some", found.unwrap_or("the end")))),
        };
        let term = self.term()?;
        let test = match self.next() {
            Some(">") => Test::Above(self.number()?),
            Some("<") => Test::Below(self.number()?),
            Some("from") => {
                let low = self.number()?;
                self.word("to")?;
                let high = self.number()?;
                if low > high {
                    return Err(self.wrong(format!("nothing is from {low} to {high}")));
                }
                Test::Between(low, high)
            }
            found => return Err(self.wrong(format!("`{}` is not <, > or from", found.unwrap_or("the end")))),
        };
        Ok(Clause { how_many, term, test })
    }

    fn term(&mut self) -> Result<Term, RuleError> {
        let before = self.rest;
        let figure = self.name()?;
        let over = if self.rest.starts_with("over ") {
            self.word("over")?;
            Some(self.name()?)
        } else {
            None
        };
        let text = before[..before.len() - self.rest.len()].trim().replace('\'', "");
        Ok(Term { figure, over, text })
    }

    /// Parses a quoted name.
    fn name(&mut self) -> Result<Pattern, RuleError> {
        let inside = self.rest.strip_prefix('\'').ok_or_else(|| self.wrong("a name between quotes is missing"))?;
        let end = inside.find('\'').ok_or_else(|| self.wrong("a quote is not closed"))?;
        self.rest = inside[end + 1..].trim_start();
        Pattern::read(&inside[..end]).ok_or_else(|| self.wrong(format!("`{}` is not a name", &inside[..end])))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn rules_are_read() {
        let found = clauses("every 'a/{x}' > 1.02 and some 'b' over 'c d'  from -2 to 3e1").unwrap();
        assert_eq!(found.0.len(), 2);
        assert_eq!((found.0[0].how_many, found.0[0].test), (HowMany::Every, Test::Above(1.02)));
        assert_eq!((found.0[1].how_many, found.0[1].test), (HowMany::Some, Test::Between(-2.0, 30.0)));
        assert_eq!(found.0[1].term.text, "b over c d");
        assert!(found.0[1].term.over.is_some());
        assert_eq!(clauses("most 'a' < 0").unwrap().0[0].test, Test::Below(0.0));
        assert_eq!(term("'a' over 'b'").unwrap().text, "a over b");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (rule, what) in [
            ("", "`the end` is not every"),
            ("all 'a' > 1", "`all` is not every"),
            ("every a > 1", "a name between quotes"),
            ("every 'a > 1", "a quote is not closed"),
            ("every '' > 1", "`` is not a name"),
            ("every 'a' = 1", "`=` is not <"),
            ("every 'a' > x", "`x` is not a number"),
            ("every 'a' > inf", "`inf` is not a number"),
            ("every 'a' from 2 1", "`to` is missing, found `1`"),
            ("every 'a' from 2 to 1", "nothing is from 2 to 1"),
            ("every 'a' > 1 or some 'b' > 2", "`and` is missing, found `or`"),
            ("every 'a' > 1 and", "`the end` is not every"),
        ] {
            let error = clauses(rule).unwrap_err().to_string();
            assert!(error.contains(what) && error.contains(rule), "{error}");
        }
        assert!(term("'a' > 1").unwrap_err().to_string().contains("more than one figure"));
    }
}
