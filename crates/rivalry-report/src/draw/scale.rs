//! From values to places on the sheet, and the round numbers that stand beside an axis.

/// Maps an interval of values to an interval of places, evenly or by logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    values: (f64, f64),
    places: (f64, f64),
    log: bool,
    whole: bool,
    /// The step of the ticks, if it is given.
    step: Option<f64>,
}

impl Scale {
    /// An even scale. An interval of no length is widened, so that its value stands in the middle.
    pub(crate) fn linear(values: (f64, f64), places: (f64, f64)) -> Self {
        let (low, high) = values;
        let room = if high > low { 0.0 } else { (low.abs() * 0.1).max(1e-6) };
        Self { values: (low - room, high + room), places, log: false, whole: false, step: None }
    }

    /// A scale by logarithm; the values must be above zero.
    pub(crate) fn log((low, high): (f64, f64), places: (f64, f64)) -> Self {
        let room = if high > low { 1.0 } else { 1.2 };
        Self { values: (low / room, high * room), places, log: true, whole: false, step: None }
    }

    /// An even scale that begins and ends at round numbers.
    pub(crate) fn round(values: (f64, f64), places: (f64, f64)) -> Self {
        let scale = Self::linear(values, places);
        let step = step(scale.values.1 - scale.values.0, 5);
        let (low, high) = scale.values;
        let values = ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step);
        Self { values, step: Some(step), ..scale }
    }

    /// The same scale for what is counted: between whole numbers there is nothing.
    pub(crate) fn whole(self) -> Self {
        Self { whole: true, ..self }
    }

    /// The place of a value.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let of = |x: f64| if self.log { x.ln() } else { x };
        let share = (of(value) - of(self.values.0)) / (of(self.values.1) - of(self.values.0));
        self.places.0 + share * (self.places.1 - self.places.0)
    }

    /// Round values within the scale, about `wanted` of them, with their labels.
    pub(crate) fn ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let (low, high) = self.values;
        if self.log {
            return log_ticks(low, high);
        }
        let step = self.step.unwrap_or_else(|| step(high - low, wanted));
        let step = if self.whole { step.max(1.0) } else { step };
        let first = (low / step - 1e-9).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        (first..=last).map(|n| n as f64 * step).map(|value| (value, step_label(value, step))).collect()
    }
}

/// The round step (1, 2 or 5 times a power of ten) that cuts a span into about `wanted` parts.
fn step(span: f64, wanted: usize) -> f64 {
    let rough = span / wanted.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let lead = rough / power;
    power
        * if lead < 1.5 {
            1.0
        } else if lead < 3.5 {
            2.0
        } else if lead < 7.5 {
            5.0
        } else {
            10.0
        }
}

/// 1, 2 and 5 times the powers of ten; the powers alone where these would be too many.
fn log_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let leads: &[f64] = if (high / low).log10() > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let all = powers.flat_map(|power| leads.iter().map(move |lead| lead * 10f64.powi(power)));
    all.filter(|value| (low * 0.999..=high * 1.001).contains(value)).map(|v| (v, number(v))).collect()
}

/// A multiple of a step, with as many digits as the step needs.
fn step_label(value: f64, step: f64) -> String {
    let digits = (-step.log10() - 1e-9).ceil().clamp(0.0, 8.0) as usize;
    // Minus zero is zero.
    minus(format!("{:.digits$}", value + 0.0))
}

/// A number as short as it can be told: 0.25, 1e-6.
pub(crate) fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.6e}").parse().unwrap_or(value);
    let plain = rounded == 0.0 || (1e-4..1e6).contains(&rounded.abs());
    minus(if plain { format!("{rounded}") } else { format!("{rounded:e}") })
}

/// The sign that is as wide as a plus.
fn minus(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().any(|c| ('1'..='9').contains(&c)) => format!("−{rest}"),
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale) -> Vec<String> {
        scale.ticks(5).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_within() {
        let places = (0.0, 100.0);
        assert_eq!(
            labels(Scale::linear((0.0, 0.137), places)),
            ["0.00", "0.02", "0.04", "0.06", "0.08", "0.10", "0.12"]
        );
        assert_eq!(labels(Scale::linear((0.0, 200.0), places)), ["0", "50", "100", "150", "200"]);
        assert_eq!(labels(Scale::linear((0.0, 0.5), places)), ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(labels(Scale::linear((1.0, 4.0), places).whole()), ["1", "2", "3", "4"]);
        assert_eq!(labels(Scale::linear((-7.0, 7.0), places)), ["−6", "−4", "−2", "0", "2", "4", "6"]);
        assert_eq!(labels(Scale::log((0.05, 1.0), places)), ["0.05", "0.1", "0.2", "0.5", "1"]);
        assert_eq!(
            labels(Scale::log((1e-6, 1e-1), places)),
            ["1e-6", "1e-5", "0.0001", "0.001", "0.01", "0.1"]
        );
    }

    #[test]
    fn values_find_their_place_on_either_scale() {
        assert_eq!(Scale::linear((2.0, 4.0), (10.0, 30.0)).at(3.0), 20.0);
        assert_eq!(Scale::linear((0.0, 1.0), (100.0, 0.0)).at(0.25), 75.0);
        assert!((Scale::log((0.01, 1.0), (0.0, 10.0)).at(0.1) - 5.0).abs() < 1e-9);
    }

    #[test]
    fn a_single_value_stands_in_the_middle() {
        for scale in [Scale::linear((0.0, 0.0), (0.0, 10.0)), Scale::linear((0.3, 0.3), (0.0, 10.0))] {
            let value = (scale.values.0 + scale.values.1) / 2.0;
            assert!((scale.at(value) - 5.0).abs() < 1e-9 && !scale.ticks(5).is_empty());
        }
        assert!((Scale::log((0.2, 0.2), (0.0, 10.0)).at(0.2) - 5.0).abs() < 1e-9);
    }

    #[test]
    fn a_round_scale_ends_at_round_numbers() {
        let scale = Scale::round((0.013, 0.187), (0.0, 1.0));
        assert!((scale.values.0 - 0.0).abs() < 1e-12 && (scale.values.1 - 0.2).abs() < 1e-12);
    }

    #[test]
    fn numbers_are_short() {
        let all = [0.25, 0.1 + 0.2, 1e-6, -3.0, 1000.0, 0.0].map(number);
        assert_eq!(all, ["0.25", "0.3", "1e-6", "−3", "1000", "0"]);
    }
}
