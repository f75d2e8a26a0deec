//! Statistics: numbers by name in a tree, as text, JSON or CSV.

mod meaning;

use std::collections::{HashMap, HashSet};

pub use meaning::{ALSO_SETTINGS, MEANINGS, Meaning, meaning};
use serde_json::{Map, Value};

/// A processor's and its node's counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeCounters {
    pub(crate) accesses: u64,
    pub(crate) stores: u64,
    pub(crate) fetches: u64,
    pub(crate) instructions: u64,
    pub(crate) second_hits: u64,
    pub(crate) misses: u64,
    pub(crate) upgrades: u64,
    /// Of these, those that were sent the line although the node still had it.
    pub(crate) upgrades_with_data: u64,
    pub(crate) write_backs: u64,
    pub(crate) retries: u64,
    /// Misses and upgrades that took a register, and accesses that joined one.
    pub(crate) primary: u64,
    pub(crate) secondary: u64,
    /// Register-cycles: registers taken, summed over cycles; and cycles in which any was taken.
    pub(crate) held: u64,
    pub(crate) missing: u64,
    /// The most that were taken at a time.
    pub(crate) most_held: u64,
    /// Cycles waited for a free register, and for all outstanding lines.
    pub(crate) full: u64,
    pub(crate) drained: u64,
    /// Cycles waited for lines, for other processors, and to try refused accesses again.
    pub(crate) waited: u64,
    pub(crate) synchronised: u64,
    pub(crate) retried: u64,
    /// The cycle at which it finished.
    pub(crate) finished: u64,
}

/// The machine's counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) nodes: Vec<NodeCounters>,
    pub(crate) commands: u64,
    pub(crate) gets: u64,
    pub(crate) getx: u64,
    pub(crate) putx: u64,
    pub(crate) address_cycles: u64,
    pub(crate) data_cycles: u64,
    /// Bytes of tags and MACs, whether they take time on the bus or not.
    pub(crate) tag_bytes: u64,
    /// Lines from cache to cache, and those of them within a chip.
    pub(crate) transfers: u64,
    pub(crate) within: u64,
    /// Sum over transfers of the cycles from the line being ready at its sender to its use.
    pub(crate) transfer_cycles: u64,
    pub(crate) fills: u64,
    pub(crate) barriers: u64,
    /// Process switches.
    pub(crate) switches: u64,
    pub(crate) timeouts: u64,
    /// Of a ring or mesh.
    pub(crate) links: LinkCounters,
    pub(crate) homes: HomeCounters,
}

/// What the links of a ring or mesh carried, and what homes sent over them.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkCounters {
    /// Messages, and the links that they crossed.
    pub(crate) messages: u64,
    pub(crate) hops: u64,
    /// Cycles that messages waited for their links.
    pub(crate) waited: u64,
    /// Cycles that each link was held.
    pub(crate) busy: Vec<u64>,
    /// Requests that homes sent on to owners, and invalidations.
    pub(crate) forwards: u64,
    pub(crate) invalidations: u64,
}

/// How busy the homes of a ring or mesh were.
#[derive(Clone, Debug, Default)]
pub(crate) struct HomeCounters {
    /// Cycles that each home was busy.
    pub(crate) busy: Vec<u64>,
    /// Cycles that requests waited for their homes.
    pub(crate) waited: u64,
}

impl HomeCounters {
    /// What was counted since `before`.
    fn since(&self, before: &HomeCounters) -> HomeCounters {
        HomeCounters { busy: less(&self.busy, &before.busy), waited: self.waited - before.waited }
    }
}

/// The difference of each count.
fn less(counts: &[u64], before: &[u64]) -> Vec<u64> {
    counts.iter().zip(before).map(|(count, before)| count - before).collect()
}

impl LinkCounters {
    /// A message holds a link for `cycles`, after it has waited for it.
    pub(crate) fn hop(&mut self, link: usize, cycles: u64, waited: u64) {
        self.hops += 1;
        self.waited += waited;
        self.busy[link] += cycles;
    }

    /// What was counted since `before`.
    fn since(&self, before: &LinkCounters) -> LinkCounters {
        LinkCounters {
            messages: self.messages - before.messages,
            hops: self.hops - before.hops,
            waited: self.waited - before.waited,
            busy: less(&self.busy, &before.busy),
            forwards: self.forwards - before.forwards,
            invalidations: self.invalidations - before.invalidations,
        }
    }
}

