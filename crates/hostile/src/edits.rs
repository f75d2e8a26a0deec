//! Changes to JSON documents that keep them valid JSON.

use serde_json::{Number, Value};

/// Most changes of an input.
const EDITS: usize = 12;
/// A path ends at a byte from here on, or where nothing lies below.
const HERE: u8 = 0xe0;

const NUMBERS: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e-9,
    255.0,
    256.0,
    9_007_199_254_740_993.0,
    1e19,
    -1e19,
    5e-324,
    -5e-324,
    1e308,
    -1.7e308,
    1.7e308,
];
const WHOLE: [u64; 6] = [0, 2, 255, 256, 1 << 53, u64::MAX];

/// Words that have a meaning for the readers of the documents.
const WORDS: [&str; 20] = [
    "",
    "a",
    "a/b/c",
    "\">'<i>sealwright</i>",
    "</script><!--<script",
    "every 'a' > 1",
    "some '{x}' over '{y}' from 0 to 1",
    "'{x}/{y}'",
    "'{x}",
    "holds",
    "measured",
    "every scheme, avx2",
    "L3 Unified 18446744073709551615K",
    "nanoseconds of a packet/gcm-on64/64/18446744073709551615",
    "sealwright",
    "aes-256-gcm",
    "paper \u{65e5}\u{672c}\u{8a9e} \u{301}",
    "2026-01-01T00:00:00Z",
    "9999-99-99T99:99:99.999999999999Z",
    "a,b\n\"c\"\r\n| `d` | \u{0}",
];

/// `document` with changes. Each change is a path, with a byte for every step down, and two bytes that say what to do
/// with the value there.
pub(crate) fn edited(document: &Value, mut bytes: &[u8]) -> Value {
    let mut document = document.clone();
    for _ in 0..EDITS {
        let mut node = &mut document;
        while let Some((&step, rest)) = bytes.split_first() {
            let below = match node {
                Value::Array(list) => list.len(),
                Value::Object(map) => map.len(),
                _ => 0,
            };
            if below == 0 {
                break;
            }
            bytes = rest;
            if step >= HERE {
                break;
            }
            node = match node {
                Value::Array(list) => &mut list[usize::from(step) % below],
                Value::Object(map) => map.values_mut().nth(usize::from(step) % below).unwrap(),
                _ => unreachable!("something lies below"),
            };
        }
        let Some((&[what, with], rest)) = bytes.split_first_chunk() else { break };
        bytes = change(node, what, usize::from(with), rest);
    }
    document
}

/// Changes a part of a document; it may use some of the following bytes.
fn change<'a>(node: &mut Value, what: u8, with: usize, bytes: &'a [u8]) -> &'a [u8] {
    match node {
        Value::Array(list) if what % 8 < 5 && !list.is_empty() => {
            let at = with % list.len();
            match what % 8 {
                0 => drop(list.remove(at)),
                1 => list.insert(at, list[at].clone()),
                2 => list.truncate(at),
                3 => list.swap(at, 0),
                _ => (0..20).for_each(|_| list.push(list[at].clone())),
            }
        }
        Value::Object(map) if what % 8 < 3 && !map.is_empty() => {
            let key = map.keys().nth(with % map.len()).unwrap().clone();
            let value = map.remove(&key).unwrap();
            match what % 8 {
                0 => {}
                1 => drop(map.insert(key + "x", value)),
                _ => drop(map.insert(WORDS[with % WORDS.len()].to_owned(), value)),
            }
        }
        _ => match what % 8 {
            0 | 1 => *node = Number::from_f64(NUMBERS[with % NUMBERS.len()]).map_or(Value::Null, Value::Number),
            2 => *node = WHOLE[with % WHOLE.len()].into(),
            3 | 4 => *node = WORDS[with % WORDS.len()].into(),
            5 => *node = if with & 1 == 0 { Value::Null } else { (with & 2 == 0).into() },
            6 => {
                let Some((number, rest)) = bytes.split_first_chunk() else { return &[] };
                *node = Number::from_f64(f64::from_be_bytes(*number)).map_or(Value::Null, Value::Number);
                return rest;
            }
            _ => {
                let (text, rest) = bytes.split_at(bytes.len().min(with & 31));
                *node = String::from_utf8_lossy(text).into();
                return rest;
            }
        },
    }
    bytes
}
