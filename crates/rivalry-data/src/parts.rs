//! The three parts of a data set.

/// A part of a data set. A pair that occurs in two parts stays in the first, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// What the model learns from.
    Train,
    /// What epochs and settings are chosen on.
    Valid,
    /// What results are reported on.
    Test,
}

impl Part {
    /// `training`, `validation` or `test`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "training",
            Self::Valid => "validation",
            Self::Test => "test",
        }
    }
}

/// Something for each part of a data set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts<T> {
    /// For the training set.
    pub train: T,
    /// For the validation set.
    pub valid: T,
    /// For the test set.
    pub test: T,
}

impl<T> Parts<T> {
    /// The parts by reference.
    pub fn as_ref(&self) -> Parts<&T> {
        Parts { train: &self.train, valid: &self.valid, test: &self.test }
    }

    /// Applies a function to each part: training, validation, test.
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> Parts<U> {
        Parts { train: f(self.train), valid: f(self.valid), test: f(self.test) }
    }
}

impl<T> IntoIterator for Parts<T> {
    type Item = T;
    type IntoIter = std::array::IntoIter<T, 3>;

    /// Training, validation, test.
    fn into_iter(self) -> Self::IntoIter {
        [self.train, self.valid, self.test].into_iter()
    }
}
