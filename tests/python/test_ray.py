"""A sweep on a Ray cluster of two nodes: the trials and results of ``rivalry sweep``, whatever happens to a node."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray", reason="ray is not installed")
cluster_utils = pytest.importorskip("ray.cluster_utils", reason="ray is not installed")

SEARCH = {
    "losses": ["sl", "dsl-ca"],
    "models": ["popularity"],
    "trials": 3,
    "settings": {"train.epochs": 9, "train.negatives": 50, "train.eval_every": 1, "train.patience": 9},
    "halving": True,
}
# The same search on the command line.
COMMAND = """sweep --data synthetic --loss sl --loss dsl-ca --model popularity --trials 3 --halving --epochs 9 --negatives 50
    --set train.eval_every=1 --patience 9""".split()


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def models(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("model.safetensors"))}


def states(folder: Path) -> dict[str, Any]:
    trials = json.loads((folder / "index.json").read_text())
    return {trial["name"]: (trial["state"], trial["valid"]) for trial in trials}


def epochs(folder: Path) -> dict[str, list[int]]:
    """The epochs in the log of each trial: each is there once, if the trial was trained once."""
    logs = {str(file.relative_to(folder)): file.read_text().splitlines() for file in sorted(folder.rglob("log.jsonl"))}
    return {name: [json.loads(line)["epoch"] for line in lines] for name, lines in logs.items()}


def run(command: str, *arguments: str) -> None:
    done = subprocess.run([command, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_two_nodes_do_what_one_machine_does(command: str, cluster: Any, tmp_path: Path) -> None:
    import rivalry.ray

    cluster.add_node(num_cpus=1)
    found = rivalry.ray.sweep("synthetic", out=tmp_path / "ray", address=cluster.address, **SEARCH)
    run(command, *COMMAND, "--out", str(tmp_path / "alone"), "--quiet")
    assert models(tmp_path / "ray") == models(tmp_path / "alone")
    assert states(tmp_path / "ray") == states(tmp_path / "alone")
    assert {best["model"] for best in found["chosen"]} == {"mf", "popularity"}
    run(command, "compare", str(tmp_path / "ray"))
    # Given again, nothing is trained.
    before = models(tmp_path / "ray")
    again = rivalry.ray.sweep("synthetic", out=tmp_path / "ray", **SEARCH)
    assert again["chosen"] == found["chosen"] and models(tmp_path / "ray") == before


def test_the_trials_of_a_lost_node_are_trained_elsewhere(command: str, cluster: Any, tmp_path: Path) -> None:
    import rivalry.ray

    node = cluster.add_node(num_cpus=2)
    out = tmp_path / "ray"

    def kill() -> None:
        while not list(out.glob("*/log.jsonl")):
            time.sleep(0.05)
        cluster.remove_node(node, allow_graceful=False)

    killer = threading.Thread(target=kill)
    killer.start()
    rivalry.ray.sweep("synthetic", out=out, address=cluster.address, **SEARCH)
    killer.join()
    run(command, *COMMAND, "--out", str(tmp_path / "alone"), "--quiet")
    assert models(out) == models(tmp_path / "alone")
    assert states(out) == states(tmp_path / "alone")
    assert epochs(out) == epochs(tmp_path / "alone")


def test_another_version_on_a_node_is_refused(tmp_path: Path) -> None:
    from rivalry.ray import _train

    with pytest.raises(RuntimeError, match=r"a node of the cluster has rivalry .*\n  help: install the same version"):
        _train(None, ("sl", "", None), {}, 1, "0.0.0")  # type: ignore[arg-type]


def test_a_wrong_name_leaves_nothing_behind(tmp_path: Path) -> None:
    import rivalry.ray

    with pytest.raises(ValueError, match="sll"):
        rivalry.ray.sweep("synthetic", out=tmp_path / "ray", losses=["sll"])
    assert not (tmp_path / "ray").exists()
