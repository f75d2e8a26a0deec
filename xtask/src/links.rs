//! Checks links between documents: each file of the repository that a link names exists, and so does the heading after
//! a `#`. Pages of `docs` that are copied into a package have no links there that lead out of the package.

use std::{
    collections::HashMap,
    fs,
    path::{Component, Path, PathBuf},
};

use crate::{
    files::collect,
    steps::{Checked, Steps},
};

/// The pages of `docs` that are copied to a folder of a package, without the links that lead out of it. A page without
/// such links can be a symbolic link there instead.
struct Copies {
    folder: &'static str,
    pages: &'static [&'static str],
}

const COPIES: [Copies; 2] = [
    Copies { folder: "crates/aead/docs", pages: &["CHOOSING.md", "COMING_FROM.md", "GSCM.md", "RKC.md"] },
    Copies { folder: "crates/capi/docs", pages: &["C.md"] },
];

/// `cargo xtask links`; with `--write` it writes the copies.
pub(crate) fn check(steps: &Steps, words: &[String]) -> Checked {
    const HINT: &str = "hint: cargo xtask links --write";
    let write = match words {
        [] => false,
        [word] if word == "--write" => true,
        _ => return Checked::Wrong(vec![format!("{}: --write is all it takes\n   {HINT}", words.join(" "))]),
    };
    let mut stale = Vec::new();
    for (Copies { folder, pages }, name) in COPIES.iter().flat_map(|of| of.pages.iter().map(move |name| (of, name))) {
        let (page, copy) = (steps.root().join("docs").join(name), steps.root().join(folder).join(name));
        let wanted = match fs::read_to_string(&page) {
            Ok(text) => copied(name, &text, pages),
            Err(error) => return Checked::Wrong(vec![format!("docs/{name}: {error}")]),
        };
        if fs::read_to_string(&copy).is_ok_and(|text| text == wanted) {
            continue;
        }
        if !write {
            stale.push(format!("{folder}/{name}: it is not what docs/{name} is without its links\n   {HINT}"));
        } else if let Err(error) = fs::create_dir_all(steps.root().join(folder)).and_then(|()| fs::write(&copy, wanted))
        {
            stale.push(format!("{}: {error}", copy.display()));
        }
    }
    let (mut wrong, what) = all(steps);
    stale.append(&mut wrong);
    Checked::of(stale, what)
}

/// The copy of a page for a package that has `pages`.
fn copied(name: &str, text: &str, pages: &[&str]) -> String {
    let note = format!(
        "<!-- `cargo xtask links --write` makes this page of docs/{name}: it has no links that lead out of the package. -->\n"
    );
    let stays = |target: &str| {
        target.contains("://")
            || pages.contains(&target.split('#').next().unwrap_or_default())
            || target.starts_with('#')
    };
    note + &without(text, stays)
}

/// A text in which links that do not stay are replaced by their words, as [`links`] finds them.
fn without(text: &str, stays: impl Fn(&str) -> bool) -> String {
    let (mut out, mut fence, mut open) = (String::new(), false, Vec::new());
    for line in text.split_inclusive('\n') {
        let edge = line.trim_start().starts_with("```");
        fence ^= edge;
        if fence || edge {
            out += line;
            continue;
        }
        let (mut code, mut rest) = (false, line);
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            code ^= c == '`';
            if c == '[' && !code {
                open.push(out.len());
            } else if c == ']' && !code {
                let target = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
                if let (Some(begin), Some((target, after))) = (open.pop(), target)
                    && !stays(target)
                {
                    out.remove(begin);
                    rest = after;
                    continue;
                }
            }
            out.push(c);
        }
    }
    out
}

/// The pages of `docs` to which its index has no link.
fn not_in_index(index: &str, pages: &[PathBuf], docs: &Path) -> Vec<String> {
    let linked: Vec<String> = links(index).into_iter().map(|(_, target)| target).collect();
    let names = pages.iter().filter(|page| page.parent() == Some(docs)).filter_map(|page| page.file_name()?.to_str());
    let missing = names.filter(|name| *name != "README.md" && !linked.iter().any(|target| target == name));
    missing.map(|name| format!("docs/README.md: no link to {name}")).collect()
}

