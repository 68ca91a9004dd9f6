"""Lists of recommendations as a frame."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import numpy.typing as npt

#: How each library makes a frame from columns.
LIBRARIES = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


def maker(library: str) -> Any:
    """The function of the library that makes a frame from columns."""
    if library not in LIBRARIES:
        raise ValueError(f"unknown library {library!r}\n  help: known: {', '.join(LIBRARIES)}")
    try:
        return getattr(importlib.import_module(library), LIBRARIES[library])
    except ImportError:
        raise ImportError(f"{library} is not installed\n  help: pip install {library}") from None


def columns(
    users: npt.NDArray[Any], items: npt.NDArray[Any], scores: npt.NDArray[np.float32]
) -> dict[str, npt.NDArray[Any]]:
    """One row for each recommended item, user by user and best first. Unfilled places have a score of minus infinity."""
    filled = np.isfinite(scores)
    user, place = np.nonzero(filled)
    return {"user": users[user], "item": items[filled], "rank": place + 1, "score": scores[filled]}
