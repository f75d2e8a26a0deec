//! A model of a disk that loses power. What was synced is kept. Of the rest, each change of a directory may or may not
//! be there, independently of the others, and the content of a file may be there in part. The model executes the system
//! calls of a real run, as recorded by strace.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
};

use sealwright_transcripts::Sandbox;

/// A file or a directory, independent of its names.
type Id = usize;
const ROOT: Id = 0;

/// A directory entry that is added or removed.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    directory: Id,
    name: String,
    node: Option<Id>,
}

#[derive(Clone, Debug)]
pub(crate) enum Call {
    Write(Id),
    /// Atomic, as in file systems with a journal.
    Change(Vec<Edit>),
    Sync(Id),
    SyncAll,
}

/// A possible state after a power failure: directories, and files with whether their content is complete.
pub(crate) type Found = BTreeMap<String, Option<(Id, bool)>>;

/// The initial state of a run, and its system calls.
#[derive(Default)]
pub(crate) struct Run {
    /// The content of each file; `None` for directories.
    nodes: Vec<Option<Vec<u8>>>,
    names: BTreeMap<(Id, String), Id>,
    before: BTreeMap<(Id, String), Id>,
    /// Unnamed files, as strace prints them, and by their descriptor.
    unnamed: BTreeMap<String, Id>,
    descriptors: BTreeMap<String, Id>,
    pub(crate) calls: Vec<Call>,
}

impl Run {
    /// Runs the program with the arguments `line` under strace.
    pub(crate) fn of(sandbox: &Sandbox, line: &str) -> Run {
        const TRACED: &str = "openat,write,pwrite64,writev,pwritev,pwritev2,ftruncate,copy_file_range,sendfile,fsync,fdatasync,syncfs,\
                              link,linkat,rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat,rmdir,symlink,symlinkat";
        let mut run = Run::default();
        run.nodes.push(None);
        run.take(&sandbox.path(""), ROOT);
        run.before = run.names.clone();
        let said = sandbox.sh(&format!("strace -f -qq -y -o trace -e trace={TRACED} sealwright {line}"));
        assert_eq!(said.code, 0, "{line}: {}", said.err);
        let trace = sandbox.read("trace");
        fs::remove_file(sandbox.path("trace")).unwrap();
        let root = fs::canonicalize(sandbox.path("")).unwrap();
        let mut begun = BTreeMap::new();
        for call in String::from_utf8_lossy(&trace).lines() {
            let (thread, call) = call.split_once(' ').unwrap();
            if call.trim_start().starts_with("---") {
                continue;
            }
            // A call that was interrupted in the output by another thread's counts when it ends.
            if let Some(half) = call.trim_start().strip_suffix(" <unfinished ...>") {
                begun.insert(thread.to_owned(), half.to_owned());
            } else if let Some((_, rest)) = call.split_once(" resumed>") {
                let half: String = begun.remove(thread).unwrap();
                run.call(&format!("{half}{rest}"), root.to_str().unwrap());
            } else {
                run.call(call.trim_start(), root.to_str().unwrap());
            }
        }
        for ((directory, name), id) in run.names.clone() {
            if run.nodes[id].is_some() {
                run.nodes[id] = Some(fs::read(sandbox.path(&run.path(directory, &name))).unwrap());
            }
        }
        run
    }

    /// Adds everything in a directory to the initial state.
    fn take(&mut self, path: &Path, directory: Id) {
        for entry in fs::read_dir(path).unwrap().map(Result::unwrap) {
            let is_file = entry.file_type().unwrap().is_file();
            let id = self.node(is_file.then(|| fs::read(entry.path()).unwrap()));
            self.names.insert((directory, entry.file_name().into_string().unwrap()), id);
            if !is_file {
                self.take(&entry.path(), id);
            }
        }
    }

    fn node(&mut self, text: Option<Vec<u8>>) -> Id {
        self.nodes.push(text);
        self.nodes.len() - 1
    }

    /// The path of a directory entry.
    fn path(&self, directory: Id, name: &str) -> String {
        match self.names.iter().find(|(_, id)| **id == directory) {
            Some(((above, own), _)) => format!("{}/{name}", self.path(*above, own)),
            None => name.to_owned(),
        }
    }

