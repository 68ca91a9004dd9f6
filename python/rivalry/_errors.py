"""The exceptions and warnings of this package that Python has no name for."""

from __future__ import annotations


class NotFittedError(ValueError, AttributeError):
    """A model was asked for something it only knows after :meth:`Recommender.fit`.

    It is a ``ValueError`` and an ``AttributeError``, like scikit-learn's exception of this name.
    """


class ConversionWarning(UserWarning):
    """Something was converted on its way in, which costs time and memory that the caller could save."""
