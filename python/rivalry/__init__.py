"""Implicit-feedback recommenders whose loss learns from the competition between items.

The engine of the ``rivalry`` command, with arrays in and arrays out: :class:`Recommender` trains and recommends,
:func:`evaluate` measures, :func:`split` and :mod:`rivalry.datasets` prepare data, :func:`loss` gives any loss alone, and
:mod:`rivalry.torch` wraps the losses for PyTorch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import datasets
from ._dataset import Dataset, split
from ._errors import ConversionWarning, NotFittedError
from ._evaluate import evaluate
from ._loss import LossResult, NamedLoss, backbones, loss, losses, named_losses
from ._recommender import Recommender
from ._rivalry import version as __version__

# One function for each loss on the list, such as dsl_loss; a new loss has its own without a line here.
_functions = named_losses()
globals().update(_functions)

if TYPE_CHECKING:
    # For type checkers, which read and do not run.
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
    "ConversionWarning",
    "Dataset",
    "LossResult",
    "NotFittedError",
    "Recommender",
    "__version__",
    "backbones",
    "datasets",
    "evaluate",
    "loss",
    "losses",
    "split",
]
__all__ += sorted(_functions)
