"""Conversion of sparse matrices and frames to the types of the compiled module."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt
from scipy import sparse

from . import _rivalry
from ._errors import ConversionWarning

#: Original ids: integers, or objects of type ``str``.
Ids = npt.NDArray[Any]


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


def is_frame(data: object) -> bool:
    """Whether this has named columns: a frame of pandas, polars, pyarrow or a similar library."""
    return (hasattr(data, "columns") or hasattr(data, "column_names")) and hasattr(data, "__getitem__")


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
        warnings.warn(
            f"{what} is a {matrix.format.upper()} matrix and was converted to CSR; pass {what}.tocsr() to avoid repeated conversions",
            ConversionWarning,
            stacklevel=3,
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
            "  help: remove negative interactions, for example matrix.data = matrix.data * (matrix.data > 0); matrix.eliminate_zeros()"
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
        raise ValueError(f"the row pointers of {what} don't match its indices\n  help: rebuild the matrix from (value, row, column) triples")
    if len(csr.indices) and (csr.indices.min() < 0 or csr.indices.max() >= n_cols):
        raise ValueError(f"{what} has a column index outside its {n_cols} columns\n  help: rebuild the matrix from (value, row, column) triples")
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


def to_log(data: Any, what: str = "user_items") -> Log:
    """Interactions from a sparse matrix or a frame."""
    if not is_frame(data) or sparse.issparse(data):
        csr = to_csr(data, what)
        user = np.repeat(np.arange(csr.shape[0], dtype=np.uint32), np.diff(csr.indptr))
        item = csr.indices[: csr.indptr[-1]].astype(np.uint32)
        rating = csr.data[: csr.indptr[-1]].astype(np.float32)
        return Log(user, item, (csr.shape[0], csr.shape[1]), rating=rating)
    user, user_ids = _numbered(_column(data, "user", what), "user")
    item, item_ids = _numbered(_column(data, "item", what), "item")
    rating_column, time_column = _column(data, "rating"), _column(data, "time")
    rating = None if rating_column is None else np.asarray(rating_column, dtype=np.float32)
    if rating is not None and not np.isfinite(rating).all():
        raise ValueError("the rating column has missing values\n  help: drop those rows, or the column")
    time = None if time_column is None else _times(time_column)
    return Log(user, item, (len(user_ids), len(item_ids)), user_ids, item_ids, rating, time)


#: Accepted column names, in lower case and without underscores.
NAMES = {
    "user": ("user", "userid", "users"),
    "item": ("item", "itemid", "items", "movieid", "productid", "asin"),
    "rating": ("rating", "ratings", "weight", "value"),
    "time": ("time", "timestamp", "date", "datetime", "at"),
}


def _column(frame: Any, kind: str, what: Optional[str] = None) -> Any:
    """The column of that kind as an array; if it is missing, an error if it is required (`what`), else ``None``."""
    columns = frame.column_names if hasattr(frame, "column_names") else frame.columns
    names = [name for name in columns if str(name).lower().replace("_", "") in NAMES[kind]]
    if len(names) > 1:
        raise ValueError(f"columns {names} could all be the {kind} column\n  help: rename or drop all but one")
    if names:
        column = frame[names[0]]
        return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    if what is not None:
        raise ValueError(
            f"{what} has no {kind} column among {[str(name) for name in columns]}\n"
            f"  help: rename the column to '{kind}' or '{kind}_id'"
        )
    return None


def _numbered(column: npt.NDArray[Any], noun: str) -> tuple[npt.NDArray[np.uint32], Ids]:
    """Dense ids in order of appearance, and the original ids."""
    if column.ndim != 1:
        raise ValueError(f"the {noun} column has {column.ndim} dimensions, expected 1")
    if column.dtype.kind in "iu":
        ids = column.astype(np.int64)
    elif column.dtype.kind in "OUST":
        missing = [value is None or value != value for value in column.tolist()]
        if any(missing):
            raise ValueError(f"the {noun} column has missing values\n  help: drop those rows")
        ids = np.array([str(value) for value in column.tolist()], dtype=object)
    else:
        raise ValueError(f"the {noun} column has type {column.dtype}\n  help: ids must be integers or text")
    unique, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    return rank[inverse.reshape(-1)], unique[order]


def _times(column: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Times as integers; only their order matters."""
    if column.dtype.kind == "M":
        return column.astype("datetime64[ns]").astype(np.int64)
    if column.dtype.kind in "iu":
        return column.astype(np.int64)
    if column.dtype.kind == "f" and np.isfinite(column).all():
        # Fractions of seconds are kept to the microsecond.
        return np.rint(column * 1e6).astype(np.int64)
    raise ValueError(f"the time column has type {column.dtype}\n  help: use numbers or datetime64 without missing values")


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
