//! What a sweep tries for a parameter.

/// What a sweep tries for a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// The values of a grid, ascending; empty if the parameter is left alone.
    pub grid: &'static [f64],
    /// How random trials draw a value.
    pub draw: Draw,
    /// The grid of the published search; empty if the parameter was not searched there.
    pub paper: &'static [f64],
}

/// How random trials draw the value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// One of the grid's values.
    Listed,
    /// Uniformly between the lowest and the highest value of the grid.
    Uniform,
    /// Log-uniformly between the lowest positive and the highest value of the grid.
    LogUniform,
    /// One of the names that are legal.
    Names,
}

impl Search {
    /// The parameter is left alone.
    pub const NONE: Self = Self { grid: &[], draw: Draw::Listed, paper: &[] };

    /// Every name that is legal.
    pub const NAMES: Self = Self { draw: Draw::Names, ..Self::NONE };

    /// These values and no others.
    pub const fn listed(grid: &'static [f64]) -> Self {
        Self { grid, draw: Draw::Listed, ..Self::NONE }
    }

    /// These values in a grid; random trials draw uniformly between the first and the last.
    pub const fn uniform(grid: &'static [f64]) -> Self {
        Self { grid, draw: Draw::Uniform, ..Self::NONE }
    }

    /// These values in a grid; random trials draw log-uniformly between the first above zero and the last.
    pub const fn log_uniform(grid: &'static [f64]) -> Self {
        Self { grid, draw: Draw::LogUniform, ..Self::NONE }
    }

    /// The same search, with the grid of the published one.
    #[must_use]
    pub const fn paper(self, paper: &'static [f64]) -> Self {
        Self { paper, ..self }
    }

    /// The ends of the interval that values are drawn from; `None` if they are listed.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let lowest = self.grid.iter().copied().find(|&x| self.draw == Draw::Uniform || x > 0.0)?;
        let highest = *self.grid.last()?;
        let drawn = matches!(self.draw, Draw::Uniform | Draw::LogUniform);
        (drawn && lowest < highest).then_some((lowest, highest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_come_from_between_the_ends_of_the_grid() {
        assert_eq!(Search::uniform(&[0.0, 0.5, 1.0]).interval(), Some((0.0, 1.0)));
        assert_eq!(Search::log_uniform(&[0.0, 1e-6, 1e-4]).interval(), Some((1e-6, 1e-4)));
        assert_eq!(Search::listed(&[5.0, 20.0]).interval(), None);
        assert_eq!(Search::NONE.interval(), None);
    }
}
