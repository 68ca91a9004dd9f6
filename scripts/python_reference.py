"""Writes docs/src/python-reference.md from the docstrings of the package: python scripts/python_reference.py

The tests compare the file with the output of this script.
"""

from __future__ import annotations

import inspect
import re
import types
from pathlib import Path
from typing import Any

import rivalry

FILE = Path(__file__).resolve().parents[1] / "docs" / "src" / "python-reference.md"
FUNCTIONS = ("auto", "evaluate", "split", "serve", "models", "losses", "samplers", "optimizers", "backbones", "loss")
EXCEPTIONS = (
    rivalry.NotFittedError,
    rivalry.NoEmbeddingsError,
    rivalry.ConversionWarning,
    rivalry.DataWarning,
    rivalry.TrainingWarning,
)


def prose(text: str) -> str:
    """A NumPy-style docstring as Markdown."""
    text = re.sub(r":(?:class|func|meth|mod):`([^`]+)`", r"`\1`", text).replace("``", "`")
    blocks = re.split(r"\n(?=[A-Z][a-z]+\n-{3,}\n)", inspect.cleandoc(text))
    written = [blocks[0].strip()]
    for block in blocks[1:]:
        title, _, body = block.split("\n", 2)
        if title == "Examples":
            written.append(f"```pycon\n{body.strip()}\n```")
        else:
            entries = re.split(r"\n(?=\S)", body.strip("\n"))
            lines = [entry.split("\n", 1) for entry in entries if entry.strip()]
            items = [f"- `{name.rstrip(':')}`: {inspect.cleandoc(rest[0]) if rest else ''}" for name, *rest in lines]
            written.append(
                f"**{title}**\n\n" + "\n".join(re.sub(r"\s*\n\s*", " ", item).rstrip(": ") for item in items)
            )
    return "\n\n".join(written)


def signature(thing: Any) -> str:
    """The names and defaults; the types are in the stubs."""
    given = inspect.signature(thing)
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in given.parameters.values() if p.name != "self"]
    return str(inspect.Signature(bare))


def described(level: int, name: str, thing: Any) -> str:
    return f"{'#' * level} `{name}{signature(thing)}`\n\n{prose(thing.__doc__ or '')}"


def members(of: type) -> list[str]:
    """The public methods and properties, in the order of the source."""
    parts = []
    own = {name: member for kind in reversed(of.__mro__[:-1]) for name, member in vars(kind).items()}
    for name, member in own.items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            parts.append(f"### `{name}`\n\n{prose(member.__doc__ or '')}")
        elif isinstance(member, (types.FunctionType, classmethod)):
            parts.append(described(3, name, getattr(of, name)))
    return parts


def reference() -> str:
    parts = ["# Python reference", "Generated from the docstrings by `python scripts/python_reference.py`."]
    for kind in (rivalry.Recommender, rivalry.Dataset, rivalry.AutoResult):
        parts += [described(2, f"rivalry.{kind.__name__}", kind), *members(kind)]
    parts.append("## Functions")
    parts += [described(3, f"rivalry.{name}", getattr(rivalry, name)) for name in FUNCTIONS]
    parts += [
        described(3, f"rivalry.datasets.{name}", getattr(rivalry.datasets, name)) for name in rivalry.datasets.__all__
    ]
    parts.append("## Losses by name\n\nEach is `rivalry.loss` with a fixed name.")
    named = sorted(name for name in rivalry.__all__ if name.endswith("_loss"))
    parts += [described(3, f"rivalry.{name}", getattr(rivalry, name)) for name in named]
    parts.append("## Exceptions and warnings")
    parts += [
        f"### `rivalry.{kind.__name__}`\n\n{prose(kind.__doc__ or '')}"
        for kind in EXCEPTIONS
    ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    FILE.write_text(reference())
