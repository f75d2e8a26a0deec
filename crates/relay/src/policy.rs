//! The policy: who may speak to whom, by tenants and rules between them.
//!
//! Names of one tenant may speak with each other; names of different tenants only where a rule allows it. A name
//! belongs to the first tenant with a pattern that it matches. All names without a tenant form one more.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::patterns::Patterns;

/// The most directions of rules: each takes one bit of a class.
const BITS: usize = 64;

/// The tenant of names that may speak to nobody.
const NOBODY: u32 = u32::MAX;

/// A tenant and the patterns of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tenant {
    pub(crate) name: String,
    /// Patterns, in lower case.
    pub(crate) names: Vec<String>,
}

/// A rule: an exception that lets names of different tenants speak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) from: Vec<String>,
    pub(crate) to: Vec<String>,
    /// Whether only `from` may send to `to`; otherwise both may.
    pub(crate) one_way: bool,
}

/// The tenants and rules of a configuration.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    /// The names of the tenants.
    names: Vec<String>,
    /// The patterns of all tenants; the number of a pattern is the position of its tenant.
    tenants: Patterns,
    /// For each direction of a rule, the patterns of senders and of receivers.
    ways: Vec<[Patterns; 2]>,
    number: u32,
}

/// The part of a policy that concerns one name, so that a look at two classes decides whether the names may speak.
/// Classes of different policies never may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Class {
    policy: u32,
    tenant: u32,
    /// The rules that let the name send, and those that let others send to it; one bit each.
    from: u64,
    to: u64,
}

impl Class {
    /// The memory of a class, in bytes.
    pub(crate) const BYTES: u64 = size_of::<Class>() as u64;

    /// Whether a name of this class may send to one of that class.
    #[inline]
    pub(crate) fn may_send_to(self, other: Class) -> bool {
        let same_tenant = self.tenant == other.tenant && self.tenant != NOBODY;
        self.is_comparable(other) && (same_tenant || self.from & other.to != 0)
    }

    /// Whether both classes are of the same policy.
    pub(crate) fn is_comparable(self, other: Class) -> bool {
        self.policy == other.policy
    }
}

/// There are too many rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyRulesError;

impl Policy {
    /// The policy that forbids nothing.
    pub(crate) fn open() -> Policy {
        Policy { names: Vec::new(), tenants: Patterns::default(), ways: Vec::new(), number: 0 }
    }

    pub(crate) fn new(tenants: Vec<Tenant>, rules: Vec<Rule>) -> Result<Policy, TooManyRulesError> {
        // Every policy of this process gets another number, except those that forbid nothing
        static NUMBERS: AtomicU32 = AtomicU32::new(1);
        if tenants.is_empty() {
            return Ok(Policy::open());
        }
        let mut ways = Vec::new();
        for Rule { from, to, one_way } in rules {
            let [from, to] = [from, to].map(|names| Patterns::of(&names));
            if !one_way {
                ways.push([to.clone(), from.clone()]);
            }
            ways.push([from, to]);
        }
        if ways.len() > BITS {
            return Err(TooManyRulesError);
        }
        let (mut names, mut all) = (Vec::new(), Patterns::default());
        for (number, tenant) in (0..).zip(tenants) {
            tenant.names.iter().for_each(|name| all.add(name, number));
            names.push(tenant.name);
        }
        Ok(Policy { names, tenants: all, ways, number: NUMBERS.fetch_add(1, Ordering::Relaxed) })
    }

    /// Prepares this policy to replace `before`: if both say the same, it gets the number of `before`, so that existing
    /// classes stay valid.
    pub(crate) fn after(self, before: &Policy) -> Policy {
        let is_same = (&self.names, &self.tenants, &self.ways) == (&before.names, &before.tenants, &before.ways);
        Policy { number: if is_same { before.number } else { self.number }, ..self }
    }

    /// Whether both give names the same classes.
    pub(crate) fn is(&self, other: &Policy) -> bool {
        self.number == other.number
    }

    /// Whether it forbids nothing.
    pub(crate) fn is_open(&self) -> bool {
        self.names.is_empty()
    }

    /// A class that may speak to nobody, but for a policy that forbids nothing.
    pub(crate) fn nobody(&self) -> Class {
        Class { policy: self.number, tenant: if self.is_open() { 0 } else { NOBODY }, from: 0, to: 0 }
    }

