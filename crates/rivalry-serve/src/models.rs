//! The models side by side: which one answers, and how a new one takes the place of an old one.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use rivalry::{InputError, Result};
use sha2::{Digest, Sha256};

use crate::error::{ApiError, ApiResult};
use crate::file_stamp::FileStamp;
use crate::options::ServeOptions;
use crate::served::{Served, Shared};
use rivalry_runs::run::model_file;

/// All models.
pub(crate) struct Models {
    slots: Vec<Slot>,
    /// For each arm the slot, and the sum of the shares up to it.
    arms: Vec<(usize, f64)>,
    approximate_from: Option<usize>,
}

/// The place of a model, which may be replaced.
pub(crate) struct Slot {
    pub name: String,
    path: PathBuf,
    current: ArcSwap<Served>,
    /// Held while a model is loaded, so that two don't overtake each other.
    loading: Mutex<()>,
    refused: Mutex<Option<Refused>>,
}

/// A file that could not be loaded: it is not tried again until it changes.
#[derive(Clone)]
struct Refused {
    /// The file as it was then; none if there was none.
    stamp: Option<FileStamp>,
    error: String,
}

/// A model that answers, and the arm of the A/B test if there is one.
pub(crate) struct Chosen {
    pub served: Shared,
    pub arm: Option<String>,
}

/// What became of an attempt to replace a model.
pub(crate) enum Reloaded {
    /// The file is the one that is being served.
    Unchanged,
    /// A new model answers from now on.
    Swapped(Shared),
    /// The new one can't be served; the old one stays.
    Refused(String),
}

impl Models {
    /// Loads all models.
    ///
    /// # Errors
    /// If one can't be loaded, or names or shares don't fit.
    pub fn load(options: &ServeOptions) -> Result<Self> {
        if options.models.is_empty() {
            return Err(InputError::new("no model is given")
                .help("give a run folder or a model file")
                .into());
        }
        let mut slots: Vec<Slot> = Vec::new();
        for source in &options.models {
            if slots.iter().any(|slot| slot.name == source.name) {
                let what = format!("two models are called '{}'", source.name);
                return Err(InputError::new(what).help("name them: a=RUN b=RUN").into());
            }
            let served = Served::load(&source.name, &source.path, options.approximate_from)?;
            slots.push(Slot {
                name: source.name.clone(),
                path: source.path.clone(),
                current: ArcSwap::from_pointee(served),
                loading: Mutex::default(),
                refused: Mutex::default(),
            });
        }
        let arms = arms(&slots, &options.split)?;
        Ok(Self { slots, arms, approximate_from: options.approximate_from })
    }

    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The model that was asked for by name, or else the one that answers this user.
    pub fn choose(&self, name: Option<&str>, user: Option<&str>) -> ApiResult<Chosen> {
        match name {
            Some(name) => {
                let slot = self.slots.iter().find(|slot| slot.name == name).ok_or_else(|| {
                    let names: Vec<&str> = self.slots.iter().map(|slot| &*slot.name).collect();
                    let help = format!("there are: {}", names.join(", "));
                    ApiError::unknown("unknown_model", format!("no model is called '{name}'"), help)
                })?;
                Ok(Chosen { served: slot.current(), arm: None })
            }
            None => {
                let arm = user.and_then(|user| self.arm(user));
                let slot = &self.slots[arm.unwrap_or(0)];
                Ok(Chosen { served: slot.current(), arm: arm.map(|_| slot.name.clone()) })
            }
        }
    }

    /// The slot of a user's arm, if there is an A/B test.
    fn arm(&self, user: &str) -> Option<usize> {
        let place = place_of(user);
        let last = self.arms.last()?;
        Some(self.arms.iter().find(|(_, end)| place < *end).unwrap_or(last).0)
    }

    /// The share of users that a slot answers, if there is an A/B test.
    pub fn share(&self, slot: usize) -> Option<f64> {
        let mut start = 0.0;
        let shares = self.arms.iter().map(|&(of, end)| {
            let share = end - std::mem::replace(&mut start, end);
            if of == slot { share } else { 0.0 }
        });
        let share: f64 = shares.sum();
        (!self.arms.is_empty()).then_some(share)
    }

