//! Lists for users of all kinds: known ones, new ones with a history, and those of whom nothing is known.

use std::sync::Arc;

use rivalry::ranker::Filter;

use crate::api::lists::{Made, Window};
use crate::api::types::{Recommendations, Source};
use crate::app::App;
use crate::compute::UserTask;
use crate::error::{ApiError, ApiResult};
use crate::models::Chosen;
use crate::served::{Allowed, List, Served, Shared};

/// What a request for several lists wants of each.
pub(crate) struct Wanted {
    pub window: Window,
    pub include: Option<Vec<String>>,
    pub exclude: Vec<String>,
}

/// What a model knows of a user.
pub(crate) enum Who {
    /// It was trained on the user.
    Known {
        user: u32,
        /// The items of the feedback since; ascending.
        feedback: Vec<u32>,
    },
    /// Only the feedback is known; ascending.
    New { history: Vec<u32> },
    /// Nothing is known.
    Nobody { note: &'static str },
}

impl Who {
    /// What a model and the feedback know of a user.
    pub fn find(app: &App, served: &Served, user: &str) -> Self {
        let feedback = served.known_items(&app.seen.of(user));
        match served.users().dense(user) {
            Some(user) if !served.model().train.items_of(user).is_empty() => Self::Known { user, feedback },
            _ if !feedback.is_empty() => Self::New { history: feedback },
            Some(_) => {
                Self::Nobody { note: "the user has no training items: these are the most popular ones" }
            }
            None => Self::Nobody {
                note: "the user is not in the training data: these are the most popular items",
            },
        }
    }
}

impl App {
    /// The list of one user, of this length. Requests that wait at the same time are ranked together.
    pub async fn for_user(&self, served: &Shared, user: &str, n: usize) -> ApiResult<Made> {
        match Who::find(self, served, user) {
            Who::Known { user, feedback: exclude } => {
                let task = UserTask { served: Arc::clone(served), user, n, exclude };
                Ok(Made { source: Source::Model, note: None, list: self.compute.user(task).await? })
            }
            Who::New { history } => {
                let served = Arc::clone(served);
                self.compute.run(move || from_history(&served, &history, n, &Allowed::default())).await
            }
            Who::Nobody { note } => Ok(popular(served, user, note, n, &Allowed::default())),
        }
    }

    /// The lists of many users, in their order.
    pub fn for_users(
        &self,
        chosen: Vec<(Chosen, String)>,
        wanted: &Wanted,
    ) -> ApiResult<Vec<Recommendations>> {
        let n = wanted.window.end();
        let mut made: Vec<Option<Made>> = vec![None; chosen.len()];
        let mut groups: Vec<Group> = Vec::new();
        for (place, (Chosen { served, .. }, user)) in chosen.iter().enumerate() {
            let group = groups.iter().position(|group| Arc::ptr_eq(&group.served, served));
            let group = group.unwrap_or_else(|| {
                groups.push(Group::new(served, wanted));
                groups.len() - 1
            });
            let group = &mut groups[group];
            match Who::find(self, served, user) {
                Who::Known { user, feedback: exclude } => {
                    let served = Arc::clone(served);
                    group.tasks.push((place, UserTask { served, user, n, exclude }));
                }
                Who::New { history } => {
                    made[place] = Some(from_history(served, &history, n, &group.allowed)?);
                }
                Who::Nobody { note } => made[place] = Some(popular(served, user, note, n, &group.allowed)),
            }
        }
        for Group { served, allowed, tasks } in &groups {
            let users: Vec<&UserTask> = tasks.iter().map(|(_, task)| task).collect();
            let lists = served.rank_users(&users, allowed)?;
            for ((place, _), list) in tasks.iter().zip(lists) {
                made[*place] = Some(Made { source: Source::Model, note: None, list });
            }
        }
        let lists = chosen.into_iter().zip(made).map(|((chosen, user), made)| {
            let made = made.ok_or_else(|| ApiError::internal("a list was not made"))?;
            Ok(self.answer(&chosen, Some(user), made, wanted.window))
        });
        lists.collect()
    }
}

/// Users of the same model.
struct Group {
    served: Shared,
    allowed: Allowed,
    tasks: Vec<(usize, UserTask)>,
}

impl Group {
    fn new(served: &Shared, wanted: &Wanted) -> Self {
        let allowed = Allowed::of(served, wanted.include.as_deref(), &wanted.exclude);
        Self { served: Arc::clone(served), allowed, tasks: Vec::new() }
    }
}

/// The list of a user that the model has never seen, from these items.
pub(crate) fn for_items(served: &Served, items: &[String], wanted: &Wanted) -> ApiResult<Made> {
    let allowed = Allowed::of(served, wanted.include.as_deref(), &wanted.exclude);
    let history = served.known_items(items);
    let n = wanted.window.end();
    if history.is_empty() {
        let note = match items.is_empty() {
            true => "no items are given: these are the most popular ones",
            false => "the model knows none of the items: these are the most popular ones",
        };
        return Ok(popular_without(served, &[], note, n, &allowed));
    }
    let mut made = from_history(served, &history, n, &allowed)?;
    let unknown = items.iter().filter(|item| served.items().dense(item).is_none()).count();
    made.note = (unknown > 0).then(|| format!("the model doesn't know {unknown} of the items"));
    Ok(made)
}

fn from_history(served: &Served, history: &[u32], n: usize, allowed: &Allowed) -> ApiResult<Made> {
    let made = |list: List| Made { source: Source::FoldIn, note: None, list };
    if allowed.is_nothing() {
        return Ok(made(Vec::new()));
    }
    let filter = Filter { allow: allowed.allow.as_deref(), deny: &allowed.deny, ..Filter::default() };
    let lists = served.ranker.recommend_new(&served.history(history), n, &filter)?;
    Ok(made(lists.list(0).collect()))
}

fn popular(served: &Served, user: &str, note: &str, n: usize, allowed: &Allowed) -> Made {
    // A user without training items may have some in the validation and test sets.
    let held_out = served.users().dense(user).map_or(&[][..], |user| served.model().held_out.items_of(user));
    popular_without(served, held_out, note, n, allowed)
}

fn popular_without(served: &Served, left_out: &[u32], note: &str, n: usize, allowed: &Allowed) -> Made {
    let list = served.popular(left_out).filter(|&(item, _)| allowed.allows(item)).take(n).collect();
    Made { source: Source::Popularity, note: Some(note.to_owned()), list }
}
