"""Conversion of sparse matrices and frames to the types of the compiled module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt
from scipy import sparse

from . import _rivalry
from ._errors import ConversionWarning, warn
from ._frame import NAMES, Columns, Ids, find, ids_of_column, is_frame, numbered, ratings, times


@dataclass(frozen=True)
class Log:
    """Interactions by dense ids, with the original ids unless these are the same numbers."""

    user: npt.NDArray[np.uint32]
    item: npt.NDArray[np.uint32]
    shape: tuple[int, int]
    user_ids: Optional[Ids] = None
    item_ids: Optional[Ids] = None
    rating: Optional[npt.NDArray[np.float32]] = None
    time: Optional[npt.NDArray[np.int64]] = None


def to_csr(matrix: Any, what: str = "user_items", n_items: Optional[int] = None) -> sparse.csr_array:
    """A checked CSR matrix in which every stored entry is an interaction.

    Raises ``TypeError`` if it is not a sparse matrix, ``ValueError`` if its content is invalid.
    """
    if not sparse.issparse(matrix):
        if isinstance(matrix, np.ndarray):
            raise TypeError(
                f"{what} is a dense array of shape {matrix.shape}\n"
                f"  help: pass scipy.sparse.csr_matrix({what}), users as rows and items as columns"
            )
        raise TypeError(
            f"{what} must be a SciPy CSR matrix, found {type(matrix).__name__}\n"
            "  help: scipy.sparse.csr_matrix((values, (users, items))) makes one"
        )
    if matrix.format != "csr":
        warn(
            f"{what} is a {matrix.format.upper()} matrix and was converted to CSR; "
            f"pass {what}.tocsr() to avoid repeated conversions",
            ConversionWarning,
        )
    if matrix.ndim != 2:
        raise ValueError(f"{what} has {matrix.ndim} dimension, expected 2\n  help: users are rows, items are columns")
    if matrix.format == "csr":
        _check_structure(matrix, what)
    csr = sparse.csr_array(matrix)
    values = csr.data
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{what} has values of type {values.dtype}, expected numbers or booleans")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"{what} has NaN or infinite values\n  help: remove these entries from the matrix")
    if values.dtype.kind in "if" and (values < 0).any():
        raise ValueError(
            f"{what} has negative values, but every stored value counts as a positive interaction\n"
            "  help: remove negative interactions, for example matrix.data = matrix.data * (matrix.data > 0); "
            "matrix.eliminate_zeros()"
        )
    if n_items is not None and csr.shape[1] != n_items:
        raise ValueError(
            f"{what} has {csr.shape[1]} columns, the model has {n_items} items\n  help: pass one column per item"
        )
    if not values.all():
        csr = csr.copy()
        csr.eliminate_zeros()
    return csr


def _check_structure(csr: Any, what: str) -> None:
    """Checks that SciPy doesn't make."""
    n_rows, n_cols = csr.shape
    sound = len(csr.indptr) == n_rows + 1 and csr.indptr[0] == 0 and csr.indptr[-1] <= len(csr.indices)
    if not sound or (np.diff(csr.indptr) < 0).any() or len(csr.indices) != len(csr.data):
        raise ValueError(
            f"the row pointers of {what} don't match its indices\n"
            "  help: rebuild the matrix from (value, row, column) triples"
        )
    if len(csr.indices) and (csr.indices.min() < 0 or csr.indices.max() >= n_cols):
        raise ValueError(
            f"{what} has a column index outside its {n_cols} columns\n"
            "  help: rebuild the matrix from (value, row, column) triples"
        )
    if max(n_rows, n_cols) >= 2**31:
        raise ValueError(f"{what} has 2³¹ or more rows or columns")


def interactions(csr: sparse.csr_array) -> _rivalry.Interactions:
    """The compiled module's interactions; order and repeated entries don't matter."""
    indptr = np.ascontiguousarray(csr.indptr, dtype=np.int64)
    indices = np.ascontiguousarray(csr.indices[: indptr[-1]], dtype=np.uint32)
    return _rivalry.Interactions(indptr, indices, csr.shape[1])


def matrix(table: _rivalry.Interactions) -> sparse.csr_matrix:
    """The table as a CSR matrix of ones."""
    indptr, indices = table.to_csr()
    return sparse.csr_matrix((np.ones(len(indices), dtype=np.float32), indices, indptr), shape=table.shape)


def to_log(
    data: Any, columns: Columns, what: str = "user_items", *, rating: bool = False, time: bool = False
) -> Log:
    """Interactions from a sparse matrix or a frame, with ratings and times if these are wanted and there are any."""
    if not is_frame(data):
        csr = to_csr(data, what)
        columns.refuse(what)
        user = np.repeat(np.arange(csr.shape[0], dtype=np.uint32), np.diff(csr.indptr))
        item = csr.indices[: csr.indptr[-1]].astype(np.uint32)
        values = csr.data[: csr.indptr[-1]].astype(np.float32)
        return Log(user, item, (csr.shape[0], csr.shape[1]), rating=values)
    found = {kind: find(data, kind, columns, what) for kind in NAMES}
    user_column, item_column, rating_column, time_column = found.values()
    assert user_column is not None and item_column is not None
    user, user_ids = numbered(ids_of_column(user_column))
    item, item_ids = numbered(ids_of_column(item_column))
    return Log(
        user,
        item,
        (len(user_ids), len(item_ids)),
        user_ids,
        item_ids,
        ratings(rating_column) if rating and rating_column is not None else None,
        times(time_column) if time and time_column is not None else None,
    )


def texts(ids: Optional[Ids]) -> Optional[list[str]]:
    """Ids as text, as in model files."""
    return None if ids is None else [str(value) for value in ids.tolist()]


def ids_of(names: list[str]) -> Optional[Ids]:
    """Ids from a file: ``None`` if they equal the dense ids, integers if all of them are, otherwise text."""
    if all(name == str(number) for number, name in enumerate(names)):
        return None
    try:
        numbers = np.array([int(name) for name in names], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array(names, dtype=object)
    whole = all(str(number) == name for number, name in zip(numbers.tolist(), names))
    return numbers if whole else np.array(names, dtype=object)


def seed_of(random_state: Union[None, int, np.integer[Any], np.random.Generator, np.random.RandomState]) -> int:
    """The seed of a `random_state` as in scikit-learn."""
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, (int, np.integer)) and 0 <= random_state < 2**63:
        return int(random_state)
    raise ValueError(f"random_state must be None, a generator or an integer in [0, 2⁶³), found {random_state!r}")
