//! The parameters that all gradient models share.

use serde::{Deserialize, Serialize};

use crate::params::{Param, Range, Search, Value};

/// The embedding dimension. Beyond the upper limit a typo is likelier than an intention.
pub(crate) const DIM: Param = Param {
    name: "dim",
    doc: "embedding dimension",
    default: Value::Count(64),
    range: Range::Within(1.0, 16384.0),
    search: Search::NONE,
};

pub(crate) const SCORE: Param = Param {
    name: "score",
    doc: "score of a user and an item: the cosine of their embeddings, or the dot product",
    default: Value::Choice("cosine"),
    range: Range::OneOf(&["cosine", "dot"]),
    search: Search::NONE,
};

/// How the embeddings of a user and an item make a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// The cosine.
    #[default]
    Cosine,
    /// The dot product.
    Dot,
}

impl Score {
    /// The value of the parameter `score`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cosine => "cosine",
            Self::Dot => "dot",
        }
    }

    /// The score of that name.
    pub(crate) fn named(name: &str) -> Self {
        if name == "dot" { Self::Dot } else { Self::Cosine }
    }
}
