"""Closed-form models: no loss, no epochs, no factors."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rivalry
import scipy.sparse as sp
from conftest import CLOSED_FORM


@pytest.mark.parametrize("name", CLOSED_FORM)
class TestClosedForm:
    """Every closed-form model goes through fitting, recommendation, evaluation, files and pickling."""

    def test_fit_and_recommend(self, data: Any, name: str) -> None:
        fitted = rivalry.Recommender(name).fit(data.train, data.valid, show_progress=False)
        assert fitted.history_ == [] and fitted.report_["ending"] == "finished"
        users = np.array([3, 0, 700])
        ids, scores = fitted.recommend(users, N=9)
        assert ids.shape == scores.shape == (3, 9) and (np.diff(scores, axis=1) <= 0).all()
        for row, user in enumerate(users):
            assert not set(ids[row]) & set((data.train + data.valid)[user].indices)
            one_ids, one_scores = fitted.recommend(user, N=9)
            assert one_ids.tolist() == ids[row].tolist() and one_scores.tolist() == scores[row].tolist()
        assert set(fitted.recommend(3, N=2, items=[5, 6])[0]) <= {5, 6}
        assert fitted.recommend(3, N=5)[0][0] not in fitted.recommend(3, N=5, filter_items=ids[0][:1])[0]

    def test_new_users(self, data: Any, name: str) -> None:
        fitted = rivalry.Recommender(name).fit(data.train, show_progress=False)
        rows = data.train[:2]
        ids, _ = fitted.recommend([0, 1], rows, N=9, recalculate_user=True)
        for row in range(2):
            assert len(ids[row]) == 9 and not set(ids[row]) & set(rows[row].indices)

    def test_evaluate(self, data: Any, name: str) -> None:
        fitted = rivalry.Recommender(name).fit(data.train, show_progress=False)
        metrics = rivalry.evaluate(fitted, data, per_user=True)
        assert 0 < metrics["metrics"]["NDCG@20"] < 1
        assert len(metrics["per_user"]["users"]) == metrics["users"]

    def test_files_and_pickling(self, data: Any, name: str, tmp_path: Path) -> None:
        fitted = rivalry.Recommender(name, random_state=3).fit(data, show_progress=False)
        fitted.save(tmp_path / "model")
        for copy in (rivalry.Recommender.load(tmp_path / "model"), pickle.loads(pickle.dumps(fitted))):
            assert copy.model == name and copy.random_state == 3
            assert copy.recommend("user-0007")[0].tolist() == fitted.recommend("user-0007")[0].tolist()
            copy.fit(data, show_progress=False)

    @pytest.mark.parametrize(
        ("settings", "text"),
        [
            ({"loss": "sl"}, r"^loss: .* is not trained by gradients\n.*leave loss out, .*: rivalry.models\(\)"),
            ({"loss_params": {"tau": 0.1}}, r'^loss_params\["tau"\]: '),
            # Equal to the default of other models, but given.
            ({"epochs": 200}, "^epochs: "),
            ({"negatives": 10}, "^negatives: "),
            ({"learning_rate": 0.1}, "^learning_rate: "),
            ({"sampler": "uniform", "optimizer": "adam"}, "^sampler, optimizer: "),
            ({"factors": 64}, "^factors: "),
        ],
        ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
    )
    def test_settings_of_gradient_training_are_refused(
        self, blocks: sp.csr_matrix, name: str, settings: dict[str, Any], text: str
    ) -> None:
        with pytest.raises(ValueError, match=text):
            rivalry.Recommender(name, **settings).fit(blocks, show_progress=False)


def test_popularity_recommends_the_items_with_the_most_interactions(data: Any) -> None:
    fitted = rivalry.Recommender(model="popularity").fit(data.train, show_progress=False)
    counts = np.asarray(data.train.sum(axis=0)).reshape(-1)
    ids, scores = fitted.recommend(0, N=data.shape[1], filter_already_liked_items=False)
    assert ids.tolist() == np.argsort(-counts, kind="stable").tolist()
    assert scores.tolist() == counts[ids].tolist()


def test_a_model_without_embeddings_says_so(data: Any) -> None:
    fitted = rivalry.Recommender("popularity").fit(data.train, show_progress=False)
    with pytest.raises(rivalry.NoEmbeddingsError, match="popularity has no embeddings\n  help: use a model"):
        fitted.user_factors
    assert not hasattr(fitted, "item_factors")
    with pytest.raises(ValueError, match="popularity has no embeddings"):
        fitted.recalculate_user([1, 2])
    with pytest.raises(ValueError, match="popularity defines no similarity of items"):
        fitted.similar_items(0)
    with pytest.raises(ValueError, match="popularity defines no similarity of users"):
        fitted.similar_users(0)
