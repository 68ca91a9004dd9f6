//! FISM: a user is the mean of the embeddings of their items, so that only items are learned.
//!
//! `q_u = mean(x_j, j ∈ I_u) - mean(x_j, all j)`, where x are the item embeddings as they are scored (of length one where the
//! score is the cosine). While a pair (u, i) is trained on, i is left out of u's items: the model learns to predict an item
//! from the others. A user without other items has no query, and such a pair trains nothing. Known and new users are the
//! same: the query is [fold-in](crate::scorer::fold_in). With `user_weight` w > 0, `w · p_u` is added, where p is a learned
//! user table; new users have none.
//!
//! Kabbur, Ning and Karypis, "FISM: Factored Item Similarity Models for Top-N Recommender Systems", KDD 2013, has a second
//! item table for the items of a user, the exponent of |I_u| as a parameter, biases, and squared or BPR losses. Here one table
//! serves both roles, as in a symmetric item-to-item similarity, and any loss and sampler can be used.

use super::{Build, DIM, Entry, POPULARITY_WEIGHT, SCORE, Users, plain};
use crate::params::{Param, Params, Range, Search, Value};

const USER_WEIGHT: Param = Param {
    name: "user_weight",
    doc: "weight of a learned vector for each user, added to the mean of the user's items; 0: no user table",
    default: Value::Number(0.0),
    range: Range::AtLeast(0.0),
    search: Search::NONE,
};

pub(crate) const FISM: Entry = Entry {
    name: "fism",
    summary: "FISM: a user is the mean of the embeddings of their items; no user table",
    params: &[DIM, SCORE, POPULARITY_WEIGHT, USER_WEIGHT],
    build: Build { backbone: |_, _| plain(), extra_tables: 0, users },
};

fn users(params: &Params) -> Users {
    Users::Items { user_weight: params.number(USER_WEIGHT.name) as f32 }
}
