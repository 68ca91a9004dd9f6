"""Settings: how they are named in errors, and the number of threads."""

from __future__ import annotations

from typing import Any

import pytest
import rivalry
import scipy.sparse as sp
from conftest import QUICK
from rivalry import _rivalry
from rivalry._naming import renamed
from rivalry._recommender import ARGUMENTS, PARAMS, SETTINGS
from rivalry._settings import threads


@pytest.mark.parametrize("argument", ["factors", "epochs", "batch_size", "negatives", "eval_every"])
@pytest.mark.parametrize("value", [2.5, -1, "many", True, [3]])
def test_counts_are_whole_numbers(blocks: sp.csr_matrix, argument: str, value: Any) -> None:
    with pytest.raises(ValueError) as raised:
        rivalry.Recommender(**{**QUICK, argument: value}).fit(blocks, show_progress=False)
    text = str(raised.value)
    assert text.startswith(f"{argument} must be a whole number "), text
    for rust in ("usize", "u32", "u64", "f64", "invalid type", "sequence", "train.", "model.", "optim."):
        assert rust not in text, text


def test_every_setting_has_one_name() -> None:
    assert len(ARGUMENTS) == len(SETTINGS) + len(PARAMS)
    assert set(SETTINGS) | set(PARAMS) <= set(rivalry.Recommender().get_params())
    for argument, (section, key) in SETTINGS.items():
        text = renamed(f"{section}.{key}: bad\n  help: leave `{section}.{key}` out", ARGUMENTS)
        assert text == f"{argument}: bad\n  help: leave {argument} out"
    assert renamed('use model.score = "cosine"', ARGUMENTS) == 'use score="cosine"'
    assert renamed("`loss.tau = 0.1` is better", ARGUMENTS) == 'loss_params={"tau": 0.1} is better'
    assert renamed("data.csv: train.txt is missing", ARGUMENTS) == "data.csv: train.txt is missing"


def test_threads_are_counted_as_in_scikit_learn(blocks: sp.csr_matrix, block_model: Any) -> None:
    cores = _rivalry.cores()
    assert [threads(n) for n in (0, 1, 3)] == [0, 1, 3]
    assert threads(-1) == cores and threads(-2) == max(cores - 1, 1) and threads(-4096) == 1
    for odd in (1.5, "2", None, True, 5000):
        with pytest.raises(ValueError, match="num_threads must be a whole number .*\n.*-1 use all cores"):
            threads(odd)
    settings = {**QUICK, "negatives": 5}
    fitted = [rivalry.Recommender(**settings, num_threads=n).fit(blocks, show_progress=False) for n in (-1, -2, 0)]
    assert len({model.user_factors.tobytes() for model in fitted}) == 1
    held_out = sp.eye(20, format="csr")
    assert rivalry.evaluate(block_model, blocks, held_out, num_threads=-1)["users"] == 20
    assert rivalry.sl_loss([0.5], [[0.1, 0.3]], num_threads=-2).value < 0
