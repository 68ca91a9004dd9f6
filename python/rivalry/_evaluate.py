"""Evaluation by full ranking, the same as the command line's."""

from __future__ import annotations

import json
from typing import Any, Iterable, Union

import numpy as np

from . import _rivalry
from ._dataset import Dataset
from ._frame import Columns, is_frame
from ._naming import arguments
from ._recommender import Recommender
from ._settings import threads, to_json
from ._training import aligned

#: The arguments by config key.
_ARGUMENTS = {f"eval.{name}": name for name in ("k", "mask", "average", "buckets", "beyond_accuracy")}


def evaluate(
    model: Any,
    data: Any,
    test: Any = None,
    *,
    part: str = "test",
    k: Union[int, Iterable[int]] = 20,
    mask: str = "train+valid",
    average: str = "evaluable",
    per_user: bool = False,
    buckets: bool = False,
    beyond_accuracy: bool = False,
    num_threads: int = 0,
    user_col: Any = None,
    item_col: Any = None,
) -> dict[str, Any]:
    """Ranks all items (never a sample of them) for every user with held-out items, and computes metrics.

    Parameters
    ----------
    model:
        A fitted :class:`Recommender`, or any object with ``user_factors`` and ``item_factors`` whose dot products are
        the scores, such as a model of ``implicit``.
    data:
        A :class:`rivalry.Dataset`; or the training interactions, which are not candidates: a CSR matrix, or a frame
        with the ids that the model was fitted with.
    test:
        The held-out interactions in the same form, if ``data`` is no data set.
    part:
        The part of a data set that is evaluated: ``"test"`` or ``"valid"``.
    k:
        The list lengths.
    mask:
        The items that are not candidates when the test set is evaluated: ``"train+valid"`` or ``"train"``.
    average:
        The mean is over users with held-out items (``"evaluable"``) or over all users (``"all"``).
    per_user, buckets, beyond_accuracy:
        Whether to return each user's values, too; the metrics of popular and of rare items; coverage, average
        popularity and Gini index of the lists.
    num_threads:
        0 or -1 for all cores, -2 for all but one.
    user_col, item_col:
        The columns of frames. Default: those with usual names, such as ``user_id`` and ``item``.

    Raises ``ValueError`` if held-out interactions are among those the model was trained with: such figures say nothing.

    Returns
    -------
    dict
        ``metrics`` by names such as ``"NDCG@20"``, ``users`` (the number of evaluated users), and what else was asked
        for: ``per_user``, ``head``, ``tail``, ``beyond``.

    Examples
    --------
    >>> data = rivalry.datasets.load("synthetic")
    >>> model = rivalry.Recommender(loss="sl", epochs=5, negatives=100).fit(data, show_progress=False)
    >>> rivalry.evaluate(model, data)["metrics"]["NDCG@20"] > 0.1
    True
    >>> rivalry.evaluate(model, data.train + data.valid, data.test) == rivalry.evaluate(model, data)
    True
    """
    dataset = _dataset(model, data, test, Columns(user_col, item_col, rating="", time=""))._data
    options = {
        "k": [k] if np.ndim(k) == 0 else list(k),  # type: ignore[arg-type]
        "mask": mask,
        "average": average,
        "buckets": buckets,
        "beyond_accuracy": beyond_accuracy,
    }
    with arguments(_ARGUMENTS):
        request = (part, to_json({"eval": options}), per_user)
        if isinstance(model, Recommender):
            text = model._model.evaluate(dataset, request, threads(num_threads))
        else:
            tables = [
                np.ascontiguousarray(table, dtype=np.float32) for table in (model.user_factors, model.item_factors)
            ]
            if any(table.ndim != 2 for table in tables):
                raise ValueError(
                    "user_factors and item_factors must have two dimensions\n  help: one row per user or item"
                )
            text = _rivalry.evaluate(dataset, tables[0], tables[1], request, threads(num_threads))
    evaluation: dict[str, Any] = json.loads(text)
    return evaluation


def _check_ids(model: Any, data: Dataset) -> None:
    """A model that knows its users and items by ids is evaluated on a data set with the same ids, in the same order."""
    if not isinstance(model, Recommender):
        return
    pairs = (("users", model.user_ids, data.user_ids), ("items", model.item_ids, data.item_ids))
    for what, known, given in pairs:
        if known is not None and given is not None and not np.array_equal(known.astype(str), given.astype(str)):
            raise ValueError(
                f"the {what} of the data set differ from those the model was fitted on, or their order does\n"
                "  help: fit the model on this data set: fit(data)"
            )


def _dataset(model: Any, data: Any, test: Any, columns: Columns) -> Dataset:
    if isinstance(data, Dataset):
        if test is not None:
            raise ValueError("the data set has a test set\n  help: leave test out, or give two matrices")
        columns.refuse("data")
        _check_ids(model, data)
        return data
    if test is None:
        raise TypeError(
            f"data is a {type(data).__name__}, not a rivalry.Dataset, and test is missing\n"
            "  help: give the training and the test matrix: evaluate(model, train, test)"
        )
    if not is_frame(data) and not is_frame(test):
        columns.refuse("data")
        return Dataset(data, test)
    if not (isinstance(model, Recommender) and is_frame(data) and is_frame(test)):
        raise TypeError("data and test must both be frames, and the model a Recommender\n  help: or give matrices")
    model._model
    train, held_out = (
        aligned(frame, columns, model._users, model._items, what) for frame, what in ((data, "data"), (test, "test"))
    )
    return Dataset(train, held_out)
