//! JSON whose objects have each member once: of two with one name, readers take one or the other.

use core::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// Why a text is not such JSON.
pub(crate) struct NotStrict {
    /// The line.
    pub(crate) line: usize,
    /// Which member stands there twice; nothing if the text is not JSON at all.
    pub(crate) twice: Option<String>,
}

/// The value of a text.
pub(crate) fn parse(text: &str) -> Result<Value, NotStrict> {
    serde_json::from_str(text).map(|Strict(value)| value).map_err(|error| {
        let said = error.is_data().then(|| error.to_string());
        // Behind it stands the place
        let twice = said.map(|said| said.rsplit_once(" at line ").map_or(said.clone(), |(what, _)| what.to_owned()));
        NotStrict { line: error.line(), twice }
    })
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Strict, D::Error> {
        from.deserialize_any(Values).map(Strict)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
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

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(value)) = from.next_element()? {
            list.push(value);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((name, Strict(value))) = from.next_entry::<String, Strict>()? {
            if map.contains_key(&name) {
                // A name that may come from a hostile file
                let name: String = name.chars().take(40).collect();
                return Err(A::Error::custom(format_args!("{name:?} stands twice in one object")));
            }
            map.insert(name, value);
        }
        Ok(map.into())
    }
}
