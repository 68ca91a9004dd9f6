"""The columns of frames: which they are, and their ids and times."""

from __future__ import annotations

import difflib
import numbers
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Optional

import numpy as np
import numpy.typing as npt
from scipy import sparse

from . import _rivalry

#: Original ids: integers, or objects of type ``str``.
Ids = npt.NDArray[Any]

#: Column names that are recognised, most likely first, in lower case and with letters and digits alone.
NAMES = {kind: _rivalry.column_names()[kind] for kind in ("user", "item", "rating", "time")}

#: Columns that are listed in an error.
SHOWN = 12


@dataclass(frozen=True)
class Columns:
    """The names of a frame's columns: ``None`` for the one whose name is recognised, ``""`` for none."""

    user: Any = None
    item: Any = None
    rating: Any = None
    time: Any = None

    def __post_init__(self) -> None:
        named: dict[Any, str] = {}
        for field in fields(self):
            name = getattr(self, field.name)
            if name is None or _is_no_column(name):
                continue
            if name in named:
                raise ValueError(
                    f"{named[name]}_col and {field.name}_col both name {name!r}\n  help: name each column once"
                )
            named[name] = field.name

    def refuse(self, what: str) -> None:
        """Refuses names of columns where there are none."""
        for field in fields(self):
            name = getattr(self, field.name)
            if name is not None and not _is_no_column(name):
                raise ValueError(
                    f"{field.name}_col={name!r} names a column, but {what} is no frame\n"
                    f"  help: leave {field.name}_col out"
                )


class Column(NamedTuple):
    """A column of a frame."""

    #: For errors: what it is, and its name.
    what: str
    values: npt.NDArray[Any]


def is_frame(data: object) -> bool:
    """Whether this has named columns: a frame of pandas, polars, pyarrow or a similar library."""
    named = hasattr(data, "columns") or hasattr(data, "column_names")
    return named and hasattr(data, "__getitem__") and not sparse.issparse(data)


def find(frame: Any, kind: str, columns: Columns, what: str) -> Optional[Column]:
    """The column of that kind, which may be missing unless it is the user or the item."""
    known = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
    shown = _listed([str(name) for name in known])
    name = getattr(columns, kind)
    required = kind in ("user", "item")
    if name is None:
        taken = {getattr(columns, field.name) for field in fields(columns)}
        alike = [one for one in known if _plain(one) in NAMES[kind] and one not in taken]
        alike.sort(key=lambda one: NAMES[kind].index(_plain(one)))
        if len(alike) > 1 and required:
            raise ValueError(
                f"columns {[str(one) for one in alike]} of {what} could all be the {kind} column\n"
                f"  help: name it: {kind}_col={alike[0]!r}"
            )
        if not alike and required:
            missing = [one for one in ("user", "item") if one == kind or _is_unknown(one, columns, known)]
            kinds = " and no ".join(f"{one} column" for one in missing)
            raise ValueError(f"{what} has no {kinds} among {shown}\n  help: {_missing_help(missing, [one for one in known if one not in taken])}")
        name = alike[0] if alike else ""
    if _is_no_column(name):
        if required:
            raise ValueError(f"{kind}_col is empty\n  help: name one of the columns {shown}")
        return None
    if name not in known:
        similar = difflib.get_close_matches(str(name), [str(one) for one in known], n=1)
        help_ = f"did you mean {similar[0]!r}?" if similar else "name one of these columns"
        raise ValueError(f"{kind}_col: {what} has no column {name!r} among {shown}\n  help: {help_}")
    return Column(f"the {kind} column {name!r}", _values(frame[name]))


def unused_columns(frame: Any, columns: Columns) -> list[str]:
    """The columns that are neither named nor recognised, if there is no rating or no time."""
    known = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
    named = {getattr(columns, field.name) for field in fields(columns)}
    kinds = {kind for kind in NAMES if getattr(columns, kind) is not None}
    used = set(named)
    for one in known:
        found = [kind for kind, names in NAMES.items() if _plain(one) in names]
        if found:
            kinds.update(found)
            used.add(one)
    return [] if {"rating", "time"} <= kinds else [str(one) for one in known if one not in used]


def _plain(name: Any) -> str:
    return "".join(character for character in str(name).lower() if character.isalnum())


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{names[:SHOWN]}{more}"


def _is_unknown(kind: str, columns: Columns, known: list[Any]) -> bool:
    """Whether a column is neither named nor recognised."""
    return getattr(columns, kind) is None and not any(_plain(one) in NAMES[kind] for one in known)


