"""The package and the `rivalry` command give the same results."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rivalry


def run(command: str, *arguments: Any) -> str:
    done = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("settings", "flags"),
    [
        ({}, []),
        (
            {"loss": "sl", "loss_params": {"tau": 0.1}, "random_state": 7},
            ["--loss", "sl", "--set", "loss.tau=0.1", "--seed", 7],
        ),
        (
            {"loss": "bpr", "score": "dot", "learning_rate": 0.01},
            ["--loss", "bpr", "--set", "model.score=dot", "--lr", 0.01],
        ),
        (
            {"model": "lightgcn", "loss": "dsl-ca", "negatives": 100},
            ["--model", "lightgcn", "--loss", "dsl-ca", "--negatives", 100],
        ),
    ],
    ids=["defaults", "sl", "bpr", "lightgcn"],
)
def test_the_same_seed_gives_the_same_bits(
    command: str, tmp_path: Path, settings: dict[str, Any], flags: list[Any]
) -> None:
    out = tmp_path / "run"
    printed = run(
        command,
        "train",
        "--data",
        "synthetic",
        "--epochs",
        4,
        "--eval-every",
        2,
        *flags,
        "--out",
        out,
        "--json",
        "--quiet",
    )
    data = rivalry.datasets.load("synthetic")
    ours = rivalry.Recommender(epochs=4, eval_every=2, **settings).fit(data, show_progress=False)
    theirs = rivalry.Recommender.load(out)
    assert ours.user_factors.tobytes() == theirs.user_factors.tobytes()
    assert ours.item_factors.tobytes() == theirs.item_factors.tobytes()
    assert ours.report_["best_epoch"] == json.loads(printed)["best_epoch"]
    metrics = rivalry.evaluate(ours, data)["metrics"]
    assert metrics == json.loads(printed)["test"]
    # Without ids and without a name the bits are the same.
    bare = rivalry.Recommender(epochs=4, eval_every=2, **settings).fit(data.train, data.valid, show_progress=False)
    assert bare.user_factors.tobytes() == ours.user_factors.tobytes()


def test_the_command_reads_our_models(command: str, tmp_path: Path) -> None:
    data = rivalry.datasets.load("synthetic")
    model = rivalry.Recommender(loss="sl", epochs=2, negatives=50).fit(data, show_progress=False)
    path = tmp_path / "model.safetensors"
    model.save(path)
    printed = json.loads(run(command, "recommend", path, "--user", "user-0042", "-n", 5, "--json"))
    ids, scores = model.recommend("user-0042", N=5)
    listed = printed["recommendations"][0]["items"]
    assert [entry["item"] for entry in listed] == ids.tolist()
    np.testing.assert_allclose([entry["score"] for entry in listed], scores)
    printed = json.loads(run(command, "similar", path, "--item", "item-0007", "-n", 4, "--json"))
    similar, _ = model.similar_items("item-0007", N=5)
    assert [entry["item"] for entry in printed["similar"]] == similar.tolist()[1:]


def test_closed_form_models_are_the_same_too(command: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    arguments = ["--data", "synthetic", "--model", "popularity", "--out", out, "--json", "--quiet"]
    printed = json.loads(run(command, "train", *arguments))
    data = rivalry.datasets.load("synthetic")
    ours = rivalry.Recommender("popularity").fit(data, show_progress=False)
    assert rivalry.evaluate(ours, data)["metrics"] == printed["test"]
    theirs = rivalry.Recommender.load(out)
    lists = [model.recommend("user-0042", data.train[42])[0].tolist() for model in (ours, theirs)]
    assert lists[0] == lists[1]


def test_versions_come_from_one_place(command: str) -> None:
    from importlib.metadata import PackageNotFoundError, version

    assert run(command, "--version").split() == ["rivalry", rivalry.__version__]
    try:
        assert version("rivalry") == rivalry.__version__
    except PackageNotFoundError:
        pytest.skip("the package is tested in place, not as a wheel")
