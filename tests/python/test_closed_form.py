"""Closed-form models: no loss, no epochs; checked against `implicit` and NumPy."""

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
            ({"factors": 64}, "^factors: "),  # of all but iALS
        ],
        ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
    )
    def test_settings_of_gradient_training_are_refused(
        self, blocks: sp.csr_matrix, name: str, settings: dict[str, Any], text: str
    ) -> None:
        if "factors" in settings and "dim" in rivalry.models()[name]["params"]:
            pytest.skip("it has factors")
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


def fitted_weights(model: str, train: sp.csr_matrix, **params: Any) -> np.ndarray:
    """The item-to-item weights of a model: row i holds what item i adds to the scores of all items."""
    fitted = rivalry.Recommender(model, model_params=params).fit(train, show_progress=False)
    n = train.shape[1]
    weights = np.zeros((n, n))
    for item in range(n):
        history = sp.csr_matrix(([1.0], ([0], [item])), shape=(1, n))
        ids, scores = fitted.recommend(0, history, N=n, recalculate_user=True, filter_already_liked_items=False)
        weights[item, ids] = scores
    return weights


@pytest.fixture(scope="module")
def small() -> sp.csr_matrix:
    rng = np.random.default_rng(0)
    taste = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 60))
    return sp.csr_matrix((taste + rng.gumbel(size=taste.shape) > 3.0).astype(np.float32))


@pytest.mark.parametrize("regularization", [0.5, 20.0, 500.0])
def test_ease_is_that_of_numpy_in_double_precision(small: sp.csr_matrix, regularization: float) -> None:
    x = small.toarray().astype(float)
    inverse = np.linalg.inv(x.T @ x + regularization * np.eye(x.shape[1]))
    expected = -inverse / np.diag(inverse)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(fitted_weights("ease", small, regularization=regularization), expected, atol=2e-5)
    sparse = fitted_weights("fs-slim", small, k=59, regularization=regularization)
    # An item that has no user in common with another is no neighbour.
    if (x.T @ x > 0).all():
        np.testing.assert_allclose(sparse, expected, atol=2e-5)


@pytest.mark.filterwarnings("ignore")  # of implicit
@pytest.mark.parametrize("weighting", ["cosine", "tfidf", "bm25"])
def test_item_knn_is_that_of_implicit(small: sp.csr_matrix, weighting: str) -> None:
    implicit = pytest.importorskip("implicit.nearest_neighbours")
    name = {"cosine": "CosineRecommender", "tfidf": "TFIDFRecommender", "bm25": "BM25Recommender"}[weighting]
    # The item itself is one of the neighbours there.
    theirs = getattr(implicit, name)(K=11, num_threads=1)
    theirs.fit(small, show_progress=False)
    expected = theirs.similarity.toarray()
    np.fill_diagonal(expected, 0.0)
    found = fitted_weights("item-knn", small, k=10, weighting=weighting, shrinkage=0)
    # Of equal weights at the end of a row either may be kept.
    for row, other in zip(found, expected):
        np.testing.assert_allclose(np.sort(row)[-10:], np.sort(other)[-10:], rtol=1e-5)


@pytest.mark.filterwarnings("ignore")  # of implicit
def test_ials_minimises_what_implicit_minimises(small: sp.csr_matrix) -> None:
    als = pytest.importorskip("implicit.cpu.als")
    weight, regularization = 0.2, 0.3
    ours = rivalry.Recommender(
        "ials",
        factors=8,
        model_params={
            "iterations": 400,
            "regularization": regularization,
            "regularization_exp": 0,
            "unobserved_weight": weight,
        },
    ).fit(small, show_progress=False)
    # The same function up to the scale of the factors: at our minimum an exact iteration of theirs changes nothing.
    theirs = als.AlternatingLeastSquares(
        factors=8,
        alpha=(1 + weight) / weight,
        regularization=regularization * (1 + weight) / weight,
        iterations=1,
        use_cg=False,
        num_threads=1,
    )
    scale = np.float32(np.sqrt(1 + weight))
    theirs.user_factors = scale * ours.user_factors
    theirs.item_factors = scale * ours.item_factors
    theirs.fit(small, show_progress=False)
    np.testing.assert_allclose(theirs.user_factors, scale * ours.user_factors, atol=2e-3)
    np.testing.assert_allclose(theirs.item_factors, scale * ours.item_factors, atol=2e-3)


@pytest.mark.parametrize(
    ("model", "params", "text"),
    [
        ("ease", {"regularization": 0}, r'model_params\["regularization"\] must be a number > 0, not 0'),
        ("item-knn", {"k": 0}, r'model_params\["k"\] must be a whole number'),
        ("item-knn", {"weighting": "bm26"}, "did you mean 'bm25'"),
        ("ials", {"unobserved_weight": 1e300}, "single precision"),
    ],
)
def test_what_cannot_be_fitted_is_refused(small: sp.csr_matrix, model: str, params: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        rivalry.Recommender(model, model_params=params).fit(small, show_progress=False)
