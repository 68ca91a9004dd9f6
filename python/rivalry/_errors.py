"""Exceptions and warnings of this package."""

from __future__ import annotations


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
