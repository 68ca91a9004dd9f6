//! Requests and answers, as programs see them.

use rivalry::data::ItemInfo;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::ids;

/// The number of items in a list unless asked otherwise.
pub(super) const N: usize = 20;

fn default_n() -> usize {
    N
}

/// The model behind an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ModelTag {
    /// Its name.
    pub name: String,
    /// The XXH3-64 of the model file, as `xxhsum -H3` prints it.
    pub checksum: String,
}

/// Where a list comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The model, for a user that it was trained on.
    Model,
    /// The model, from the given items or the user's feedback.
    FoldIn,
    /// The most popular items: nothing is known of the user.
    Popularity,
}

impl Source {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::FoldIn => "fold-in",
            Self::Popularity => "popularity",
        }
    }
}

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ScoredItem {
    /// The original id.
    pub item: String,
    /// The score, or the similarity, or the number of training interactions, as the list is.
    pub score: f32,
    /// Training interactions of the item.
    pub popularity: u32,
    /// Title, link and picture, if there are any.
    #[serde(flatten)]
    pub info: ItemLinks,
}

/// What people see of an item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ItemLinks {
    /// The title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The address of a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

impl From<&ItemInfo> for ItemLinks {
    fn from(info: &ItemInfo) -> Self {
        let ItemInfo { title, url, image } = info.clone();
        Self { title, url, image }
    }
}

/// A list of recommendations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Recommendations {
    /// The model that made it.
    pub model: ModelTag,
    /// The arm of the A/B test that the user belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// The user's original id, unless the list is for given items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Where the list comes from.
    pub source: Source,
    /// Why it is not personalised, or what was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The items, best first: exactly `n`, unless fewer candidates are left.
    pub items: Vec<ScoredItem>,
}

/// Several lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Lists {
    /// One list per user, in the order of the request; one for given items.
    pub lists: Vec<Recommendations>,
}

/// Which part of a list is wanted.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    /// Number of items.
    #[serde(default = "default_n")]
    #[param(minimum = 1, default = 20)]
    pub n: usize,
    /// How many of the best are left out.
    #[serde(default)]
    #[param(minimum = 0, default = 0)]
    pub offset: usize,
    /// The model, by name.
    pub model: Option<String>,
}

/// A request for one or several lists: of users, or for given items.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecommendRequest {
    /// Users, by original id; whole numbers are taken as text.
    #[schema(value_type = Option<Vec<ids::Id>>)]
    #[serde(default, deserialize_with = "ids::optional_list")]
    pub users: Option<Vec<String>>,
    /// The items of a user that the model has never seen; not together with `users`.
    #[schema(value_type = Option<Vec<ids::Id>>)]
    #[serde(default, deserialize_with = "ids::optional_list")]
    pub items: Option<Vec<String>>,
    /// Number of items per list.
    #[serde(default = "default_n")]
    #[schema(minimum = 1, default = 20)]
    pub n: usize,
    /// How many of the best are left out.
    #[serde(default)]
    #[schema(minimum = 0, default = 0)]
    pub offset: usize,
    /// Recommend only these items.
    #[schema(value_type = Option<Vec<ids::Id>>)]
    #[serde(default, deserialize_with = "ids::optional_list")]
    pub include: Option<Vec<String>>,
    /// Never recommend these items.
    #[schema(value_type = Vec<ids::Id>)]
    #[serde(default, deserialize_with = "ids::list")]
    pub exclude: Vec<String>,
    /// The model, by name.
    pub model: Option<String>,
}

/// A request to order given candidates.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RankRequest {
    /// The user, by original id.
    #[schema(value_type = Option<ids::Id>)]
    #[serde(default, deserialize_with = "ids::optional")]
    pub user: Option<String>,
    /// The items of a user that the model has never seen; not together with `user`.
    #[schema(value_type = Option<Vec<ids::Id>>)]
    #[serde(default, deserialize_with = "ids::optional_list")]
    pub items: Option<Vec<String>>,
    /// What is to be ordered. Seen items stay.
    #[schema(value_type = Vec<ids::Id>)]
    #[serde(deserialize_with = "ids::list")]
    pub candidates: Vec<String>,
    /// The model, by name.
    pub model: Option<String>,
}

/// Candidates in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Ranked {
    /// The list.
    #[serde(flatten)]
    pub list: Recommendations,
    /// Candidates that the model doesn't know.
    pub unknown: Vec<String>,
}

/// Neighbours of an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SimilarItems {
    /// The model.
    pub model: ModelTag,
    /// The item; its score is its similarity to itself.
    pub item: ScoredItem,
    /// The most similar items; the score is the similarity.
    pub similar: Vec<ScoredItem>,
}

/// Neighbours of a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SimilarUsers {
    /// The model.
    pub model: ModelTag,
    /// The user's original id.
    pub user: String,
    /// The most similar users.
    pub similar: Vec<ScoredUser>,
}

/// A user of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ScoredUser {
    /// The original id.
    pub user: String,
    /// The similarity.
    pub score: f32,
    /// The number of the user's training items.
    pub items: usize,
}

/// What is known of a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UserHistory {
    /// The model.
    pub model: ModelTag,
    /// The arm of the A/B test that the user belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// The user's original id.
    pub user: String,
    /// Training items; the score is that of the model.
    pub train: Vec<ScoredItem>,
    /// Validation and test items.
    pub held_out: Vec<ScoredItem>,
    /// Items of the feedback since.
    pub feedback: Vec<String>,
}

/// What to look for.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    /// Part of an id or of a title; everything if it is empty.
    #[serde(default)]
    pub q: String,
    /// Number of results.
    #[serde(default = "default_n")]
    #[param(minimum = 1, default = 20)]
    pub n: usize,
    /// The model, by name.
    pub model: Option<String>,
}

/// Items found, the most popular first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FoundItems {
    /// The model.
    pub model: ModelTag,
    /// The items; the score is the number of training interactions.
    pub items: Vec<ScoredItem>,
}

/// Users found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FoundUsers {
    /// The model.
    pub model: ModelTag,
    /// Original ids.
    pub users: Vec<String>,
}
