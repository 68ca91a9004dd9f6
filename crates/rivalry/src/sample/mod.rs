//! Negative samplers: which items a training pair is compared with.
//!
//! A new sampler is one file with an `Entry`, and one line in [`SAMPLERS`].

mod shared;
mod uniform;

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Result;
use crate::config::{self, Params};
use crate::data::{Dataset, Interactions};

/// All samplers, in the order they are listed to the user.
pub static SAMPLERS: &[Entry] = &[uniform::UNIFORM, shared::SHARED];

/// A sampler on the list.
pub type Entry = config::Entry<fn(&Params) -> Box<dyn Sampler>>;

/// Draws negatives.
pub trait Sampler: Send + Sync {
    /// Whether every user of the training set can be given that many negatives; if not, an error that names one.
    fn check(&self, dataset: &Dataset, negatives: usize) -> Result<()>;

    /// Fills `out` with negatives for a user. What is drawn depends on the generator alone.
    fn draw(&self, train: &Interactions, user: u32, rng: &mut Xoshiro256PlusPlus, out: &mut [u32]);

    /// How many pairs of a batch share what is drawn, if they do. It is then drawn once for all of them, from all items,
    /// and each leaves out those of its user.
    fn sharing(&self) -> Option<usize> {
        None
    }
}

/// The sampler a config section asks for.
pub fn build(section: &toml::Table) -> Result<Box<dyn Sampler>> {
    let (entry, params) = config::choose("sampler", SAMPLERS, section)?;
    Ok((entry.build)(&params))
}