    /// Resolves a path to its directory and name.
    fn place(&self, path: &str) -> Option<(Id, String)> {
        let mut directory = ROOT;
        let mut parts = path.split('/').filter(|part| !matches!(*part, "" | ".")).peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return Some((directory, part.to_owned()));
            }
            directory = *self.names.get(&(directory, part.to_owned()))?;
        }
        None
    }

    /// Resolves a path to a file or directory.
    fn find(&self, path: &str) -> Option<Id> {
        if let Some(id) = self.unnamed.get(path) {
            return Some(*id);
        }
        if path.chars().all(|c| c == '/' || c == '.') {
            return Some(ROOT);
        }
        self.names.get(&self.place(path)?).copied()
    }

    /// Parses a call in strace's format: `name(1</folder>, "path", ...) = 0`.
    fn call(&mut self, line: &str, root: &str) {
        let (name, rest) = line.split_once('(').unwrap_or_else(|| panic!("not a call: {line}"));
        // A call without a result: the process ended meanwhile. By then no thread may be working on the job's files.
        let Some((words, result)) = rest.rsplit_once(" = ").filter(|(_, result)| !result.starts_with('?')) else {
            let reads = name == "openat" && !line.contains("O_CREAT") && !line.contains("O_TMPFILE");
            assert!(reads || !line.contains(root), "the program ended before its call did: {line}");
            return;
        };
        if result.starts_with("-1") {
            return;
        }
        let words: Vec<&str> = words.trim_end().trim_end_matches(')').split(", ").collect();
        // An open file or directory, if it is in the sandbox.
        let open = |word: &str| {
            let path = word.split_once('<')?.1.rsplit_once('>')?.0;
            path.strip_prefix(root).map(str::to_owned)
        };
        let quoted = |word: &str| word.trim_matches('"').to_owned();
        // A path argument: after a directory descriptor, relative, or absolute.
        let path = |at: usize| {
            let (from, word) = match words[at].starts_with('"') {
                true => (String::new(), quoted(words[at])),
                false => (open(words[at]).unwrap_or_default(), quoted(words[at + 1])),
            };
            word.strip_prefix(root).map_or_else(|| format!("{from}/{word}"), str::to_owned)
        };
        match name {
            "openat" => {
                let Some(opened) = open(result) else { return };
                if words[2].contains("O_TMPFILE") {
                    let id = self.node(Some(Vec::new()));
                    self.unnamed.insert(opened, id);
                    self.descriptors.insert(result.split('<').next().unwrap().to_owned(), id);
                    self.calls.push(Call::Write(id));
                } else if words[2].contains("O_CREAT") && self.find(&opened).is_none() {
                    let id = self.node(Some(Vec::new()));
                    self.calls.push(Call::Write(id));
                    self.change(&[(opened, Some(id))]);
                } else if words[2].contains("O_TRUNC") {
                    self.calls.push(Call::Write(self.find(&opened).unwrap()));
                }
            }
            "fsync" | "fdatasync" => {
                if let Some(opened) = open(words[0]) {
                    self.calls.push(Call::Sync(self.find(&opened).unwrap()));
                }
            }
            "syncfs" => self.calls.push(Call::SyncAll),
            "mkdir" | "mkdirat" => {
                let id = self.node(None);
                self.change(&[(path(0), Some(id))]);
            }
            "unlink" | "unlinkat" | "rmdir" => self.change(&[(path(0), None)]),
            "rename" | "renameat" | "renameat2" => {
                let (from, to) = (path(0), path(if name == "rename" { 1 } else { 2 }));
                let id = self.find(&from).unwrap();
                self.change(&[(from, None), (to, Some(id))]);
            }
            "linkat" => {
                let id = match quoted(words[1]).strip_prefix("/proc/self/fd/") {
                    Some(descriptor) => self.descriptors[descriptor],
                    None => self.find(&path(0)).unwrap(),
                };
                self.change(&[(path(2), Some(id))]);
            }
            "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" | "ftruncate" | "sendfile" => {
                if let Some(id) = open(words[0]).and_then(|opened| self.find(&opened)) {
                    self.calls.push(Call::Write(id));
                }
            }
            "copy_file_range" => {
                if let Some(id) = open(words[2]).and_then(|opened| self.find(&opened)) {
                    self.calls.push(Call::Write(id));
                }
            }
            other => panic!("the model does not know {other}: {line}"),
        }
    }

    fn change(&mut self, edits: &[(String, Option<Id>)]) {
        let edit = |(path, node): &(String, Option<Id>)| {
            let (directory, name) = self.place(path).unwrap_or_else(|| panic!("{path}: no such directory"));
            Edit { directory, name, node: *node }
        };
        let edits: Vec<Edit> = edits.iter().map(edit).collect();
        apply(&mut self.names, &edits);
        self.calls.push(Call::Change(edits));
    }

    /// All possible states after a power failure at any moment of `calls`, and those after a failure when all of them
    /// are done.
    pub(crate) fn cuts(&self, calls: &[Call]) -> (BTreeSet<Found>, BTreeSet<Found>) {
        let (mut synced, mut pending, mut written) = (self.before.clone(), Vec::<&[Edit]>::new(), BTreeSet::new());
        let (mut all, mut last) = (BTreeSet::new(), self.found(&synced, &pending, &written));
        for call in calls {
            match call {
                Call::Write(id) => {
                    written.insert(*id);
                }
                Call::Change(edits) => pending.push(edits),
                Call::Sync(id) => {
                    written.remove(id);
                    let touches = |edits: &&[Edit]| edits.iter().any(|edit| edit.directory == *id);
                    pending.iter().copied().filter(touches).for_each(|edits| apply(&mut synced, edits));
                    pending.retain(|edits| !touches(edits));
                }
                Call::SyncAll => {
                    written.clear();
                    pending.drain(..).for_each(|edits| apply(&mut synced, edits));
                }
            }
            all.append(&mut last);
            last = self.found(&synced, &pending, &written);
        }
        (all, last)
    }

    /// The possible states for each choice of unsynced changes.
    fn found(
        &self,
        synced: &BTreeMap<(Id, String), Id>,
        pending: &[&[Edit]],
        written: &BTreeSet<Id>,
    ) -> BTreeSet<Found> {
        let mut found = BTreeSet::new();
        for choice in choices(pending.len()) {
            let mut names = synced.clone();
            for (_, edits) in pending.iter().enumerate().filter(|(i, _)| choice >> i & 1 == 1) {
                apply(&mut names, edits);
            }
            let mut paths = Found::new();
            self.walk(ROOT, "", &names, written, &mut paths);
            found.insert(paths);
        }
        found
    }

    fn walk(
        &self,
        directory: Id,
        path: &str,
        names: &BTreeMap<(Id, String), Id>,
        written: &BTreeSet<Id>,
        paths: &mut Found,
    ) {
        for ((_, name), id) in names.range((directory, String::new())..(directory + 1, String::new())) {
            let path = format!("{path}{name}");
            match self.nodes[*id] {
                Some(_) => {
                    paths.insert(path, Some((*id, !written.contains(id))));
                }
                None => {
                    self.walk(*id, &format!("{path}/"), names, written, paths);
                    paths.insert(path, None);
                }
            }
        }
    }

    /// Creates a state on disk; unsynced files have the content that `part` describes.
    pub(crate) fn make(&self, found: &Found, part: Part, sandbox: &Sandbox) {
        for entry in fs::read_dir(sandbox.path("")).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() { fs::remove_dir_all(entry).unwrap() } else { fs::remove_file(entry).unwrap() }
        }
        for (path, file) in found {
            let path = sandbox.path(path);
            let Some((id, whole)) = file else {
                fs::create_dir_all(path).unwrap();
                continue;
            };
            let text = self.nodes[*id].as_ref().unwrap();
            let left = match part {
                _ if *whole => text.clone(),
                Part::Nothing => Vec::new(),
                Part::Half => text[..text.len() / 2].to_vec(),
                Part::Zeros => vec![0; text.len()],
                Part::All => text.clone(),
            };
            fs::write(&path, left).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
}

/// What exists of a file's content that was not synced.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    Nothing,
    Half,
    /// Zeros of the full length, which some file systems record first.
    Zeros,
    All,
}

/// Which of `count` changes are there, one bit each: all choices, or, if there are too many, all, none, and the first
/// and the last alone and missing.
fn choices(count: usize) -> Vec<u128> {
    assert!(count < 100, "{count} changes are not synced");
    let all = (1 << count) - 1;
    if count < 12 {
        return (0..=all).collect();
    }
    let (first, last) = (1, 1 << (count - 1));
    vec![0, all, first, last, all ^ first, all ^ last]
}

fn apply(names: &mut BTreeMap<(Id, String), Id>, edits: &[Edit]) {
    for Edit { directory, name, node } in edits {
        let place = (*directory, name.clone());
        match node {
            Some(id) => names.insert(place, *id),
            None => names.remove(&place),
        };
    }
}
