"""Data sets, and splitting interactions into them."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np
from scipy import sparse

from . import _rivalry
from ._input import Ids, ids_of, interactions, is_frame, matrix, texts, to_csr, to_log
from ._settings import to_json


class Dataset:
    """Training, validation and test parts: CSR matrices of ones with users as rows and items as columns.

    :func:`rivalry.split` and :func:`rivalry.datasets.load` return one; the constructor takes parts of your own.

    Parameters
    ----------
    train, test, valid:
        Sparse matrices of the same shape. Parts that are not given are empty.
    user_ids, item_ids:
        The original ids of rows and columns; default: their numbers.
    name:
        The name in messages and files.
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
        """The training part."""
        return matrix(self._data.train)

    @property
    def valid(self) -> sparse.csr_matrix:
        """The validation part, on which epochs and settings are chosen; may be empty."""
        return matrix(self._data.valid)

    @property
    def test(self) -> sparse.csr_matrix:
        """The test part, which is reported; may be empty."""
        return matrix(self._data.test)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of users and items."""
        return self._data.train.shape

    @property
    def name(self) -> str:
        """The name."""
        return self._data.name

    @property
    def notes(self) -> list[str]:
        """Remarks on how the data were read, such as merged duplicates."""
        return self._data.notes

    @property
    def checksum(self) -> str:
        """SHA-256 of the parts and ids: equal for equal data sets."""
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


#: A split: its name, or a dictionary of its settings.
Split = Union[str, dict[str, Any]]


def preparation(
    split: Optional[Split],
    validation: Optional[Split],
    seed: Optional[int],
    min_rating: Optional[float],
    user_core: Optional[int],
    item_core: Optional[int],
) -> dict[str, Any]:
    """The section `data.prepare` of a config."""
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
    """Splits interactions into training, validation and test parts, as the command line does.

    Parameters
    ----------
    user_items:
        A sparse matrix, or a frame (pandas, polars, pyarrow) with a user and an item column and, optionally, a rating
        and a time column.
    split:
        How the test part is chosen: ``"random"`` (a fraction of each user's items), ``"leave-last"``, ``"time"``,
        ``"popularity"``, or ``"none"`` to train on everything; or a dictionary such as ``{"type": "leave-last", "n": 2}``.
    test:
        The fraction of the test part, for splits by fraction (default 0.2).
    validation:
        How the validation part is chosen: ``"auto"`` (like the test part), ``"random"``, ``"leave-last"``, ``"time"``
        or ``"none"``; or a dictionary such as ``{"type": "random", "ratio": 0.1}``.
    seed:
        The seed of random splits.
    min_rating, user_core, item_core:
        Keep only interactions with at least this rating, users with at least this many items, items with at least this
        many users. Filters may drop users and items: see ``user_ids`` and ``item_ids`` of the result.

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
    columns = (log.user, log.item, log.rating, log.time)
    data = _rivalry.split(name, users, items, columns, settings)
    return Dataset._of(data, _kept(data.users, log.user_ids), _kept(data.items, log.item_ids))


def _kept(names: list[str], before: Optional[Ids]) -> Optional[Ids]:
    """The ids after a split, with the type they had before; filters may have dropped some."""
    if before is None:
        return ids_of(names)
    return np.array(names, dtype=np.int64) if before.dtype.kind == "i" else np.array(names, dtype=object)


def as_dataset(user_items: Any, validation: Any) -> Dataset:
    """The input of `fit` as a data set without a test part."""
    if isinstance(user_items, Dataset):
        if validation is not None:
            raise ValueError("the data set has a validation part\n  help: leave validation out")
        source = user_items._data
        parts = (source.train, source.valid, None, source.users, source.items)
        return Dataset._of(_rivalry.Dataset(source.name, *parts), user_items.user_ids, user_items.item_ids)
    if not is_frame(user_items) or sparse.issparse(user_items):
        csr = to_csr(user_items)
        valid = None if validation is None else to_csr(validation, "validation")
        if valid is not None and valid.shape != csr.shape:
            raise ValueError(
                f"validation has the shape {valid.shape}, user_items {csr.shape}\n  help: both must have the same users and items"
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
        raise TypeError("validation must be a frame if user_items is one")
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
                f"validation has {len(unknown)} {noun}s that are not in user_items, such as {unknown[0]!r}\n"
                f"  help: drop them: a model learns nothing about {noun}s outside the training data"
            )
        axes.append(np.array([numbers[value] for value in ids.tolist()], dtype=np.int64)[column])
    assert user_ids is not None and item_ids is not None
    ones = np.ones(len(axes[0]), dtype=np.float32)
    return sparse.csr_array((ones, (axes[0], axes[1])), shape=(len(user_ids), len(item_ids)))
