"""Figures on what a model was trained with are refused; held-out interactions of its own data are measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rivalry

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def frame() -> Any:
    rng = np.random.default_rng(0)
    pairs = np.unique(rng.integers(0, 40, (900, 2)), axis=0)
    return pd.DataFrame({"user": [f"u{u}" for u in pairs[:, 0]], "item": pairs[:, 1]})


def test_training_interactions_are_no_test_set(frame: Any) -> None:
    model = rivalry.Recommender(model="ease").fit(frame)
    with pytest.raises(ValueError, match=r"of [\d,]+ test pairs are pairs the model was trained with"):
        rivalry.evaluate(model, rivalry.split(frame))
    with pytest.raises(ValueError, match="trained with"):
        rivalry.evaluate(model, frame.iloc[:400], frame.iloc[400:])
    data = rivalry.split(frame)
    honest = rivalry.Recommender(model="ease").fit(data)
    found = rivalry.evaluate(honest, data)
    assert found == rivalry.evaluate(honest, data.train + data.valid, data.test)
    assert rivalry.evaluate(honest, data, part="valid")["users"] > 0


def test_a_data_set_with_other_ids_is_refused(frame: Any) -> None:
    model = rivalry.Recommender(model="ease").fit(rivalry.split(frame))
    shuffled = rivalry.split(frame.sample(frac=1, random_state=1))
    assert list(shuffled.user_ids) != list(model.user_ids)
    with pytest.raises(ValueError, match="the users of the data set differ from those the model was fitted on"):
        rivalry.evaluate(model, shuffled)


def test_known_interactions_are_left_out_as_asked(frame: Any) -> None:
    data = rivalry.split(frame)
    model = rivalry.Recommender(model="ease").fit(data)
    user = data.user_ids[0]
    sizes = [part[[0]].nnz for part in (data.train, data.valid)]

    def length(**options: Any) -> int:
        return len(model.recommend(user, N=40, **options)[0])

    assert length() == length(exclude="train+valid") == 40 - sum(sizes)
    assert length(exclude="train") == 40 - sizes[0]
    assert length(filter_already_liked_items=False) == 40
    with pytest.raises(ValueError, match=r"known: train, train\+valid, all"):
        length(exclude="tests")
