"""`rivalry.auto`: the best model for a log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import rivalry


def frame() -> pd.DataFrame:
    """Sixty users of two groups, each with items of its own; all users are active at all times."""
    rows = [
        (f"u{user}", f"i{user % 2 * 30 + (user * 7 + n * 11) % 30}", 3 + n % 3, pd.Timestamp(2024, 1, 1 + n))
        for n in range(12)
        for user in range(60)
    ]
    return pd.DataFrame(rows, columns=["user_id", "item_id", "rating", "date"])


def test_a_frame_becomes_a_tested_model(capsys: Any) -> None:
    found = rivalry.auto(frame(), minutes=0.05)
    names = [model["name"] for model in found.report["models"]]
    assert "popularity" in names and len(names) > 2
    low, high = found.report["test"]["interval"]
    assert low <= found.report["test"]["mean"] <= high
    assert names[0] in repr(found)
    ids, _ = found.model.recommend("u7", N=5)
    assert len(ids) == 5 and all(str(item).startswith("i") for item in ids)
    assert "by time" in capsys.readouterr().err


def test_a_search_goes_on_in_its_folder(tmp_path: Path) -> None:
    quiet: dict[str, Any] = {"out": tmp_path / "auto", "show_progress": False}
    first = rivalry.auto(frame(), minutes=0.02, **quiet)
    second = rivalry.auto(frame(), minutes=0.05, **quiet)
    assert second.report["models"][0]["valid"] >= first.report["models"][0]["valid"]
    kept = json.loads((tmp_path / "auto" / "auto.json").read_text())
    assert kept["test"] == second.report["test"]


def test_columns_and_settings_are_named(tmp_path: Path) -> None:
    log = frame().rename(columns={"user_id": "who", "item_id": "what"})
    found = rivalry.auto(
        log, 0.001, user_col="who", item_col="what", metric="Recall@5", split="random", min_rating=4, show_progress=False
    )
    assert found.report["metric"] == "Recall@5" and "as asked for" in found.report["understood"]["split"]
    path = tmp_path / "log.csv"
    log.to_csv(path, index=False)
    assert rivalry.auto(path, 0.001, user_col="who", item_col="what", show_progress=False).report["trials"] >= 1


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(ValueError, match="minutes: found 0, expected a time above zero"):
        rivalry.auto(frame(), 0)
    with pytest.raises(TypeError, match="data must be a frame, a path or the name"):
        rivalry.auto([1, 2])
    with pytest.raises(ValueError, match="found 'NDCG'"):
        rivalry.auto(frame(), 1, metric="NDCG")
    with pytest.raises(ValueError, match="has no user column"):
        rivalry.auto(frame().drop(columns="user_id"), 1)
    with pytest.raises(ValueError, match="a single item"):
        rivalry.auto(frame().assign(item_id="one"), 1)
