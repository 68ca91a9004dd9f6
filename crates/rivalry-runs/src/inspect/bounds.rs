//! The theoretical bounds of a pair.
//!
//! The softmax loss is a worst case within a KL ball around uniform weights. Its soft maximum lies at most `τ log N` below
//! the highest logit and never above it, and the radius it attains grows as the temperature falls.

use rivalry::loss::RowDiagnostics;

/// The tolerance of inequalities between rounded numbers.
const SLACK: f64 = 1e-9;

/// The attained radius `Σ_j q_j log(N q_j)`.
pub(super) fn radius(weights: &[f64]) -> f64 {
    let n = weights.len() as f64;
    let information = weights.iter().filter(|q| **q > 0.0).map(|q| q * (n * q).ln());
    // Uniform weights give zero, up to rounding.
    information.sum::<f64>().max(0.0)
}

/// Whether `max κd - τ log N ≤ τ log mean exp(κd/τ) ≤ max κd`.
pub(super) fn value_holds(found: &RowDiagnostics) -> bool {
    let highest = found.logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let slack = SLACK * (1.0 + highest.abs());
    let lowest = highest - found.temperature * (found.logits.len() as f64).ln();
    lowest - slack <= found.soft_maximum && found.soft_maximum <= highest + slack
}

/// Whether the radius does not fall when the temperature does.
pub(super) fn radius_holds(radius: f64, radius_when_cooler: f64) -> bool {
    radius <= radius_when_cooler + SLACK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_radius_is_zero_for_uniform_weights_and_log_n_for_a_single_one() {
        assert!(radius(&[0.125; 8]) < 1e-15);
        assert!((radius(&[0.0, 1.0, 0.0, 0.0]) - 4f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn a_value_out_of_bounds_is_detected() {
        let found = |soft_maximum| RowDiagnostics {
            scales: None,
            temperature: 0.5,
            logits: vec![-1.0, 0.25],
            soft_maximum,
            weights: vec![],
            shares: vec![],
        };
        assert!(value_holds(&found(0.25)) && value_holds(&found(0.25 - 0.5 * 2f64.ln())));
        assert!(!value_holds(&found(0.26)) && !value_holds(&found(-0.1)));
        assert!(radius_holds(0.3, 0.3) && radius_holds(0.3, 0.4) && !radius_holds(0.3, 0.2));
    }
}