impl NodeCounters {
    /// What was counted since `before`, except for the finishing cycle and the maximum, which are not differences.
    fn since(&self, before: &NodeCounters) -> NodeCounters {
        NodeCounters {
            accesses: self.accesses - before.accesses,
            stores: self.stores - before.stores,
            fetches: self.fetches - before.fetches,
            instructions: self.instructions - before.instructions,
            second_hits: self.second_hits - before.second_hits,
            misses: self.misses - before.misses,
            upgrades: self.upgrades - before.upgrades,
            upgrades_with_data: self.upgrades_with_data - before.upgrades_with_data,
            write_backs: self.write_backs - before.write_backs,
            retries: self.retries - before.retries,
            primary: self.primary - before.primary,
            secondary: self.secondary - before.secondary,
            held: self.held - before.held,
            missing: self.missing - before.missing,
            most_held: self.most_held,
            full: self.full - before.full,
            drained: self.drained - before.drained,
            waited: self.waited - before.waited,
            synchronised: self.synchronised - before.synchronised,
            retried: self.retried - before.retried,
            finished: self.finished,
        }
    }
}

impl Counters {
    /// What was counted since `before`.
    pub(crate) fn since(&self, before: &Counters) -> Counters {
        Counters {
            nodes: self.nodes.iter().zip(&before.nodes).map(|(node, before)| node.since(before)).collect(),
            commands: self.commands - before.commands,
            gets: self.gets - before.gets,
            getx: self.getx - before.getx,
            putx: self.putx - before.putx,
            address_cycles: self.address_cycles - before.address_cycles,
            data_cycles: self.data_cycles - before.data_cycles,
            tag_bytes: self.tag_bytes - before.tag_bytes,
            transfers: self.transfers - before.transfers,
            within: self.within - before.within,
            transfer_cycles: self.transfer_cycles - before.transfer_cycles,
            fills: self.fills - before.fills,
            barriers: self.barriers - before.barriers,
            switches: self.switches - before.switches,
            timeouts: self.timeouts - before.timeouts,
            links: self.links.since(&before.links),
            homes: self.homes.since(&before.homes),
        }
    }

    pub(crate) fn new(nodes: usize, links: usize, homes: usize) -> Counters {
        let links = LinkCounters { busy: vec![0; links], ..LinkCounters::default() };
        let homes = HomeCounters { busy: vec![0; homes], waited: 0 };
        Counters { nodes: vec![NodeCounters::default(); nodes], links, homes, ..Counters::default() }
    }

    pub(crate) fn accesses(&self) -> u64 {
        self.nodes.iter().map(|node| node.accesses).sum()
    }

    /// When the last processor finished.
    pub(crate) fn cycles(&self) -> u64 {
        self.nodes.iter().map(|node| node.finished).max().unwrap_or(0)
    }
}

/// A tree of numbers by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats(Map<String, Value>);

impl Stats {
    /// Puts a value at `a.b.c`.
    pub(crate) fn put(&mut self, path: &str, value: impl Into<Value>) {
        let mut map = &mut self.0;
        let mut rest = path;
        while let Some((head, tail)) = rest.split_once('.') {
            let next = map.entry(head).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(next) = next else { return };
            map = next;
            rest = tail;
        }
        map.insert(rest.to_owned(), value.into());
    }

    /// The statistics without those of single nodes.
    #[must_use]
    pub fn in_all(self) -> Stats {
        Stats(self.0.into_iter().filter(|(name, _)| name != "nodes").collect())
    }

    /// The same numbers without the one at `a.b.c`, if there is one.
    pub(crate) fn without(mut self, path: &str) -> Stats {
        let (table, last) = path.rsplit_once('.').map_or((None, path), |(table, last)| (Some(table), last));
        let mut parts = table.into_iter().flat_map(|table| table.split('.'));
        let found = parts.try_fold(&mut self.0, |map, part| map.get_mut(part)?.as_object_mut());
        if let Some(map) = found.filter(|map| map.get(last).is_some_and(|value| !value.is_object())) {
            map.remove(last);
        }
        self
    }

