//! The fallbacks for file systems without unnamed files, without renaming that does not replace, or without hard links;
//! and files with leases.

use sealwright_transcripts::{Sandbox, have};

use crate::jobs::{EACH, all, clear, is, leftovers, sandbox};

/// The number of the `openat` call with all these flags in a run of `line`.
fn opening(sandbox: &Sandbox, line: &str, flags: &[&str]) -> usize {
    let said = sandbox.sh(&format!("strace -f -qq -o trace -e trace=openat sealwright {line}"));
    let trace = String::from_utf8(sandbox.read("trace")).unwrap();
    let found = trace
        .lines()
        .find(|call| flags.iter().all(|flag| call.contains(flag)))
        .unwrap_or_else(|| panic!("no {flags:?} in {trace}: {}", said.err));
    // Calls are numbered per thread.
    let thread = found.split_whitespace().next().unwrap();
    let calls = trace.lines().filter(|call| call.split_whitespace().next() == Some(thread) && call.contains("openat("));
    1 + calls.into_iter().position(|call| call == found).unwrap()
}

const LINE: &str = "open -q --key-file k b.seal -o b --threads 1";

/// Runs `LINE` where unnamed files and renaming without replacing are not supported, nor hard links if `links` says so.
fn without_unnamed_files(sandbox: &Sandbox, links: &str, delay: &str, meanwhile: &str) -> (i32, String) {
    clear(sandbox, &["b"]);
    let when = opening(sandbox, LINE, &["O_TMPFILE"]);
    clear(sandbox, &["b", "trace"]);
    let said = sandbox.sh(&format!(
        "strace -f -qq -o trace -e trace=openat,renameat2,link,linkat -e inject=openat:error=EOPNOTSUPP:when={when} \
         -e inject=renameat2:error=EINVAL{delay} {links} sealwright {LINE} & {meanwhile} wait $!"
    ));
    (said.code, said.err)
}

#[test]
fn a_draft_with_a_name_is_private_and_takes_its_place() {
    let sandbox = sandbox();
    if !have("strace") {
        return;
    }
    for links in ["", "-e inject=link,linkat:error=EPERM"] {
        let (code, said) = without_unnamed_files(&sandbox, links, "", "");
        assert_eq!((code, said.as_str()), (0, ""), "{links}");
        assert!(is(&sandbox, "b", &all()), "{links}");
        let trace = String::from_utf8(sandbox.read("trace")).unwrap();
        let draft = trace.lines().find(|call| call.contains("O_CREAT|O_EXCL") && call.contains("/.b.")).unwrap();
        assert!(draft.contains("0600"), "{draft}");
        assert!(trace.contains("renameat2") && trace.contains("INJECTED"), "{trace}");
        assert_eq!(leftovers(&sandbox.path("")), [""; 0]);
    }
}

/// Another process takes the name while the file is being opened.
#[test]
fn what_came_meanwhile_is_not_replaced() {
    let sandbox = sandbox();
    if !have("strace") {
        return;
    }
    for links in ["", "-e inject=link,linkat:error=EPERM"] {
        // Once the renaming has begun, which is slowed down.
        let meanwhile = "for i in $(seq 600); do grep -qs 'renameat2(' trace && break; sleep 0.1; done; echo mine > b;";
        let (code, said) = without_unnamed_files(&sandbox, links, ":delay_enter=6000000", meanwhile);
        assert!(code == 1 && said.contains("b: exists already"), "{links}: {code} {said}");
        let trace = String::from_utf8(sandbox.read("trace")).unwrap();
        assert!(trace.lines().any(|call| call.contains("renameat2") && call.contains("INJECTED")), "{trace}");
        assert!(is(&sandbox, "b", b"mine\n"), "{links}");
        assert_eq!(leftovers(&sandbox.path("")), [""; 0]);
    }
}

/// A client of a file server can have a lease on a file it has open; the program must wait until it is released.
#[test]
fn a_file_with_a_lease_is_waited_for() {
    let sandbox = sandbox();
    if !have("strace") {
        return;
    }
    let line = format!("{} --threads 1", EACH.line);
    (EACH.before)(&sandbox);
    let when = opening(&sandbox, &line, &["\"x\"", "O_NONBLOCK", "O_NOFOLLOW"]);
    (EACH.before)(&sandbox);
    let said = sandbox.sh(&format!(
        "strace -f -qq -o trace -e trace=openat -e inject=openat:error=EAGAIN:when={when} sealwright {line}"
    ));
    let trace = String::from_utf8(sandbox.read("trace")).unwrap();
    assert!(trace.lines().any(|call| call.contains("INJECTED") && call.contains("O_NOFOLLOW")), "{trace}");
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert!((EACH.done)(&sandbox));
}
