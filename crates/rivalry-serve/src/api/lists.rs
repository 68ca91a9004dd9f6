//! From dense ids to what is sent.

use super::types::{ModelTag, Recommendations, ScoredItem, Source};
use crate::app::App;
use crate::error::{ApiError, ApiResult};
use crate::models::Chosen;
use crate::served::{List, Served};

/// Room for `n` items after `offset`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub n: usize,
    pub offset: usize,
}

impl Window {
    /// The window, if it is within the limits.
    pub fn new(app: &App, n: usize, offset: usize) -> ApiResult<Self> {
        let most = app.options.limits.max_n;
        if n == 0 {
            return Err(ApiError::invalid(
                "n = 0, but a list has at least one item",
                "ask for an n of 1 or more",
            ));
        }
        if n.saturating_add(offset) > most {
            let message = format!("n + offset = {} is more than this server ranks", n.saturating_add(offset));
            return Err(ApiError::invalid(message, format!("ask for at most {most}")));
        }
        Ok(Self { n, offset })
    }

    /// The number of items that must be ranked.
    pub fn end(self) -> usize {
        self.n + self.offset
    }

    fn cut(self, list: List) -> impl Iterator<Item = (u32, f32)> {
        list.into_iter().skip(self.offset).take(self.n)
    }
}

impl App {
    /// Refuses a request that names more things than are allowed.
    pub fn check_batch(&self, n: usize, what: &str) -> ApiResult<()> {
        let most = self.options.limits.max_batch;
        if n <= most {
            return Ok(());
        }
        let message = format!("{n} {what} are more than this server takes at once");
        Err(ApiError::invalid(message, format!("send at most {most} per request")))
    }

    /// An item with its score and what people see of it.
    pub fn item(&self, served: &Served, (item, score): (u32, f32)) -> ScoredItem {
        let id = served.items().original(item);
        ScoredItem {
            item: id.to_owned(),
            score,
            popularity: served.counts[item as usize],
            info: self.titles.get(id).map(Into::into).unwrap_or_default(),
        }
    }

    /// Items with their scores.
    pub fn items(&self, served: &Served, list: impl IntoIterator<Item = (u32, f32)>) -> Vec<ScoredItem> {
        list.into_iter().map(|pair| self.item(served, pair)).collect()
    }

    /// A list as it is sent.
    pub fn answer(
        &self,
        chosen: &Chosen,
        user: Option<String>,
        made: Made,
        window: Window,
    ) -> Recommendations {
        let Chosen { served, arm } = chosen;
        self.metrics.list(&served.name, made.source.name(), arm.as_deref());
        Recommendations {
            model: served.tag(),
            arm: arm.clone(),
            user,
            source: made.source,
            note: made.note,
            items: self.items(served, window.cut(made.list)),
        }
    }
}

/// A list that was made, and how.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub source: Source,
    pub note: Option<String>,
    pub list: List,
}

impl Served {
    pub fn tag(&self) -> ModelTag {
        ModelTag { name: self.name.clone(), checksum: self.checksum.clone() }
    }

    /// The dense id of an item.
    pub fn item_id(&self, item: &str) -> ApiResult<u32> {
        self.items().dense(item).ok_or_else(|| {
            let example = self.items().iter().next().unwrap_or_default();
            let message = format!("the model knows no item '{item}'");
            ApiError::unknown(
                "unknown_item",
                message,
                format!("ids are those of the data, such as '{example}'"),
            )
        })
    }

    /// The dense id of a user.
    pub fn user_id(&self, user: &str) -> ApiResult<u32> {
        self.users().dense(user).ok_or_else(|| {
            let example = self.users().iter().next().unwrap_or_default();
            let message = format!("the model knows no user '{user}'");
            ApiError::unknown(
                "unknown_user",
                message,
                format!("ids are those of the data, such as '{example}'"),
            )
        })
    }
}
