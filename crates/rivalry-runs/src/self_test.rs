//! Small trainings with known results, to check that this machine computes them correctly and independently of the number of
//! threads.

use std::ops::ControlFlow;

use rivalry::config::{Config, setting_layer};
use rivalry::data::{DataConfig, Dataset, LoadOptions, load};
use rivalry::tensors::Tensors;
use rivalry::train::{Fitted, NoCheckpoints, TrainEvent, fit};
use rivalry::{Error, InputError, Result};

/// Loss, model and expected mean loss of the last epoch.
const KNOWN: [(&str, &str, f64); 3] =
    [("sl", "mf", 3.638845), ("dsl", "mf", 4.265946), ("dsl", "lightgcn", 3.188538)];

/// The relative tolerance for rounding differences between instruction sets.
const TOLERANCE: f64 = 1e-4;

/// The result of one training.
#[derive(Clone, Debug, PartialEq)]
pub struct SelfTest {
    /// The loss.
    pub loss: &'static str,
    /// The model.
    pub model: &'static str,
    /// The expected mean loss.
    pub expected: f64,
    /// The mean loss on this machine.
    pub found: f64,
    /// Whether one thread and three threads gave the same bits.
    pub same_bits: bool,
}

impl SelfTest {
    /// Whether the result is as expected.
    pub fn passed(&self) -> bool {
        self.same_bits && (self.found - self.expected).abs() <= TOLERANCE * self.expected.abs()
    }
}

/// Trains small models on the embedded data, each with one thread and with three.
///
/// # Errors
/// If a training fails.
pub fn self_test() -> Result<Vec<SelfTest>> {
    let dataset = load(&DataConfig::new("synthetic"), &LoadOptions::default(), &mut |_| {})?;
    let test = |(loss, model, expected)| {
        let (found, bits) = train(&dataset, loss, model, 1)?;
        let (_, others) = train(&dataset, loss, model, 3)?;
        Ok(SelfTest { loss, model, expected, found, same_bits: bits == others })
    };
    KNOWN.into_iter().map(test).collect()
}

/// The mean loss of the last epoch, and the model.
fn train(dataset: &Dataset, loss: &str, model: &str, threads: usize) -> Result<(f64, Tensors)> {
    let settings = [
        "data.source=synthetic".to_owned(),
        format!("loss.type={loss}"),
        format!("model.type={model}"),
        "model.dim=16".to_owned(),
        "train.epochs=2".to_owned(),
        "train.eval_every=2".to_owned(),
        "train.negatives=50".to_owned(),
    ];
    let layers: Vec<_> = settings.iter().map(|setting| setting_layer(setting)).collect::<Result<_>>()?;
    let config = Config::from_layers(&layers)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| InputError::new(format!("can't start the threads: {e}")))?;
    let mut last = f64::NAN;
    let mut observer = |event: &TrainEvent<'_>| {
        if let TrainEvent::Evaluated(record) = event {
            last = record.loss;
        }
        ControlFlow::Continue(())
    };
    let fitted = pool.install(|| fit(dataset, &config, None, &mut NoCheckpoints, &mut observer))?;
    let Fitted::Done(fit) = fitted else {
        return Err(Error::Unverified { what: "a training stopped without a request".to_owned() });
    };
    Ok((last, fit.tensors))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_passes_and_a_wrong_value_does_not() {
        for tested in self_test().unwrap() {
            assert!(tested.passed(), "{tested:?}");
            let wrong = SelfTest { found: tested.found * 1.001, ..tested.clone() };
            assert!(!wrong.passed());
            assert!(!SelfTest { same_bits: false, ..tested }.passed());
        }
    }
}
