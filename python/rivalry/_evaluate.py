"""How good a model is: full ranking, the same evaluator as the command line's."""

from __future__ import annotations

import json
from typing import Any, Iterable, Union

import numpy as np

from . import _rivalry
from ._dataset import Dataset
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
    """Ranks all items for every user with held-out ones (never a sample of items) and measures the lists.

    Parameters
    ----------
    model:
        A fitted :class:`Recommender`, or anything else with ``user_factors`` and ``item_factors`` whose dot products
        are its scores, such as a model of ``implicit``.
    data:
        The parts; ``rivalry.Dataset(train, test)`` makes one of your own matrices.
    part:
        ``"test"`` or ``"valid"``.
    k:
        The lengths of list to measure.
    mask:
        What may not be recommended while the test part is measured: ``"train+valid"`` or ``"train"``.
    average:
        Over users with held-out items (``"evaluable"``), or over all (``"all"``).
    per_user, buckets, beyond_accuracy:
        Also each user's values; popular and rare items apart; coverage, popularity and Gini of the lists.

    Returns
    -------
    dict
        ``metrics`` by names such as ``"NDCG@20"``, ``users`` (how many were measured), and what else was asked for.

    Examples
    --------
    >>> data = rivalry.datasets.load("synthetic")
    >>> model = rivalry.Recommender(loss="sl", epochs=5, negatives=100).fit(data, show_progress=False)
    >>> rivalry.evaluate(model, data)["metrics"]["NDCG@20"] > 0.1
    True
    """
    if not isinstance(data, Dataset):
        raise TypeError(
            f"data must be a rivalry.Dataset, found {type(data).__name__}\n  help: rivalry.Dataset(train, test) makes one of matrices"
        )
    lengths = [int(k)] if isinstance(k, (int, np.integer)) else [int(length) for length in k]
    options = {
        "k": lengths,
        "mask": mask,
        "average": average,
        "per_user": per_user,
        "buckets": buckets,
        "beyond_accuracy": beyond_accuracy,
    }
    tables = [np.ascontiguousarray(table, dtype=np.float32) for table in (model.user_factors, model.item_factors)]
    if any(table.ndim != 2 for table in tables):
        raise ValueError("user_factors and item_factors must be tables, one row a user or item")
    found = _rivalry.evaluate(data._data, tables[0], tables[1], part, to_json(options), num_threads)
    result: dict[str, Any] = json.loads(found)
    return result
