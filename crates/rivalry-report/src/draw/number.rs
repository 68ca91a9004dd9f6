//! Numbers as short text, for tick labels and settings.

/// The shortest form of a number with up to seven significant digits: 0.25, 1e-6.
pub(crate) fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.6e}").parse().unwrap_or(value);
    let plain = rounded == 0.0 || (1e-4..1e6).contains(&rounded.abs());
    minus_sign(if plain { format!("{rounded}") } else { format!("{rounded:e}") })
}

/// A multiple of `step`, with as many decimals as the step needs.
pub(super) fn tick_label(value: f64, step: f64) -> String {
    let decimals = (-step.log10() - 1e-9).ceil().clamp(0.0, 8.0) as usize;
    minus_sign(format!("{value:.decimals$}"))
}

/// Replaces a leading hyphen by a minus sign, and drops it from zero.
fn minus_sign(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().any(|c| ('1'..='9').contains(&c)) => format!("−{rest}"),
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let all = [0.25, 0.1 + 0.2, 1e-6, -3.0, 1000.0, 0.0, -0.0].map(number);
        assert_eq!(all, ["0.25", "0.3", "1e-6", "−3", "1000", "0", "0"]);
    }

    #[test]
    fn tick_labels_have_the_decimals_of_their_step() {
        assert_eq!(
            [tick_label(0.5, 0.05), tick_label(-0.0, 0.5), tick_label(-20.0, 10.0)],
            ["0.50", "0.0", "−20"]
        );
    }
}