/// The invalid links of all documents, and the number of links.
fn all(steps: &Steps) -> (Vec<String>, String) {
    let mut pages = Vec::new();
    collect(steps.root(), &["md"], &mut pages);
    let (mut wrong, mut count, mut headings) = (Vec::new(), 0, HashMap::new());
    for path in &pages {
        let name = path.strip_prefix(steps.root()).unwrap_or(path).display();
        match fs::read_to_string(path) {
            Ok(text) => {
                for (line, target) in links(&text) {
                    count += 1;
                    let said = broken(path, &target, &mut headings);
                    wrong.extend(said.map(|what| format!("{name}:{line}: {target}: {what}")));
                }
            }
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    let index = fs::read_to_string(steps.root().join("docs/README.md")).unwrap_or_default();
    wrong.extend(not_in_index(&index, &pages, &steps.root().join("docs")));
    (wrong, format!("{count} links in {} documents", pages.len()))
}

/// What is wrong with a link to `target` in the file `from`.
fn broken(from: &Path, target: &str, headings: &mut HashMap<PathBuf, Vec<String>>) -> Option<&'static str> {
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let path = if file.is_empty() { from.to_owned() } else { plain(&from.parent()?.join(file)) };
    if !path.exists() {
        return Some("there is no such file");
    }
    let anchor = anchor.filter(|_| path.extension().is_some_and(|ending| ending == "md"))?;
    let known = headings
        .entry(path.clone())
        .or_insert_with(|| fs::read_to_string(&path).map_or_else(|_| Vec::new(), |text| anchors(&text)));
    (!known.iter().any(|known| known == anchor)).then_some("there is no such heading")
}

/// A path without `..`, as a reader of the page follows it: symbolic links play no part.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The lines outside of blocks of code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let edge = line.trim_start().starts_with("```");
        fence ^= edge;
        !fence && !edge
    })
}

/// The targets of links that lead into the repository, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        // Between backquotes there is code.
        let words: String = line.split('`').step_by(2).collect::<Vec<_>>().join("x");
        for rest in words.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
                found.push((number, target.to_owned()));
            }
        }
    }
    found
}

/// The anchors of a page: those of its headings, in small letters, digits and `-`, as GitHub makes them, and those it
/// names itself.
fn anchors(text: &str) -> Vec<String> {
    let heads = prose(text).filter(|(_, line)| line.starts_with('#'));
    let mut made: Vec<String> = Vec::new();
    for (_, line) in heads {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let before = made.iter().filter(|other| **other == anchor).count();
        made.push(if before == 0 { anchor } else { format!("{anchor}-{before}") });
    }
    let named = prose(text).flat_map(|(_, line)| line.split("<a id=\"").skip(1));
    made.extend(named.filter_map(|rest| rest.split('"').next().map(str::to_owned)));
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_no_links_that_lead_out() {
        let text = "[a](GSCM.md#b) [c](other.md), [d\n`e]`](../f.md#g \"h\") [i](https://j) [k](#l) `[m](n.md)` [o] [p](q.md)\n\
                    ```\n[r](s.md)\n```\nä [t](u.md)";
        let copy = copied("a.md", text, COPIES[0].pages);
        let (note, copy) = copy.split_once('\n').expect("a line");
        assert!(note.contains("docs/a.md"), "{note}");
        assert_eq!(
            copy,
            "[a](GSCM.md#b) c, d\n`e]` [i](https://j) [k](#l) `[m](n.md)` [o] p\n```\n[r](s.md)\n```\nä t"
        );
    }

    #[test]
    fn every_page_is_in_the_index() {
        let pages = ["docs/A.md", "docs/B.md", "docs/README.md", "docs/attacks/c.md", "README.md"].map(PathBuf::from);
        assert_eq!(not_in_index("* [A](A.md): a", &pages, Path::new("docs")), ["docs/README.md: no link to B.md"]);
    }

    #[test]
    fn links_and_headings_that_are_not_there_are_told() {
        let folder = std::env::temp_dir().join(format!("sealwright-links-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let (page, other) = (folder.join("page.md"), folder.join("other.md"));
        let text = "# A page\n## `seal`, and open\n<a id=\"own\"></a>[x](other.md), [`a](b`)](other.md#twice-1) [web](https://a/b) `[c](d)`\n\
                    ```\n[in](code)\n# no heading\n```\n[gone](gone.md) [here](#seal-and-open) [own](#own)\n";
        fs::write(&page, text).expect("a page");
        fs::write(&other, "# Twice\n# Twice\n").expect("another");
        let found = links(text);
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3, 3, 8, 8, 8]);
        let mut headings = HashMap::new();
        let said: Vec<_> = found.iter().map(|(_, target)| broken(&page, target, &mut headings)).collect();
        assert_eq!(said, [None, None, Some("there is no such file"), None, None]);
        for missing in ["#no-heading", "other.md#twice-2"] {
            assert_eq!(broken(&page, missing, &mut headings), Some("there is no such heading"));
        }
        fs::remove_dir_all(folder).expect("it was made here");
    }
}
