//! The wanted fields of one JSON object, without building the others.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::InputError;

/// The value of a field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Cell<'j> {
    #[default]
    Missing,
    Text(Cow<'j, str>),
    /// A value that is neither text nor a number.
    Other(&'static str),
}

impl<'j> Cell<'j> {
    /// The text of a value; empty if there is none.
    pub fn text(&self) -> Result<Cow<'j, str>, InputError> {
        match self {
            Self::Missing => Ok(Cow::Borrowed("")),
            Self::Text(text) => Ok(text.clone()),
            Self::Other(kind) => {
                let error = InputError::new(format!("expected text or a number, found {kind}"));
                Err(error.help("write one interaction per line, with plain values"))
            }
        }
    }
}

/// The names of the wanted fields.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'n>(pub [Option<&'n str>; 4]);

/// The names of all fields that have been seen.
#[derive(Default)]
pub(super) struct Keys(pub Vec<String>);

/// The wanted fields of an object.
pub(super) fn cells<'j>(line: &'j str, wanted: Wanted<'_>) -> serde_json::Result<[Cell<'j>; 4]> {
    let mut json = serde_json::Deserializer::from_str(line);
    let cells = json.deserialize_map(CellsVisitor(wanted))?;
    json.end().map(|()| cells)
}

/// Adds the names of an object's fields to those known.
pub(super) fn keys(line: &str, known: &mut Keys) -> serde_json::Result<()> {
    let mut json = serde_json::Deserializer::from_str(line);
    json.deserialize_map(KeysVisitor(known))?;
    json.end()
}

struct CellsVisitor<'n>(Wanted<'n>);

impl<'de> Visitor<'de> for CellsVisitor<'_> {
    type Value = [Cell<'de>; 4];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut cells = <[Cell<'de>; 4]>::default();
        while let Some(Cell::Text(key)) = map.next_key_seed(CellSeed)? {
            match self.0.0.iter().position(|name| *name == Some(&*key)) {
                Some(at) => cells[at] = map.next_value_seed(CellSeed)?,
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(cells)
    }
}

struct KeysVisitor<'k>(&'k mut Keys);

impl<'de> Visitor<'de> for KeysVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if !self.0.0.contains(&key) {
                self.0.0.push(key);
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

struct CellSeed;

impl<'de> DeserializeSeed<'de> for CellSeed {
    type Value = Cell<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cell<'de>, D::Error> {
        deserializer.deserialize_any(CellVisitor)
    }
}

struct CellVisitor;

impl<'de> Visitor<'de> for CellVisitor {
    type Value = Cell<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Cell<'de>, E> {
        Ok(Cell::Text(text.trim_ascii().into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Cell<'de>, E> {
        Ok(Cell::Text(text.trim_ascii().to_owned().into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Cell<'de>, E> {
        Ok(Cell::Text(number.to_string().into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Cell<'de>, E> {
        Ok(Cell::Text(number.to_string().into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Cell<'de>, E> {
        // 7.0 becomes 7: data frames store integer ids with nulls as floats.
        Ok(Cell::Text(number.to_string().into()))
    }

    fn visit_unit<E>(self) -> Result<Cell<'de>, E> {
        Ok(Cell::Missing)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Cell<'de>, E> {
        Ok(Cell::Other("true or false"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Cell<'de>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Cell::Other("an array"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Cell<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Cell::Other("an object"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanted_fields_are_found_in_any_order() {
        let wanted = Wanted([Some("u"), Some("i"), None, Some("t")]);
        let line = r#" {"i": "a\u00e9", "x": {"u": [1, {}]}, "u": 7.0, "t": null} "#;
        let text = |text: &str| Cell::Text(text.to_owned().into());
        assert_eq!(cells(line, wanted).unwrap(), [text("7"), text("aé"), Cell::Missing, Cell::Missing]);
        assert_eq!(cells(r#"{"u": [1]}"#, wanted).unwrap()[0], Cell::Other("an array"));
        for broken in ["{", "[]", "3", "{} x", r#"{"u": 1,}"#, ""] {
            assert!(cells(broken, wanted).is_err(), "{broken}");
        }
    }
}
