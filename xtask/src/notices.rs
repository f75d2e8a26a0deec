//! The licence texts of the third-party crates in a package, which must go with its binaries (`cargo xtask notices`).

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    cargo_tree::{Built, Id},
    licence::{texts, tidy},
    programs::said,
    sbom,
    steps::{Checked, Steps},
    supply::{Graph, text as string},
};

/// The name of the file beside the licences of this project.
pub(crate) const FILE: &str = "LICENSE-THIRD-PARTY.txt";

const HINT: &str = "hint: cargo xtask notices sealwright-capi -o FILE";

/// `cargo xtask notices [PACKAGE] [OPTIONS] [-o FILE]`: writes the texts to the file, or to `target/notices`.
pub(crate) fn check(steps: &Steps, words: &[String]) -> Checked {
    match write(steps, words) {
        Ok(what) => Checked::Right(what),
        Err(why) => Checked::Wrong(vec![why]),
    }
}

fn write(steps: &Steps, words: &[String]) -> Result<String, String> {
    let (words, file) = match words.iter().position(|word| word == "-o") {
        Some(at) => {
            let file = words.get(at + 1).ok_or_else(|| format!("-o takes a file\n   {HINT}"))?;
            ([&words[..at], &words[at + 2..]].concat(), Some(PathBuf::from(file)))
        }
        None => (words.to_vec(), None),
    };
    let (package, options) = sbom::wanted("notices", &words)?;
    let all = text(steps, package, &options, None)?;
    let path = file.unwrap_or_else(|| steps.target().join("notices").join(format!("{package}.txt")));
    let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, &all));
    made.map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(format!("{} lines in {}", all.lines().count(), path.display()))
}

/// The texts of all crates that are built into a package for this machine or for `target`. `options` are cargo's that
/// select features.
pub(crate) fn text(steps: &Steps, package: &str, options: &[&str], target: Option<&str>) -> Result<String, String> {
    let graph = Graph::of(steps, "Cargo.toml", target.is_none())?;
    graph.ours(package).ok_or_else(|| format!("{package}: no package of this workspace\n   {HINT}"))?;
    let options: Vec<&str> =
        options.iter().copied().chain(target.into_iter().flat_map(|it| ["--target", it])).collect();
    let built = Built::of(steps, package, "normal", &options)?;
    let known: BTreeMap<Id, &Value> =
        graph.packages.values().map(|of| ((string(&of["name"]), string(&of["version"])), of)).collect();
    let mut crates = Vec::new();
    for id in built.crates.keys() {
        let of = known.get(id).ok_or_else(|| format!("{} {}: cargo metadata does not know it", id.0, id.1))?;
        // Crates of this workspace have its licence.
        if !of["source"].is_null() {
            crates.push((format!("{} {}", id.0, id.1), string(&of["license"]), texts(of)?));
        }
    }
    crates.push(standard(&said(Command::new("rustc").args(["--print", "sysroot"]))?));
    Ok(printed(package, &crates))
}

/// A name and version, the licence expression, and the texts.
type Crate = (String, String, Vec<String>);

/// The standard library, which every binary contains. The compiler comes with its notices.
fn standard(sysroot: &str) -> Crate {
    let page = Path::new(sysroot.trim_end()).join("share/doc/rust/COPYRIGHT-library.html");
    let text = fs::read_to_string(page)
        .map_or_else(|_| "See COPYRIGHT-library.html of this Rust compiler.".into(), |page| plain(&page));
    ("the Rust standard library".into(), "MIT OR Apache-2.0, and others in parts".into(), vec![text])
}

/// The text of a page of HTML.
fn plain(page: &str) -> String {
    let body = page.split_once("<body>").map_or(page, |(_, body)| body);
    let parts = body
        .split('<')
        .enumerate()
        .map(|(at, part)| if at == 0 { part } else { part.split_once('>').map_or("", |(_, text)| text) });
    let text: String = parts.collect();
    let marks = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    tidy(&marks.iter().fold(text, |text, (mark, character)| text.replace(mark, character)))
}

/// The list of the crates, then each text once, below the names of those to which it belongs.
fn printed(package: &str, crates: &[Crate]) -> String {
    let mut users = BTreeMap::<&str, Vec<&str>>::new();
    for (name, _, texts) in crates {
        for text in texts.iter().collect::<BTreeSet<_>>() {
            users.entry(text).or_default().push(name);
        }
    }
    let mut sections: Vec<(Vec<&str>, &str)> = users.into_iter().map(|(text, names)| (names, text)).collect();
    sections.sort();
    let list: String = crates.iter().map(|(name, licence, _)| format!("* {name}: {licence}\n")).collect();
    let line = "=".repeat(80);
    let texts = sections.iter().map(|(names, text)| format!("\n{line}\n{}\n{line}\n\n{text}\n", names.join("\n")));
    format!("Software of others in {package}, and its licences\n\n{list}{}", texts.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_printed_once() {
        let of =
            |name: &str, texts: &[&str]| (name.into(), "MIT".into(), texts.iter().map(ToString::to_string).collect());
        let all = printed("p", &[of("a 1", &["two", "one"]), of("b 1", &["one", "one"])]);
        let line = "=".repeat(80);
        assert_eq!(
            all,
            format!(
                "Software of others in p, and its licences\n\n* a 1: MIT\n* b 1: MIT\n\
                 \n{line}\na 1\n{line}\n\ntwo\n\n{line}\na 1\nb 1\n{line}\n\none\n"
            )
        );
    }

    #[test]
    fn pages_become_text() {
        assert_eq!(
            plain("<html><head>x</head><body>\n<h1>A &lt;b&gt;</h1>\n<pre>c &amp;lt; d</pre></body>"),
            "A <b>\nc &lt; d"
        );
    }
}
