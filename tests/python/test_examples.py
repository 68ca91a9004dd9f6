"""The examples run, each in a folder of its own, and do what they say."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import rivalry
from conftest import ROOT


def run(name: str, folder: Path, *needs: str) -> str:
    """What an example prints; skipped by name where a library it shows is not installed."""
    for library in needs:
        pytest.importorskip(library, reason=f"{library} is not installed")
    # Ray would join the cluster of a test that runs at the same time.
    ray = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ADDRESS": "local"}
    environment = {**os.environ, **ray, "MLFLOW_DISABLE_TELEMETRY": "true"}
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_tutorial(tmp_path: Path) -> None:
    printed = run("tutorial.py", tmp_path)
    assert "NDCG@20: popularity" in printed
    assert (tmp_path / "tutorial.safetensors").exists()


def test_optuna(tmp_path: Path) -> None:
    printed = run("optuna_pruning.py", tmp_path, "optuna")
    best = re.search(r"best NDCG@20 (0\.\d+)", printed)
    assert best is not None and float(best[1]) > 0.1
    pruned = re.search(r"pruned (\d+) of 10 trials", printed)
    assert pruned is not None and int(pruned[1]) > 0


def test_ray_tune(tmp_path: Path) -> None:
    printed = run("ray_tune.py", tmp_path, "ray.tune")
    best = re.search(r"best NDCG@20 (0\.\d+)", printed)
    assert best is not None and float(best[1]) > 0.1
    assert "4 trials, 0 failed" in printed


def test_ray_sweep(tmp_path: Path) -> None:
    printed = run("cluster/ray_sweep.py", tmp_path, "ray")
    assert sorted(line.split()[0] for line in printed.splitlines()) == ["dsl-ca", "sl"]
    assert (tmp_path / "runs" / "ray" / "chosen.json").exists()


def test_mlflow(tmp_path: Path) -> None:
    printed = run("mlflow_tracking.py", tmp_path, "mlflow", "sqlalchemy")
    assert re.search(r"NDCG@20 by epoch: \{2: 0\.\d+, 4: .*10: 0\.\d+\}", printed), printed
    assert list(tmp_path.rglob("artifacts/model.safetensors"))


def test_tensorboard(tmp_path: Path) -> None:
    printed = run("tensorboard_logging.py", tmp_path, "tensorboardX")
    assert printed.count("NDCG@20") == 2
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(tmp_path / "tensorboard" / "dsl-ca")).Reload()
    assert [event.step for event in events.Scalars("valid/NDCG_at_20")] == [2, 4, 6, 8, 10]


def test_every_example_is_run_here() -> None:
    here = Path(__file__).read_text()
    assert all(f'"{path.name}"' in here for path in (ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("module", ["_recommender", "_split", "_evaluate", "_loss", "_registry", "datasets"])
def test_examples_in_docstrings(module: str) -> None:
    code = importlib.import_module(f"rivalry.{module}")
    failed, tried = doctest.testmod(code, extraglobs={"rivalry": rivalry})
    assert tried > 0 and failed == 0


def test_the_reference_is_made_from_the_docstrings() -> None:
    spec = importlib.util.spec_from_file_location("python_reference", ROOT / "scripts" / "python_reference.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.FILE.read_text() == script.reference(), "run python scripts/python_reference.py"
