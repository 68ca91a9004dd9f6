//! Hard negatives: of N candidates drawn uniformly, the M that the model scores highest, M being `train.negatives`.
//!
//! W. Zhang et al., Optimizing Top-N Collaborative Filtering via Dynamic Negative Item Sampling, SIGIR 2013 (DNS);
//! W. Shi et al., On the Theories Behind Hard Negative Sampling for Recommendation, WWW 2023 (DNS(M, N)).

use rand_xoshiro::Xoshiro256PlusPlus;

use super::uniform::Uniform;
use super::{Entry, Sampler};
use crate::InputError;
use crate::params::{Param, Range, Search, Value};

pub(super) const HARD: Entry = Entry {
    name: "hard",
    summary: "the highest-scored of some candidates drawn uniformly: dynamic negative sampling, DNS(M, N)",
    params: &[CANDIDATES],
    build: |params, train, negatives| {
        let candidates = params.count(CANDIDATES.name);
        if candidates < negatives {
            let what = format!(
                "{candidates} candidates are fewer than the {negatives} negatives to choose from them"
            );
            let error = InputError::new(what).field("sampler.candidates");
            return Err(error.help("raise sampler.candidates or lower train.negatives").into());
        }
        Ok(Box::new(Hard { candidates, uniform: Uniform::with_replacement(train)? }))
    },
};

const CANDIDATES: Param = Param {
    name: "candidates",
    doc: "items drawn for each training pair, of which the train.negatives highest-scored are kept",
    default: Value::Count(2000),
    range: Range::AtLeast(1.0),
    search: Search::NONE,
};

struct Hard<'a> {
    candidates: usize,
    uniform: Uniform<'a>,
}

impl Sampler for Hard<'_> {
    fn draw(&self, user: u32, rng: &mut Xoshiro256PlusPlus, out: &mut [u32]) {
        self.uniform.draw(user, rng, out);
    }

    /// Of the candidates: how likely each is to be among the hardest depends on the model.
    fn log_probs(&self, user: u32, items: &[u32], out: &mut [f32]) {
        self.uniform.log_probs(user, items, out);
    }

    fn candidates(&self, _: usize) -> usize {
        self.candidates
    }
}