    /// The value at `a.b.c`.
    pub fn at(&self, path: &str) -> Option<&Value> {
        let mut parts = path.split('.');
        let first = self.0.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.get(part))
    }

    /// The number at `a.b.c`; 0 if there is none.
    pub fn number(&self, path: &str) -> f64 {
        self.at(path).and_then(Value::as_f64).unwrap_or(0.0)
    }

    /// Names and values of all leaves, in the tree's order.
    pub fn leaves(&self) -> Vec<(String, Value)> {
        fn walk(path: &str, value: &Value, out: &mut Vec<(String, Value)>) {
            match value {
                Value::Object(map) => map.iter().for_each(|(name, value)| {
                    let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    walk(&path, value, out);
                }),
                Value::Array(list) => {
                    list.iter().enumerate().for_each(|(i, value)| walk(&format!("{path}.{i}"), value, out))
                }
                leaf => out.push((path.to_owned(), leaf.clone())),
            }
        }
        let mut out = Vec::new();
        walk("", &self.json(), &mut out);
        out
    }

    /// The tree as JSON.
    pub fn json(&self) -> Value {
        Value::Object(self.0.clone())
    }

    /// The tree from the JSON that [`json`](Self::json) returns; `None` if it is not an object.
    pub fn from_json(tree: &Value) -> Option<Stats> {
        tree.as_object().cloned().map(Stats)
    }

    /// One line for each leaf: name, value, unit and description.
    pub fn explained(&self) -> String {
        let leaves = self.leaves();
        let rows = || leaves.iter().map(|(name, value)| (name, plain(value), meaning(name)));
        let unit = |meaning: Option<&Meaning>| meaning.map_or("", |meaning| meaning.unit);
        let names = rows().map(|(name, ..)| name.len()).max().unwrap_or(0);
        let values = rows().map(|(_, value, _)| value.len()).max().unwrap_or(0);
        let units = rows().map(|(.., known)| unit(known).len()).max().unwrap_or(0);
        rows()
            .map(|(name, value, known)| {
                let (unit, says) = (unit(known), known.map_or("", |meaning| meaning.meaning));
                format!("{name:names$}  {value:>values$}  {unit:units$}  {says}").trim_end().to_owned() + "\n"
            })
            .collect()
    }

    /// The leaves that differ between two trees: name, both values as text, and the difference of the second number in
    /// per cent. If only one tree has a leaf, the other value is empty.
    pub fn differences(&self, other: &Stats) -> Vec<Difference> {
        let (ours, theirs) = (self.leaves(), other.leaves());
        let (left, right) = (by_name(&ours), by_name(&theirs));
        let mut names: Vec<&String> = ours.iter().map(|(name, _)| name).collect();
        names.extend(theirs.iter().map(|(name, _)| name).filter(|name| !left.contains_key(name.as_str())));
        let difference = |name: &String| {
            let (a, b) = (left.get(name.as_str()).copied(), right.get(name.as_str()).copied());
            let number = |value: Option<&Value>| value.and_then(Value::as_f64);
            let more = match (number(a), number(b)) {
                (Some(a), Some(b)) if a != 0.0 => Some((b / a - 1.0) * 100.0),
                _ => None,
            };
            if a == b {
                return None;
            }
            let text = |value: Option<&Value>, say: fn(&Value) -> String| value.map_or_else(String::new, say);
            let (mut left, mut right) = (text(a, plain), text(b, plain));
            if left == right {
                // They differ only in digits that are not printed otherwise, or one is a number and one is text
                (left, right) = (text(a, Value::to_string), text(b, Value::to_string));
            }
            Some(Difference { name: name.clone(), a: left, b: right, more })
        };
        names.into_iter().filter_map(difference).collect()
    }

    /// One line for each leaf, with names and values in columns.
    pub fn text(&self) -> String {
        let leaves = self.leaves();
        let width = leaves.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        leaves.iter().map(|(name, value)| format!("{name:width$}  {}\n", plain(value))).collect()
    }

    /// A header line and one line for each tree; leaves that a tree lacks are empty.
    pub fn csv(trees: &[Stats]) -> String {
        // CSV readers skip an empty line
        let whole = |row: String| if row.is_empty() { "\"\"\n".to_owned() } else { row + "\n" };
        Stats::csv_rows(trees).into_iter().map(whole).collect()
    }

    /// The same as separate rows without line ends: a cell may contain line breaks.
    pub(crate) fn csv_rows(trees: &[Stats]) -> Vec<String> {
        let rows: Vec<_> = trees.iter().map(Stats::leaves).collect();
        let mut seen = HashSet::new();
        let names: Vec<&str> =
            rows.iter().flatten().map(|(name, _)| name.as_str()).filter(|name| seen.insert(*name)).collect();
        let line = |cells: Vec<String>| cells.join(",");
        let mut out = vec![line(names.iter().map(|name| quoted(name)).collect())];
        for row in &rows {
            let row = by_name(row);
            let cell = |name: &&str| row.get(name).map_or_else(String::new, |value| quoted(&plain(value)));
            out.push(line(names.iter().map(cell).collect()));
        }
        out
    }
}

/// A leaf that differs between two trees.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Its name.
    pub name: String,
    /// Its value in the first tree; empty if it has none.
    pub a: String,
    /// Its value in the second.
    pub b: String,
    /// By how many per cent the second is larger, if both are numbers and the first is not 0.
    pub more: Option<f64>,
}

/// An index of leaves by name; the first one of equal names.
fn by_name(leaves: &[(String, Value)]) -> HashMap<&str, &Value> {
    leaves.iter().rev().map(|(name, value)| (name.as_str(), value)).collect()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => format!("{float:.6}"),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// A cell of CSV.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
