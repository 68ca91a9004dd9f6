"""Training progress: a progress bar on a terminal, one line per evaluation elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any, Optional


class Progress:
    """Writes to ``stderr`` if ``shown``."""

    def __init__(self, shown: bool, epochs: int) -> None:
        self.shown = shown
        self.epochs = epochs
        self.bar = shown and hasattr(sys.stderr, "isatty") and sys.stderr.isatty()
        self.began = time.monotonic()
        self.figure = ""
        self.drawn = 0.0

    def tick(self, epoch: int, batch: int, batches: int, loss: float) -> None:
        """Redraws the progress bar, at most five times a second."""
        now = time.monotonic()
        if not self.bar or now - self.drawn < 0.2:
            return
        self.drawn = now
        done = (epoch - 1 + batch / max(batches, 1)) / self.epochs
        left = (now - self.began) * (1 - done) / max(done, 1e-9)
        filled = int(24 * done)
        drawn = "━" * filled + "─" * (24 - filled)
        line = f"epoch {epoch}/{self.epochs} {drawn} {left:.0f} s left   loss {loss:.4f}{self.figure}"
        sys.stderr.write(f"\r\x1b[2K{line}")
        sys.stderr.flush()

    def evaluated(self, record: dict[str, Any], metric: Optional[str]) -> None:
        """Shows the result of an evaluation."""
        measured = record.get("valid") or {}
        self.figure = f"   {metric} {measured[metric]:.4f}" if metric in measured else ""
        if self.shown and not self.bar:
            width = len(str(self.epochs))
            sys.stderr.write(
                f"epoch {record['epoch']:{width}}/{self.epochs}   loss {record['loss']:.4f}{self.figure}\n"
            )

    def close(self) -> None:
        """Clears the progress bar."""
        if self.bar:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
