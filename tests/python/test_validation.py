"""Validation sets that `fit` makes or is given."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rivalry
import scipy.sparse as sp
from conftest import QUICK
from test_command_line import run
from test_frames import frame


def test_a_fraction_is_held_out(data: Any) -> None:
    fitted = rivalry.Recommender(**QUICK).fit(data.train, validation=0.1, show_progress=False)
    carved = rivalry.split(data.train, "none", validation=0.1)
    assert 0.05 < carved.valid.nnz / data.train.nnz < 0.1 and carved.test.nnz == 0
    assert carved.train.nnz + carved.valid.nnz == data.train.nnz
    by_hand = rivalry.Recommender(**QUICK).fit(carved.train, carved.valid, show_progress=False)
    assert fitted.user_factors.tobytes() == by_hand.user_factors.tobytes()
    assert fitted.history_[0]["valid"] == by_hand.history_[0]["valid"]
    # The split has a seed of its own: another random_state is validated on the same interactions.
    other = rivalry.Recommender(**QUICK, random_state=1).fit(data.train, validation=0.1, show_progress=False)
    for model in (fitted, other):
        kept = model.history_[[record["epoch"] for record in model.history_].index(model.report_["best_epoch"])]
        assert rivalry.evaluate(model, carved, part="valid")["metrics"] == kept["valid"]
    # Known items are those of both parts.
    assert not set(fitted.recommend(3, N=20)[0]) & set(data.train[3].indices)


def test_the_fraction_is_that_of_the_command_line(command: str, tmp_path: Path, data: Any) -> None:
    whole = (data.train + data.valid + data.test).tocoo()
    lines = [f"u{u},i{i}" for u, i in zip(whole.row, whole.col)]
    (tmp_path / "log.csv").write_text("\n".join(["user,item", *lines]) + "\n")
    arguments = ["--split", "none", "--valid-ratio", 0.2, "--epochs", 2, "--eval-every", 1, "--negatives", 50]
    run(command, "train", "--data", tmp_path / "log.csv", *arguments, "--out", tmp_path / "run", "--quiet")
    theirs = rivalry.Recommender.load(tmp_path / "run")
    log = frame("pandas", {"user": [f"u{u}" for u in whole.row], "item": [f"i{i}" for i in whole.col]})
    ours = rivalry.Recommender(epochs=2, eval_every=1, negatives=50)
    ours.fit(log, validation=0.2, show_progress=False)
    assert ours.user_factors.tobytes() == theirs.user_factors.tobytes()


def test_frames_and_data_sets_are_carved_too(data: Any) -> None:
    settings = {**QUICK, "epochs": 2}
    whole = rivalry.split(data.train, validation="none")
    of_set = rivalry.Recommender(**settings).fit(whole, validation=0.1, show_progress=False)
    of_matrix = rivalry.Recommender(**settings).fit(whole.train, validation=0.1, show_progress=False)
    assert of_set.user_factors.tobytes() == of_matrix.user_factors.tobytes()
    log = frame("pandas", {"user": ["a", "a", "b", "b"], "item": [1, 2, 1, 2], "time": [1, 2, 2, 1]})
    by_time = rivalry.Recommender(**{**settings, "negatives": 1}, k=2).fit(
        log, validation="leave-last", show_progress=False
    )
    assert "valid" in by_time.history_[0] and by_time.item_ids.tolist() == [1, 2]


def test_fractions_that_are_refused(data: Any) -> None:
    model = rivalry.Recommender(**QUICK)
    cases: list[tuple[Any, Any, type[Exception], str]] = [
        (data.train, 1.5, ValueError, "^validation: 1.5 is not a"),
        (data.train, 0, ValueError, "^validation: 0 is not a"),
        (data.train, "randon", ValueError, "validation: unknown choice 'randon'"),
        (data.train, True, TypeError, "validation must be a SciPy CSR matrix, found bool"),
        (data, 0.1, ValueError, "the data set has a validation set"),
        (rivalry.Dataset(data.train), data.valid, TypeError, "validation must be a fraction"),
    ]
    for user_items, validation, error, text in cases:
        with pytest.raises(error, match=text):
            model.fit(user_items, validation, show_progress=False)


def test_held_out_interactions_that_were_trained_with_are_left_out(blocks: sp.csr_matrix) -> None:
    held_out = sp.csr_matrix(np.eye(20))
    settings = {**QUICK, "negatives": 5}
    clean = rivalry.Recommender(**settings).fit(blocks, held_out, show_progress=False)
    with pytest.warns(rivalry.DataWarning, match="180 of 200 interactions of valid are training") as told:
        mixed = rivalry.Recommender(**settings).fit(blocks, (held_out + blocks).tocsr(), show_progress=False)
    assert told[0].filename == __file__
    assert mixed.history_[0]["valid"] == clean.history_[0]["valid"] and mixed.history_[0]["valid"]["NDCG@20"] > 0
    with pytest.warns(rivalry.DataWarning, match="180 of 180 interactions of valid"):
        none_left = rivalry.Recommender(**settings).fit(blocks, blocks, show_progress=False)
    assert "valid" not in none_left.history_[0]
    with pytest.warns(rivalry.DataWarning, match="180 of 200 interactions of test"):
        found = rivalry.evaluate(clean, blocks, (held_out + blocks).tocsr())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found == rivalry.evaluate(clean, blocks, held_out)
        assert found == rivalry.evaluate(clean, rivalry.Dataset(blocks, held_out))


def test_a_training_that_learned_nothing_says_so(data: Any) -> None:
    with pytest.warns(rivalry.TrainingWarning, match=r"nothing was learned: .*\(learning_rate\)") as told:
        fitted = rivalry.Recommender(**{**QUICK, "learning_rate": 1e30}, score="cosine").fit(
            data.train, data.valid, show_progress=False
        )
    assert told[0].filename == __file__
    assert "learning_rate" in fitted.report_["nothing_learned"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        good = rivalry.Recommender(**QUICK).fit(data.train, data.valid, show_progress=False)
    assert "nothing_learned" not in good.report_
    json.dumps(good.report_)
