"""An exported index is read by USearch itself, and finds what exact search finds."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest


def test_the_exported_index_finds_the_best_items(command: str, tmp_path: Path) -> None:
    index_module = pytest.importorskip("usearch.index")
    run, out = tmp_path / "run", tmp_path / "vectors"
    train = [command, "train", "--quiet", "--data", "synthetic", "--epochs", "2", "--negatives", "50", "--out", str(run)]
    subprocess.run(train, check=True, capture_output=True)
    export = [command, "export", str(run), "--to", "usearch-hnsw", "-o", str(out), "--json"]
    done = subprocess.run(export, capture_output=True, text=True)
    if "without the feature `hnsw`" in done.stderr:
        pytest.skip("the command was built without USearch")
    assert done.returncode == 0, done.stderr
    index = index_module.Index.restore(str(out / "items.usearch"))
    users = np.load(out / "users.npy")
    document = json.loads(done.stdout)
    assert len(index) == document["items"] and index.ndim == document["dim"]

    # The vectors are those of the plain export, and the scores those of exact search.
    subprocess.run([command, "export", str(run), "--to", "npy", "-o", str(tmp_path / "npy")], check=True)
    items = np.load(tmp_path / "npy" / "items.npy")
    np.testing.assert_array_equal(np.stack([index.get(row) for row in range(len(items))]), items)
    exact = np.argsort(-(users @ items.T), axis=1)[:, :20]
    found = index.search(users, 20)
    shared = [len(set(a) & set(b)) / 20 for a, b in zip(exact.tolist(), found.keys.tolist())]
    assert np.mean(shared) > 0.95 and document["recall_at_20"] > 0.95
    np.testing.assert_allclose(1 - found.distances[0], items[found.keys[0]] @ users[0], atol=1e-5)

    # Row numbers are keys: the ids are those of `rivalry recommend`.
    with (out / "items.csv").open() as file:
        ids = [row["id"] for row in csv.DictReader(file)]
    with (out / "users.csv").open() as file:
        user = next(csv.DictReader(file))["id"]
    command_line = [command, "recommend", str(run), "--user", user, "-n", "1", "--json"]
    best = json.loads(subprocess.run(command_line, check=True, capture_output=True, text=True).stdout)
    order = [ids[row] for row in index.search(users[0], 200).keys]
    assert str(best["recommendations"][0]["items"][0]["item"]) in order
