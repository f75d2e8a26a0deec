//! A strict JSON parser. Objects with duplicate members are refused, because readers would disagree on which one
//! counts; and so are texts that take far more memory than vectors do, because small objects can take a hundred times
//! the memory of their text.

use core::{cell::Cell, fmt};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// Permitted bytes of memory per byte of text. The vectors of this repository, and those in Wycheproof's format, take 3
/// to 7.
const FOR_EACH: usize = 16;
/// Bytes of memory that every text may take, however short.
const LEAST: usize = 1 << 20;
const MOST: usize = 512 << 20;
/// Bytes of a list element, in a list that has just grown.
const ELEMENT: usize = 2 * size_of::<Value>();
/// Bytes of an object's first member, a tree node with room for eleven; and of each further one, because nodes are half
/// full.
const OBJECT: usize = 640;
const MEMBER: usize = 110;
/// Bytes of a string in addition to its content.
const TEXT: usize = 16;

/// Why a text was refused.
pub(crate) struct NotStrict {
    /// The line number.
    pub(crate) line: usize,
    /// Which member is duplicated there, or that it takes too much memory; `None` if the text is not JSON.
    pub(crate) what: Option<String>,
}

/// Parses a text.
pub(crate) fn parse(text: &str) -> Result<Value, NotStrict> {
    let room = Cell::new((FOR_EACH * text.len()).clamp(LEAST, MOST));
    let mut from = serde_json::Deserializer::from_str(text);
    let value = Strict(&room).deserialize(&mut from).and_then(|value| from.end().map(|()| value));
    value.map_err(|error| {
        let said = error.is_data().then(|| error.to_string());
        // The message ends with the place
        let what = said.map(|said| said.rsplit_once(" at line ").map_or(said.clone(), |(what, _)| what.to_owned()));
        NotStrict { line: error.line(), what }
    })
}

/// Parses a value, within the remaining bytes of memory.
#[derive(Clone, Copy)]
struct Strict<'a>(&'a Cell<usize>);

impl Strict<'_> {
    fn take<E: Error>(self, bytes: usize) -> Result<(), E> {
        let left = self.0.get().checked_sub(bytes);
        self.0.set(
            left.ok_or_else(|| E::custom("it has more small values than vectors have, which would take much memory"))?,
        );
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.take(TEXT + value.len())?;
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = from.next_element_seed(self)? {
            self.take(ELEMENT)?;
            list.push(value);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = from.next_key::<String>()? {
            self.take(MEMBER + TEXT + name.len() + if map.is_empty() { OBJECT } else { 0 })?;
            let value = from.next_value_seed(self)?;
            if map.contains_key(&name) {
                // The name may come from a hostile file
                let name: String = name.chars().take(40).collect();
                return Err(A::Error::custom(format_args!("{name:?} stands twice in one object")));
            }
            map.insert(name, value);
        }
        Ok(map.into())
    }
}
