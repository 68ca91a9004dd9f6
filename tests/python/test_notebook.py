"""What notebooks use: the tutorial as a notebook, progress bars, models as HTML, lists as frames."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import rivalry
from conftest import ROOT
from rivalry._progress import Progress


def test_the_notebook_runs_and_shows_bars_tables_and_pictures(tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    notebook = nbformat.read(ROOT / "examples" / "tutorial.ipynb", as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in data for data in shown)
    pages = [data["text/html"] for data in shown if "text/html" in data]
    assert any("<progress value='1.0000'" in page and "NDCG@20" in page for page in pages)
    assert any("fitted on" in page and "cap" in page for page in pages)
    assert any("<th>rank</th>" in page for page in pages)
    assert (tmp_path / "model.safetensors").exists()


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_lists_as_frames_are_those_of_recommend(model: rivalry.Recommender, library: str) -> None:
    pytest.importorskip(library)
    frame = model.recommend_frame([7, 3], N=4, library=library)
    columns: dict[str, Any] = {
        name: np.asarray(frame[name].to_numpy() if hasattr(frame[name], "to_numpy") else frame[name])
        for name in ("user", "item", "rank", "score")
    }
    items, scores = model.recommend([7, 3], N=4)
    assert columns["user"].tolist() == [7] * 4 + [3] * 4
    assert columns["rank"].tolist() == [1, 2, 3, 4] * 2
    assert (columns["item"] == items.reshape(-1)).all() and (columns["score"] == scores.reshape(-1)).all()


def test_frames_have_ids_all_users_by_default_and_no_unfilled_places(data: rivalry.Dataset) -> None:
    pytest.importorskip("pandas")
    model = rivalry.Recommender("popularity").fit(data)
    everybody = model.recommend_frame(N=2)
    assert len(everybody) == 2 * data.shape[0]
    assert everybody["user"].iloc[0] == "user-0000" and everybody["item"].iloc[0].startswith("item-")
    one = model.recommend_frame("user-0007", N=5, items=["item-0001", "item-0002"])
    assert len(one) <= 2 and set(one["item"]) <= {"item-0001", "item-0002"}
    with pytest.raises(ValueError, match="unknown library 'excel'"):
        model.recommend_frame(N=2, library="excel")


def test_a_model_as_html(data: rivalry.Dataset) -> None:
    model = rivalry.Recommender(loss="sl", loss_params={"tau": 0.2}, epochs=2, negatives=20, eval_every=1)
    assert "not fitted yet" in model._repr_html_()
    model.fit(data, show_progress=False)
    page = model._repr_html_()
    for part in ("Recommender(loss=&#x27;sl&#x27;", "1,500 users", "of 2", "NDCG@20 0."):
        assert part in page, page
    assert "epoch" not in rivalry.Recommender("ease").fit(data)._repr_html_()


def test_a_bar_in_a_notebook_and_none_elsewhere(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    pages: list[str] = []
    cell = SimpleNamespace(update=lambda page: pages.append(page))
    display = SimpleNamespace(HTML=str, display=lambda _page, display_id: cell)
    shell = SimpleNamespace(kernel=None)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", display)  # type: ignore[arg-type]
    progress = Progress(True, 4)
    progress.tick(2, 1, 2, 0.5)
    progress.evaluated({"epoch": 2, "loss": 0.5, "valid": {"NDCG@20": 0.25}}, "NDCG@20")
    progress.close()
    assert "value='0.3750'" in pages[0] and "epoch 2/4" in pages[0]
    assert "value='1.0000'" in pages[-1] and "NDCG@20 0.2500" in pages[-1]
    assert capsys.readouterr().err == ""
    monkeypatch.delattr(shell, "kernel")
    Progress(True, 4).evaluated({"epoch": 2, "loss": 0.5}, None)
    assert capsys.readouterr().err == "epoch 2/4   loss 0.5000\n"
