//! Losses. A loss sees the scores of a training pair and its negatives, and answers with a value and the
//! gradients of these scores. It never sees embeddings: gathering and scattering are the trainer's.
//!
//! A new loss is one file with an `Entry`, and one line in [`LOSSES`]. Most need nothing but [`RowLoss::gradient`].
//! What some need besides is in the traits, so that the trainer treats all alike: a number a row that the whole batch
//! is calibrated by ([`RowLoss::measure`]), learned numbers of the loss's own ([`Loss::own`]), a second set of
//! embeddings that plays against the model ([`Loss::rival`]), a quantile for each user ([`Loss::quantile_rank`]), and
//! several turns in one step ([`Loss::turns`]). Those of the softmax family also show their inside
//! ([`Loss::anatomy`]).

mod activation;
mod advinfonce;
mod anatomy;
mod bpr;
mod bsl;
mod cap;
mod competition;
mod dsl;
mod guidedrec;
mod kappa;
mod llpauc;
mod own;
mod psl;
mod sl;
mod sl_at_k;
mod softmax;
mod top_k;

use std::collections::BTreeMap;

pub use self::anatomy::{Anatomy, Dissected};
use rivalry_kernels::Real;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::config::{self, Params};

/// All losses, in the order they are listed to the user.
pub static LOSSES: &[Entry] = &[
    bpr::BPR,
    guidedrec::GUIDEDREC,
    llpauc::LLPAUC,
    sl::SL,
    advinfonce::ADVINFONCE,
    bsl::BSL,
    psl::PSL,
    sl_at_k::SL_AT_K,
    dsl::DSL,
    dsl::DSL_KAPPA,
    dsl::DSL_CA,
    dsl::DSL_AT_K,
    cap::CAP,
    softmax::SOFTMAX,
];

/// A loss on the list. Its parameters are legal, so building it can't fail.
pub type Entry = config::Entry<fn(&Params) -> Box<dyn Loss>>;

/// What a loss computes of the rows of a batch, in two passes.
///
/// Rows are independent within a pass, so they run side by side. What a row must know of the others goes
/// through one number a row: [`measure`](Self::measure) makes it, [`calibrate`](Self::calibrate) sees them all.
/// Written once for any precision: training runs in `f32`, checks run in `f64`.
pub trait RowLoss<T: Real>: Send + Sync {
    /// What [`Row::companions`] must hold.
    fn companions(&self) -> Companions {
        Companions::None
    }

    /// The first pass: what the batch must know of this row.
    fn measure(&self, _row: Row<'_, T>) -> T {
        T::one()
    }

    /// Between the passes: turns all rows' measures into what the second pass needs.
    fn calibrate(&self, _measures: &mut [T]) {}

    /// The second pass: the row's value and its gradients with respect to the scores. In the rival's turn the
    /// gradients are with respect to the rival's scores.
    fn gradient(&self, turn: Turn, row: Row<'_, T>, calibrated: T, grads: Gradients<'_, T>)
    -> RowGradient<T>;
}

/// A loss, with what it keeps from step to step. Most keep nothing, and everything here has a default.
pub trait Loss: RowLoss<f32> + RowLoss<f64> {
    /// How many negatives a pair has, where the config doesn't say.
    fn negatives(&self) -> Negatives {
        Negatives::Default(1000)
    }

    /// How the embeddings begin.
    fn init(&self) -> Init {
        Init::Normal(1.0)
    }

    /// Who moves in a step of this epoch (counted from 0), one after the other.
    fn turns(&self, _epoch: usize) -> &'static [Turn] {
        &[Turn::Model]
    }

    /// How many numbers the loss itself learns.
    fn own(&self) -> usize {
        0
    }

    /// Moves the loss's own numbers along their gradients. `lr` is the model's learning rate.
    fn step_own(&mut self, _turn: Turn, _grads: &[f64], _lr: f64) {}

    /// The learning rate of the embeddings that play against the model, if there are any.
    fn rival(&self) -> Option<f64> {
        None
    }

    /// If each user's quantile is to be refreshed in this epoch (counted from 0): K, for the K-th highest score
    /// among the user's training items and the sampled negatives.
    fn quantile_rank(&self, _epoch: usize) -> Option<usize> {
        None
    }

    /// Takes a user's new quantile.
    fn set_quantile(&mut self, _user: u32, _value: f32) {}

    /// Its inside, for the losses that can show it.
    fn anatomy(&self) -> Option<&dyn Anatomy> {
        None
    }

    /// All that it keeps from step to step, for a checkpoint.
    fn state(&self) -> State {
        State::new()
    }

    /// Takes up a saved state. `false` if it is not a state of this loss.
    fn restore(&mut self, state: &State) -> bool {
        state.is_empty()
    }
}

/// What a loss keeps from step to step, by name.
pub type State = BTreeMap<String, Vec<f64>>;

/// One training pair as a loss sees it.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a, T> {
    /// The user.
    pub user: u32,
    /// Score of the positive item.
    pub positive: T,
    /// Scores of the negatives.
    pub negatives: &'a [T],
    /// For each negative what [`RowLoss::companions`] asked for; empty if nothing.
    pub companions: &'a [T],
}

/// The second number a loss may ask for with each negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Companions {
    /// None.
    None,
    /// The cosine between the negative and the positive item.
    Similarities,
    /// The score the rival gives the user and the negative.
    RivalScores,
}

/// Where a row's gradients go.
#[derive(Debug)]
pub struct Gradients<'a, T> {
    /// One place for each negative, to be overwritten.
    pub negatives: &'a mut [T],
    /// One place for each number of the loss's own, to be added to.
    pub own: &'a mut [T],
}

/// The outcome of a row's second pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowGradient<T> {
    /// The row's loss.
    pub value: T,
    /// Gradient with respect to the positive's score.
    pub positive: T,
}

/// Who moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The model, and along with it the loss's own numbers.
    Model,
    /// The model once more, for a loss that moves it twice in a step.
    ModelAgain,
    /// The loss's own numbers alone.
    Own,
    /// The rival, uphill.
    Rival,
}

/// The number of negatives of a training pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Negatives {
    /// This many unless told otherwise.
    Default(usize),
    /// This many and no other number.
    Exactly(usize),
}

/// How embeddings begin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Init {
    /// Normal with mean 0 and this standard deviation.
    Normal(f64),
    /// Normal with mean 0 and variance `2/(rows + columns)` of each table.
    Xavier,
}

/// The loss a config section asks for.
///
/// ```
/// let section = "type = 'dsl'\ntau = 0.1".parse().unwrap();
/// let loss = rivalry::loss::build(&section).unwrap();
/// assert!(rivalry::loss::build(&"type = 'dls'".parse().unwrap()).is_err());
/// ```
pub fn build(section: &toml::Table) -> Result<Box<dyn Loss>> {
    let (entry, params) = config::choose("loss", LOSSES, section)?;
    Ok((entry.build)(&params))
}
