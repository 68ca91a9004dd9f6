//! Losses. A loss sees the scores of a training pair and its negatives, and returns a value and the gradients of these
//! scores. It never sees embeddings: gathering and scattering are the trainer's.
//!
//! A new loss is one file with an `Entry`, and one line in [`LOSSES`]. Most need nothing but [`RowLoss::gradient`].
//! Everything else is an optional capability, so that the trainer treats all losses alike: a number a row that the whole
//! batch is calibrated by ([`RowLoss::measure`]), learned parameters ([`Loss::n_params`]), a second set of embeddings
//! that is trained against the model ([`Loss::adversary_lr`]), a quantile for each user, computed now and then
//! ([`Loss::quantile_rank`]) or learned ([`Loss::learns_quantiles`]), and several phases in one step ([`Loss::phases`]). The softmax family also reports its internals
//! ([`Loss::diagnostics`]).

mod activation;
mod advinfonce;
mod batch;
mod bpr;
mod bsl;
mod cap;
mod competition;
mod defaults;
mod diagnostics;
mod drrl;
mod dsl;
mod guidedrec;
mod kappa;
mod learned;
mod learned_quantiles;
mod llpauc;
mod psl;
mod sl;
mod sl_at_k;
mod softmax;
mod talos;
mod top_k;

use std::collections::BTreeMap;

pub(crate) use self::batch::ROWS;
pub use self::batch::{BatchGradients, BatchScores, BatchSlates};
pub use self::defaults::Defaults;
pub use self::diagnostics::{Diagnostics, RowDiagnostics};
use rivalry_kernels::Real;
use serde::{Deserialize, Serialize};

use crate::params::{self, Choice, Params};

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
    talos::TALOS,
    drrl::DRRL,
    dsl::DSL,
    dsl::DSL_KAPPA,
    dsl::DSL_CA,
    dsl::DSL_AT_K,
    cap::CAP,
    softmax::SOFTMAX,
];

/// A loss on the list.
pub type Entry = params::Entry<Build>;

/// Builds a loss, and says how a model is best trained with it.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// Builds it. Its parameters are legal, so this can't fail.
    pub loss: fn(&Params) -> Box<dyn Loss>,
    /// The settings of other sections that suit it.
    pub defaults: Defaults,
    /// What people read about it.
    pub about: About,
}

/// What people read about a loss.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The value of a training pair: `f_i` is the score of the positive, `f_j` that of a negative.
    pub formula: &'static str,
    /// When to use it. Follows "Use it ".
    pub use_when: &'static str,
}

/// A chosen loss with its parameters: `[loss]` of a config.
///
/// ```
/// use rivalry::loss::{LOSSES, LossConfig};
/// let section = |text: &str| text.parse().unwrap();
/// let config = LossConfig::from_table("loss", LOSSES, &section("type = 'dsl'\ntau = 0.1"))?;
/// let loss = config.build();
/// assert!(LossConfig::from_table("loss", LOSSES, &section("type = 'dls'")).is_err());
/// # Ok::<(), rivalry::Error>(())
/// ```
pub type LossConfig = Choice<Build>;

impl LossConfig {
    /// The loss with these parameters.
    pub fn build(&self) -> Box<dyn Loss> {
        (self.entry().build.loss)(self.params())
    }

    /// The settings of other sections that suit it.
    pub fn defaults(&self) -> &'static Defaults {
        &self.entry().build.defaults
    }
}

/// What a loss computes for the rows of a batch, in two passes.
///
/// Rows are independent within a pass, so they run in parallel. What a row must know of the others goes through one
/// number a row: [`measure`](Self::measure) computes it, [`calibrate`](Self::calibrate) sees them all. Written once for
/// any precision: training runs in `f32`, checks run in `f64`. [`BatchScores::evaluate`] runs both passes.
pub trait RowLoss<T: Real>: Send + Sync {
    /// Whether there is a first pass. If not, every row's measure is one.
    fn has_measure(&self) -> bool {
        false
    }

    /// The first pass: what the batch must know of this row. Called if [`has_measure`](Self::has_measure).
    fn measure(&self, _row: Row<'_, T>) -> T {
        T::one()
    }

    /// Between the passes: turns all rows' measures into what the second pass needs.
    fn calibrate(&self, _measures: &mut [T]) {}

    /// The second pass: the row's value and its gradients with respect to the scores. In the adversary's phase the
    /// gradients are with respect to the adversary's scores.
    fn gradient(
        &self,
        phase: Phase,
        row: Row<'_, T>,
        calibrated: T,
        grads: GradientBuffers<'_, T>,
    ) -> RowGradient<T>;

    /// The gradient of the user's learned quantile (or margin) on this row. Called if [`Loss::learns_quantiles`].
    fn quantile_gradient(&self, _row: Row<'_, T>, _catalogue: Catalogue) -> T {
        T::zero()
    }
}

/// A loss with its optional capabilities. Every method has a default.
pub trait Loss: RowLoss<f32> + RowLoss<f64> {
    /// What [`Row::features`] must hold.
    fn negative_features(&self) -> NegativeFeatures {
        NegativeFeatures::None
    }

