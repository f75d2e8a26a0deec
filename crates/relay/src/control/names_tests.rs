use super::*;
use crate::control::certificates::OpenLimits;

fn list(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Limits that these tests do not reach.
pub(super) const LIMITS: OpenLimits = OpenLimits { sessions: 9, by_certificate: 1e6, of_session: 1e6 };

pub(super) fn rest(names: &[&str]) -> Allowed {
    vec![(None, list(names))]
}

/// A session opened with a certificate of this content.
pub(super) fn session(certificate: u8) -> OpenSession {
    let chain = Chain::new(vec![vec![certificate].into()]);
    OpenSession { since: Instant::now(), from: [127, 0, 0, 1].into(), chain, epoch: 1 }
}

pub(super) fn new(allowed: &Allowed, run: u32, limit: u32) -> Names {
    Names::new(allowed, run, limit, 1)
}

fn number(names: &mut Names, name: &str) -> Result<u32, NumberError> {
    names.number(name).map(|number| number.index)
}

fn set(names: &mut Names, allowed: &Allowed) -> Vec<(String, u32)> {
    names.set(allowed, &[]).into_iter().map(|(name, number)| (name, number.index)).collect()
}

#[test]
fn names_keep_their_numbers_while_others_come_and_go() {
    for run in [1, 2, 100] {
        let mut names = new(&rest(&["alice", "bob"]), run, 3);
        assert_eq!((number(&mut names, "alice"), number(&mut names, "bob")), (Ok(0), Ok(1)));
        assert_eq!(number(&mut names, "carol"), Err(NumberError::Unknown));
        assert_eq!(set(&mut names, &rest(&["bob", "carol"])), [("alice".to_owned(), 0)]);
        assert_eq!((number(&mut names, "bob"), number(&mut names, "carol")), (Ok(1), Ok(2)));
        assert_eq!(number(&mut names, "alice"), Err(NumberError::Unknown));
        assert_eq!(set(&mut names, &rest(&["bob", "carol", "dave", "erin"])), []);
        assert_eq!(number(&mut names, "dave"), Ok(0), "the free one");
        assert_eq!(number(&mut names, "erin"), Err(NumberError::Full));
    }
}

/// A wildcard needs one number: a free or fresh one of its group, or a run that nobody has. A cluster has one run.
#[test]
fn who_can_never_have_a_number_is_told() {
    let left_out = |groups: &[(Option<&str>, &[&str])], limit: u32| {
        let allowed: Allowed =
            groups.iter().map(|(cluster, names)| (cluster.map(str::to_owned), list(names))).collect();
        let mut names = new(&allowed, 2, limit);
        set(&mut names, &allowed);
        names.left_out(&allowed)
    };
    let only = |name: &str| Some((name.to_owned(), 1));
    assert_eq!(left_out(&[(None, &["a", "b", "*.c"])], 4), None);
    assert_eq!(left_out(&[(None, &["a", "b", "*.c"])], 2), only("*.c"));
    assert_eq!(left_out(&[(Some("x"), &["a", "b", "*.c"])], 4), only("*.c"));
    assert_eq!(left_out(&[(Some("x"), &["a", "*.c"])], 2), None, "a fresh number");
    assert_eq!(left_out(&[(Some("x"), &["*.a"]), (Some("y"), &["*.b"])], 4), None);
    assert_eq!(left_out(&[(Some("x"), &["*.a"]), (Some("y"), &["*.b"])], 2), only("*.b"), "one run for two");
}

#[test]
fn a_wildcard_stands_for_one_label() {
    let mut names = new(&rest(&["*.load"]), 10, 10);
    assert_eq!(
        (number(&mut names, "1.load"), number(&mut names, "2.load"), number(&mut names, "1.load")),
        (Ok(0), Ok(1), Ok(0))
    );
    for name in ["load", ".load", "1.2.load", "1.unload", "*"] {
        assert_eq!(number(&mut names, name), Err(NumberError::Unknown), "{name}");
    }
}

#[test]
fn clusters_share_no_run_and_come_and_go() {
    let with = |clusters: &[(&str, &[&str])]| {
        let mut allowed = rest(&["alice", "bob", "carol"]);
        allowed.extend(clusters.iter().map(|(name, names)| (Some((*name).to_owned()), list(names))));
        allowed
    };
    let mut names = new(&with(&[("a", &["*.a"])]), 2, 8);
    assert_eq!(
        (names.owners["alice"].number.index, names.owners["bob"].number.index, names.owners["carol"].number.index),
        (0, 1, 2)
    );
    assert_eq!((number(&mut names, "1.a"), number(&mut names, "2.a")), (Ok(4), Ok(5)));
    assert_eq!(number(&mut names, "3.a"), Err(NumberError::Full), "a cluster stays within its run");
    set(&mut names, &with(&[("a", &["*.a"]), ("b", &["*.b"])]));
    assert_eq!((number(&mut names, "1.a"), number(&mut names, "1.b")), (Ok(4), Ok(6)));
    let gone = set(&mut names, &with(&[("b", &["*.b"])]));
    assert_eq!(gone, [("1.a".to_owned(), 4), ("2.a".to_owned(), 5)]);
    assert_eq!(number(&mut names, "1.a"), Err(NumberError::Unknown));
    set(&mut names, &with(&[("b", &["*.b"]), ("c", &["*.c"])]));
    assert_eq!((number(&mut names, "1.b"), number(&mut names, "1.c")), (Ok(6), Ok(4)), "the run that is free again");
    // A name that moves to another group gets another session
    let gone = set(&mut names, &with(&[("b", &["carol"])])[1..].to_vec());
    assert!(gone.contains(&("carol".to_owned(), 2)), "{gone:?}");
    assert_eq!(number(&mut names, "carol"), Ok(7));
}

#[test]
fn a_number_has_another_generation_with_each_owner() {
    let mut names = Names::new(&rest(&["alice"]), 10, 1, u32::MAX);
    let first = names.number("alice");
    assert_eq!(first, Ok(Number { index: 0, generation: u32::MAX }));
    assert_eq!(names.number("alice"), first, "it is the same owner");
    names.set(&rest(&["bob"]), &[]);
    assert_eq!(names.number("bob"), Ok(Number { index: 0, generation: 1 }), "0 is left out");
    names.set(&rest(&["alice"]), &[]);
    assert_eq!(names.number("alice"), Ok(Number { index: 0, generation: 2 }));
}

#[test]
fn looking_up_a_name_gives_it_no_number() {
    let mut names = new(&rest(&["*.load", "alice"]), 10, 2);
    for name in 0..100 {
        assert_eq!(names.find(&format!("{name}.load")), Err(NumberError::Absent));
        assert_eq!(names.find(&format!("{name}.other")), Err(NumberError::Unknown));
    }
    assert!(names.find("alice").is_ok() && names.number("1.load").is_ok() && names.find("1.load").is_ok());
}

#[test]
fn certificates_of_clients_are_known_by_their_names() {
    let names = new(&rest(&["alice", "*.load.test", "one.sensors.test"]), 10, 10);
    for known in ["alice", "*.load.test", "7.load.test", "*.sensors.test", "one.sensors.test"] {
        assert!(names.knows(known), "{known}");
    }
    for unknown in ["bob", "load.test", "*.test", "two.sensors.test", "1.2.load.test"] {
        assert!(!names.knows(unknown), "{unknown}");
    }
}

#[test]
fn a_revoked_name_has_no_session_though_a_wildcard_allows_it() {
    let mut names = new(&rest(&["*.load", "alice"]), 10, 10);
    let number = names.number("7.load").expect("room");
    assert!(names.opened("7.load", number, session(1)).is_ok() && names.number("8.load").is_ok());
    let gone = names.set(&rest(&["*.load", "alice"]), &list(&["7.load", "alice"]));
    assert_eq!(gone.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["alice", "7.load"]);
    assert_eq!((names.number("7.load"), names.find("7.load")), (Err(NumberError::Revoked), Err(NumberError::Revoked)));
    assert!(names.opened("7.load", number, session(1)).is_err() && names.find("8.load").is_ok());
    assert!(!names.knows("7.load") && !names.knows("alice") && names.knows("8.load") && names.knows("*.load"));
    names.set(&rest(&["*.load", "alice"]), &[]);
    assert_ne!(names.number("7.load"), Ok(number), "allowed again, and another owner");
}

#[test]
fn one_certificate_does_not_take_the_numbers_of_the_others() {
    let limits = OpenLimits { sessions: 50, by_certificate: 1e6, of_session: 1.0 };
    let (mut names, now) = (new(&rest(&["*.load", "*.sensors"]), 100, 100), Instant::now());
    let [greedy, honest] = [1, 2].map(session);
    let mut open = |name: String, session: &OpenSession| -> Result<(), NumberError> {
        let number = names.number_to_open(&name, &session.chain, &limits, now)?;
        assert!(names.opened(&name, number, session.clone()).is_ok());
        Ok(())
    };
    let taken = (0..1000).filter(|at| open(format!("{at}.load"), &greedy).is_ok()).count();
    let others = (0..50).filter(|at| open(format!("{at}.sensors"), &honest).is_ok()).count();
    assert_eq!((taken, others), (50, 50));
    assert_eq!(open("0.load".into(), &greedy), Err(NumberError::TooOften), "it was opened just now");
    assert_eq!(open("50.load".into(), &greedy), Err(NumberError::Share));
    // A session that ended makes room, however it ended
    let number = names.find("0.load").expect("it is open");
    names.closed("0.load", number);
    assert_eq!(names.number_to_open("3.load", &greedy.chain, &limits, now), Err(NumberError::TooOften));
    assert!(names.number_to_open("0.load", &greedy.chain, &limits, now + std::time::Duration::from_secs(60)).is_ok());
    names.set(&rest(&["*.sensors"]), &[]);
    assert_eq!(names.used(), 50);
    let bytes = names.bytes();
    assert!((50 * 50..50 * 400).contains(&bytes), "{bytes}");
}

/// A returned number goes to names of the group that has its run, however it was returned.
#[test]
fn numbers_go_back_to_their_own_run() {
    let with = |rest: &[&str]| vec![(Some("a".to_owned()), list(&["x.a", "y.a"])), (None, list(rest))];
    let mut names = new(&with(&["alice", "carol"]), 2, 4);
    assert_eq!(
        (number(&mut names, "y.a"), number(&mut names, "alice"), number(&mut names, "carol")),
        (Ok(1), Ok(2), Ok(3))
    );
    assert_eq!(set(&mut names, &with(&["carol", "bob"])), [("alice".to_owned(), 2)]);
    assert_eq!(number(&mut names, "bob"), Ok(2));
    // Names allowed by a wildcard
    let mut names = new(&with(&["*.load"]), 2, 4);
    let first = names.number("1.load").expect("room");
    assert_eq!(
        (first.index, number(&mut names, "2.load"), number(&mut names, "3.load")),
        (2, Ok(3), Err(NumberError::Full))
    );
    assert!(names.opened("1.load", first, session(1)).is_ok());
    names.closed("1.load", first);
    assert_eq!((names.find("1.load"), number(&mut names, "3.load")), (Err(NumberError::Absent), Ok(2)));
    // And a name that is spelled out
    let spelt = names.number("x.a").expect("it has one");
    assert!(names.opened("x.a", spelt, session(2)).is_ok());
    names.closed("x.a", spelt);
    assert_eq!((names.find("x.a"), names.open_sessions().count()), (Ok(spelt), 0));
}

/// The table of owners is full: none of its capacity is unused.
#[test]
fn names_and_their_certificates_count_as_memory() {
    let many = 1792;
    let mut names = new(&rest(&["*.load"]), many + 1, many + 1);
    let add = |names: &mut Names, at: u32| {
        let name = format!("{at}.load");
        let number = names.number(&name).expect("room");
        let chain = Chain::new(vec![at.to_be_bytes().to_vec().into()]);
        assert!(names.opened(&name, number, OpenSession { chain, ..session(0) }).is_ok());
    };
    (0..many).for_each(|at| add(&mut names, at));
    assert_eq!((names.used(), names.owners.capacity()), (many, many as usize));
    // A name of at most 16 bytes with the allocator's overhead, a table entry and its control byte
    let own = u64::from(many) * (16 + 8 + size_of::<(Box<str>, Owner)>() as u64 + 1);
    let certificates = names.certificates.bytes();
    assert!(certificates > u64::from(many) * 52, "{certificates}");
    let bytes = names.bytes();
    assert!((own + certificates..own + certificates + own / 4).contains(&bytes), "{bytes}");
    // The budget for a name suffices when the table has just grown, and is not much more than that
    add(&mut names, many);
    let each = (names.bytes() - names.certificates.bytes()).div_ceil(u64::from(many) + 1);
    assert!((each..each + 32).contains(&Names::BYTES_PER_NAME), "{each}");
}

/// Nobody gets a number before the session under it has ended, nor the run of a cluster.
#[test]
fn what_somebody_leaves_is_free_once_its_session_has_ended() {
    let cluster = |name: &str| vec![(Some(name.to_owned()), list(&["x.a"]))];
    for (before, after, who) in [(rest(&["alice"]), rest(&["bob"]), "bob"), (cluster("a"), cluster("b"), "x.a")] {
        let mut names = new(&before, 1, 1);
        assert_eq!(names.change(&after, &[]).names.len(), 1);
        assert_eq!(number(&mut names, who), Err(NumberError::Full));
        names.settle(&after);
        assert_eq!(number(&mut names, who), Ok(0));
    }
}

/// Look-ups of this many names must not search: that would take minutes.
#[test]
fn hundreds_of_thousands_of_names() {
    let many = 200_000;
    let spelled: Vec<String> = (0..many).map(|at| format!("{at}.spelled.test")).collect();
    let mut names = new(&vec![(None, spelled.clone())], 1 << 16, many);
    for _ in 0..2 {
        assert_eq!(names.set(&vec![(None, spelled.clone())], &spelled[..1000]).len() % 1000, 0);
        assert_eq!(names.used(), many - 1000);
    }
    assert!(spelled.iter().skip(1000).all(|name| names.find(name).is_ok() && names.knows(name)));
}

/// The memory count is kept as names and certificates come and go; those that are gone leave nothing in it.
#[test]
fn what_is_gone_counts_as_no_memory() {
    let mut names = new(&rest(&["*.load", "alice"]), 10, 10);
    let text = |names: &Names| names.owners.keys().map(|name| name_bytes(name)).sum::<u64>();
    for at in 0..9 {
        let name = format!("{at}.load");
        let number = names.number(&name).expect("room");
        assert!(names.opened(&name, number, session(at)).is_ok());
        assert_eq!(names.name_bytes, text(&names));
    }
    let number = names.find("3.load").expect("it is open");
    names.closed("3.load", number);
    let number = names.find("4.load").expect("it is open");
    names.renew("4.load", number, &session(4).chain, &LIMITS).expect("room");
    names.change(&rest(&["alice"]), &[]);
    assert_eq!((names.used(), names.name_bytes), (2, name_bytes("alice")), "hers, and one that is used up");
    names.set(&rest(&[]), &[]);
    assert_eq!(names.name_bytes, 0);
}

/// Keys that a client may still know are not shared with others: where a wildcard allowed it, and where its cluster
/// was.
#[test]
fn runs_get_other_keys_when_somebody_leaves_them_without_a_session() {
    let with = |a: &[&str]| vec![(None, list(&["alice", "*.load"])), (Some("a".to_owned()), list(a))];
    let mut names = new(&with(&["*.a", "x.a"]), 2, 100);
    let runs = |names: &mut Names, allowed: &Allowed, revoked: &[&str]| {
        let gone = names.change(allowed, &list(revoked));
        names.settle(allowed);
        (gone.names.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>(), gone.runs)
    };
    let all = with(&["*.a", "x.a"]);
    assert_eq!((number(&mut names, "1.load"), number(&mut names, "2.load")), (Ok(1), Ok(4)));
    assert_eq!(number(&mut names, "x.a"), Ok(2));
    let none = (Vec::new(), Vec::new());
    assert_eq!(runs(&mut names, &all, &[]), none);
    // It may have been anywhere in its group
    assert_eq!(runs(&mut names, &all, &["9.load"]), (Vec::new(), vec![0, 2]));
    assert_eq!(runs(&mut names, &all, &["9.load"]), none, "it was revoked before");
    assert_eq!(runs(&mut names, &all, &["9.load", "1.load", "eve", "b"]), (list(&["1.load"]), vec![0, 2]));
    assert_eq!(runs(&mut names, &all, &["7.a"]), (Vec::new(), vec![1]));
    assert_eq!(runs(&mut names, &all, &["*.a"]), (list(&["x.a"]), vec![1]));
    // A name that was always spelled out and kept its number owns it as long as it is allowed: ending its session
    // suffices
    runs(&mut names, &all, &[]);
    assert_eq!(runs(&mut names, &all, &["x.a"]), (list(&["x.a"]), Vec::new()));
    // First the wildcard is removed, then the cluster
    runs(&mut names, &all, &[]);
    assert_eq!(runs(&mut names, &with(&["x.a"]), &[]), (Vec::new(), vec![1]));
    assert_eq!(runs(&mut names, &all[..1].to_vec(), &[]), (list(&["x.a"]), vec![1]));
    assert_eq!(names.first_indexes(1, 2), 2..4);
    assert_eq!((names.first_indexes(3, 1), names.first_indexes(49, 9)), (6..7, 98..100));
}

/// A name that is spelled out may have been elsewhere in its group: through a wildcard, or under a number that was used
/// up.
#[test]
fn who_was_elsewhere_takes_the_keys_of_its_whole_group_along() {
    let runs = |names: &mut Names, allowed: &Allowed, revoked: &[&str]| {
        let gone = names.change(allowed, &list(revoked));
        names.settle(allowed);
        gone.runs
    };
    let known = |names: &mut Names, name: &str| {
        let number = names.number(name).expect("it has one");
        names.clusters_known_to(name, number, 1).into_iter().collect::<BTreeSet<_>>()
    };
    let none = Vec::<u32>::new();
    let with = |spelled: &[&str]| vec![(None, [list(&["*.load", "alice"]), list(spelled)].concat())];
    // Runs of one index each
    for leave in [with(&[]), with(&["1.load"])] {
        let mut names = new(&with(&[]), 1, 100);
        assert_eq!((number(&mut names, "1.load"), number(&mut names, "2.load")), (Ok(1), Ok(2)));
        assert_eq!((known(&mut names, "alice"), known(&mut names, "2.load")), ([0].into(), [0, 1, 2].into()));
        assert_eq!(runs(&mut names, &with(&["1.load"]), &[]), none);
        assert_eq!(known(&mut names, "1.load"), [0, 1, 2].into());
        assert_eq!(runs(&mut names, &with(&["1.load"]), &["alice"]), none, "she was nowhere else");
        assert_eq!(runs(&mut names, &leave, &["alice", "1.load"]), vec![0, 1, 2]);
        assert_eq!(runs(&mut names, &leave, &["alice", "1.load"]), none, "they were revoked before");
    }
    // A number that is used up
    let mut names = new(&rest(&["alice", "bob"]), 1, 100);
    let used = names.find("alice").expect("it has one");
    names.renew("alice", used, &session(1).chain, &LIMITS).expect("room");
    assert_eq!(runs(&mut names, &rest(&["alice", "bob"]), &[]), none);
    assert_eq!(known(&mut names, "alice"), [0, 1, 2].into());
    assert_eq!(runs(&mut names, &rest(&["bob"]), &[]), vec![0, 1, 2]);
    // A name that becomes spelled out in another group leaves this one
    let mut names = new(&with(&[]), 1, 100);
    let mut apart = with(&[]);
    apart.insert(0, (Some("a".to_owned()), list(&["1.load"])));
    assert_eq!(runs(&mut names, &apart, &[]), vec![0]);
}
