"""Frames, ids, splits and files."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
import rivalry
import scipy.sparse as sp
from conftest import QUICK

SETTINGS: dict[str, Any] = {**QUICK, "negatives": 5}


def frame(kind: str, columns: dict[str, Any]) -> Any:
    """A frame of that library; skipped by name where it is not installed."""
    library: Any = pytest.importorskip({"pandas": "pandas", "polars": "polars", "pyarrow": "pyarrow"}[kind])
    make: Callable[[dict[str, Any]], Any] = library.table if kind == "pyarrow" else library.DataFrame
    return make(columns)


@pytest.fixture(scope="module")
def log(blocks: sp.csr_matrix) -> dict[str, Any]:
    pairs = blocks.tocoo()
    return {"user_id": [f"u{u}" for u in pairs.row], "item_id": (pairs.col * 10).tolist()}


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_frame_is_as_good_as_a_matrix(blocks: sp.csr_matrix, log: dict[str, Any], kind: str) -> None:
    fitted = rivalry.Recommender(**SETTINGS).fit(frame(kind, log), show_progress=False)
    assert fitted.user_ids is not None and fitted.user_ids.tolist() == [f"u{u}" for u in range(20)]
    assert fitted.item_ids is not None and sorted(fitted.item_ids) == [10 * i for i in range(20)]
    ids, scores = fitted.recommend("u3", N=11)
    assert 30 in ids and ids.dtype == np.int64 and not set(ids) & {0, 10, 20}
    many, _ = fitted.recommend(["u3", "u0"], N=11)
    assert many[0].tolist() == ids.tolist()
    assert fitted.similar_items(30)[0][0] == 30 and fitted.similar_users("u3")[0][0] == "u3"
    assert set(fitted.recommend("u3", N=2, items=[30, 110])[0]) == {30, 110}
    # The default model has a popularity prior, which is one more column of its factors.
    assert fitted.recalculate_user([30, 40]).shape == (17,)
    with pytest.raises(IndexError, match="unknown user 'u33'\n.*did you mean 'u3'"):
        fitted.recommend("u33")
    with pytest.raises(IndexError, match="unknown item 5"):
        fitted.recommend("u3", filter_items=[5])


def test_ids_come_back_from_pickle_and_file(log: dict[str, Any], tmp_path: Path) -> None:
    fitted = rivalry.Recommender(**SETTINGS).fit(frame("pandas", log), show_progress=False)
    fitted.save(tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(fitted)), rivalry.Recommender.load(tmp_path / "model")):
        assert copy.item_ids.tolist() == fitted.item_ids.tolist() and copy.item_ids.dtype == np.int64
        assert copy.recommend("u7")[0].tolist() == fitted.recommend("u7")[0].tolist()


def test_lists_of_text_ids_are_filled_with_none(log: dict[str, Any]) -> None:
    columns = {"user": log["user_id"], "item": [f"i{i}" for i in log["item_id"]]}
    fitted = rivalry.Recommender(**SETTINGS).fit(frame("pandas", columns), show_progress=False)
    ids, scores = fitted.recommend(["u0", "u19"], N=20)
    assert ids[0, -1] is None and np.isneginf(scores[0, -1]) and ids[0, 0].startswith("i")


def test_validation_may_be_a_frame_too(log: dict[str, Any]) -> None:
    train = frame("pandas", log)
    valid = frame("pandas", {"user_id": ["u3", "u4"], "item_id": [30, 40]})
    fitted = rivalry.Recommender(**SETTINGS).fit(train, validation=valid, show_progress=False)
    assert "valid" in fitted.history_[0]
    odd = frame("pandas", {"user_id": ["u3", "nobody"], "item_id": [30, 40]})
    with pytest.raises(ValueError, match="1 users that are not in the training data, such as 'nobody'"):
        rivalry.Recommender(**SETTINGS).fit(train, validation=odd, show_progress=False)


def test_frames_that_are_invalid(log: dict[str, Any]) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"user": ["a"], "thing": ["b"]}, r"no item column among \['user', 'thing'\]\n.*item_col='thing'$"),
        ({"who": ["a"], "thing": ["b"], "n": [1]}, r"no user column and no item column among .*\n.*user_col='…', item_col='…'$"),
        ({"who": ["a"], "item": ["b"], "n": [1]}, r"has no user column among .*\n.*name it: user_col='…'$"),
        ({"user": ["a"], "user_id": ["a"], "item": ["b"]}, "could all be the user column\n.*user_col='user'"),
        ({"user": ["a", None], "item": ["b", "c"]}, "the user column 'user' has no value in row 1"),
        ({"user": [1.0, float("nan")], "item": ["b", "c"]}, "the user column 'user' has no value in row 1"),
        ({"user": [1.0, 1.5], "item": ["b", "c"]}, "has the id 1.5 in row 1\n.*whole numbers or text"),
        ({"user": [True, False], "item": ["b", "c"]}, "has the type bool"),
    ]
    for columns, text in cases:
        with pytest.raises(ValueError, match=text):
            rivalry.Recommender(**SETTINGS).fit(frame("pandas", columns), show_progress=False)


def test_a_split_is_the_one_of_the_command_line(data: Any) -> None:
    whole = data.train + data.valid + data.test
    again = rivalry.split(whole)
    for part in ("train", "valid", "test"):
        assert (getattr(again, part) != getattr(data, part)).nnz == 0, part


def test_splits(data: Any) -> None:
    whole = data.train + data.valid + data.test
    other = rivalry.split(whole, seed=1)
    assert other.checksum != rivalry.split(whole).checksum == rivalry.split(whole).checksum
    large = rivalry.split(whole, test=0.5, validation="none")
    assert large.valid.nnz == 0 and abs(large.test.nnz / whole.nnz - 0.5) < 0.05
    shifted = rivalry.split(whole, {"type": "popularity", "test": 0.1})
    assert shifted.valid.nnz == 0 and shifted.test.nnz > 0
    for options, text in [
        ({"split": "randon"}, "did you mean 'random'|unknown"),
        ({"test": 2.0}, "^test: 2 is not a fraction"),
        ({"split": "time"}, "needs timestamps"),
        ({"split": "leave-last", "test": 0.5}, "unknown key 'test'|test"),
    ]:
        with pytest.raises(ValueError, match=text):
            rivalry.split(whole, **options)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_times_and_ratings_of_a_frame_count(kind: str) -> None:
    columns = {
        "userId": [1, 1, 1, 2, 2, 2],
        "movieId": [7, 8, 9, 7, 8, 9],
        "rating": [5.0, 1.0, 4.0, 4.0, 5.0, 5.0],
        "timestamp": np.array([3, 1, 2, 1, 2, 3]).astype("datetime64[s]") if kind == "pandas" else [3, 1, 2, 1, 2, 3],
    }
    last = rivalry.split(frame(kind, columns), "leave-last", min_rating=4, validation="none")
    assert last.user_ids.tolist() == [1, 2] and last.item_ids.tolist() == [7, 8, 9]
    held_out = last.test.tocoo()
    assert [(u, last.item_ids[i]) for u, i in zip(held_out.row, held_out.col)] == [(0, 7), (1, 9)]


def test_files_and_frames_give_the_same(tmp_path: Path, log: dict[str, Any]) -> None:
    lines = "\n".join(f"{u},{i}" for u, i in zip(log["user_id"], log["item_id"]))
    (tmp_path / "log.csv").write_text(f"user,item\n{lines}\n")
    of_file = rivalry.datasets.load(tmp_path / "log.csv", split={"type": "random", "test": 0.3}, seed=3)
    of_frame = rivalry.split(frame("pandas", log), test=0.3, seed=3)
    assert of_file.checksum == of_frame.checksum
    named = rivalry.datasets.load(tmp_path / "log.csv", user="user", item="item", delimiter=",")
    assert named.shape == (20, 20)


def test_data_sets_by_name() -> None:
    names = [entry["name"] for entry in rivalry.datasets.catalogue()]
    assert "synthetic" in names and "amazon2014-health" in names
    with pytest.raises(ValueError, match="did you mean"):
        rivalry.datasets.load("syntetic")
    with pytest.raises(ValueError, match="unknown key 'delimter'"):
        rivalry.datasets.load("synthetic", delimter=",")
