"""Splitting interactions into the parts of a data set."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np

from . import _rivalry
from ._dataset import Dataset
from ._frame import Columns, Ids
from ._input import Log, ids_of, texts, to_log
from ._naming import arguments
from ._settings import to_json

#: A split: its name, or a dictionary of its settings.
Split = Union[str, dict[str, Any]]

#: The arguments of :func:`split` and :func:`rivalry.datasets.load` by config key.
ARGUMENTS = {
    "data.prepare.split.type": "split",
    "data.prepare.split.test": "test",
    "data.prepare.split.n": "split",
    "data.prepare.validation.type": "validation",
    "data.prepare.validation.ratio": "validation",
    "data.prepare.validation.n": "validation",
    "data.prepare.seed": "seed",
    "data.prepare.min_rating": "min_rating",
    "data.prepare.user_core": "user_core",
    "data.prepare.item_core": "item_core",
    "data.read.user": "user_col",
    "data.read.item": "item_col",
    "data.read.rating": "rating_col",
    "data.read.time": "time_col",
    "data.read.format": "format",
    "data.read.delimiter": "delimiter",
    "data.read.header": "header",
    "data.read.skip_bad_rows": "skip_bad_rows",
    "data.source": "source",
}


def preparation(
    split: Optional[Split],
    validation: Union[None, float, Split],
    seed: Optional[int],
    min_rating: Optional[float],
    user_core: Optional[int],
    item_core: Optional[int],
) -> dict[str, Any]:
    """The section `data.prepare` of a config."""
    prepare: dict[str, Any] = {
        "split": {"type": split} if isinstance(split, str) else dict(split or {}),
        "validation": _validation(validation),
        "seed": seed,
        "min_rating": min_rating,
        "user_core": user_core,
        "item_core": item_core,
    }
    return {key: value for key, value in prepare.items() if value != {}}


def _validation(given: Union[None, float, Split]) -> dict[str, Any]:
    if isinstance(given, str):
        return {"type": given}
    return dict(given or {}) if given is None or isinstance(given, dict) else {"ratio": given}


def split(
    user_items: Any,
    split: Split = "random",
    *,
    test: Optional[float] = None,
    validation: Union[None, float, Split] = "auto",
    seed: int = 0,
    min_rating: Optional[float] = None,
    user_core: Optional[int] = None,
    item_core: Optional[int] = None,
    name: str = "data",
    user_col: Any = None,
    item_col: Any = None,
    rating_col: Any = None,
    time_col: Any = None,
) -> Dataset:
    """Splits interactions into training, validation and test sets, as the command line does.

    Parameters
    ----------
    user_items:
        A sparse matrix, or a frame (pandas, polars, pyarrow) with a user and an item column and, optionally, a rating
        and a time column.
    split:
        How the test set is chosen: ``"random"`` (a fraction of each user's items), ``"leave-last"``, ``"time"``,
        ``"popularity"``, or ``"none"`` to train on everything; or a dictionary such as
        ``{"type": "leave-last", "n": 2}``.
    test:
        The fraction of the test set, for splits by fraction (default 0.2).
    validation:
        The fraction of the training set that becomes the validation set, such as 0.1; or how it is chosen: ``"auto"``
        (like the test set), ``"random"``, ``"leave-last"``, ``"time"`` or ``"none"``, or a dictionary such as
        ``{"type": "random", "ratio": 0.1}``.
    seed:
        The seed of random splits.
    min_rating, user_core, item_core:
        Keep only interactions with at least this rating, users with at least this many items, items with at least this
        many users. Filters may drop users and items: see ``user_ids`` and ``item_ids`` of the result.
    user_col, item_col, rating_col, time_col:
        The columns of a frame. Default: those with usual names, such as ``user_id``, ``item``, ``rating`` and
        ``timestamp``; ``""`` if there is no such column. Times are dates with or without a time zone, numbers, or text
        as in files; ratings matter to ``min_rating`` alone.

    Examples
    --------
    >>> import rivalry, scipy.sparse as sp
    >>> data = rivalry.split(sp.random(50, 30, 0.3, format="csr", random_state=0), test=0.25)
    >>> data.shape
    (50, 30)
    """
    columns = Columns(user_col, item_col, rating_col, time_col)
    log = to_log(user_items, columns, rating=min_rating is not None, time=True)
    held_out: Union[float, Split] = "none" if validation is None else validation
    prepare = preparation(split, held_out, seed, min_rating, user_core, item_core)
    if test is not None:
        prepare["split"]["test"] = test
    return split_log(log, prepare, name)


def carve(log: Log, validation: Union[float, Split], name: str) -> Dataset:
    """Splits a validation set off, and no test set: a fraction of each user's items, or as in :func:`split`."""
    return split_log(log, preparation("none", validation, None, None, None, None), name)


def split_log(log: Log, prepare: dict[str, Any], name: str) -> Dataset:
    """Splits a log as a section `data.prepare` says."""
    users, items = (texts(log.user_ids), log.shape[0]), (texts(log.item_ids), log.shape[1])
    columns = (log.user, log.item, log.rating, log.time)
    with arguments(ARGUMENTS):
        data = _rivalry.split(name, users, items, columns, to_json({"data": {"prepare": prepare}}))
    return Dataset._of(data, _kept(data.users, log.user_ids), _kept(data.items, log.item_ids))


def _kept(names: list[str], before: Optional[Ids]) -> Optional[Ids]:
    """The ids after a split, with the type they had before; filters may have dropped some."""
    if before is None:
        return ids_of(names)
    return np.array(names, dtype=np.int64) if before.dtype.kind == "i" else np.array(names, dtype=object)
