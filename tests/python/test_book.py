"""The Python of the README and of the book, run as it is printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import rivalry
from conftest import QUICK, ROOT

#: The pages with Python. `scaling.md` needs a cluster and `serving.md` an index: test_ray and test_usearch run the same calls.
PAGES = {"README.md", "formats.md", "python.md", "scaling.md", "serving.md"}

#: Generated from docstrings, whose examples are run elsewhere.
GENERATED = "python-reference.md"


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def blocks_of(name: str) -> list[str]:
    return blocks(ROOT / name if name == "README.md" else ROOT / "docs" / "src" / name)


def run(name: str, block: int, names: dict[str, Any]) -> None:
    exec(compile(blocks_of(name)[block], f"{name}, block {block + 1}", "exec"), names)  # noqa: S102


def test_every_page_with_python_is_known() -> None:
    book = [page for page in (ROOT / "docs" / "src").rglob("*.md") if page.name != GENERATED]
    assert {page.name for page in [ROOT / "README.md", *book] if blocks(page)} == PAGES


def test_readme() -> None:
    names: dict[str, Any] = {}
    run("README.md", 0, names)
    assert len(names["ids"]) == 10


def log(user: str, item: str, first_user: str) -> pd.DataFrame:
    rows = [(f"u{n}" if n else first_user, f"i{n % 2 * 30 + (n * 7 + k * 11) % 30}") for n in range(60) for k in range(12)]
    return pd.DataFrame(rows, columns=[user, item])


def test_python_page(monkeypatch: Any, capsys: Any) -> None:
    auto = rivalry.auto
    monkeypatch.setattr(rivalry, "auto", lambda frame, minutes: auto(frame, minutes=minutes / 200))
    rows = np.random.default_rng(0).uniform(-1, 1, (2, 8, 30)).astype(np.float32)
    names: dict[str, Any] = {
        "frame": log("user", "item", "alice"),
        "purchases": log("customer", "article", "c42"),
        "pos": rows[0, :, 0],
        "neg": rows[0],
        "sim": rows[1],
    }
    for block in range(4):
        run("python.md", block, names)
    assert 0.1 < float(capsys.readouterr().out.strip().splitlines()[-1]) < 1
    assert names["found"].report["models"] and names["grad_neg"].shape == (8, 30)


def test_python_page_with_torch() -> None:
    torch = pytest.importorskip("torch")
    import rivalry.torch

    pos, neg, sim = torch.rand(8), torch.rand(8, 30, requires_grad=True), torch.rand(8, 30)
    run("python.md", 4, {"rivalry": rivalry, "pos": pos, "neg": neg, "sim": sim})
    assert neg.grad.abs().sum() > 0


def test_formats_page(data: Any, tmp_path: Path, monkeypatch: Any) -> None:
    pytest.importorskip("safetensors")
    model = rivalry.Recommender(**QUICK).fit(data, show_progress=False)
    (tmp_path / "run").mkdir()
    model.save(tmp_path / "run" / "model.safetensors")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    run("formats.md", 0, names)
    assert len(names["items"]) == len(names["embeddings"]) == len(set(names["items"]))


def test_serving_page(data: Any, tmp_path: Path) -> None:
    pytest.importorskip("requests")
    names: dict[str, Any] = {}
    run("serving.md", 0, names)
    model = rivalry.Recommender(model="popularity").fit(data, show_progress=False)
    with rivalry.serve(model, port=0, feedback=tmp_path / "feedback.jsonl") as server:
        client = names["Client"](server.url)
        items = [entry["item"] for entry in client.recommend("user-0007", n=5)]
        assert len(items) == 5 and len(client.recommend_new(items[:2], n=3)) == 3
        client.clicked("user-0007", items[0])
        with pytest.raises(RuntimeError):
            client.recommend("user-0007", n=-1)
    assert items[0] in (tmp_path / "feedback.jsonl").read_text()
