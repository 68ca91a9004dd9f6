"""Implicit-feedback recommenders whose loss learns from the competition between items.

The library behind the ``rivalry`` command, with NumPy arrays in and out: :func:`auto` finds the best model for a log, :class:`Recommender` trains
and recommends, :func:`evaluate` computes metrics, :func:`split` and :mod:`rivalry.datasets` prepare data, :func:`loss` computes a loss
of your own scores, :mod:`rivalry.torch` wraps the losses for PyTorch, and :mod:`rivalry.ray` runs sweeps on a Ray cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import datasets
from ._auto import AutoResult, auto
from ._dataset import Dataset
from ._errors import ConversionWarning, DataWarning, NoEmbeddingsError, NotFittedError, TrainingWarning
from ._evaluate import evaluate
from ._loss import LossResult, NamedLoss, loss, named_losses
from ._recommender import Recommender
from ._registry import backbones, losses, models, optimizers, samplers
from ._rivalry import version as __version__
from ._serve import Server, serve
from ._split import split

# One function per loss, such as dsl_loss, made from the library's list.
_functions = named_losses()
globals().update(_functions)

if TYPE_CHECKING:
    # For type checkers.
    advinfonce_loss: NamedLoss
    bpr_loss: NamedLoss
    bsl_loss: NamedLoss
    cap_loss: NamedLoss
    dsl_at_k_loss: NamedLoss
    dsl_ca_loss: NamedLoss
    dsl_kappa_loss: NamedLoss
    dsl_loss: NamedLoss
    llpauc_loss: NamedLoss
    psl_loss: NamedLoss
    sl_at_k_loss: NamedLoss
    sl_loss: NamedLoss
    softmax_loss: NamedLoss

__all__ = [
    "AutoResult",
    "ConversionWarning",
    "DataWarning",
    "Dataset",
    "LossResult",
    "NoEmbeddingsError",
    "NotFittedError",
    "Recommender",
    "Server",
    "TrainingWarning",
    "__version__",
    "auto",
    "backbones",
    "datasets",
    "evaluate",
    "loss",
    "losses",
    "models",
    "optimizers",
    "samplers",
    "serve",
    "split",
]
__all__ += sorted(_functions)
