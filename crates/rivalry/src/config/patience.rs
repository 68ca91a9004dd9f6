//! `train.patience` as it is written: a number of evaluations, or "none".

use serde::de::{self, Deserializer, Visitor};
use serde::ser::Serializer;

const NONE: &str = "none";

pub(super) fn serialize<S: Serializer>(patience: &Option<usize>, serializer: S) -> Result<S::Ok, S::Error> {
    match patience {
        Some(evaluations) => serializer.serialize_u64(*evaluations as u64),
        None => serializer.serialize_str(NONE),
    }
}

pub(super) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    deserializer.deserialize_any(Patience)
}

struct Patience;

impl Visitor<'_> for Patience {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a whole number ≥ 1, or \"{NONE}\" to run all epochs")
    }

    fn visit_u64<E: de::Error>(self, evaluations: u64) -> Result<Self::Value, E> {
        usize::try_from(evaluations).map(Some).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, evaluations: i64) -> Result<Self::Value, E> {
        match usize::try_from(evaluations) {
            Ok(evaluations) => Ok(Some(evaluations)),
            Err(_) => Err(E::invalid_value(de::Unexpected::Signed(evaluations), &self)),
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        match text {
            NONE => Ok(None),
            _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }
}
