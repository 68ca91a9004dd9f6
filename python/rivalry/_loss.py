"""The losses as functions of scores, for people with models of their own."""

from __future__ import annotations

import inspect
import json
from typing import Any, NamedTuple, Optional, Protocol

import numpy as np
import numpy.typing as npt

from . import _rivalry
from ._settings import to_json


class LossResult(NamedTuple):
    """What a loss says about a batch."""

    #: The mean over the rows (or their sum, or each row's).
    value: Any
    #: Gradient of the value with respect to ``pos``, shape ``(batch,)``.
    grad_pos: npt.NDArray[Any]
    #: Gradient of the value with respect to ``neg``, shape ``(batch, negatives)``.
    grad_neg: npt.NDArray[Any]
    #: Gradient with respect to the numbers the loss itself learns; empty for most.
    grad_own: npt.NDArray[Any]


class NamedLoss(Protocol):
    """A loss as a function: :func:`rivalry.loss` with the name given."""

    def __call__(
        self, pos: npt.ArrayLike, neg: npt.ArrayLike, sim: Optional[npt.ArrayLike] = ..., **params: Any
    ) -> LossResult: ...


def losses() -> dict[str, dict[str, Any]]:
    """Every loss by name: a summary, its parameters (default, range, search grid), what it needs besides scores.

    >>> sorted(rivalry.losses()["dsl"]["params"])
    ['alpha', 'beta', 'drift_control', 'kappa_min', 'kappa_tau', 'slate', 'tau']
    """
    return _by_name(_rivalry.losses())


def backbones() -> dict[str, dict[str, Any]]:
    """Every backbone by name, with its parameters."""
    return _by_name(_rivalry.backbones())


def _by_name(text: str) -> dict[str, dict[str, Any]]:
    table = {}
    for entry in json.loads(text):
        entry["params"] = {param.pop("name"): param for param in entry["params"]}
        table[entry.pop("name")] = entry
    return table


def loss(
    name: str,
    pos: npt.ArrayLike,
    neg: npt.ArrayLike,
    sim: Optional[npt.ArrayLike] = None,
    *,
    quantile: Optional[npt.ArrayLike] = None,
    own: Optional[npt.ArrayLike] = None,
    reduction: str = "mean",
    num_threads: int = 0,
    **params: Any,
) -> LossResult:
    """Value and gradients of a loss for a batch of scores.

    The batch matters: DSL's temperatures are calibrated over it. Where all inputs are ``float32`` so is the arithmetic;
    otherwise it is ``float64``. κ and the temperatures are constants in DSL's gradient, and so they are here.

    Parameters
    ----------
    name:
        A loss (see :func:`losses`).
    pos:
        Scores of the positive items, shape ``(batch,)``.
    neg:
        Scores of each positive's negatives, shape ``(batch, negatives)``.
    sim:
        The second number that some losses want with each negative, of the same shape: for DSL the cosine of the
        negative and the positive item, for AdvInfoNCE the rival's score. Others ignore it.
    quantile:
        For SL@K and DSL@K, each row's estimate of its user's K-th best score (default 0).
    own:
        For losses that learn numbers of their own (LLPAUC), those numbers; default: what they start from.
    reduction:
        ``"mean"`` and ``"sum"`` over the rows, or ``"none"``: then values are those of the rows, and gradients those
        of their sum.
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
    arrays = [None if x is None else np.asarray(x) for x in (pos, neg, sim)]
    single = all(array is None or array.dtype == np.float32 for array in arrays)
    dtype: Any = np.float32 if single else np.float64
    positives, negatives, companions = (
        None if array is None else np.ascontiguousarray(array, dtype=dtype) for array in arrays
    )
    assert positives is not None and negatives is not None
    if positives.ndim != 1 or negatives.ndim != 2 or (companions is not None and companions.ndim != 2):
        raise ValueError(
            f"pos has {positives.ndim} dimensions and neg {negatives.ndim}\n"
            "  help: pos is (batch,), neg and sim are (batch, negatives)"
        )
    if quantile is not None and np.shape(quantile) != positives.shape:
        raise ValueError(
            f"quantile has the shape {np.shape(quantile)}, pos {positives.shape}\n  help: one number a row"
        )
    section = to_json({**params, "type": name})
    extras = (
        None if quantile is None else np.asarray(quantile, dtype=np.float64).tolist(),
        None if own is None else np.asarray(own, dtype=np.float64).tolist(),
    )
    compute: Any = _rivalry.loss_f32 if single else _rivalry.loss_f64
    values, (grad_pos, grad_neg, grad_own) = compute(section, positives, negatives, companions, *extras, num_threads)
    share = 1 / len(values) if reduction == "mean" else 1.0
    for gradient in (grad_pos, grad_neg, grad_own):
        gradient *= dtype(share)
    value = values if reduction == "none" else dtype(values.sum(dtype=np.float64) * share)
    return LossResult(value, grad_pos, grad_neg.reshape(negatives.shape), grad_own)


def function_name(name: str) -> str:
    """The Python name of a loss's function: ``dsl@k`` is ``dsl_at_k_loss``."""
    return name.replace("@", "_at_").replace("-", "_") + "_loss"


def named_losses() -> dict[str, NamedLoss]:
    """A function for each loss that is one, by its Python name."""
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

    own = [
        inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=param["default"])
        for key, param in entry["params"].items()
    ]
    general = inspect.signature(loss).parameters
    first = [general[key].replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) for key in ("pos", "neg", "sim")]
    last = [general[key] for key in ("quantile", "own", "reduction", "num_threads")]
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
    function.__signature__ = inspect.Signature([*first, *own, *last])  # type: ignore[attr-defined]
    return function
