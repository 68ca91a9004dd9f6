"""Exceptions and warnings of this package."""

from __future__ import annotations

import os
import sys
import warnings


class NotFittedError(ValueError, AttributeError):
    """A model was used before :meth:`Recommender.fit`.

    It is a ``ValueError`` and an ``AttributeError``, like scikit-learn's exception of this name.
    """


class NoEmbeddingsError(ValueError, AttributeError):
    """The factors of a model without embeddings were asked for, such as those of ``popularity``.

    It is an ``AttributeError``, so that ``hasattr(model, "user_factors")`` is ``False`` for such a model.
    """


class ConversionWarning(UserWarning):
    """An input was converted to another format; passing that format saves time and memory."""


class DataWarning(UserWarning):
    """Held-out interactions that are training interactions, too, were left out."""


class TrainingWarning(UserWarning):
    """A training ended, but its model is no better than chance."""


def warn(message: str, category: type[Warning]) -> None:
    """Warns at the line of the caller's code that called this package."""
    package = os.path.dirname(__file__)
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == package:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
