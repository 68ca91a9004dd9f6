//! How strongly a loss pushes a negative down, by the negative's score: the picture of a loss in the documentation.

use rivalry::loss::{GradientBuffers, Loss, LossConfig, Negatives, Phase, Row, RowLoss};

use crate::chart::{DataPoint, LineChart, LineSeries};
use crate::draw::SeriesStyle;
use crate::page::Figure;

/// The scores of the two positives that are shown: one amid its negatives, one above nearly all of them.
const POSITIVES: [(f64, &str); 2] = [(0.2, "positive at 0.2"), (0.8, "positive at 0.8")];
/// Negatives of a pair where the loss takes any number.
const NEGATIVES: usize = 81;

/// Draws the gradients of the negatives of two training pairs, one with a contested positive and one with an easy one. The
/// negatives are evenly spread between -1 and 1 and not similar to the positive. The unit is the mean of both pairs.
pub fn gradient_figure(config: &LossConfig) -> Figure {
    let loss = config.build();
    let negatives = match config.defaults().negatives {
        Negatives::Exactly(n) => n,
        Negatives::Default(_) => NEGATIVES,
    };
    let scores: Vec<f64> = (0..negatives).map(|n| -1.0 + 2.0 * n as f64 / (negatives - 1) as f64).collect();
    let gradients = gradients(&*loss, &scores);
    let all: Vec<f64> = gradients.iter().flatten().copied().collect();
    let mean = all.iter().map(|gradient| gradient.abs()).sum::<f64>() / all.len() as f64;
    let series =
        POSITIVES.iter().zip(&gradients).enumerate().map(|(index, ((_, name), gradients))| LineSeries {
            name: (*name).to_owned(),
            style: Some(SeriesStyle::of(index)),
            points: scores
                .iter()
                .zip(gradients)
                .map(|(&x, gradient)| DataPoint { x, y: gradient / mean, deviation: None })
                .collect(),
            mark: None,
        });
    let chart = LineChart {
        x_title: "score of the negative".to_owned(),
        y_title: "gradient, relative to the mean".to_owned(),
        whole_x: false,
        series: series.collect(),
        context_name: String::new(),
        mark_name: String::new(),
    };
    let title = format!("Gradient of {} by the score of the negative", config.name());
    Figure { title, caption: String::new(), scene: chart.draw(), runs: Vec::new() }
}

/// The gradients of the negatives of each positive, in a batch of both.
fn gradients(loss: &dyn Loss, negatives: &[f64]) -> Vec<Vec<f64>> {
    let loss_of_rows: &dyn RowLoss<f64> = loss;
    let zeros = vec![0.0; negatives.len()];
    let log_probs = if loss.uses_log_probs() { &zeros[..] } else { &[] };
    let row = |positive| Row { user: 0, positive, negatives, features: &zeros, log_probs };
    let rows = POSITIVES.map(|(positive, _)| row(positive));
    let mut measures =
        rows.map(|row| if loss_of_rows.has_measure() { loss_of_rows.measure(row) } else { 1.0 });
    loss_of_rows.calibrate(&mut measures);
    let gradient = |(row, measure): (Row<'_, f64>, f64)| {
        let (mut gradients, mut params) = (zeros.clone(), vec![0.0; loss.n_params()]);
        let buffers = GradientBuffers { negatives: &mut gradients, params: &mut params };
        loss_of_rows.gradient(Phase::Model, row, measure, buffers);
        gradients
    };
    rows.into_iter().zip(measures).map(gradient).collect()
}

#[cfg(test)]
mod tests {
    use rivalry::loss::LOSSES;

    use super::*;

    #[test]
    fn every_loss_has_a_picture_and_a_softmax_pushes_hard_negatives_harder() {
        for entry in LOSSES {
            let svg = gradient_figure(&LossConfig::named("loss", LOSSES, entry.name)).svg();
            assert!(svg.starts_with("<svg") && !svg.contains("NaN"), "{}", entry.name);
        }
        let loss = LossConfig::named("loss", LOSSES, "sl").build();
        let gradients = gradients(&*loss, &[-0.5, 0.0, 0.5]);
        assert!(gradients.iter().all(|row| row.is_sorted() && row[0] > 0.0), "{gradients:?}");
    }
}
