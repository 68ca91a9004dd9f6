//! The losses' reference values in the training step.

use super::*;

/// One step of plain gradient descent by Adam: with β = 0 and a huge ε, Adam's step is `-lr/ε · g`.
#[test]
fn losses_in_the_training_step() {
    let cases = cases("losses.json");
    let mut checked = 0;
    for (n, case) in cases.iter().enumerate() {
        let Some(section) = section(case) else { continue };
        let name = format!("case {n}, {section:?}");
        let start = embeddings(case);
        let (users, items) = (ids(&case["batch_users"]), ids(&case["batch_items"]));
        let negatives = id_rows(&case["negatives"]);
        let descent = "type = 'adam'\nlr = 1e12\nbeta1 = 0\nbeta2 = 0\nepsilon = 1e12".parse().unwrap();
        let descent = OptimConfig::from_table("optim", OPTIMIZERS, &descent).unwrap();
        let adversary_start = case
            .get("adv_users")
            .map(|_| Embeddings { users: matrix(&case["adv_users"]), items: matrix(&case["adv_items"]) });
        let train = Interactions::empty(start.users.rows(), start.items.rows());
        // The model's first phase; the adversary's, where there is one, in an epoch of its own.
        for (part, epoch) in expected(case["loss"].as_str().unwrap()).iter().zip([0, 4]) {
            if part.phase == Phase::LossParams {
                break;
            }
            let loss = OnePhase { loss: loss_of(&section, case), phase: part.phase };
            let optimized = |start: &Embeddings, score| {
                let mf = ModelConfig::named("model", MODELS, "mf").backbone(&train).unwrap();
                OptimizedModel::new(EmbeddingModel::new(mf, score, start.clone()), &descent)
            };
            let adversary = adversary_start.as_ref().map(|start| optimized(start, Score::Cosine));
            let (model, n) = (optimized(&start, score(case)), negatives[0].len());
            let mut training = GradientStep::new(Box::new(loss), model, adversary, &Given, n);
            let batch = Batch { users: &users, items: &items, train: &train, epoch, batch: 0, seed: 0 };
            let draw = |row: usize, out: &mut [u32]| out.copy_from_slice(&negatives[row]);
            let value = training.step_with(batch, &Given, &draw).unwrap();
            assert_close(&format!("{name}: value"), value, case[part.value].as_f64().unwrap(), 1e-4, 0.0);
            let (before, after, sign) = match (part.phase, &adversary_start) {
                (Phase::Adversary, Some(before)) => {
                    (before, training.adversary().unwrap().model().learned(), -1.0)
                }
                _ => (&start, training.model().model().learned(), 1.0),
            };
            for (before, after, key) in
                [(&before.users, &after.users, part.tables[0]), (&before.items, &after.items, part.tables[1])]
            {
                let (before, after) = (widened(before), widened(after));
                let difference =
                    |(b, a): (&Vec<f64>, &Vec<f64>)| b.iter().zip(a).map(|(b, a)| sign * (b - a)).collect();
                let grads: Vec<Vec<f64>> = before.iter().zip(&after).map(difference).collect();
                assert_tables_close(&format!("{name}: {key}"), &grads, &table(&case[key]), 1e-4);
            }
        }
        checked += 1;
    }
    println!("{checked} of {} loss cases checked in the f32 training step", cases.len());
    assert!(checked > 0, "no case of a known loss");
}

/// Stands for a sampler where the case gives the negatives.
pub struct Given;

impl Sampler for Given {
    fn draw(&self, _: u32, _: &mut Xoshiro256PlusPlus, _: &mut [u32]) {
        unreachable!("the case gives the negatives");
    }

    fn log_probs(&self, _: u32, _: &[u32], _: &mut [f32]) {
        unreachable!("no case corrects for them");
    }
}

/// A loss held to one of its phases.
struct OnePhase {
    loss: Box<dyn Loss>,
    phase: Phase,
}

impl<T: Real> RowLoss<T> for OnePhase
where
    dyn Loss: RowLoss<T>,
{
    fn has_measure(&self) -> bool {
        RowLoss::<T>::has_measure(&*self.loss)
    }

    fn measure(&self, row: Row<'_, T>) -> T {
        self.loss.measure(row)
    }

    fn calibrate(&self, measures: &mut [T]) {
        RowLoss::<T>::calibrate(&*self.loss, measures);
    }

    fn gradient(
        &self,
        phase: Phase,
        row: Row<'_, T>,
        calibrated: T,
        grads: GradientBuffers<'_, T>,
    ) -> RowGradient<T> {
        self.loss.gradient(phase, row, calibrated, grads)
    }
}

impl Loss for OnePhase {
    fn negative_features(&self) -> NegativeFeatures {
        self.loss.negative_features()
    }

    fn phases(&self, _: usize) -> &'static [Phase] {
        if self.phase == Phase::Adversary { &[Phase::Adversary] } else { &[Phase::Model] }
    }

    fn n_params(&self) -> usize {
        self.loss.n_params()
    }
}
