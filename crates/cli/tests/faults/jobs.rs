//! What the program is asked to do while calls fail or it is killed.

use std::{fs, path::Path};

use sealwright_transcripts::{Sandbox, text};

/// One job, and what it may leave behind.
pub(crate) struct Job {
    pub(crate) line: &'static str,
    /// Made before each run.
    pub(crate) before: fn(&Sandbox),
    /// Whether the outputs are all there and right.
    pub(crate) done: fn(&Sandbox) -> bool,
    /// Whether all is as it was before.
    pub(crate) undone: fn(&Sandbox) -> bool,
}

pub(crate) fn clear(sandbox: &Sandbox, names: &[&str]) {
    for name in names {
        let path = sandbox.path(name);
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    }
}

pub(crate) fn is(sandbox: &Sandbox, name: &str, wanted: &[u8]) -> bool {
    fs::read(sandbox.path(name)).is_ok_and(|found| found == wanted)
}

/// Whether a sealed file opens to `wanted`.
pub(crate) fn opens(sandbox: &Sandbox, name: &str, key: &str, wanted: &[u8]) -> bool {
    let said = sandbox.run(&format!("open {key} {name} -o -"));
    said.code == 0 && said.out == wanted
}

pub(crate) const SEAL: Job = Job {
    line: "seal -q --key-file k a",
    before: |sandbox| clear(sandbox, &["a.seal"]),
    done: |sandbox| opens(sandbox, "a.seal", "--key-file k", &sandbox.read("a")),
    undone: |sandbox| !sandbox.path("a.seal").exists(),
};

/// A file is replaced: it is the old one or the new one at any time.
pub(crate) const REPLACE: Job = Job {
    line: "seal -q --key-file k a -o old.seal --force",
    before: |sandbox| fs::write(sandbox.path("old.seal"), "the old file").unwrap(),
    done: |sandbox| opens(sandbox, "old.seal", "--key-file k", &sandbox.read("a")),
    undone: |sandbox| is(sandbox, "old.seal", b"the old file"),
};

/// The input is removed, but only once the output is there.
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
    done: |sandbox| is(sandbox, "b", &sandbox.read("a")),
    undone: |sandbox| !sandbox.path("b").exists(),
};

pub(crate) const PADDED: Job = Job {
    line: "open -q --key-file k p.seal -o b",
    before: |sandbox| clear(sandbox, &["b"]),
    done: |sandbox| is(sandbox, "b", &sandbox.read("a")),
    undone: |sandbox| !sandbox.path("b").exists(),
};

pub(crate) const REKEY: Job = Job {
    line: "rekey -q r.seal --key-file k --add-key-file other",
    before: |sandbox| {
        fs::copy(sandbox.path("shared.seal"), sandbox.path("r.seal")).unwrap();
    },
    done: |sandbox| {
        let all = sandbox.read("a");
        opens(sandbox, "r.seal", "--key-file k", &all) && opens(sandbox, "r.seal", "--key-file other", &all)
    },
    undone: |sandbox| is(sandbox, "r.seal", &sandbox.read("shared.seal")),
};

pub(crate) const PACK: Job = Job {
    line: "seal -q --key-file k d -o d.seal",
    before: |sandbox| clear(sandbox, &["d.seal"]),
    done: |sandbox| sandbox.run("verify --key-file k d.seal").code == 0,
    undone: |sandbox| !sandbox.path("d.seal").exists(),
};

pub(crate) const UNPACK: Job = Job {
    line: "open -q --key-file k tree.seal -C out",
    before: |sandbox| clear(sandbox, &["out"]),
    done: |sandbox| {
        ["x", "e/y"].iter().all(|name| is(sandbox, &format!("out/d/{name}"), &sandbox.read(&format!("d/{name}"))))
    },
    undone: |sandbox| !sandbox.path("out/d").exists(),
};

/// So many files that they are synced together.
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

/// Sealed file by file: the manifest comes last, and only if all the files are there.
pub(crate) const EACH: Job = Job {
    line: "seal -q --key-file k --each d -C each",
    before: |sandbox| clear(sandbox, &["each", "check"]),
    done: |sandbox| sandbox.run("open -q --key-file k --each each/d -o check --manifest --force").code == 0,
    undone: |sandbox| !sandbox.path("each/d/.seal-manifest").exists(),
};

pub(crate) fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a", text(40_000));
    sandbox.write("d/x", text(20_000));
    sandbox.write("d/e/y", text(3));
    sandbox.ok("seal --key-file k a -o b.seal");
    sandbox.ok("seal --key-file k --pad a -o p.seal");
    sandbox.ok("seal --key-file k d -o tree.seal");
    // Two keys make slots, which rekey changes.
    sandbox.write("third", [7; 32]);
    sandbox.chmod("third", 0o600);
    sandbox.ok("seal --key-file k --key-file third a -o shared.seal");
    sandbox
}

/// Hidden names that were left behind.
pub(crate) fn leftovers(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with('.') && name != ".seal-manifest").collect()
}
