"""The lists of models, losses, samplers and optimisers."""

from __future__ import annotations

import json
from typing import Any

from . import _rivalry


def models() -> dict[str, dict[str, Any]]:
    """Every model by name: a summary, its parameters (default, range, search grid), and how it is trained.

    ``gradient`` is ``True`` for models that are trained with a loss over epochs, and ``False`` for closed-form models,
    which take no loss and no training settings.

    >>> rivalry.models()["popularity"]["gradient"]
    False
    """
    return _by_name(_rivalry.models())


def backbones() -> dict[str, dict[str, Any]]:
    """The models that are trained by gradients. Deprecated: use :func:`models`."""
    return {name: entry for name, entry in models().items() if entry["gradient"]}


def losses() -> dict[str, dict[str, Any]]:
    """Every loss by name: a summary, its parameters (default, range, search grid), and its inputs besides scores.

    ``features`` is what ``sim`` must hold (``None`` if the loss ignores it), ``function`` whether :func:`loss` can
    compute it, and ``learned`` the initial values of the parameters that the loss itself learns.

    >>> sorted(rivalry.losses()["sl"]["params"])
    ['log_q', 'tau']
    """
    return _by_name(_rivalry.losses())


def samplers() -> dict[str, dict[str, Any]]:
    """Every negative sampler by name: a summary and its parameters (default, range, search grid).

    >>> rivalry.samplers()["popularity"]["params"]["power"]["default"]
    0.75
    """
    return _by_name(_rivalry.samplers())


def optimizers() -> dict[str, dict[str, Any]]:
    """Every optimiser by name: a summary and its parameters (default, range, search grid).

    >>> sorted(rivalry.optimizers())
    ['adam', 'lazy-adam']
    """
    return _by_name(_rivalry.optimizers())


def _by_name(text: str) -> dict[str, dict[str, Any]]:
    table = {}
    for entry in json.loads(text):
        entry["params"] = {param.pop("name"): param for param in entry["params"]}
        table[entry.pop("name")] = entry
    return table
