"""Settings as JSON, for the compiled module."""

from __future__ import annotations

import json
from typing import Any

import numpy as np


def to_json(settings: dict[str, Any]) -> str:
    """Settings as JSON. ``None`` is left out, and NumPy scalars are converted."""
    try:
        return json.dumps(_given(settings), default=_plain, allow_nan=False)
    except ValueError as error:
        raise ValueError("a setting is NaN or infinite\n  help: give a finite number") from error


def _given(settings: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _given(value) if isinstance(value, dict) else value for key, value in settings.items() if value is not None
    }


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"expected a number, a boolean or a string, found {value!r}")
