"""The contract of `implicit`, for gradient models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import rivalry
import scipy.sparse as sp
from conftest import QUICK


def test_the_missing_item_of_the_own_group_comes_first(block_model: Any, blocks: sp.csr_matrix) -> None:
    for user in range(20):
        ids, scores = block_model.recommend(user, blocks[user], N=1)
        assert ids.tolist() == [user]
        assert scores[0] > 0


def test_one_user_and_many_give_the_same(block_model: Any, blocks: sp.csr_matrix) -> None:
    users = np.array([3, 17, 3, 0])
    ids, scores = block_model.recommend(users, blocks[users], N=5)
    assert ids.shape == scores.shape == (4, 5)
    for row, user in enumerate(users):
        one_ids, one_scores = block_model.recommend(user, blocks[user], N=5)
        assert one_ids.tolist() == ids[row].tolist()
        assert one_scores.tobytes() == scores[row].tobytes()


def test_scores_are_products_of_the_factors_in_falling_order(block_model: Any) -> None:
    ids, scores = block_model.recommend(4, N=20, filter_already_liked_items=False)
    assert sorted(ids.tolist()) == list(range(20))
    assert (np.diff(scores) <= 0).all()
    np.testing.assert_allclose(scores, (block_model.item_factors @ block_model.user_factors[4])[ids], atol=1e-6)


def test_liked_items_are_left_out_unless_they_are_asked_for(block_model: Any, blocks: sp.csr_matrix) -> None:
    ids, _ = block_model.recommend(2, blocks[2], N=20)
    assert not set(ids) & set(blocks[2].indices)
    assert len(ids) == 11
    everything, _ = block_model.recommend(2, blocks[2], N=20, filter_already_liked_items=False)
    assert len(everything) == 20
    # Without user_items the model remembers what it was fitted on.
    assert block_model.recommend(2, N=20)[0].tolist() == ids.tolist()
    # What is handed in counts, not what was trained on.
    other = sp.csr_matrix(np.eye(20, dtype=np.float32)[[2]])
    assert 2 not in block_model.recommend(2, other, N=20)[0]


def test_more_items_can_be_left_out(block_model: Any, blocks: sp.csr_matrix) -> None:
    plain, _ = block_model.recommend(2, blocks[2], N=20)
    ids, _ = block_model.recommend(2, blocks[2], N=20, filter_items=[2, 11, 11])
    assert ids.tolist() == [i for i in plain.tolist() if i not in (2, 11)]


def test_lists_can_be_chosen_from_few_items(block_model: Any, blocks: sp.csr_matrix) -> None:
    ids, scores = block_model.recommend(2, blocks[2], N=20, items=[2, 0, 15, 11])
    assert ids[0] == 2 and set(ids) == {2, 15, 11}
    everything, all_scores = block_model.recommend(2, N=20, filter_already_liked_items=False)
    known = dict(zip(everything.tolist(), all_scores.tolist()))
    assert [known[i] for i in ids.tolist()] == scores.tolist()
    many, _ = block_model.recommend([2, 12], blocks[[2, 12]], N=9, items=[2, 12, 13])
    assert many.tolist() == [[2, 12, 13] if known[12] > known[13] else [2, 13, 12], [12, 2, -1]]


def test_lists_are_no_longer_than_the_catalogue(block_model: Any) -> None:
    ids, _ = block_model.recommend(0, N=1000, filter_already_liked_items=False)
    assert sorted(ids.tolist()) == list(range(20))
    assert block_model.similar_items(0, N=1000)[0].shape == (20,)
    assert block_model.recommend([0, 1], N=1000)[0].shape == (2, 20)


def test_places_that_a_list_does_not_fill_are_marked(block_model: Any, blocks: sp.csr_matrix) -> None:
    liked = sp.vstack([sp.csr_matrix(np.ones((1, 20), dtype=np.float32)), blocks[1]]).tocsr()
    ids, scores = block_model.recommend([0, 1], liked, N=3)
    assert ids[0].tolist() == [-1, -1, -1] and np.isneginf(scores[0]).all()
    assert ids[1][0] == 1
    assert block_model.recommend(0, liked[:1])[0].shape == (0,)


@pytest.mark.parametrize("of", ["items", "users"])
def test_everything_is_most_like_itself(block_model: Any, of: str) -> None:
    similar = getattr(block_model, f"similar_{of}")
    ids, scores = similar(np.arange(20), N=10)
    assert ids[:, 0].tolist() == list(range(20))
    np.testing.assert_allclose(scores[:, 0], 1, atol=1e-5)
    # The rest of the list is the own group.
    assert ((ids < 10) == (np.arange(20) < 10)[:, None]).all()
    one_ids, one_scores = similar(7, N=10)
    assert one_ids.tolist() == ids[7].tolist() and one_scores.tolist() == scores[7].tolist()


def test_likeness_can_be_asked_of_few(block_model: Any) -> None:
    assert 3 not in block_model.similar_items(3, N=20, filter_items=[3])[0]
    assert set(block_model.similar_items(3, N=20, items=[1, 2, 15])[0]) == {1, 2, 15}
    assert set(block_model.similar_users(3, N=20, users=[1, 2, 15])[0]) == {1, 2, 15}
    assert 4 not in block_model.similar_users(3, N=20, filter_users=[4])[0]


def test_users_and_items_without_interactions_do_no_harm(blocks: sp.csr_matrix) -> None:
    gaps = blocks.tolil()
    gaps[5, :] = 0
    gaps[:, 6] = 0
    gaps = gaps.tocsr()
    model = rivalry.Recommender(**{**QUICK, "negatives": 5}).fit(gaps, show_progress=False)
    assert np.isfinite(model.user_factors).all() and np.isfinite(model.item_factors).all()
    assert model.recommend(5, gaps[5], N=20)[0].shape == (20,)
    assert model.similar_items(6)[0][0] == 6
    assert model.similar_users(5)[0][0] == 5


def test_a_new_user_is_served_without_training(block_model: Any, blocks: sp.csr_matrix) -> None:
    vector = block_model.recalculate_user([12, 13, 14])
    assert vector.shape == (8,) and abs(np.linalg.norm(vector) - 1) < 1e-6
    liked = sp.csr_matrix((np.ones(3), ([0, 0, 0], [12, 13, 14])), shape=(1, 20))
    ids, scores = block_model.recommend(0, liked, N=7, recalculate_user=True)
    assert set(ids) == set(range(10, 20)) - {12, 13, 14}
    np.testing.assert_allclose(scores, (block_model.item_factors @ vector)[ids], atol=1e-6)
    both = block_model.recalculate_user(sp.vstack([liked, blocks[0]]).tocsr())
    assert both.shape == (2, 8) and both[0].tobytes() == vector.tobytes()


@pytest.mark.parametrize(
    "settings",
    [
        {"loss": "sl"},
        {"loss": "dsl-ca"},
        {"model": "lightgcn", "loss": "sl"},
        {"loss": "bpr", "score": "dot", "learning_rate": 0.02, "epochs": 30},
    ],
    ids=["sl", "dsl-ca", "lightgcn", "bpr-dot"],
)
def test_folded_in_vectors_recommend_held_out_items(data: Any, settings: dict[str, Any]) -> None:
    settings = {"epochs": 10, "factors": 32, "negatives": None if settings["loss"] == "bpr" else 200, **settings}
    model = rivalry.Recommender(**settings).fit(data.train, show_progress=False)

    class FoldedIn:
        item_factors = model.item_factors
        user_factors = model.recalculate_user(data.train)

    popularity = rivalry.Recommender("popularity").fit(data.train, show_progress=False)
    ndcg = {
        name: rivalry.evaluate(m, data)["metrics"]["NDCG@20"]
        for name, m in [("trained", model), ("folded in", FoldedIn), ("popularity", popularity)]
    }
    assert ndcg["folded in"] > 1.5 * ndcg["popularity"], ndcg
    assert ndcg["folded in"] > 0.85 * ndcg["trained"], ndcg
