"""Settings as JSON, for the compiled module, and the number of threads."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from . import _rivalry


def to_json(settings: dict[str, Any]) -> str:
    """Settings as JSON. ``None`` is left out, and NumPy values are converted; errors name the key."""
    return json.dumps(_plain(settings, ""), allow_nan=False)


def _plain(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        inner = {name: (f"{key}.{name}" if key else str(name), of) for name, of in value.items() if of is not None}
        return {name: _plain(of, path) for name, (path, of) in inner.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(element, key) for element in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{key}: expected a finite number, found {value}")
    if isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{key}: expected a number, a boolean or text, found {value!r}")


def threads(num_threads: Any) -> int:
    """The number of threads for the compiled module, which takes 0 for all cores.

    Negative numbers are as in scikit-learn: -1 stands for all cores, -2 for all but one.
    """
    whole = isinstance(num_threads, (int, np.integer)) and not isinstance(num_threads, bool)
    if not whole or not -4096 <= num_threads <= 4096:
        raise ValueError(
            f"num_threads must be a whole number from -4096 to 4096, not {num_threads!r}\n"
            "  help: 0 and -1 use all cores, -2 all but one"
        )
    return int(num_threads) if num_threads >= 0 else max(_rivalry.cores() + 1 + int(num_threads), 1)
