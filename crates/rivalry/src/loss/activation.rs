//! What happens to a score difference before the softmax: nothing, or the logarithm of an activation.

use rivalry_kernels::{Activation, Real};

use crate::params::{Param, Params, Range, Search, Value};

const NAMES: &[&str] = &["exp", "relu", "tanh", "atan"];

/// For PSL, whose default is the one its authors recommend.
pub(super) const PSL_ACTIVATION: Param =
    Param { default: Value::Choice("relu"), range: Range::OneOf(&["relu", "tanh", "atan"]), ..ACTIVATION };

pub(super) const ACTIVATION: Param = Param {
    name: "activation",
    doc: "surrogate a(x) of a score difference: exp is the softmax loss, the others are PSL's",
    default: Value::Choice("exp"),
    range: Range::OneOf(NAMES),
    search: Search::NONE,
};

/// The activation of that name; none for `exp`, whose logarithm is the difference itself.
pub(super) fn chosen(params: &Params) -> Option<Activation> {
    match params.choice(ACTIVATION.name) {
        "relu" => Some(Activation::Relu),
        "tanh" => Some(Activation::Tanh),
        "atan" => Some(Activation::Atan),
        _ => None,
    }
}

/// Lends `log a(d/2)` of each difference and its slope.
pub(super) fn with_logits<T: Real, R>(
    activation: Activation,
    positive: T,
    negatives: &[T],
    work: impl FnOnce(&[T], &[T]) -> R,
) -> R {
    T::with_buffer(2 * negatives.len(), |buffer| {
        let (logits, slopes) = buffer.split_at_mut(negatives.len());
        T::activate(activation, positive, negatives, logits, slopes);
        work(logits, slopes)
    })
}
