//! What an inspection found, as `inspect.json` in the run's folder holds it.

use serde::{Deserialize, Serialize};

/// What the loss of a run does to sampled training pairs with the run's model.
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
    /// The seed the pairs and negatives were drawn with.
    pub seed: u64,
    /// How many training pairs were looked at.
    pub pairs: usize,
    /// How many negatives each had.
    pub negatives: usize,
    /// The scale of each negative; none if the loss has no such part.
    pub kappa: Option<Distribution>,
    /// How contested each pair is, in [0, 1]; none if the loss has no such part.
    pub competition: Option<Distribution>,
    /// What each pair's temperature is divided by; none if the loss has no such part.
    pub multiplier: Option<Distribution>,
    /// The temperature of each pair; none if it is the same for all.
    pub temperature: Option<Distribution>,
    /// Where the gradient goes.
    pub gradient: GradientShares,
    /// How far the weights of the negatives are from even.
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
    /// Least, 5 %, 25 %, 50 %, 75 %, 95 % and greatest.
    pub quantiles: [f64; 7],
    /// How often it falls where.
    pub histogram: Histogram,
}

/// Counts between edges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// One more than there are counts, ascending.
    pub edges: Vec<f64>,
    /// How many fell between an edge and the next; the last edge belongs to the last count.
    pub counts: Vec<usize>,
}

/// The share of the gradient that goes to negatives of a rank (by score, the highest is 1), mean over the pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GradientShares {
    /// The last rank of each group: `[1, 2, 5]` are rank 1, rank 2, and ranks 3 to 5.
    pub up_to_rank: Vec<usize>,
    /// With the softmax loss at the same temperature.
    pub sl: Vec<f64>,
    /// With the run's own loss.
    pub own: Vec<f64>,
}

/// The attained KL radius `Σ_j q_j log(N q_j)` of the weights of the negatives against even ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Radius {
    /// With the softmax loss at the same temperature.
    pub sl: Distribution,
    /// With the run's own loss.
    pub own: Distribution,
    /// What theory says of the run's own loss, checked on every pair.
    pub bounds: Bounds,
}

/// The inequalities that must hold: how often they were checked, and how often they did not hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Pairs checked.
    pub checked: usize,
    /// Pairs for which `max κd - τ log N ≤ τ log mean exp(κd/τ) ≤ max κd` fails.
    pub value_broken: usize,
    /// Pairs whose radius falls when the temperature is lowered.
    pub radius_broken: usize,
    /// The mean of `1/τ_ui` over each batch, times τ: the furthest it is from one.
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
    /// How contested the pair is with these negatives.
    pub competition: f64,
    /// The temperature the loss gives it.
    pub temperature: f64,
    /// The negatives, the highest score first.
    pub negatives: Vec<Negative>,
}

/// A negative of a slate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Negative {
    /// The item's original id.
    pub item: String,
    /// Its score with the user.
    pub score: f64,
    /// Its cosine with the positive item.
    pub similarity: f64,
    /// Its scale κ; one where the loss has no such part.
    pub kappa: f64,
    /// Its share of the gradient with the softmax loss.
    pub sl: f64,
    /// Its share of the gradient with the run's own loss.
    pub own: f64,
}

/// The same positive with two samples of fifteen negatives, one with few strong competitors and one with many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwoSlates {
    /// With the lower competition.
    pub calm: Slate,
    /// With the higher competition.
    pub contested: Slate,
}
