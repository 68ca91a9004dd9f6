"""What notebooks show of a model."""

from __future__ import annotations

import html
from typing import Any, Optional


def table(title: str, rows: dict[str, Any]) -> str:
    """A table of two columns."""
    lines = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(str(value))}</td></tr>"
        for name, value in rows.items()
        if value is not None
    )
    return f"<table><caption style='text-align:left'><b>{html.escape(title)}</b></caption>{lines}</table>"


def metrics(values: Optional[dict[str, float]]) -> Optional[str]:
    """The two metrics that are always looked at, or the first there are."""
    if not values:
        return None
    names = [name for name in ("NDCG@20", "Recall@20") if name in values] or list(values)[:2]
    return ", ".join(f"{name} {values[name]:.4f}" for name in names)
