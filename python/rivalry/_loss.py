"""The losses as functions of scores, for models outside this package."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple, Optional, Protocol

import numpy as np
import numpy.typing as npt

from . import _rivalry
from ._naming import arguments
from ._registry import losses
from ._settings import threads, to_json


class LossResult(NamedTuple):
    """Value and gradients of a loss for a batch."""

    #: The mean over the rows, their sum, or the value of each row, depending on ``reduction``.
    value: Any
    #: Gradient of the value with respect to ``pos``, shape ``(batch,)``.
    grad_pos: npt.NDArray[Any]
    #: Gradient of the value with respect to ``neg``, shape ``(batch, negatives)``.
    grad_neg: npt.NDArray[Any]
    #: Gradient of the value with respect to the parameters that the loss itself learns; empty for most losses.
    grad_learned: npt.NDArray[Any]


class NamedLoss(Protocol):
    """A loss as a function: :func:`rivalry.loss` with a fixed name."""

    def __call__(
        self, pos: npt.ArrayLike, neg: npt.ArrayLike, sim: Optional[npt.ArrayLike] = ..., **params: Any
    ) -> LossResult: ...


def loss(
    name: str,
    pos: npt.ArrayLike,
    neg: npt.ArrayLike,
    sim: Optional[npt.ArrayLike] = None,
    *,
    log_probs: Optional[npt.ArrayLike] = None,
    quantile: Optional[npt.ArrayLike] = None,
    learned: Optional[npt.ArrayLike] = None,
    reduction: str = "mean",
    num_threads: int = 0,
    **params: Any,
) -> LossResult:
    """Value and gradients of a loss for a batch of scores.

    Rows are not independent: DSL's temperatures are calibrated over the batch. If all inputs are ``float32``, so is the
    arithmetic; otherwise it is ``float64``. As published, κ and the temperatures are constants in DSL's gradient.

    Parameters
    ----------
    name:
        The loss (see :func:`losses`).
    pos:
        Scores of the positive items, shape ``(batch,)``.
    neg:
        Scores of each positive's negatives, shape ``(batch, negatives)``.
    sim:
        A feature of each negative that some losses need, of the same shape: for DSL the cosine similarity of the
        negative and the positive item, for AdvInfoNCE the adversary's score. Other losses ignore it.
    log_probs:
        With ``log_q=True``, the log-probability with which each negative was drawn, of the same shape.
    quantile:
        For SL@K and DSL@K, the estimate of the K-th highest score of each row's user (default 0).
    learned:
        For losses with learned parameters (LLPAUC), their values; default: the initial ones.
    reduction:
        ``"mean"`` or ``"sum"`` over the rows, or ``"none"``: the value of each row, with the gradients of their sum.
    num_threads:
        0 or -1 for all cores, -2 for all but one.
    params:
        The loss's parameters, such as ``tau=0.1``.

    Examples
    --------
    >>> value, grad_pos, grad_neg, _ = rivalry.loss("sl", [0.5], [[0.1, 0.3]], tau=0.2)
    >>> round(float(value), 4)
    -0.6867
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"unknown reduction {reduction!r}\n  help: known: mean, sum, none")
    arrays = [None if x is None else np.asarray(x) for x in (pos, neg, sim, log_probs)]
    single = all(array is None or array.dtype == np.float32 for array in arrays)
    dtype: Any = np.float32 if single else np.float64
    scores = tuple(None if array is None else np.ascontiguousarray(array, dtype=dtype) for array in arrays)
    positives, negatives = scores[:2]
    assert positives is not None and negatives is not None
    if positives.ndim != 1 or any(array is not None and array.ndim != 2 for array in scores[1:]):
        raise ValueError(
            f"pos has {positives.ndim} dimensions and neg {negatives.ndim}\n"
            "  help: pos is (batch,), neg, sim and log_probs are (batch, negatives)"
        )
    if quantile is not None and np.shape(quantile) != positives.shape:
        raise ValueError(
            f"quantile has the shape {np.shape(quantile)}, pos {positives.shape}\n  help: give one value per row"
        )
    state = tuple(None if x is None else np.asarray(x, dtype=np.float64).tolist() for x in (quantile, learned))
    compute: Any = _rivalry.loss_f32 if single else _rivalry.loss_f64
    with arguments({f"loss.{key}": key for key in params}):
        section = to_json({**params, "type": name})
        values, (grad_pos, grad_neg, grad_learned) = compute(section, scores, state, threads(num_threads))
    share = 1 / len(values) if reduction == "mean" else 1.0
    for gradient in (grad_pos, grad_neg, grad_learned):
        gradient *= dtype(share)
    value = values if reduction == "none" else dtype(values.sum(dtype=np.float64) * share)
    return LossResult(value, grad_pos, grad_neg.reshape(negatives.shape), grad_learned)


def function_name(name: str) -> str:
    """The Python name of a loss's function: ``dsl@k`` is ``dsl_at_k_loss``."""
    return name.replace("@", "_at_").replace("-", "_") + "_loss"


def named_losses() -> dict[str, NamedLoss]:
    """A function for each loss that is a function of scores, by its Python name."""
    return {function_name(name): _named(name, entry) for name, entry in losses().items() if entry["function"]}


def _named(name: str, entry: dict[str, Any]) -> NamedLoss:
    def function(
        pos: npt.ArrayLike, neg: npt.ArrayLike, sim: Optional[npt.ArrayLike] = None, *args: Any, **params: Any
    ) -> LossResult:
        known = list(entry["params"])
        if len(args) > len(known):
            raise TypeError(
                f"{function.__name__} takes {len(known)} parameters ({', '.join(known)}), found {len(args)}"
            )
        return loss(name, pos, neg, sim, **dict(zip(known, args)), **params)

    declared = [
        inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=param["default"])
        for key, param in entry["params"].items()
    ]
    general = inspect.signature(loss).parameters
    first = [general[key].replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) for key in ("pos", "neg", "sim")]
    last = [general[key] for key in ("log_probs", "quantile", "learned", "reduction", "num_threads")]
    function.__name__ = function.__qualname__ = function_name(name)
    function.__module__ = "rivalry"
    function.__doc__ = "\n".join(
        [
            f"{entry['summary'][0].upper()}{entry['summary'][1:]}.",
            "",
            "Value and gradients for a batch of scores; see :func:`rivalry.loss`.",
            "",
            "Parameters",
            "----------",
        ]
        + [
            f"{key}:\n    {param['doc']} ({param['range']}; default {param['default']})"
            for key, param in entry["params"].items()
        ]
    )
    function.__signature__ = inspect.Signature([*first, *declared, *last])  # type: ignore[attr-defined]
    return function
