//! Learned parameters of a loss, in `f64`, with Adam.

use super::State;

/// Parameters with their moments.
#[derive(Clone, Debug)]
pub(super) struct LearnedParams {
    pub values: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    steps: i32,
}

impl LearnedParams {
    pub fn new(values: Vec<f64>) -> Self {
        let zeros = vec![0.0; values.len()];
        Self { values, first: zeros.clone(), second: zeros, steps: 0 }
    }

    /// One Adam step; `rate(n)` is the learning rate of the n-th parameter.
    pub fn step(&mut self, grads: &[f64], rate: impl Fn(usize) -> f64) {
        self.steps = self.steps.saturating_add(1);
        let (c1, c2) = (1.0 - 0.9f64.powi(self.steps), 1.0 - 0.999f64.powi(self.steps));
        for (n, g) in grads.iter().enumerate() {
            self.first[n] = 0.9 * self.first[n] + 0.1 * g;
            self.second[n] = 0.999 * self.second[n] + 0.001 * g * g;
            self.values[n] -= rate(n) * (self.first[n] / c1) / ((self.second[n] / c2).sqrt() + 1e-8);
        }
    }

    pub fn state(&self) -> State {
        let named = |name: &str, numbers: &[f64]| (name.to_owned(), numbers.to_vec());
        State::from([
            named("values", &self.values),
            named("first", &self.first),
            named("second", &self.second),
            named("steps", &[f64::from(self.steps)]),
        ])
    }

    pub fn restore(&mut self, state: &State) -> bool {
        let numbers = |name: &str| state.get(name).filter(|saved| saved.len() == self.values.len()).cloned();
        let steps = state.get("steps").and_then(|steps| steps.first()).copied();
        match (numbers("values"), numbers("first"), numbers("second"), steps) {
            (Some(values), Some(first), Some(second), Some(steps)) => {
                *self = Self { values, first, second, steps: steps as i32 };
                true
            }
            _ => false,
        }
    }
}
