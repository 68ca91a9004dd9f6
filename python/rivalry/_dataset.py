"""Data sets: parts over the same users and items, and how a log is cut into them."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np
from scipy import sparse

from . import _rivalry
from ._input import Ids, ids_of, interactions, is_frame, matrix, texts, to_csr, to_log
from ._settings import to_json


class Dataset:
    """Training, validation and test parts as CSR matrices of ones, users as rows and items as columns.

    :func:`rivalry.split` and :func:`rivalry.datasets.load` make one; with parts of your own, make it yourself.

    Parameters
    ----------
    train, test, valid:
        Sparse matrices of one shape. What is left out is empty.
    user_ids, item_ids:
        What rows and columns stand for; without them, their numbers.
    name:
        What to call it in messages and files.
    """

    def __init__(
        self,
        train: Any,
        test: Any = None,
        valid: Any = None,
        *,
        user_ids: Any = None,
        item_ids: Any = None,
        name: str = "data",
    ) -> None:
        parts = [
            None if part is None else interactions(to_csr(part, what))
            for part, what in ((train, "train"), (valid, "valid"), (test, "test"))
        ]
        if parts[0] is None:
            raise TypeError("train must be a SciPy CSR matrix, found None")
        self.user_ids: Optional[Ids] = _ids(user_ids)
        self.item_ids: Optional[Ids] = _ids(item_ids)
        users, items = texts(self.user_ids), texts(self.item_ids)
        self._data = _rivalry.Dataset(name, parts[0], parts[1], parts[2], users, items)

    @classmethod
    def _of(cls, data: _rivalry.Dataset, user_ids: Optional[Ids], item_ids: Optional[Ids]) -> Dataset:
        self = cls.__new__(cls)
        self._data, self.user_ids, self.item_ids = data, user_ids, item_ids
        return self

    @property
    def train(self) -> sparse.csr_matrix:
        """What a model learns from."""
        return matrix(self._data.train)

    @property
    def valid(self) -> sparse.csr_matrix:
        """What epochs and settings are chosen on; may be empty."""
        return matrix(self._data.valid)

    @property
    def test(self) -> sparse.csr_matrix:
        """What is reported; may be empty."""
        return matrix(self._data.test)

    @property
    def shape(self) -> tuple[int, int]:
        """Users and items."""
        return self._data.train.shape

    @property
    def name(self) -> str:
        """What it is called."""
        return self._data.name

    @property
    def notes(self) -> list[str]:
        """What there is to know about how it came about."""
        return self._data.notes

    @property
    def checksum(self) -> str:
        """SHA-256 of parts and ids: two data sets with the same value are the same."""
        return self._data.checksum

    def __repr__(self) -> str:
        train, valid, test = (len(part) for part in (self._data.train, self._data.valid, self._data.test))
        users, items = self.shape
        return f"Dataset({self.name!r}: {users} users, {items} items; {train} training, {valid} validation, {test} test pairs)"

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.train, self.test, self.valid)
        return _rebuilt, (parts, self.user_ids, self.item_ids, self.name)


def _rebuilt(parts: Any, user_ids: Optional[Ids], item_ids: Optional[Ids], name: str) -> Dataset:
    return Dataset(*parts, user_ids=user_ids, item_ids=item_ids, name=name)


def _ids(given: Any) -> Optional[Ids]:
    if given is None:
        return None
    ids = np.asarray(given)
    return ids.astype(np.int64) if ids.dtype.kind in "iu" else np.array([str(i) for i in ids.tolist()], dtype=object)


#: How a split is asked for: by name, or as a table with its settings.
Split = Union[str, dict[str, Any]]


def preparation(
    split: Optional[Split],
    validation: Optional[Split],
    seed: Optional[int],
    min_rating: Optional[float],
    user_core: Optional[int],
    item_core: Optional[int],
) -> dict[str, Any]:
    """The settings of a preparation as a config has them."""
    prepare: dict[str, Any] = {
        "split": {"type": split} if isinstance(split, str) else dict(split or {}),
        "validation": {"type": validation} if isinstance(validation, str) else dict(validation or {}),
        "seed": seed,
        "min_rating": min_rating,
        "user_core": user_core,
        "item_core": item_core,
    }
    return {key: value for key, value in prepare.items() if value != {}}


def split(
    user_items: Any,
    split: Split = "random",
    *,
    test: Optional[float] = None,
    validation: Split = "auto",
    seed: int = 0,
    min_rating: Optional[float] = None,
    user_core: Optional[int] = None,
    item_core: Optional[int] = None,
    name: str = "data",
) -> Dataset:
    """Cuts interactions into training, validation and test parts, as the command line does.

    Parameters
    ----------
    user_items:
        A sparse matrix, or a frame (pandas, polars, pyarrow) with columns for user and item and, if it has them,
        rating and time.
    split:
        How the test part comes about: ``"random"`` (a share of each user's items), ``"leave-last"``, ``"time"`` or
        ``"popularity"``; or a dictionary such as ``{"type": "leave-last", "n": 2}``.
    test:
        The share of the test part, for the splits that have one (default 0.2).
    validation:
        The same for the validation part: ``"auto"`` (as the test part), ``"random"``, ``"leave-last"``, ``"time"``
        or ``"none"``; or a dictionary such as ``{"type": "random", "ratio": 0.1}``.
    seed:
        Decides random splits.
    min_rating, user_core, item_core:
        Keep interactions rated at least this; users with at least so many items; items with at least so many users.
        A filter may leave users and items out, so look at ``user_ids`` and ``item_ids`` afterwards.

    Examples
    --------
    >>> import rivalry, scipy.sparse as sp
    >>> data = rivalry.split(sp.random(50, 30, 0.3, format="csr", random_state=0), test=0.25)
    >>> data.shape
    (50, 30)
    """
    log = to_log(user_items)
    prepare = preparation(split, validation, seed, min_rating, user_core, item_core)
    if test is not None:
        prepare["split"]["test"] = test
    settings = to_json({"data": {"prepare": prepare}})
    users, items = (texts(log.user_ids), log.shape[0]), (texts(log.item_ids), log.shape[1])
    data = _rivalry.split(name, users, items, log.user, log.item, log.rating, log.time, settings)
    return Dataset._of(data, _kept(data.users, log.user_ids), _kept(data.items, log.item_ids))


def _kept(names: list[str], before: Optional[Ids]) -> Optional[Ids]:
    """The ids after a split, of the type they had before; a filter may have dropped some."""
    if before is None:
        return ids_of(names)
    return np.array(names, dtype=np.int64) if before.dtype.kind == "i" else np.array(names, dtype=object)


def as_dataset(user_items: Any, validation: Any) -> Dataset:
    """What `fit` was given, as one data set without a test part."""
    if isinstance(user_items, Dataset):
        if validation is not None:
            raise ValueError("the data set has its own validation part\n  help: leave validation out")
        source = user_items._data
        parts = (source.train, source.valid, None, source.users, source.items)
        return Dataset._of(_rivalry.Dataset(source.name, *parts), user_items.user_ids, user_items.item_ids)
    if not is_frame(user_items) or sparse.issparse(user_items):
        csr = to_csr(user_items)
        valid = None if validation is None else to_csr(validation, "validation")
        if valid is not None and valid.shape != csr.shape:
            raise ValueError(
                f"validation has the shape {valid.shape}, user_items {csr.shape}\n  help: both have the same users and items"
            )
        return Dataset(csr, valid=valid)
    log = to_log(user_items)
    valid = None if validation is None else _aligned(validation, log.user_ids, log.item_ids)
    ones = np.ones(len(log.user), dtype=np.float32)
    train = sparse.csr_array((ones, (log.user, log.item)), shape=log.shape)
    return Dataset(train, valid=valid, user_ids=log.user_ids, item_ids=log.item_ids)


def _aligned(validation: Any, user_ids: Optional[Ids], item_ids: Optional[Ids]) -> sparse.csr_array:
    """A validation frame over the users and items of the training frame."""
    if not is_frame(validation) or sparse.issparse(validation):
        raise TypeError("validation must be a frame where user_items is one")
    log = to_log(validation, "validation")
    axes = []
    for noun, known, ids, column in (
        ("user", user_ids, log.user_ids, log.user),
        ("item", item_ids, log.item_ids, log.item),
    ):
        assert known is not None and ids is not None
        numbers = {value: number for number, value in enumerate(known.tolist())}
        unknown = [value for value in ids.tolist() if value not in numbers]
        if unknown:
            raise ValueError(
                f"validation has {len(unknown)} {noun}s that user_items has not, such as {unknown[0]!r}\n"
                f"  help: drop them: nothing is learned about a {noun} that training never sees"
            )
        axes.append(np.array([numbers[value] for value in ids.tolist()], dtype=np.int64)[column])
    assert user_ids is not None and item_ids is not None
    ones = np.ones(len(axes[0]), dtype=np.float32)
    return sparse.csr_array((ones, (axes[0], axes[1])), shape=(len(user_ids), len(item_ids)))