    /// Loads the model of a slot again if its file is another one, and lets it take the old one's place.
    pub fn reload(&self, slot: &Slot) -> Reloaded {
        let _loading = slot.loading.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = slot.stamp();
        if stamp == Some(slot.current().stamp) {
            slot.set_refused(None);
            return Reloaded::Unchanged;
        }
        if let Some(refused) = slot.refused().filter(|refused| stamp.is_some() && refused.stamp == stamp) {
            return Reloaded::Refused(refused.error);
        }
        match Served::load(&slot.name, &slot.path, self.approximate_from) {
            Ok(served) => {
                let served = Arc::new(served);
                slot.current.store(Arc::clone(&served));
                slot.set_refused(None);
                Reloaded::Swapped(served)
            }
            Err(error) => {
                let error = error.to_string();
                slot.set_refused(Some(Refused { stamp, error: error.clone() }));
                Reloaded::Refused(error)
            }
        }
    }
}

impl Slot {
    /// The model that answers now. Whoever holds it keeps it until they are done.
    pub fn current(&self) -> Shared {
        self.current.load_full()
    }

    /// Why the file that is there now is not being served, if it isn't.
    pub fn error(&self) -> Option<String> {
        self.refused().map(|refused| refused.error)
    }

    /// Whether the file is another one than that which is served or was refused.
    pub fn changed(&self) -> bool {
        let stamp = self.stamp();
        let refused = self.refused().and_then(|refused| refused.stamp);
        stamp.is_some() && stamp != Some(self.current().stamp) && stamp != refused
    }

    fn stamp(&self) -> Option<FileStamp> {
        FileStamp::of(&model_file(&self.path)).ok()
    }

    fn refused(&self) -> Option<Refused> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_refused(&self, refused: Option<Refused>) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = refused;
    }
}

/// A number in [0, 1) that a user always has: the first eight bytes of the SHA-256 of the id.
fn place_of(user: &str) -> f64 {
    let digest = Sha256::digest(user.as_bytes());
    let first = digest.iter().take(8).fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    // 53 bits, so that one is never reached.
    (first >> 11) as f64 / (1u64 << 53) as f64
}

fn arms(slots: &[Slot], split: &[(String, f64)]) -> Result<Vec<(usize, f64)>> {
    let mut arms: Vec<(usize, f64)> = Vec::new();
    let mut end = 0.0;
    for (name, share) in split {
        let Some(slot) = slots.iter().position(|slot| slot.name == *name) else {
            let names = slots.iter().map(|slot| &*slot.name);
            return Err(rivalry::unknown_name("model", name, names).into());
        };
        if arms.iter().any(|&(of, _)| of == slot) || share.is_nan() || *share <= 0.0 {
            let what = format!("the share of '{name}' is not one number above 0");
            return Err(InputError::new(what).help("for example: --split a=0.9,b=0.1").into());
        }
        end += share;
        arms.push((slot, end));
    }
    if !arms.is_empty() && (end - 1.0).abs() > 1e-6 {
        let what = format!("the shares add up to {end}; they must add up to 1");
        return Err(InputError::new(what).help("for example: --split a=0.9,b=0.1").into());
    }
    Ok(arms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_spread_evenly_and_stay_where_they_are() {
        let places: Vec<f64> = (0..10_000).map(|user| place_of(&user.to_string())).collect();
        let below = |share: f64| places.iter().filter(|&&place| place < share).count() as f64 / 10_000.0;
        assert!((below(0.1) - 0.1).abs() < 0.01 && (below(0.9) - 0.9).abs() < 0.01);
        assert!(places.iter().all(|place| (0.0..1.0).contains(place)));
        // SHA-256 of "alice" starts with 2bd806c97f0e00af.
        assert!((place_of("alice") - 0x2bd8_06c9_7f0e_00af_u64 as f64 / 2f64.powi(64)).abs() < 1e-15);
    }
}
