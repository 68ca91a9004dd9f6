"""Data sets."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from scipy import sparse

from . import _rivalry
from ._errors import DataWarning, warn
from ._frame import Ids
from ._input import interactions, matrix, texts, to_csr


class Dataset:
    """Training, validation and test sets: CSR matrices of ones with users as rows and items as columns.

    :func:`rivalry.split` and :func:`rivalry.datasets.load` return one; the constructor takes parts of your own.

    Parameters
    ----------
    train, test, valid:
        Sparse matrices of the same shape. Parts that are not given are empty. Held-out interactions that are training
        interactions, too, are left out with a :class:`DataWarning`: they are never recommended.
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
        if train is None:
            raise TypeError("train must be a SciPy CSR matrix, found None")
        known = to_csr(train, "train")
        held_out = [
            None if part is None else interactions(_held_out(to_csr(part, what), known, what))
            for part, what in ((valid, "valid"), (test, "test"))
        ]
        self.user_ids: Optional[Ids] = _ids(user_ids)
        self.item_ids: Optional[Ids] = _ids(item_ids)
        users, items = texts(self.user_ids), texts(self.item_ids)
        self._data = _rivalry.Dataset(name, interactions(known), held_out[0], held_out[1], (users, items))

    @classmethod
    def _of(cls, data: _rivalry.Dataset, user_ids: Optional[Ids], item_ids: Optional[Ids]) -> Dataset:
        self = cls.__new__(cls)
        self._data, self.user_ids, self.item_ids = data, user_ids, item_ids
        return self

    @property
    def train(self) -> sparse.csr_matrix:
        """The training set."""
        return matrix(self._data.train)

    @property
    def valid(self) -> sparse.csr_matrix:
        """The validation set, on which epochs and settings are chosen; may be empty."""
        return matrix(self._data.valid)

    @property
    def test(self) -> sparse.csr_matrix:
        """The test set, which is reported; may be empty."""
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
        pairs = f"{train} training, {valid} validation, {test} test pairs"
        return f"Dataset({self.name!r}: {users} users, {items} items; {pairs})"

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.train, self.test, self.valid)
        return _rebuilt, (parts, self.user_ids, self.item_ids, self.name)


def _rebuilt(parts: Any, user_ids: Optional[Ids], item_ids: Optional[Ids], name: str) -> Dataset:
    return Dataset(*parts, user_ids=user_ids, item_ids=item_ids, name=name)


def _held_out(part: sparse.csr_array, train: sparse.csr_array, what: str) -> sparse.csr_array:
    """The interactions of a part that are not in the training set."""
    if part.shape != train.shape:
        return part
    # Sums of repeated entries stay booleans.
    part, train = part.astype(bool), train.astype(bool)
    both = part.multiply(train).tocsr()
    if both.nnz == 0:
        return part
    part.sum_duplicates()
    warn(
        f"{both.nnz} of {part.nnz} interactions of {what} are training interactions, too, and were left out: "
        "a model never recommends what it was trained with",
        DataWarning,
    )
    return sparse.csr_array(part != both)


def _ids(given: Any) -> Optional[Ids]:
    if given is None:
        return None
    ids = np.asarray(given)
    return ids.astype(np.int64) if ids.dtype.kind in "iu" else np.array([str(i) for i in ids.tolist()], dtype=object)
