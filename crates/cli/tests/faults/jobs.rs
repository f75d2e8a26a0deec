//! The jobs during which system calls fail or the program is killed.

use std::{fs, path::Path};

use sealwright_transcripts::{Sandbox, text};

/// A job, and the states that it may leave behind.
pub(crate) struct Job {
    pub(crate) line: &'static str,
    /// Prepares each run.
    pub(crate) before: fn(&Sandbox),
    /// Whether all outputs are complete and correct.
    pub(crate) done: fn(&Sandbox) -> bool,
    /// Whether everything is as it was before.
    pub(crate) undone: fn(&Sandbox) -> bool,
}

/// The nine jobs. The one that changes keys exists only in builds with public keys.
pub(crate) const JOBS: &[Job] = &[
    SEAL,
    REPLACE,
    REMOVE,
    OPEN,
    PADDED,
    #[cfg(feature = "public-keys")]
    REKEY,
    PACK,
    UNPACK,
    EACH,
];

pub(crate) fn clear(sandbox: &Sandbox, names: &[&str]) {
    for name in names {
        let path = sandbox.path(name);
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    }
}

pub(crate) fn is(sandbox: &Sandbox, name: &str, wanted: &[u8]) -> bool {
    fs::read(sandbox.path(name)).is_ok_and(|found| found == wanted)
}

/// The text that is sealed.
pub(crate) fn all() -> Vec<u8> {
    text(40_000)
}

/// Whether a sealed file opens to `wanted`.
pub(crate) fn opens(sandbox: &Sandbox, name: &str, key: &str, wanted: &[u8]) -> bool {
    let said = sandbox.run(&format!("open {key} {name} -o -"));
    said.code == 0 && said.out == wanted
}

pub(crate) const SEAL: Job = Job {
    line: "seal -q --key-file k a",
    before: |sandbox| clear(sandbox, &["a.seal"]),
    done: |sandbox| opens(sandbox, "a.seal", "--key-file k", &all()),
    undone: |sandbox| !sandbox.path("a.seal").exists(),
};

/// A file is replaced: at any time, it is the old one or the new one.
pub(crate) const REPLACE: Job = Job {
    line: "seal -q --key-file k a -o old.seal --force",
    before: |sandbox| fs::write(sandbox.path("old.seal"), "the old file").unwrap(),
    done: |sandbox| opens(sandbox, "old.seal", "--key-file k", &all()),
    undone: |sandbox| is(sandbox, "old.seal", b"the old file"),
};

/// The input is removed, but only after its output exists.
pub(crate) const REMOVE: Job = Job {
    line: "seal -q --key-file k c --remove",
    before: |sandbox| {
        clear(sandbox, &["c.seal"]);
        sandbox.write("c", text(30_000));
    },
    done: |sandbox| opens(sandbox, "c.seal", "--key-file k", &text(30_000)),
    undone: |sandbox| is(sandbox, "c", &text(30_000)) && !sandbox.path("c.seal").exists(),
};

pub(crate) const OPEN: Job = Job {
    line: "open -q --key-file k b.seal",
    before: |sandbox| clear(sandbox, &["b"]),
    done: |sandbox| is(sandbox, "b", &all()),
    undone: |sandbox| !sandbox.path("b").exists(),
};

pub(crate) const PADDED: Job = Job {
    line: "open -q --key-file k p.seal -o b",
    before: |sandbox| clear(sandbox, &["b"]),
    done: |sandbox| is(sandbox, "b", &all()),
    undone: |sandbox| !sandbox.path("b").exists(),
};

#[cfg(feature = "public-keys")]
pub(crate) const REKEY: Job = Job {
    line: "rekey -q r.seal --key-file k --add-key-file other",
    before: |sandbox| {
        fs::copy(sandbox.path("shared.seal"), sandbox.path("r.seal")).unwrap();
    },
    done: |sandbox| {
        opens(sandbox, "r.seal", "--key-file k", &all()) && opens(sandbox, "r.seal", "--key-file other", &all())
    },
    undone: |sandbox| is(sandbox, "r.seal", &sandbox.read("shared.seal")),
};

pub(crate) const PACK: Job = Job {
    line: "seal -q --key-file k d -o d.seal",
    before: |sandbox| clear(sandbox, &["d.seal"]),
    done: |sandbox| {
        clear(sandbox, &["check"]);
        let opened = sandbox.run("open -q --key-file k d.seal -C check").code == 0;
        let right = opened && is_the_tree(sandbox, "check/d");
        clear(sandbox, &["check"]);
        right
    },
    undone: |sandbox| !sandbox.path("d.seal").exists(),
};

