"""Data sets by name or from a file."""

from __future__ import annotations

import json
import os
from typing import Any, Optional, Union

from . import _rivalry
from ._dataset import Dataset, Split, preparation
from ._input import ids_of
from ._settings import to_json

__all__ = ["catalogue", "load"]


def load(
    source: Union[str, os.PathLike[str]],
    *,
    data_dir: Union[None, str, os.PathLike[str]] = None,
    split: Optional[Split] = None,
    validation: Optional[Split] = None,
    seed: Optional[int] = None,
    min_rating: Optional[float] = None,
    user_core: Optional[int] = None,
    item_core: Optional[int] = None,
    **read: Any,
) -> Dataset:
    """Loads a data set and cuts it into parts, exactly as the command line does.

    Parameters
    ----------
    source:
        The name of a known data set (see :func:`catalogue`; ``"synthetic"`` needs no file), or the path of a log: CSV,
        TSV, Parquet, RecBole, LightGCN, MovieLens, a benchmark folder or zip, compressed or not. A known one that is
        nowhere on the machine is downloaded and checked.
    data_dir:
        Where named data sets are looked for first; then in ``$RIVALRY_DATA``, then in the cache folder.
    split, validation, seed, min_rating, user_core, item_core:
        As for :func:`rivalry.split`. What isn't said is as the data set has it by default.
    read:
        How the file is read, where that can't be found out: ``format``, ``delimiter``, ``header``, and the columns
        ``user``, ``item``, ``rating``, ``time``.

    Examples
    --------
    >>> data = rivalry.datasets.load("synthetic")
    >>> data
    Dataset('synthetic': 1500 users, 1000 items; 33312 training, 3149 validation, 8451 test pairs)
    """
    prepare = preparation(split, validation, seed, min_rating, user_core, item_core)
    settings = to_json({"data": {"prepare": prepare, "read": read}})
    data = _rivalry.load(os.fspath(source), settings, data_dir)
    return Dataset._of(data, ids_of(data.users), ids_of(data.items))


def catalogue() -> list[dict[str, Any]]:
    """The known data sets: name, description, where they come from, how they are prepared."""
    entries: list[dict[str, Any]] = json.loads(_rivalry.datasets())
    return entries
