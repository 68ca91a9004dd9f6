"""Columns of frames: their names, ids and times."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rivalry
import scipy.sparse as sp
from test_frames import SETTINGS, frame

KINDS = ["pandas", "polars", "pyarrow"]


@pytest.fixture(scope="module")
def shop(blocks: sp.csr_matrix) -> dict[str, Any]:
    """A log with names of its own; `user` is something else."""
    pairs = blocks.tocoo()
    return {
        "customer": [f"c{u}" for u in pairs.row],
        "article": (pairs.col * 10).tolist(),
        "user": ["web"] * pairs.nnz,
        "stars": [1 + (u + i) % 5 for u, i in zip(pairs.row, pairs.col)],
        "bought": [f"2024-05-{1 + i:02}T12:00:00Z" for i in pairs.col],
    }


NAMES: dict[str, Any] = {"user_col": "customer", "item_col": "article"}


@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_named(shop: dict[str, Any], kind: str) -> None:
    log = frame(kind, shop)
    fitted = rivalry.Recommender(**SETTINGS).fit(log, show_progress=False, rating_col="stars", **NAMES)
    usual = frame(kind, {"user": shop["customer"], "item": shop["article"]})
    plain = rivalry.Recommender(**SETTINGS).fit(usual, show_progress=False)
    assert fitted.user_factors.tobytes() == plain.user_factors.tobytes()
    ids, scores = fitted.recommend(["c3", "c0"], N=5)
    again = fitted.recommend(["c3", "c0"], log, N=5, **NAMES)
    assert again[0].tolist() == ids.tolist() and again[1].tolist() == scores.tolist()
    data = rivalry.split(log, "time", min_rating=2, **NAMES, rating_col="stars", time_col="bought")
    latest = max(np.asarray(shop["article"])[np.asarray(shop["stars"]) > 1].tolist())
    assert latest in data.item_ids[np.unique(data.test.indices)]
    assert 0 not in data.item_ids[np.unique(data.test.indices)]


def test_a_frame_says_who_has_what(shop: dict[str, Any], block_model: Any, blocks: sp.csr_matrix) -> None:
    fitted = rivalry.Recommender(**SETTINGS).fit(frame("pandas", shop), show_progress=False, **NAMES)
    basket = frame("pandas", {"customer": ["new", "new", "other"], "article": [0, 10, 190]})
    # These have nothing in the basket, so everything is recommended.
    assert (fitted.recommend(["c1", "c2"], basket, N=20, **NAMES)[0] >= 0).all()
    ids, _ = fitted.recommend(["other", "new"], basket, N=20, recalculate_user=True, **NAMES)
    assert 190 not in ids[0] and {0, 10} <= set(ids[0]) and not {0, 10} & set(ids[1]) and 190 in ids[1]
    assert fitted.recommend("new", basket, N=20, recalculate_user=True, **NAMES)[0].tolist() == ids[1][:18].tolist()
    with pytest.raises(ValueError, match="row 0 has no items"):
        fitted.recommend("nobody", basket, recalculate_user=True, **NAMES)
    strange = frame("pandas", {"customer": ["c1", "c2"], "article": [10, 5]})
    with pytest.raises(IndexError, match="unknown item 5"):
        fitted.recommend("c2", strange, **NAMES)
    assert len(fitted.recommend("c1", strange, N=20, **NAMES)[0]) == 19
    # Users and items by number, too.
    pairs = blocks.tocoo()
    numbers = frame("pandas", {"user": pairs.row, "item": pairs.col})
    assert block_model.recommend(3, numbers)[0].tolist() == block_model.recommend(3, blocks[3])[0].tolist()


def test_columns_that_are_not_there(shop: dict[str, Any]) -> None:
    log = frame("pandas", shop)
    columns = r"\['customer', 'article', 'user', 'stars', 'bought'\]"
    cases: list[tuple[dict[str, Any], str]] = [
        (
            {"item_col": "article", "user_col": "custmer"},
            f"^user_col: user_items has no column 'custmer' among {columns}\n.*did you mean 'customer'",
        ),
        ({"user_col": "customer"}, f"^user_items has no item column among {columns}\n.*item_col="),
        ({**NAMES, "time_col": "when"}, f"^time_col: user_items has no column 'when' among {columns}"),
        ({**NAMES, "rating_col": "article"}, "^item_col and rating_col both name 'article'"),
        ({"user_col": "", "item_col": "article"}, "^user_col is empty"),
    ]
    for names, text in cases:
        with pytest.raises(ValueError, match=text):
            rivalry.split(log, **names)
        with pytest.raises(ValueError, match=text):
            rivalry.Recommender(**SETTINGS).fit(log, show_progress=False, **names)


def test_matrices_have_no_columns(block_model: Any, blocks: sp.csr_matrix) -> None:
    held_out = sp.csr_matrix(np.eye(20))
    for ask, what in (
        (lambda **names: rivalry.Recommender(**SETTINGS).fit(blocks, show_progress=False, **names), "user_items"),
        (lambda **names: rivalry.split(blocks, **names), "user_items"),
        (lambda **names: block_model.recommend(0, blocks[0], **names), "user_items"),
        (lambda **names: rivalry.evaluate(block_model, blocks, held_out, **names), "data"),
        (lambda **names: rivalry.evaluate(block_model, rivalry.Dataset(blocks, held_out), **names), "data"),
    ):
        ask()
        with pytest.raises(ValueError, match=f"^item_col='x' names a column, but {what} is no frame"):
            ask(item_col="x")


def test_a_column_can_be_disregarded() -> None:
    columns = {"user": [1, 1, 2, 2], "item": [1, 2, 2, 3], "date": ["soon", "later", "never", ""], "rating": ["a"] * 4}
    log = frame("pandas", columns)
    assert rivalry.Recommender(**SETTINGS, k=2).fit(log, show_progress=False).item_ids is not None
    with pytest.raises(ValueError, match="the time column 'date', row 0: 'soon' is not a timestamp\n  help: write"):
        rivalry.split(log)
    assert rivalry.split(log, time_col="").train.nnz == 2
    with pytest.raises(ValueError, match="the rating column 'rating' has the type"):
        rivalry.split(log, time_col="", min_rating=1)


@pytest.mark.parametrize("kind", KINDS)
def test_whole_numbers_are_ids_whatever_their_type(kind: str) -> None:
    columns: dict[str, Any] = {"user": [1.0, 1.0, 2.0, 2.0], "item": np.array([7, 8, 7, 8], dtype=np.uint8)}
    data = rivalry.split(frame(kind, columns), validation="none")
    assert data.user_ids.tolist() == [1, 2] and data.user_ids.dtype == np.int64
    assert data.item_ids.tolist() == [7, 8]
    missing = {**columns, "user": [1, 2, None, None]}
    with pytest.raises(ValueError, match="the user column 'user' has no value in row 2 and 1 more"):
        rivalry.split(frame(kind, missing))
    large = {**columns, "user": np.array([1, 2, 3, 2**64 - 1], dtype=np.uint64)}
    with pytest.raises(ValueError, match="2⁶³ or more\n  help: convert them to text"):
        rivalry.split(frame(kind, large))


def test_ids_can_be_asked_for_as_they_stand_in_the_frame() -> None:
    log = frame("pandas", {"user": [1.0, 1.0, 2.0, 2.0], "item": [7, 8, 8, 9]})
    fitted = rivalry.Recommender("popularity").fit(log, show_progress=False)
    assert fitted.recommend(log["user"][0])[0].tolist() == fitted.recommend(1)[0].tolist() == [9]
    assert fitted.recommend(np.array([2.0, 1.0]))[0][:, 0].tolist() == [7, 9]
    with pytest.raises(IndexError, match="unknown user 1.5"):
        fitted.recommend(1.5)


def test_nullable_integers_of_pandas_are_ids() -> None:
    pandas: Any = pytest.importorskip("pandas")
    log = pandas.DataFrame({"user": pandas.array([1, 1, 2, 2], dtype="Int64"), "item": ["a", "b", "a", "b"]})
    assert rivalry.split(log, validation="none").user_ids.tolist() == [1, 2]
    log = pandas.DataFrame({"user": pandas.array([1, None], dtype="Int64"), "item": ["a", "b"]})
    with pytest.raises(ValueError, match="the user column 'user' has no value in row 1"):
        rivalry.split(log)


#: The same four moments, which are not in the order of their text.
MOMENTS = ["2024-05-01T00:30:00+02:00", "2024-04-30T23:00:00Z", "2024-04-30 23:30:00", "2024-05-01 01:00:00 +01"]


def test_times_are_read_as_in_files(tmp_path: Path) -> None:
    pandas: Any = pytest.importorskip("pandas")
    rows = {"user": [1, 1, 1, 1], "item": ["a", "b", "c", "d"], "time": MOMENTS}
    pandas.DataFrame(rows).to_csv(tmp_path / "log.csv", index=False)
    of_file = rivalry.datasets.load(tmp_path / "log.csv", split={"type": "leave-last", "n": 2}, validation="none")
    zoned = pandas.to_datetime(rows["time"], format="mixed", utc=True)
    for time in (
        MOMENTS,
        zoned,
        zoned.tz_convert("America/New_York"),
        zoned.tz_localize(None),
        [moment.to_pydatetime() for moment in zoned],
        np.array([moment.timestamp() for moment in zoned]),
        [str(int(moment.timestamp())) for moment in zoned],
    ):
        split = rivalry.split(
            pandas.DataFrame({**rows, "time": time}), {"type": "leave-last", "n": 2}, validation="none"
        )
        assert split.checksum == of_file.checksum, time


@pytest.mark.parametrize("kind", KINDS)
def test_dates_with_a_time_zone(kind: str) -> None:
    zone = datetime.timezone.utc
    times = [datetime.datetime(2024, 5, day, tzinfo=zone) for day in (3, 1, 2)]
    log = frame(kind, {"user": [1, 1, 1], "item": [1, 2, 3], "when": times})
    data = rivalry.split(log, "leave-last", validation="none", time_col="when")
    assert data.item_ids[data.test.indices].tolist() == [1]
    dates = frame(kind, {"user": [1, 1, 1], "item": [1, 2, 3], "date": [time.date() for time in times]})
    assert rivalry.split(dates, "leave-last", validation="none").checksum == data.checksum


def test_missing_times_are_refused() -> None:
    pandas: Any = pytest.importorskip("pandas")
    rows: dict[str, Any] = {"user": [1, 1], "item": [1, 2]}
    for time in ([None, "2024-05-01"], [np.nan, 1.0], [pandas.NaT, pandas.Timestamp("2024-05-01")]):
        with pytest.raises(ValueError, match="the time column 'time' has no value in row 0"):
            rivalry.split(pandas.DataFrame({**rows, "time": time}))


def test_files_have_the_same_arguments(tmp_path: Path, shop: dict[str, Any]) -> None:
    lines = [",".join(map(str, row)) for row in zip(*shop.values())]
    (tmp_path / "log.csv").write_text("\n".join([",".join(shop), *lines]) + "\n")
    names = {**NAMES, "rating_col": "stars", "time_col": "bought"}
    of_file = rivalry.datasets.load(tmp_path / "log.csv", split="time", min_rating=2, **names)
    assert of_file.checksum == rivalry.split(frame("pandas", shop), "time", min_rating=2, **names).checksum
    with pytest.raises(ValueError, match="user_col"):
        rivalry.datasets.load(tmp_path / "log.csv", user_col="custmer", item_col="article")


@pytest.mark.parametrize("kind", KINDS)
def test_an_evaluation_takes_frames(kind: str, shop: dict[str, Any]) -> None:
    train = frame(kind, shop)
    fitted = rivalry.Recommender(**SETTINGS).fit(train, show_progress=False, **NAMES)
    held_out = frame(kind, {"customer": ["c3", "c5"], "article": [30, 50]})
    found = rivalry.evaluate(fitted, train, held_out, k=5, **NAMES)
    assert found["users"] == 2 and found["metrics"]["Recall@5"] > 0
    odd = frame(kind, {"customer": ["c3", "nobody"], "article": [30, 50]})
    with pytest.raises(ValueError, match="test has 1 users that are not in the training data, such as 'nobody'"):
        rivalry.evaluate(fitted, train, odd, **NAMES)
    with pytest.raises(TypeError, match="both be frames"):
        rivalry.evaluate(fitted, train, sp.csr_matrix((20, 20)), **NAMES)
