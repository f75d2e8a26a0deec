//! Suggestions for misspelt words.

/// The known word that is most similar to `word`, if one is similar enough.
pub fn similar<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = 1 + word.chars().count() / 5;
    let near =
        known.into_iter().map(|other| (distance(word, other), other)).filter(|(far, _)| (1..=most).contains(far));
    near.min_by_key(|(far, _)| *far).map(|(_, other)| other)
}

/// The number of characters to insert, delete, replace or transpose with a neighbour to turn one word into the other.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<_>, Vec<_>) = (from.chars().collect(), to.chars().collect());
    // Rows of the distance matrix: for the prefixes of `from` that are two characters shorter, one shorter, and the
    // current one.
    let (mut before, mut last): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=to.len()).collect());
    for (i, &a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &b) in to.iter().enumerate() {
            let mut least = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a == to[j - 1] && b == from[i - 1] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_keyboard_are_one_apart() {
        for (from, to, far) in [
            ("alice", "alice", 0),
            ("alcie", "alice", 1),
            ("alic", "alice", 1),
            ("alicee", "alice", 1),
            ("alide", "alice", 1),
            ("ca", "abc", 3),
            ("", "abc", 3),
            ("abc", "", 3),
        ] {
            assert_eq!(distance(from, to), far, "{from} {to}");
        }
        assert_eq!(similar("alcie", ["bob", "alicia", "alice"]), Some("alice"));
        assert_eq!(similar("mallory", ["bob", "alice"]), None);
        assert_eq!(similar("alice", ["alice"]), None, "it is the word itself");
        assert_eq!(similar("bo", ["al", "bob"]), Some("bob"));
    }
}