def _missing_help(kinds: list[str], known: list[Any]) -> str:
    """What to do if columns are not recognised: name them, of those that are not another kind's."""
    others = {name for other, names in NAMES.items() if other not in kinds for name in names}
    free = [one for one in known if _plain(one) not in others]
    if not free:
        return "add " + " and ".join(f"a column of {kind}s" for kind in kinds)
    name = str(free[0]) if len(free) == 1 else "…"
    arguments = ", ".join(f"{kind}_col={name!r}" for kind in kinds)
    one_row = "a frame has one row for each interaction; " if len(known) > SHOWN else ""
    return f"{one_row}name {'it' if len(kinds) == 1 else 'them'}: {arguments}"


def _is_no_column(name: Any) -> bool:
    return isinstance(name, str) and name == ""


def _values(column: Any) -> npt.NDArray[Any]:
    """The values of a column; dates with a time zone as UTC."""
    if getattr(getattr(column, "dtype", None), "tz", None) is not None:
        return np.asarray(column.to_numpy(dtype="datetime64[ns]"))
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)


def ids_of_column(column: Column) -> Ids:
    """The ids in a column: integers if all of them are whole numbers, otherwise text."""
    what, values = column
    if values.ndim != 1:
        raise ValueError(f"{what} has {values.ndim} dimensions, expected 1")
    if values.dtype.kind == "u" and len(values) and values.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{what} has ids of 2⁶³ or more\n  help: convert them to text")
    if values.dtype.kind in "iu":
        return values.astype(np.int64)
    if values.dtype.kind in "OUST":
        _refuse_missing(what, np.array([_is_missing(value) for value in values.tolist()], dtype=bool))
        texts = [value.decode() if isinstance(value, bytes) else value for value in values.tolist()]
        if not texts or not all(isinstance(value, numbers.Real) and not isinstance(value, bool) for value in texts):
            return np.array([str(value) for value in texts], dtype=object)
        if all(isinstance(value, numbers.Integral) for value in texts):
            return np.array([int(value) for value in texts], dtype=np.int64)
        values = np.array(texts, dtype=np.float64)
    if values.dtype.kind != "f":
        raise ValueError(f"{what} has the type {values.dtype}\n  help: ids must be whole numbers or text")
    _refuse_missing(what, np.isnan(values))
    # Frames store whole numbers with missing values as floats; up to 2⁵³ nothing is lost by that.
    odd = np.flatnonzero(~((np.abs(values) <= 2**53) & (values == np.rint(values))))
    if len(odd):
        raise ValueError(
            f"{what} has the id {values[odd[0]]} in row {odd[0]}\n  help: ids must be whole numbers or text"
        )
    return values.astype(np.int64)


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        # pandas.NA is neither equal nor unequal to itself.
        return True


def _refuse_missing(what: str, missing: npt.NDArray[np.bool_]) -> None:
    rows = np.flatnonzero(missing)
    if len(rows):
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        raise ValueError(f"{what} has no value in row {rows[0]}{more} (counted from 0)\n  help: drop such rows")


def numbered(ids: Ids) -> tuple[npt.NDArray[np.uint32], Ids]:
    """Dense ids in order of appearance, and the original id of each."""
    unique, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    return rank[inverse.reshape(-1)], unique[order]


def ratings(column: Column) -> npt.NDArray[np.float32]:
    """Ratings, all of them finite."""
    what, values = column
    try:
        rating = values.astype(np.float32)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{what} has the type {values.dtype}: {error}\n  help: ratings must be numbers") from None
    _refuse_missing(what, ~np.isfinite(rating))
    return rating


def times(column: Column) -> npt.NDArray[np.int64]:
    """Times as integers; only their order matters. Text and numbers are read as the command line reads them."""
    what, values = column
    if values.dtype.kind == "M":
        _refuse_missing(what, np.isnat(values))
        return values.astype("datetime64[ns]").astype(np.int64)
    if values.dtype.kind in "iu":
        return values.astype(np.int64)
    if values.dtype.kind == "f":
        _refuse_missing(what, ~(np.abs(values) < 2**63))
        return np.asarray(np.floor(values), dtype=np.int64)
    if values.dtype.kind not in "OUST":
        raise ValueError(f"{what} has the type {values.dtype}\n  help: use dates, numbers or text such as 2024-05-01")
    _refuse_missing(what, np.array([_is_missing(value) for value in values.tolist()], dtype=bool))
    try:
        return _rivalry.parse_times([str(value) for value in values.tolist()])
    except ValueError as error:
        raise ValueError(f"{what}, {error}") from None
