"""What `fit` and `evaluate` are given, as data sets."""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from . import _rivalry
from ._dataset import Dataset
from ._frame import Columns, is_frame
from ._input import to_csr, to_log
from ._labels import Labels
from ._split import carve


def training_data(user_items: Any, validation: Any, columns: Columns) -> Dataset:
    """The input of `fit` as a data set without a test set."""
    carved = isinstance(validation, (numbers.Real, str, dict)) and not isinstance(validation, bool)
    if isinstance(user_items, Dataset):
        columns.refuse("user_items")
        source = user_items._data
        if validation is None:
            parts = (source.train, source.valid, None, (source.users, source.items))
            return Dataset._of(_rivalry.Dataset(source.name, *parts), user_items.user_ids, user_items.item_ids)
        if len(source.valid):
            raise ValueError("the data set has a validation set\n  help: leave validation out")
        if not carved:
            raise TypeError(
                f"validation must be a fraction of the data set, such as 0.1, not {type(validation).__name__}\n"
                "  help: rivalry.Dataset(train, valid=…) makes a data set of two matrices"
            )
        log = replace(
            to_log(user_items.train, columns), user_ids=user_items.user_ids, item_ids=user_items.item_ids
        )
        return carve(log, validation, source.name)
    if carved:
        return carve(to_log(user_items, columns, time=not isinstance(validation, numbers.Real)), validation, "data")
    if not is_frame(user_items):
        csr = to_csr(user_items)
        columns.refuse("user_items")
        valid = None if validation is None else to_csr(validation, "validation")
        if valid is not None and valid.shape != csr.shape:
            raise ValueError(
                f"validation has the shape {valid.shape}, user_items {csr.shape}\n"
                "  help: both must have the same users and items"
            )
        return Dataset(csr, valid=valid)
    log = to_log(user_items, columns)
    ones = np.ones(len(log.user), dtype=np.float32)
    train = sparse.csr_array((ones, (log.user, log.item)), shape=log.shape)
    valid = None
    if validation is not None:
        if not is_frame(validation):
            raise TypeError(
                "validation must be a frame if user_items is one\n  help: or a fraction of user_items, such as 0.1"
            )
        labels = Labels("user", log.shape[0], log.user_ids), Labels("item", log.shape[1], log.item_ids)
        valid = aligned(validation, columns, *labels, what="validation")
    return Dataset(train, valid=valid, user_ids=log.user_ids, item_ids=log.item_ids)


def aligned(frame: Any, columns: Columns, users: Labels, items: Labels, what: str) -> sparse.csr_array:
    """The interactions of a frame as a matrix over known users and items."""
    log = to_log(frame, columns, what)
    axes = []
    for labels, ids, column in ((users, log.user_ids, log.user), (items, log.item_ids, log.item)):
        assert ids is not None
        numbers_of, unknown = labels.find(ids.tolist())
        if unknown:
            raise ValueError(
                f"{what} has {len(unknown)} {labels.noun}s that are not in the training data, such as {unknown[0]!r}\n"
                "  help: drop them: a model learns nothing about them"
            )
        axes.append(numbers_of[column])
    ones = np.ones(len(axes[0]), dtype=np.float32)
    return sparse.csr_array((ones, (axes[0], axes[1])), shape=(len(users), len(items)))
