use super::{
    super::tests::{LIMITS, new, rest, session},
    *,
};

/// An opening whose keys have this epoch, with a certificate of this content.
fn opening(certificate: u8, epoch: u16) -> OpenSession {
    OpenSession { epoch, ..session(certificate) }
}

/// The open session of a name.
fn holder(names: &Names, name: &str) -> Option<OpenSession> {
    names.open_sessions().find(|(open, ..)| *open == name).map(|(_, _, open)| open.clone())
}

#[test]
fn a_session_opened_for_a_former_owner_is_noticed() {
    let mut names = new(&rest(&["alice"]), 10, 1);
    let number = names.number("alice").expect("room");
    names.set(&rest(&["bob"]), &[]);
    assert_eq!(names.opened("alice", number, session(1)), Err(NumberError::Unknown), "alice was removed meanwhile");
    let number = names.number("bob").expect("room");
    assert!(names.opened("bob", number, session(1)).is_ok());
    assert_eq!(names.open_sessions().count(), 1);
    names.closed("bob", Number { generation: 99, ..number });
    assert_eq!(names.open_sessions().count(), 1, "another generation");
    names.closed("bob", number);
    assert_eq!(names.open_sessions().count(), 0);
}

#[test]
fn a_retired_number_is_given_to_nobody() {
    let mut names = new(&rest(&["alice"]), 10, 2);
    let number = names.number("alice").expect("room");
    names.retire("alice", number, &session(1).chain);
    let other = names.number("alice").expect("room");
    assert_ne!(other.index, number.index);
    names.retire("alice", number, &session(1).chain);
    assert_eq!(names.find("alice"), Ok(other), "retired before");
    names.retire("alice", other, &session(1).chain);
    assert_eq!((names.number("alice"), names.used()), (Err(NumberError::Full), 2));
}

/// When a session ends, a later opening under the same number does not end with it.
#[test]
fn what_is_being_opened_is_not_ended() {
    for name in ["1.load", "alice"] {
        let mut names = new(&rest(&["*.load", "alice"]), 10, 10);
        let (now, first) = (Instant::now(), session(1));
        let number = names.number_to_open(name, &first.chain, &LIMITS, now).expect("room");
        assert!(!names.closed(name, number) && names.find(name) == Ok(number), "it is being opened");
        assert!(names.opened(name, number, first.clone()).is_ok());
        // It is opened again before its end is recorded
        let again = OpenSession { since: first.since + std::time::Duration::from_secs(1), ..session(1) };
        assert_eq!(names.number_to_open(name, &again.chain, &LIMITS, now), Ok(number));
        assert!(!names.closed_since(name, number, first.since), "{name}");
        assert!(names.opened(name, number, again.clone()).is_ok());
        assert!(!names.closed_since(name, number, first.since), "{name}: another one");
        // A failed opening leaves the session before it open
        assert_eq!(names.number_to_open(name, &again.chain, &LIMITS, now), Ok(number));
        names.not_opened(name, number);
        assert_eq!(names.open_sessions().count(), 1);
        assert!(names.closed_since(name, number, again.since) && names.open_sessions().count() == 0);
        assert_eq!(names.find(name).is_ok(), name == "alice", "a number that nobody spelled out goes back");
        // If the first opening fails, nothing is left
        let number = names.number_to_open(name, &first.chain, &LIMITS, now).expect("room");
        names.not_opened(name, number);
        assert_eq!(names.find(name).is_ok(), name == "alice");
    }
}

/// A number that replaces a used-up one is not given back either while its session is being opened.
#[test]
fn what_is_opened_under_another_number_is_not_ended() {
    let mut names = new(&rest(&["*.load"]), 10, 10);
    let first = names.number_to_open("1.load", &session(1).chain, &LIMITS, Instant::now()).expect("room");
    let second = names.renew("1.load", first, &session(1).chain, &LIMITS).expect("room");
    assert!(second.index != first.index && !names.closed("1.load", second));
    assert_eq!(names.opened("1.load", first, session(1)), Err(NumberError::Superseded));
    assert!(names.opened("1.load", second, session(1)).is_ok());
    assert!(names.closed("1.load", second) && names.find("1.load") == Err(NumberError::Absent));
}

/// Of two concurrent openings of a session, the one with the later keys has it, in whatever order they are recorded: a
/// revocation must end the session of the client that has the keys.
#[test]
fn of_two_openings_at_once_the_later_keys_count() {
    for (earlier, later) in [(1, 2), (u16::MAX, 0), (u16::MAX - 3, 2)] {
        for name in ["1.load", "alice"] {
            let mut names = new(&rest(&["*.load", "alice"]), 10, 10);
            let (now, [a, b]) = (Instant::now(), [opening(1, earlier), opening(2, later)]);
            let number = names.number_to_open(name, &a.chain, &LIMITS, now).expect("room");
            assert_eq!(names.number_to_open(name, &b.chain, &LIMITS, now), Ok(number));
            assert!(names.opened(name, number, b.clone()).is_ok());
            assert_eq!(names.opened(name, number, a.clone()), Err(NumberError::Superseded), "its keys were replaced");
            assert_eq!(holder(&names, name).map(|open| (open.chain, open.epoch)), Some((b.chain.clone(), later)));
            assert!(!names.is_being_opened(name) && names.closed(name, number), "both are done");
            // In the order of their keys
            let number = names.number_to_open(name, &a.chain, &LIMITS, now).expect("room");
            let anew = opening(1, later.wrapping_add(1));
            assert!(names.opened(name, number, anew).is_ok());
        }
    }
}

