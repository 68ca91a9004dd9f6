//! The result of an inspection: `inspect.json` in the folder of a run.

use serde::{Deserialize, Serialize};

/// Diagnostics of the loss of a run on sampled training pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// The loss, with its parameters.
    pub loss: toml::Table,
    /// The name of the data.
    pub data: String,
    /// The name of the model.
    #[serde(alias = "backbone")]
    pub model: String,
    /// The epoch of the model.
    pub epoch: usize,
    /// The seed of the sampled pairs and negatives.
    pub seed: u64,
    /// The number of training pairs.
    pub pairs: usize,
    /// The number of negatives per pair.
    pub negatives: usize,
    /// The scale κ of each negative; `None` if the loss has none.
    pub kappa: Option<Distribution>,
    /// The competition of each pair, in [0, 1]; `None` if the loss does not measure it.
    pub competition: Option<Distribution>,
    /// The divisor of each pair's temperature; `None` if the loss has none.
    pub multiplier: Option<Distribution>,
    /// The temperature of each pair; `None` if it is the same for all.
    pub temperature: Option<Distribution>,
    /// How the gradient is distributed over the negatives.
    pub gradient: GradientShares,
    /// The KL divergence of the weights of the negatives from uniform weights.
    pub radius: Radius,
    /// The same positive with two samples of negatives.
    pub two_slates: Vec<TwoSlates>,
    /// The most contested pairs, the most contested first.
    pub most_contested: Vec<Slate>,
    /// The least contested pairs, the least contested first.
    pub least_contested: Vec<Slate>,
}

/// How a quantity is distributed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
    /// Minimum, 5 %, 25 %, 50 %, 75 %, 95 % and maximum.
    pub quantiles: [f64; 7],
    /// The histogram.
    pub histogram: Histogram,
}

/// Counts between edges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// One more than there are counts, ascending.
    pub edges: Vec<f64>,
    /// The number of values between an edge and the next; the last edge belongs to the last count.
    pub counts: Vec<usize>,
}

/// The share of the gradient that goes to negatives of a rank (by score, the highest is 1), mean over the pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GradientShares {
    /// The last rank of each group: `[1, 2, 5]` are rank 1, rank 2, and ranks 3 to 5.
    pub up_to_rank: Vec<usize>,
    /// With the softmax loss at the same temperature.
    pub sl: Vec<f64>,
    /// With the loss of the run.
    #[serde(rename = "own")]
    pub this_loss: Vec<f64>,
}

/// The attained KL radius `Σ_j q_j log(N q_j)` of the weights of the negatives against uniform ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Radius {
    /// With the softmax loss at the same temperature.
    pub sl: Distribution,
    /// With the loss of the run.
    #[serde(rename = "own")]
    pub this_loss: Distribution,
    /// The theoretical bounds of the loss, checked on every pair.
    pub bounds: Bounds,
}

/// The theoretical inequalities: on how many pairs they were checked, and on how many they failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Pairs checked.
    pub checked: usize,
    /// Pairs for which `max κd - τ log N ≤ τ log mean exp(κd/τ) ≤ max κd` fails.
    pub value_broken: usize,
    /// Pairs whose radius falls when the temperature is lowered.
    pub radius_broken: usize,
    /// The largest deviation from one, over all batches, of the mean of `1/τ_ui` times τ.
    pub mean_sharpness_off: f64,
}

/// A training pair with a sample of negatives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slate {
    /// The user's original id.
    pub user: String,
    /// The positive item's original id.
    pub item: String,
    /// The positive's score.
    pub score: f64,
    /// The competition of the pair with these negatives.
    pub competition: f64,
    /// The temperature that the loss gives it.
    pub temperature: f64,
    /// The different negatives by descending score.
    pub negatives: Vec<Negative>,
}

/// A negative of a slate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Negative {
    /// The item's original id.
    pub item: String,
    /// How many times it was drawn: most samplers draw with replacement.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub draws: usize,
    /// Its score with the user.
    pub score: f64,
    /// Its cosine with the positive item.
    pub similarity: f64,
    /// Its scale κ; one if the loss has none.
    pub kappa: f64,
    /// Its share of the gradient with the softmax loss, over all its draws.
    pub sl: f64,
    /// Its share of the gradient with the loss of the run, over all its draws.
    #[serde(rename = "own")]
    pub this_loss: f64,
}

fn once() -> usize {
    1
}

fn is_once(draws: &usize) -> bool {
    *draws == 1
}

/// The same positive with two samples of fifteen negatives, one with few strong competitors and one with many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwoSlates {
    /// With the lower competition.
    pub calm: Slate,
    /// With the higher competition.
    pub contested: Slate,
}
