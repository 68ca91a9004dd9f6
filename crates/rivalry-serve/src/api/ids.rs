//! Ids in requests: text, or whole numbers, which are taken as text.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// The id of a user or an item.
pub(super) struct Id(String);

impl PartialSchema for Id {
    fn schema() -> RefOr<Schema> {
        let of = |kind| ObjectBuilder::new().schema_type(kind);
        OneOfBuilder::new().item(of(Type::String)).item(of(Type::Integer)).into()
    }
}

impl ToSchema for Id {}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IdVisitor;
        impl Visitor<'_> for IdVisitor {
            type Value = Id;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an id (text or a whole number)")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Id, E> {
                Ok(Id(text.to_owned()))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Id, E> {
                Ok(Id(number.to_string()))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Id, E> {
                Ok(Id(number.to_string()))
            }
        }
        deserializer.deserialize_any(IdVisitor)
    }
}

fn texts(ids: Vec<Id>) -> Vec<String> {
    ids.into_iter().map(|Id(text)| text).collect()
}

pub(super) fn one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Id::deserialize(deserializer).map(|Id(text)| text)
}

pub(super) fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<Id>::deserialize(deserializer)?.map(|Id(text)| text))
}

pub(super) fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Vec::<Id>::deserialize(deserializer).map(texts)
}

pub(super) fn optional_list<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    Ok(Option::<Vec<Id>>::deserialize(deserializer)?.map(texts))
}