pub(crate) const UNPACK: Job = Job {
    line: "open -q --key-file k tree.seal -C out",
    before: |sandbox| clear(sandbox, &["out"]),
    done: |sandbox| is_the_tree(sandbox, "out/d"),
    undone: |sandbox| !sandbox.path("out/d").exists(),
};

/// Enough files that they are synced together.
pub(crate) const UNPACK_MANY: Job = Job {
    line: "open -q --key-file k many.seal -C out",
    before: |sandbox| {
        clear(sandbox, &["out"]);
        if !sandbox.path("many.seal").exists() {
            (0..MANY).for_each(|i| sandbox.write(&format!("m/{i}"), text(i)));
            sandbox.ok("seal --key-file k m -o many.seal");
            clear(sandbox, &["m"]);
        }
    },
    done: |sandbox| (0..MANY).all(|i| is(sandbox, &format!("out/m/{i}"), &text(i))),
    undone: |sandbox| !sandbox.path("out/m").exists(),
};
const MANY: usize = 70;

/// Sealed file by file: the manifest is written last, and only if all files exist. Before that, each of them is
/// complete or absent.
pub(crate) const EACH: Job = Job {
    line: "seal -q --key-file k --each d -C each",
    before: |sandbox| clear(sandbox, &["each", "check"]),
    done: |sandbox| {
        clear(sandbox, &["check"]);
        let opened = sandbox.run("open -q --key-file k --each each/d -o check --manifest").code == 0;
        let right = opened && is_the_tree(sandbox, "check");
        clear(sandbox, &["check"]);
        right
    },
    undone: |sandbox| {
        let member = |name: &String| match name.as_str() {
            "d" | "d/e" => true,
            "d/x.seal" => opens(sandbox, "each/d/x.seal", "--key-file k", &text(X)),
            "d/e/y.seal" => opens(sandbox, "each/d/e/y.seal", "--key-file k", &text(Y)),
            _ => false,
        };
        names_below(&sandbox.path("each")).iter().all(member)
    },
};

/// The lengths of the files `d/x` and `d/e/y`.
const X: usize = 20_000;
const Y: usize = 3;

/// Whether a directory is equal to `d` as it was sealed, without additional files.
fn is_the_tree(sandbox: &Sandbox, name: &str) -> bool {
    names_below(&sandbox.path(name)) == ["e", "e/y", "x"]
        && is(sandbox, &format!("{name}/x"), &text(X))
        && is(sandbox, &format!("{name}/e/y"), &text(Y))
}

pub(crate) fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a", all());
    sandbox.write("d/x", text(X));
    sandbox.write("d/e/y", text(Y));
    sandbox.ok("seal --key-file k a -o b.seal");
    sandbox.ok("seal --key-file k --pad a -o p.seal");
    sandbox.ok("seal --key-file k d -o tree.seal");
    // Two keys make slots, which rekey changes.
    sandbox.write("third", [7; 32]);
    sandbox.chmod("third", 0o600);
    sandbox.ok("seal --key-file k --key-file third a -o shared.seal");
    sandbox
}

/// The paths of everything in a directory and below, sorted; nothing if it does not exist. Hidden directories are not
/// entered.
fn names_below(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let entries: Vec<_> = fs::read_dir(directory).map(|all| all.map(Result::unwrap).collect()).unwrap_or_default();
    for entry in entries {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() && !name.starts_with('.') {
            names.extend(names_below(&entry.path()).iter().map(|below| format!("{name}/{below}")));
        }
        names.push(name);
    }
    names.sort();
    names
}

/// Hidden names that were left behind, in a directory and below.
pub(crate) fn leftovers(directory: &Path) -> Vec<String> {
    let hidden = |path: &String| path.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
    let is_output = |path: &String| path.ends_with("/.seal-manifest");
    names_below(directory).into_iter().filter(|path| hidden(path) && !is_output(path)).collect()
}

/// Whether a killed job may leave this hidden name: that of a complete file that was not renamed yet, or the directory
/// in which a tree was being unpacked.
pub(crate) fn may_be_left(job: &Job, sandbox: &Sandbox, name: &str) -> bool {
    let path = sandbox.path(name);
    if path.is_dir() {
        return [UNPACK.line, UNPACK_MANY.line].contains(&job.line) && name.starts_with("out/");
    }
    path.is_file() && opens(sandbox, name, "--key-file k", &all())
}