    /// The class of a name.
    pub(crate) fn class(&self, name: &str) -> Class {
        self.class_of(self.tenants.find(name), |patterns| patterns.find(name).is_some())
    }

    /// Whether a certificate with this DNS name, which may begin with a wildcard, may look up that name.
    pub(crate) fn may_find(&self, dns_name: &str, name: &str) -> bool {
        if self.is_open() {
            return true;
        }
        let (one, other) = (self.class(dns_name), self.class(name));
        let both = |class: Class| class.may_send_to(other) || other.may_send_to(class);
        // A wildcard may stand for names of several tenants: all of them count
        let wild = || {
            let rules = self.class_of(self.tenants.find(dns_name), |patterns| patterns.overlap(dns_name));
            let mut tenants = self.tenants.overlapping(dns_name);
            both(rules) || tenants.any(|at| both(Class { tenant: at + 1, ..one }))
        };
        both(one) || dns_name.starts_with("*.") && wild()
    }

    /// The tenant of a name; none for names that no tenant has.
    pub(crate) fn tenant(&self, name: &str) -> Option<&str> {
        self.tenants.find(name).map(|at| &*self.names[at as usize])
    }

    fn class_of(&self, tenant: Option<u32>, is: impl Fn(&Patterns) -> bool) -> Class {
        let bits = |side: usize| {
            let there = self.ways.iter().enumerate().filter(|(_, way)| is(&way[side]));
            there.fold(0, |bits, (at, _)| bits | 1 << at)
        };
        Class { policy: self.number, tenant: tenant.map_or(0, |at| at + 1), from: bits(0), to: bits(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn policy() -> Policy {
        let tenant = |name: &str, names: &[&str]| Tenant { name: name.into(), names: list(names) };
        let rule = |from: &[&str], to: &[&str], one_way| Rule { from: list(from), to: list(to), one_way };
        Policy::new(
            vec![tenant("acme", &["*.acme.example", "hub"]), tenant("bolt", &["*.bolt.example"])],
            vec![
                rule(&["hub"], &["*.bolt.example"], false),
                rule(&["1.acme.example"], &["9.bolt.example", "stranger"], true),
            ],
        )
        .expect("few rules")
    }

    /// Looking up a name takes as long with many tenants as with a few.
    #[test]
    fn many_tenants_take_no_search() {
        let many = 50_000_u32;
        let tenant =
            |at| Tenant { name: format!("t{at}"), names: vec![format!("*.t{at}.example"), format!("hub{at}")] };
        let policy = Policy::new((0..many).map(tenant).collect(), Vec::new()).expect("no rules");
        let start = std::time::Instant::now();
        for at in 0..many {
            let name = format!("a.t{at}.example");
            assert_eq!(policy.tenant(&name), Some(&*format!("t{at}")));
            assert!(policy.class(&name).may_send_to(policy.class(&format!("hub{at}"))));
            assert_eq!(policy.may_find(&format!("*.t{at}.example"), "hub7"), at == 7);
        }
        // With a search this took hours; now it takes a tenth of a second
        assert!(start.elapsed().as_secs() < 60);
    }

    /// A wildcard in a certificate may stand for names of several tenants, and of none.
    #[test]
    fn a_wildcard_finds_what_any_of_its_names_may() {
        let tenant = |name: &str, names: &[&str]| Tenant { name: name.into(), names: list(names) };
        let policy = Policy::new(
            vec![
                tenant("a", &["1.x.example", "a"]),
                tenant("b", &["2.x.example", "b"]),
                tenant("c", &["*.y.example", "c"]),
            ],
            Vec::new(),
        );
        let policy = policy.expect("no rules");
        let finds = |dns: &str| ["a", "b", "c", "stranger"].map(|name| policy.may_find(dns, name));
        assert_eq!(finds("*.x.example"), [true, true, false, true]);
        assert_eq!(finds("*.y.example"), [false, false, true, false]);
        assert_eq!(finds("*.z.example"), [false, false, false, true]);
        assert_eq!(finds("1.x.example"), [true, false, false, false]);
    }

    #[test]
    fn tenants_speak_within_and_across_by_rules_alone() {
        let policy = policy();
        let may = |from: &str, to: &str| policy.class(from).may_send_to(policy.class(to));
        let both = |a: &str, b: &str| (may(a, b), may(b, a));
        assert_eq!(both("1.acme.example", "2.acme.example"), (true, true));
        assert_eq!(both("1.acme.example", "hub"), (true, true));
        assert_eq!(both("2.acme.example", "1.bolt.example"), (false, false), "denied by default");
        assert_eq!(both("hub", "1.bolt.example"), (true, true));
        assert_eq!(both("1.acme.example", "9.bolt.example"), (true, false), "one way");
        assert_eq!(both("1.acme.example", "stranger"), (true, false));
        assert_eq!(both("other", "stranger"), (true, true), "names of no tenant are one");
        assert_eq!(both("2.acme.example", "stranger"), (false, false));
        assert_eq!((policy.tenant("hub"), policy.tenant("stranger")), (Some("acme"), None));
    }

    #[test]
    fn classes_of_another_policy_may_nothing_and_no_policy_allows_all() {
        let (old, new) = (policy(), policy());
        assert!(!old.class("hub").may_send_to(new.class("hub")));
        assert!(!old.nobody().may_send_to(old.nobody()) && !old.nobody().may_send_to(old.class("hub")));
        assert!(Policy::open().class("a").may_send_to(Policy::new(Vec::new(), Vec::new()).expect("none").class("b")));
        assert!(Policy::open().may_find("a", "b") && Policy::open().class("a") == Class::default());
    }

    #[test]
    fn a_policy_that_says_the_same_makes_the_same_classes() {
        let (old, other) = (policy(), Policy::new(vec![], vec![]).expect("none"));
        let again = policy().after(&old);
        assert!(again.is(&old) && again.class("hub") == old.class("hub"));
        assert!(!policy().is(&old) && !policy().class("hub").is_comparable(old.class("hub")));
        let mut changed = policy();
        changed.ways.swap(0, 1);
        assert!(!changed.after(&old).is(&old) && !other.after(&old).is(&old));
    }

    #[test]
    fn who_may_not_speak_cannot_look_up_either() {
        let policy = policy();
        for (who, whom) in [
            ("1.acme.example", "2.acme.example"),
            ("*.acme.example", "2.acme.example"),
            ("*.acme.example", "stranger"),
            ("1.bolt.example", "hub"),
            ("*.bolt.example", "hub"),
            ("9.bolt.example", "1.acme.example"),
        ] {
            assert!(policy.may_find(who, whom), "{who} {whom}");
        }
        for (who, whom) in [
            ("2.acme.example", "1.bolt.example"),
            ("*.bolt.example", "2.acme.example"),
            ("other", "hub"),
            ("*.other.example", "1.bolt.example"),
        ] {
            assert!(!policy.may_find(who, whom), "{who} {whom}");
        }
    }

    /// A wildcard stands for the names of every tenant that it overlaps.
    #[test]
    fn a_wildcard_of_several_tenants_finds_the_names_of_each() {
        let tenant = |name: &str, of: &str| Tenant { name: name.into(), names: list(&[of]) };
        let tenants = vec![tenant("a", "1.x"), tenant("b", "2.x"), tenant("c", "3.y")];
        let policy = Policy::new(tenants, Vec::new()).expect("no rules");
        let finds = |who: &str| ["1.x", "2.x", "3.y", "stranger"].map(|whom| policy.may_find(who, whom));
        assert_eq!(finds("*.x"), [true, true, false, true], "and names that no tenant has, such as 4.x");
        assert_eq!((finds("1.x"), finds("2.x")), ([true, false, false, false], [false, true, false, false]));
        assert_eq!(finds("*.y"), [false, false, true, true]);
    }

    #[test]
    fn there_are_at_most_64_directions() {
        let tenant = || vec![Tenant { name: "a".into(), names: list(&["a"]) }];
        let rules = |count, one_way| vec![Rule { from: list(&["a"]), to: list(&["b"]), one_way }; count];
        assert!(Policy::new(tenant(), rules(64, true)).is_ok() && Policy::new(tenant(), rules(32, false)).is_ok());
        assert_eq!(Policy::new(tenant(), rules(33, false)).err(), Some(TooManyRulesError));
    }
}
