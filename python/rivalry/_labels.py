"""Original ids and dense ids of users and items."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from ._frame import Ids


class Labels:
    """The ids of all users or of all items."""

    def __init__(self, noun: str, count: int, ids: Optional[Ids]) -> None:
        self.noun = noun
        self.ids = ids
        self.count = count
        self._numbers: Optional[dict[str, int]] = None

    def __len__(self) -> int:
        return self.count

    def all(self) -> Ids:
        """All ids."""
        return np.arange(self.count) if self.ids is None else self.ids

    def dense(self, wanted: Any, empty: bool = False) -> npt.NDArray[np.uint32]:
        """The dense ids of one or several; `IndexError` if one is unknown."""
        asked = np.atleast_1d(np.asarray(wanted, dtype=object if self.ids is not None else None))
        if asked.ndim != 1:
            raise ValueError(f"expected one {self.noun} or a list of {self.noun}s, found {asked.ndim} dimensions")
        if len(asked) == 0:
            if empty:
                return np.zeros(0, dtype=np.uint32)
            raise ValueError(f"the list of {self.noun}s is empty\n  help: ask for at least one")
        if self.ids is not None:
            return np.array([self._number(value) for value in asked.tolist()], dtype=np.uint32)
        if asked.dtype.kind not in "iu":
            raise TypeError(
                f"this model identifies {self.noun}s by number, found {asked.tolist()[0]!r}\n"
                "  help: give a row or column number of the matrix"
            )
        if asked.min() < 0 or asked.max() >= self.count:
            odd = asked[(asked < 0) | (asked >= self.count)][0]
            raise IndexError(f"unknown {self.noun} {odd}\n  help: there are {self.count}, numbered from 0")
        return asked.astype(np.uint32)

    def find(self, wanted: Iterable[Any]) -> tuple[npt.NDArray[np.int64], list[Any]]:
        """The dense ids of several, -1 for those that are unknown, and these."""
        asked = list(wanted)
        found = [self._look_up(value) for value in asked]
        unknown = [value for value, number in zip(asked, found) if number is None]
        return np.array([-1 if number is None else number for number in found], dtype=np.int64), unknown

    def _look_up(self, value: Any) -> Optional[int]:
        if self.ids is None:
            return value if isinstance(value, int) and 0 <= value < self.count else None
        if self._numbers is None:
            self._numbers = {str(label): number for number, label in enumerate(self.ids.tolist())}
        # Frames store whole numbers with missing values as floats.
        whole = isinstance(value, float) and value.is_integer()
        return self._numbers.get(str(int(value) if whole else value))

    def _number(self, value: Any) -> int:
        number = self._look_up(value)
        if number is None:
            known = self._numbers or {}
            alike = difflib.get_close_matches(str(value), list(known)[:100_000], n=1)
            help_ = (
                f"did you mean {alike[0]!r}?"
                if alike
                else f"give an id as in the data, such as {next(iter(known), '')!r}"
            )
            if self.noun == "user":
                help_ += "; for a new user pass user_items and recalculate_user=True"
            raise IndexError(f"unknown {self.noun} {value!r}\n  help: {help_}")
        return number

    def original(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """The original ids of dense ids; unfilled places hold -1, or ``None`` if ids are text."""
        if self.ids is None:
            return numbers
        ids = self.ids[numbers]
        ids[numbers < 0] = -1 if self.ids.dtype.kind == "i" else None
        return ids
