"""Fixtures."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rivalry
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[2]

#: Settings for a quick training.
QUICK: dict[str, Any] = {"epochs": 4, "negatives": 50, "factors": 16, "batch_size": 512, "eval_every": 2}

MODELS = rivalry.models()
#: Models trained by gradients, and closed-form ones.
GRADIENT = sorted(name for name, entry in MODELS.items() if entry["gradient"])
CLOSED_FORM = sorted(set(MODELS) - set(GRADIENT))


@pytest.fixture(scope="session")
def data() -> rivalry.Dataset:
    return rivalry.datasets.load("synthetic")


@pytest.fixture(scope="session")
def model(data: rivalry.Dataset) -> rivalry.Recommender:
    """A model of reasonable quality, fitted on matrices without ids."""
    settings: dict[str, Any] = {"loss": "sl", "epochs": 10, "negatives": 200, "factors": 32}
    return rivalry.Recommender(**settings).fit(data.train, validation=data.valid, show_progress=False)


@pytest.fixture(scope="session")
def blocks() -> sp.csr_matrix:
    """Two groups of users and two groups of items; each user has all items of the group but one.

    User `u` of the first ten has the first ten items but `u`, the others have the last ten but theirs.
    """
    likes = np.zeros((20, 20), dtype=np.float32)
    likes[:10, :10] = likes[10:, 10:] = 1
    likes[np.arange(20), np.arange(20)] = 0
    return sp.csr_matrix(likes)


@pytest.fixture(scope="session")
def block_model(blocks: sp.csr_matrix) -> rivalry.Recommender:
    settings: dict[str, Any] = {"loss": "sl", "epochs": 60, "negatives": 10, "factors": 8, "batch_size": 64}
    return rivalry.Recommender(**settings).fit(blocks, show_progress=False)


@pytest.fixture(scope="session")
def command() -> str:
    """The `rivalry` command, built from the same source."""
    built = os.environ.get("RIVALRY_COMMAND") or str(ROOT / "target" / "release" / "rivalry")
    found = shutil.which(built)
    if found is None:
        pytest.skip("the rivalry command is not built: cargo build --release -p rivalry-cli")
    return found
