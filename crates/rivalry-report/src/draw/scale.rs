//! Scales from values to coordinates, and the ticks of an axis.

use super::number::{number, tick_label};

/// An interval of values or of coordinates; for coordinates `start` may be above `end`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub start: f64,
    pub end: f64,
}

impl Interval {
    pub(crate) fn new(start: f64, end: f64) -> Self {
        Self { start, end }
    }

    /// The smallest interval that contains these values; 0 to 1 if there are none.
    pub(crate) fn around(values: impl IntoIterator<Item = f64>) -> Self {
        let none = Self::new(f64::INFINITY, f64::NEG_INFINITY);
        let all = values.into_iter().fold(none, |all, x| Self::new(all.start.min(x), all.end.max(x)));
        if all.start <= all.end { all } else { Self::new(0.0, 1.0) }
    }

    pub(crate) fn length(self) -> f64 {
        self.end - self.start
    }

    pub(crate) fn middle(self) -> f64 {
        (self.start + self.end) / 2.0
    }
}

/// Maps values to coordinates, linearly or by logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    values: Interval,
    coordinates: Interval,
    log: bool,
    /// Whether ticks are whole numbers only.
    whole: bool,
    /// The tick step; chosen by [`Scale::ticks`] if none.
    step: Option<f64>,
}

/// A tick of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub value: f64,
    pub label: String,
}

impl Scale {
    /// A linear scale. An interval of length zero is widened, with its value in the middle.
    pub(crate) fn linear(values: Interval, coordinates: Interval) -> Self {
        let margin = if values.length() > 0.0 { 0.0 } else { (values.start.abs() * 0.1).max(1e-6) };
        let values = Interval::new(values.start - margin, values.end + margin);
        Self { values, coordinates, log: false, whole: false, step: None }
    }

    /// A logarithmic scale; the values must be positive.
    pub(crate) fn log(values: Interval, coordinates: Interval) -> Self {
        let margin = if values.length() > 0.0 { 1.0 } else { 1.2 };
        let values = Interval::new(values.start / margin, values.end * margin);
        Self { values, coordinates, log: true, whole: false, step: None }
    }

    /// A linear scale that is widened to start and end at a tick.
    pub(crate) fn widened_to_ticks(values: Interval, coordinates: Interval) -> Self {
        let scale = Self::linear(values, coordinates);
        let Interval { start, end } = scale.values;
        let step = round_step(end - start, 5);
        let values = Interval::new((start / step + 1e-9).floor() * step, (end / step - 1e-9).ceil() * step);
        Self { values, step: Some(step), ..scale }
    }

    /// The same scale with ticks at whole numbers only.
    pub(crate) fn whole(self) -> Self {
        Self { whole: true, ..self }
    }

    /// The coordinate of a value.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let transform = |x: f64| if self.log { x.ln() } else { x };
        let [start, end] = [self.values.start, self.values.end].map(transform);
        let share = (transform(value) - start) / (end - start);
        self.coordinates.start + share * self.coordinates.length()
    }

    /// Ticks at about `wanted` round values within the scale.
    pub(crate) fn ticks(&self, wanted: usize) -> Vec<Tick> {
        let Interval { start, end } = self.values;
        if self.log {
            return log_ticks(self.values);
        }
        let step = self.step.unwrap_or_else(|| round_step(end - start, wanted));
        let step = if self.whole { step.max(1.0) } else { step };
        let first = (start / step - 1e-9).ceil() as i64;
        let last = (end / step + 1e-9).floor() as i64;
        let values = (first..=last).map(|n| n as f64 * step);
        values.map(|value| Tick { value, label: tick_label(value, step) }).collect()
    }
}

/// The step of 1, 2 or 5 times a power of ten that divides a length into about `wanted` steps.
fn round_step(length: f64, wanted: usize) -> f64 {
    let exact = length / wanted.max(1) as f64;
    let power = 10f64.powf(exact.log10().floor());
    let factor = match exact / power {
        x if x < 1.5 => 1.0,
        x if x < 3.5 => 2.0,
        x if x < 7.5 => 5.0,
        _ => 10.0,
    };
    power * factor
}

/// Ticks at 1, 2 and 5 times the powers of ten, or at the powers alone over more than two and a half decades.
fn log_ticks(values: Interval) -> Vec<Tick> {
    let Interval { start, end } = values;
    let factors: &[f64] = if (end / start).log10() > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let powers = start.log10().floor() as i32..=end.log10().ceil() as i32;
    let all = powers.flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
    let inside = all.filter(|value| (start * 0.999..=end * 1.001).contains(value));
    inside.map(|value| Tick { value, label: number(value) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale) -> Vec<String> {
        scale.ticks(5).into_iter().map(|tick| tick.label).collect()
    }

    fn linear(start: f64, end: f64) -> Scale {
        Scale::linear(Interval::new(start, end), Interval::new(0.0, 100.0))
    }

    fn log(start: f64, end: f64) -> Scale {
        Scale::log(Interval::new(start, end), Interval::new(0.0, 10.0))
    }

    #[test]
    fn ticks_are_round_and_inside_the_scale() {
        assert_eq!(labels(linear(0.0, 0.137)), ["0.00", "0.02", "0.04", "0.06", "0.08", "0.10", "0.12"]);
        assert_eq!(labels(linear(0.0, 200.0)), ["0", "50", "100", "150", "200"]);
        assert_eq!(labels(linear(0.0, 0.5)), ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(labels(linear(1.0, 4.0).whole()), ["1", "2", "3", "4"]);
        assert_eq!(labels(linear(-7.0, 7.0)), ["−6", "−4", "−2", "0", "2", "4", "6"]);
        assert_eq!(labels(log(0.05, 1.0)), ["0.05", "0.1", "0.2", "0.5", "1"]);
        assert_eq!(labels(log(1e-6, 1e-1)), ["1e-6", "1e-5", "0.0001", "0.001", "0.01", "0.1"]);
    }

    #[test]
    fn values_are_mapped_to_coordinates() {
        assert_eq!(Scale::linear(Interval::new(2.0, 4.0), Interval::new(10.0, 30.0)).at(3.0), 20.0);
        assert_eq!(Scale::linear(Interval::new(0.0, 1.0), Interval::new(100.0, 0.0)).at(0.25), 75.0);
        assert!((log(0.01, 1.0).at(0.1) - 5.0).abs() < 1e-9);
    }

    #[test]
    fn a_single_value_is_in_the_middle() {
        for scale in [linear(0.0, 0.0), linear(0.3, 0.3)] {
            assert!((scale.at(scale.values.middle()) - 50.0).abs() < 1e-9 && !scale.ticks(5).is_empty());
        }
        assert!((log(0.2, 0.2).at(0.2) - 5.0).abs() < 1e-9);
    }

    #[test]
    fn a_scale_widened_to_ticks_starts_and_ends_at_round_numbers() {
        let scale = Scale::widened_to_ticks(Interval::new(0.013, 0.187), Interval::new(0.0, 1.0));
        assert!(scale.values.start.abs() < 1e-12 && (scale.values.end - 0.2).abs() < 1e-12);
    }

    #[test]
    fn an_interval_contains_its_values() {
        assert_eq!(Interval::around([3.0, -1.0, 2.0]), Interval::new(-1.0, 3.0));
        assert_eq!(Interval::around([]), Interval::new(0.0, 1.0));
    }
}
