//! Adam over both tables.

use serde::{Deserialize, Serialize};

use crate::backbone::Embeddings;

/// The settings of Adam. Weight decay is added to the gradient (the classic form, not the decoupled one).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdamConfig {
    /// Learning rate.
    pub lr: f64,
    /// Times the parameter, added to its gradient.
    pub weight_decay: f64,
    /// Decay of the first moment.
    pub beta1: f64,
    /// Decay of the second moment.
    pub beta2: f64,
    /// Added to the denominator.
    pub epsilon: f64,
    /// Whether rows without a gradient stay where they are. Adam proper moves them on by their momentum, and every step
    /// then costs the size of the tables: with millions of rows this is most of it. On a graph nearly every row has a
    /// gradient, so there it changes nothing.
    pub lazy: bool,
}

impl Default for AdamConfig {
    fn default() -> Self {
        Self { lr: 0.1, weight_decay: 0.0, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, lazy: false }
    }
}

/// The moments, and how many steps have been taken.
#[derive(Clone, Debug, PartialEq)]
pub struct AdamState {
    /// Running mean of the gradients.
    pub first: Embeddings,
    /// Running mean of their squares.
    pub second: Embeddings,
    /// Steps taken.
    pub steps: u64,
}

impl AdamState {
    /// Moments for tables of that size.
    pub fn new(n_users: usize, n_items: usize, dim: usize) -> Self {
        let zeros = Embeddings::zeros(n_users, n_items, dim);
        Self { first: zeros.clone(), second: zeros, steps: 0 }
    }

    /// Counts a step and gives its constants.
    pub(super) fn next(&mut self, config: &AdamConfig) -> rivalry_kernels::Adam {
        self.steps += 1;
        let steps = self.steps.min(i32::MAX as u64) as i32;
        rivalry_kernels::Adam {
            beta1: config.beta1 as f32,
            beta2: config.beta2 as f32,
            epsilon: config.epsilon as f32,
            weight_decay: config.weight_decay as f32,
            rate: (config.lr / (1.0 - config.beta1.powi(steps))) as f32,
            second_correction: (1.0 / (1.0 - config.beta2.powi(steps)).sqrt()) as f32,
        }
    }
}
