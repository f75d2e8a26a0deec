//! Licence expressions of packages (SPDX), and whether a policy allows them.

/// Whether the licences in `allowed` are enough for `expression`: names with AND, OR and parentheses. Old packages
/// write `/` for OR.
pub(crate) fn allows(allowed: &[&str], expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { allowed, rest: &words };
    reader.any().is_some_and(|enough| enough && reader.rest.is_empty())
}

struct Reader<'a> {
    allowed: &'a [&'a str],
    rest: &'a [&'a str],
}

impl Reader<'_> {
    fn next_is(&mut self, word: &str) -> bool {
        let is = self.rest.first() == Some(&word);
        if is {
            self.rest = &self.rest[1..];
        }
        is
    }

    /// Alternatives (OR).
    fn any(&mut self) -> Option<bool> {
        let mut enough = self.every()?;
        while self.next_is("OR") {
            enough |= self.every()?;
        }
        Some(enough)
    }

    /// Conjunctions (AND).
    fn every(&mut self) -> Option<bool> {
        let mut enough = self.one()?;
        while self.next_is("AND") {
            enough &= self.one()?;
        }
        Some(enough)
    }

    fn one(&mut self) -> Option<bool> {
        if self.next_is("(") {
            let inner = self.any()?;
            return self.next_is(")").then_some(inner);
        }
        let (&name, rest) = self.rest.split_first()?;
        self.rest = rest;
        if ["AND", "OR", ")", "WITH"].contains(&name) {
            return None;
        }
        // An exception only adds permissions.
        if self.next_is("WITH") {
            self.rest = self.rest.split_first()?.1;
        }
        Some(self.allowed.contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::allows;

    #[test]
    fn expressions() {
        let allowed = ["MIT", "Apache-2.0", "ISC"];
        for enough in
            ["MIT", "MIT/GPL-3.0", "GPL-3.0 OR MIT", "ISC AND (GPL-3.0 OR MIT)", "Apache-2.0 WITH LLVM-exception"]
        {
            assert!(allows(&allowed, enough), "{enough}");
        }
        for not in [
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "",
            "MIT OR",
            "(MIT",
            "MIT)",
            "AND",
            "MIT Apache-2.0",
            "ISC AND (GPL-3.0 OR X)",
        ] {
            assert!(!allows(&allowed, not), "{not}");
        }
    }
}