    /// How many of the highest-scored negatives need their feature, if not all of them do. [`RowLoss::measure`] then gets these
    /// negatives alone, and [`RowLoss::gradient`] no features.
    fn slate(&self) -> Option<usize> {
        None
    }

    /// The other form of [`RowLoss::gradient`], if the loss sees its negatives through `log Σ_j exp(f_j · s)` alone.
    fn log_sum_exp_form(&self) -> Option<&dyn LogSumExpForm> {
        None
    }

    /// Whether [`Row::log_probs`] must be filled in.
    fn uses_log_probs(&self) -> bool {
        false
    }

    /// The phases of a step in this epoch (counted from 0), in order.
    fn phases(&self, _epoch: usize) -> &'static [Phase] {
        &[Phase::Model]
    }

    /// The number of learned parameters of the loss itself.
    fn n_params(&self) -> usize {
        0
    }

    /// Moves the loss's parameters along their gradients. `lr` is the model's learning rate.
    fn step_params(&mut self, _phase: Phase, _grads: &[f64], _lr: f64) {}

    /// The learning rate of the adversary, a second set of embeddings, if there is one.
    fn adversary_lr(&self) -> Option<f64> {
        None
    }

    /// K, if each user's quantile is to be refreshed in this epoch (counted from 0): the K-th highest score among the
    /// user's training items and the sampled negatives.
    fn quantile_rank(&self, _epoch: usize) -> Option<usize> {
        None
    }

    /// Sets a user's quantile.
    fn set_quantile(&mut self, _user: u32, _value: f32) {}

    /// Whether each user's quantile is learned: every step then moves those of its users.
    fn learns_quantiles(&self) -> bool {
        false
    }

    /// Moves users' quantiles along their gradients: for each pair of the batch its user and
    /// [`RowLoss::quantile_gradient`].
    fn step_quantiles(&mut self, _gradients: &[(u32, f32)]) {}

    /// Its internals, for losses of the softmax family.
    fn diagnostics(&self) -> Option<&dyn Diagnostics> {
        None
    }

    /// What it keeps from step to step, for a checkpoint.
    fn state(&self) -> State {
        State::new()
    }

    /// Restores a saved state. `false` if it is not a state of this loss.
    fn restore(&mut self, state: &State) -> bool {
        state.is_empty()
    }
}

/// A loss of the score of the positive and the log-sum-exp of the scores of the negatives. Where scores have a bound, the
/// trainer can then add up exponentials while it scores, and the rows of the negatives with them, before a loss is known.
pub trait LogSumExpForm: Sync {
    /// The factor of the scores before they are exponentiated.
    fn sharpness(&self) -> f64;

    /// The value and the gradients of a row, given the score of its positive and `log Σ_j exp(f_j · sharpness)`.
    fn gradient(&self, user: u32, positive: f32, log_sum_exp: f32) -> LogSumExpGradient;
}

/// The outcome of [`LogSumExpForm::gradient`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogSumExpGradient {
    /// The row's loss.
    pub value: f32,
    /// Gradient with respect to the positive's score.
    pub positive: f32,
    /// Gradient with respect to the log-sum-exp.
    pub log_sum_exp: f32,
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
    /// For each negative the feature that [`Loss::negative_features`] asks for; empty if none.
    pub features: &'a [T],
    /// For each negative the log-probability with which it was drawn, if [`Loss::uses_log_probs`]; otherwise empty.
    pub log_probs: &'a [T],
}

/// How many items there are, and how many of them are training items of the user.
#[derive(Clone, Copy, Debug)]
pub struct Catalogue {
    /// All items.
    pub items: usize,
    /// Training items of the user.
    pub positives: usize,
}

/// The feature of each negative that a loss may ask for, besides its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NegativeFeatures {
    /// None.
    None,
    /// The cosine similarity of the negative and the positive item.
    Similarities,
    /// The adversary's score of the user and the negative.
    AdversaryScores,
}

/// Where a row's gradients go.
#[derive(Debug)]
pub struct GradientBuffers<'a, T> {
    /// One place for each negative, to be overwritten.
    pub negatives: &'a mut [T],
    /// One place for each parameter of the loss, to be added to.
    pub params: &'a mut [T],
}

/// The outcome of a row's second pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowGradient<T> {
    /// The row's loss.
    pub value: T,
    /// Gradient with respect to the positive's score.
    pub positive: T,
}

/// A part of a training step: which parameters it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The model, and with it the parameters of the loss.
    Model,
    /// The model a second time, for a loss that moves it twice in a step.
    ModelAgain,
    /// The parameters of the loss alone.
    LossParams,
    /// The adversary, uphill.
    Adversary,
}

/// The number of negatives of a training pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Negatives {
    /// This many unless told otherwise.
    Default(usize),
    /// This many and no other number.
    Exactly(usize),
}

/// The initialisation of embeddings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Init {
    /// Normal with mean 0 and this standard deviation.
    Normal(f64),
    /// Normal with mean 0 and variance `2/(rows + columns)` of each table.
    Xavier,
}
