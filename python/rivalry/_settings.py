"""Settings on their way to the compiled half."""

from __future__ import annotations

import json
from typing import Any

import numpy as np


def to_json(settings: dict[str, Any]) -> str:
    """Settings as JSON. What isn't said (``None``) is left out; NumPy's numbers are as good as Python's."""
    try:
        return json.dumps(_said(settings), default=_plain, allow_nan=False)
    except ValueError as error:
        raise ValueError("a setting is NaN or infinite\n  help: give a finite number") from error


def _said(settings: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _said(value) if isinstance(value, dict) else value for key, value in settings.items() if value is not None
    }


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"expected a number, a flag or a name, found {value!r}")
