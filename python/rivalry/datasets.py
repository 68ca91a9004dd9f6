"""Data sets by name or from a file."""

from __future__ import annotations

import json
import os
from typing import Any, Optional, Union

from . import _rivalry
from ._dataset import Dataset
from ._input import ids_of
from ._naming import arguments
from ._settings import to_json
from ._split import ARGUMENTS, Split, preparation

__all__ = ["catalogue", "load"]


def load(
    source: Union[str, os.PathLike[str]],
    *,
    data_dir: Union[None, str, os.PathLike[str]] = None,
    split: Optional[Split] = None,
    validation: Union[None, float, Split] = None,
    seed: Optional[int] = None,
    min_rating: Optional[float] = None,
    user_core: Optional[int] = None,
    item_core: Optional[int] = None,
    user_col: Union[None, int, str] = None,
    item_col: Union[None, int, str] = None,
    rating_col: Union[None, int, str] = None,
    time_col: Union[None, int, str] = None,
    **read: Any,
) -> Dataset:
    """Loads a data set and splits it, as the command line does.

    Parameters
    ----------
    source:
        The name of a data set of the :func:`catalogue` (``"synthetic"`` needs no file), or the path of a file: CSV,
        TSV, JSON lines, Parquet, RecBole, LightGCN, MovieLens, a benchmark folder or zip, optionally compressed. A data
        set of the catalogue that is not found locally is downloaded and verified.
    data_dir:
        Where data sets of the catalogue are searched first, before ``$RIVALRY_DATA`` and the cache folder.
    split, validation, seed, min_rating, user_core, item_core:
        As for :func:`rivalry.split`. The defaults depend on the data set.
    user_col, item_col, rating_col, time_col:
        The columns of the file, by name or by number from 1, if they are not detected; ``""`` if there is none.
    read:
        How to read the file, if that is not detected: ``format``, ``delimiter``, ``header``;
        ``skip_bad_rows=True`` leaves out rows that can't be read.

    Examples
    --------
    >>> data = rivalry.datasets.load("synthetic")
    >>> data.name, data.shape
    ('synthetic', (1500, 1000))
    """
    prepare = preparation(split, validation, seed, min_rating, user_core, item_core)
    columns = {"user": user_col, "item": item_col, "rating": rating_col, "time": time_col}
    read.update({kind: str(column) for kind, column in columns.items() if column is not None})
    with arguments(ARGUMENTS):
        data = _rivalry.load(os.fspath(source), to_json({"data": {"prepare": prepare, "read": read}}), data_dir)
    return Dataset._of(data, ids_of(data.users), ids_of(data.items))


def catalogue() -> list[dict[str, Any]]:
    """The data sets known by name: name, description, origin, preparation."""
    entries: list[dict[str, Any]] = json.loads(_rivalry.datasets())
    return entries
