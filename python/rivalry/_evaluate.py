"""Evaluation by full ranking, the same as the command line's."""

from __future__ import annotations

import json
from typing import Any, Iterable, Union

import numpy as np

from . import _rivalry
from ._dataset import Dataset
from ._recommender import Recommender
from ._settings import to_json


def evaluate(
    model: Any,
    data: Dataset,
    *,
    part: str = "test",
    k: Union[int, Iterable[int]] = 20,
    mask: str = "train+valid",
    average: str = "evaluable",
    per_user: bool = False,
    buckets: bool = False,
    beyond_accuracy: bool = False,
    num_threads: int = 0,
) -> dict[str, Any]:
    """Ranks all items (never a sample of them) for every user with held-out items, and computes metrics.

    Parameters
    ----------
    model:
        A fitted :class:`Recommender`, or any object with ``user_factors`` and ``item_factors`` whose dot products are
        the scores, such as a model of ``implicit``.
    data:
        The data set; ``rivalry.Dataset(train, test)`` makes one from your own matrices.
    part:
        ``"test"`` or ``"valid"``.
    k:
        The list lengths.
    mask:
        The items that are not candidates when the test part is evaluated: ``"train+valid"`` or ``"train"``.
    average:
        The mean is over users with held-out items (``"evaluable"``) or over all users (``"all"``).
    per_user, buckets, beyond_accuracy:
        Whether to return each user's values, too; the metrics of popular and of rare items; coverage, average
        popularity and Gini index of the lists.

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
    """
    if not isinstance(data, Dataset):
        raise TypeError(
            f"data must be a rivalry.Dataset, found {type(data).__name__}\n  help: rivalry.Dataset(train, test) makes one from matrices"
        )
    lengths = [int(k)] if isinstance(k, (int, np.integer)) else [int(length) for length in k]
    options = {
        "k": lengths,
        "mask": mask,
        "average": average,
        "buckets": buckets,
        "beyond_accuracy": beyond_accuracy,
    }
    request = (part, to_json(options), per_user)
    if isinstance(model, Recommender):
        text = model._model.evaluate(data._data, request, num_threads)
    else:
        tables = [np.ascontiguousarray(table, dtype=np.float32) for table in (model.user_factors, model.item_factors)]
        if any(table.ndim != 2 for table in tables):
            raise ValueError("user_factors and item_factors must have two dimensions\n  help: one row per user or item")
        text = _rivalry.evaluate(data._data, tables[0], tables[1], request, num_threads)
    evaluation: dict[str, Any] = json.loads(text)
    return evaluation
