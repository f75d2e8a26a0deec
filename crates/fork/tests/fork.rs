//! Children, grandchildren, and children whose number is their parent's.

use std::ffi::c_int;

use sealwright_fork::Maker;

/// What children answer when something that they need is not there.
const NOT_ALLOWED: c_int = 77;
const FAILED: c_int = 99;

/// What `work` answers in a child. It must not wait for threads, which the child does not have.
fn in_child(work: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the child does nothing but `work`, and ends.
    unsafe {
        match libc::fork() {
            0 => libc::_exit(work()),
            child => {
                let mut status = 0;
                let ended = child > 0 && libc::waitpid(child, &raw mut status, 0) == child;
                if ended && libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { FAILED }
            }
        }
    }
}

/// As [`in_child`], in the first process of a new PID namespace, whose number there is 1.
fn in_first_process(work: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: it takes no pointers.
    let allowed = unsafe {
        libc::unshare(libc::CLONE_NEWPID) == 0 || libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWPID) == 0
    };
    if allowed { in_child(work) } else { NOT_ALLOWED }
}

#[test]
fn a_child_is_not_the_maker_of_what_it_has_a_copy_of() {
    let maker = Maker::this();
    assert!(!maker.is_forked());
    assert_eq!(in_child(|| c_int::from(maker.is_forked())), 1);
    assert_eq!(in_child(|| in_child(|| c_int::from(maker.is_forked()))), 1, "nor is a grandchild");
    let own = || {
        let own = Maker::this();
        c_int::from(own.is_forked()) + 2 * in_child(|| c_int::from(own.is_forked()))
    };
    assert_eq!(in_child(own), 2, "what a child makes is its own");
    assert!(!maker.is_forked());
}

#[test]
fn a_child_that_has_the_number_of_its_parent_is_none_the_less_a_child() {
    let answer = in_child(|| {
        in_first_process(|| {
            let (maker, number) = (Maker::this(), std::process::id());
            in_first_process(|| if std::process::id() == number { c_int::from(maker.is_forked()) } else { FAILED })
        })
    });
    match answer {
        NOT_ALLOWED => sealwright_transcripts::skipped("unshare is not allowed here"),
        answer => assert_eq!(answer, 1),
    }
}