/// A certificate is revoked while it opens a session that another client opens as well.
#[test]
fn an_opening_that_is_taken_back_ends_no_other_one() {
    for name in ["1.load", "alice"] {
        let spelled_out = name == "alice";
        let start = || {
            let mut names = new(&rest(&["*.load", "alice"]), 10, 10);
            let number = names.number_to_open(name, &session(1).chain, &LIMITS, Instant::now()).expect("room");
            names.number_to_open(name, &session(2).chain, &LIMITS, Instant::now()).expect("room");
            (names, number)
        };
        // The other opening came later, and was recorded before or after
        let (mut names, number) = start();
        assert!(names.opened(name, number, opening(2, 6)).is_ok() && !names.taken_back(name, number, 5));
        assert_eq!(holder(&names, name).map(|open| open.epoch), Some(6));
        let (mut names, number) = start();
        assert!(names.taken_back(name, number, 5) && names.opened(name, number, opening(2, 6)).is_ok());
        assert_eq!(holder(&names, name).map(|open| open.epoch), Some(6));
        // The other opening came earlier and has lost its keys, whether or not it was recorded yet
        let (mut names, number) = start();
        assert!(names.opened(name, number, opening(2, 5)).is_ok() && names.taken_back(name, number, 6));
        assert_eq!((names.open_sessions().count(), names.find(name).is_ok()), (0, spelled_out));
        let (mut names, number) = start();
        assert!(names.taken_back(name, number, 6) && names.find(name) == Ok(number), "it is still being opened");
        // Whatever becomes of the number then, this stays the reason
        assert_eq!(names.opened(name, number, opening(2, 5)), Err(NumberError::Superseded));
        assert_eq!((names.open_sessions().count(), names.find(name).is_ok()), (0, spelled_out));
        // One earlier and one later opening
        let (mut names, number) = start();
        assert!(names.taken_back(name, number, 6) && !names.taken_back(name, number, 5));
        assert_eq!((names.open_sessions().count(), names.find(name).is_ok()), (0, spelled_out));
        assert_eq!(names.certificates.bytes(), new(&rest(&[]), 1, 1).certificates.bytes(), "no certificate is kept");
    }
}

/// However many names it opens at the same moment.
#[test]
fn one_certificate_has_no_more_sessions_than_it_may_have() {
    let limits = OpenLimits { sessions: 2, ..LIMITS };
    let (mut names, greedy) = (new(&rest(&["*.load"]), 10, 10), opening(1, 5));
    let all = ["1.load", "2.load", "3.load", "4.load"];
    let numbers = all.map(|name| names.number_to_open(name, &greedy.chain, &limits, Instant::now()).expect("room"));
    // The last name has a session of another certificate, whose keys are replaced
    assert!(names.opened(all[3], numbers[3], opening(2, 4)).is_ok());
    let again = names.number_to_open(all[3], &greedy.chain, &limits, Instant::now()).expect("room");
    assert_eq!(again, numbers[3]);
    let later = opening(1, 6);
    let mut open = |at: usize, open: &OpenSession| names.opened_within(all[at], numbers[at], open.clone(), &limits);
    assert_eq!([open(0, &greedy), open(1, &greedy), open(2, &greedy)], [Ok(()), Ok(()), Err(NumberError::Share)]);
    assert_eq!(open(3, &later), Err(NumberError::Share));
    assert_eq!(open(0, &later), Ok(()), "anew");
    assert_eq!(names.open_sessions().count(), 2);
    assert_eq!((names.find(all[2]), names.find(all[3])), (Err(NumberError::Absent), Err(NumberError::Absent)));
}

/// A certificate can use up as many numbers as it may have sessions.
#[test]
fn one_certificate_does_not_use_up_the_numbers_of_the_others() {
    let limits = OpenLimits { sessions: 5, ..LIMITS };
    let (mut names, greedy) = (new(&rest(&["*.load", "alice"]), 10, 10), session(1));
    let (name, now) = ("1.load", Instant::now());
    let mut number = names.number_to_open(name, &greedy.chain, &limits, now).expect("room");
    let mut used = 0;
    while let Ok(next) = names.renew(name, number, &greedy.chain, &limits) {
        assert!(names.opened(name, next, greedy.clone()).is_ok());
        number = next;
        used += 1;
        assert!(used < 10, "it uses them all up");
    }
    assert_eq!((used, names.used()), (4, 6), "five that are used up, and alice's");
    assert_eq!(names.number_to_open(name, &greedy.chain, &limits, now), Err(NumberError::Share));
    assert!(names.number_to_open("2.load", &session(2).chain, &limits, now).is_ok());
    assert!(names.number_to_open("alice", &session(3).chain, &limits, now).is_ok());
    // Nor does another group get them together with the run
    assert_eq!(names.change(&rest(&[]), &[]).names.len(), 2);
    names.settle(&rest(&[]));
    names.set(&vec![(Some("a".to_owned()), vec!["*.a".to_owned()])], &[]);
    let free = (0..10).filter(|at| names.number(&format!("{at}.a")).is_ok()).count();
    assert_eq!(free, 5);
}
