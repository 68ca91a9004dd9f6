"""Training progress: a progress bar on a terminal and in a notebook, one line per evaluation elsewhere."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any, Optional


def notebook_display() -> Optional[Any]:
    """A place in the output of a notebook's cell that can be updated, if this is a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    display = importlib.import_module("IPython.display")
    return display.display(display.HTML(""), display_id=True)


class Progress:
    """Writes to ``stderr``, or to the output of a notebook's cell, if ``shown``."""

    def __init__(self, shown: bool, epochs: int) -> None:
        self.shown = shown
        self.epochs = epochs
        self.cell = notebook_display() if shown and epochs else None
        self.bar = shown and self.cell is None and hasattr(sys.stderr, "isatty") and sys.stderr.isatty()
        self.began = time.monotonic()
        self.figure = ""
        self.state = ""
        self.drawn = 0.0

    def tick(self, epoch: int, batch: int, batches: int, loss: float) -> None:
        """Redraws the progress bar, at most five times a second."""
        now = time.monotonic()
        if not (self.bar or self.cell) or now - self.drawn < 0.2:
            return
        self.drawn = now
        done = (epoch - 1 + batch / max(batches, 1)) / self.epochs
        left = (now - self.began) * (1 - done) / max(done, 1e-9)
        self.state = f"loss {loss:.4f}{self.figure}"
        if self.cell:
            self._update(done, f"epoch {epoch}/{self.epochs}, {left:.0f} s left   {self.state}")
            return
        filled = int(24 * done)
        drawn = "━" * filled + "─" * (24 - filled)
        sys.stderr.write(f"\r\x1b[2Kepoch {epoch}/{self.epochs} {drawn} {left:.0f} s left   {self.state}")
        sys.stderr.flush()

    def evaluated(self, record: dict[str, Any], metric: Optional[str]) -> None:
        """Shows the result of an evaluation."""
        measured = record.get("valid") or {}
        self.figure = f"   {metric} {measured[metric]:.4f}" if metric in measured else ""
        self.state = f"epoch {record['epoch']}/{self.epochs}   loss {record['loss']:.4f}{self.figure}"
        if self.shown and not self.bar and not self.cell:
            width = len(str(self.epochs))
            sys.stderr.write(
                f"epoch {record['epoch']:{width}}/{self.epochs}   loss {record['loss']:.4f}{self.figure}\n"
            )

    def close(self) -> None:
        """Clears the progress bar; a notebook keeps it, with the last figures."""
        if self.bar:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
        if self.cell:
            self._update(1.0, f"{self.state}   {time.monotonic() - self.began:.1f} s")

    def _update(self, done: float, text: str) -> None:
        display = sys.modules["IPython.display"]
        bar = f"<progress value='{done:.4f}' max='1' style='width:16em'></progress>"
        assert self.cell is not None
        self.cell.update(display.HTML(f"{bar} <code>{text}</code>"))
