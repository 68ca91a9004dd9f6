"""A report to look at, and a browser to look with."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def command() -> str:
    """The `rivalry` command."""
    built = os.environ.get("RIVALRY_COMMAND") or str(ROOT / "target" / "release" / "rivalry")
    found = shutil.which(built)
    if found is None:
        pytest.skip("the rivalry command is not built: cargo build --release -p rivalry-cli")
    return found


@pytest.fixture(scope="session")
def report(command: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with every kind of section, on runs that take a moment."""
    world = tmp_path_factory.mktemp("world")

    def train(out: str, *more: str) -> None:
        small = ["--data", "synthetic", "--epochs", "4", "--eval-every", "1", "--negatives", "30", "--dim", "16"]
        more = ("--set", "eval.buckets=true", *more)
        subprocess.run([command, "train", "--quiet", *small, "--out", out, *more], cwd=world, check=True)

    for loss in ("sl", "dsl-ca", "dsl-kappa"):
        for seed in ("0", "1"):
            train(f"runs/{loss}/{seed}", "--loss", loss, "--seed", seed)
    for alpha in ("1", "2"):
        for beta in ("1", "2"):
            train(f"runs/<dsl> & more/{alpha}{beta}", "--set", f"loss.alpha={alpha}", "--set", f"loss.beta={beta}")
    (world / "runs/sl/1/metrics.json").unlink()
    (world / "runs/dsl-ca/0/inspect.json").write_text(json.dumps(inspection()))
    figures = ["--figures", "figures"]
    subprocess.run([command, "report", "runs", "-o", "report.html", *figures], cwd=world, check=True)
    return world / "report.html"


def inspection() -> dict[str, Any]:
    """What an inspection might find; the figures are made up."""

    def spread(low: float, high: float) -> dict[str, Any]:
        step = (high - low) / 20
        edges = [low + step * place for place in range(21)]
        counts = [1 + 9 * min(place, 19 - place) for place in range(20)]
        middle = (low + high) / 2
        quantiles = [low, low, low + step, middle, high - step, high, high]
        histogram = {"edges": edges, "counts": counts}
        return {"mean": middle, "deviation": step * 4, "quantiles": quantiles, "histogram": histogram}

    def slate(competition: float, temperature: float) -> dict[str, Any]:
        scores = [0.7 - 0.05 * place * (1.2 - competition) for place in range(15)]
        weights = [2.0**-place for place in range(15)]
        negatives = [
            {
                "item": f"item {place}",
                "score": score,
                "similarity": 0.5,
                "kappa": 1.0,
                "sl": weight / sum(weights),
                "own": weight**temperature / sum(w**temperature for w in weights),
            }
            for place, (score, weight) in enumerate(zip(scores, weights))
        ]
        return {
            "user": "<script>alert(1)</script>",
            "item": "a & b",
            "score": 0.65,
            "competition": competition,
            "temperature": temperature,
            "negatives": negatives,
        }

    calm, contested = slate(0.2, 0.25), slate(0.9, 0.12)
    return {
        "loss": {"type": "dsl-ca", "tau": 0.2, "alpha": 1.0},
        "data": "synthetic",
        "backbone": "mf",
        "epoch": 4,
        "seed": 0,
        "pairs": 1000,
        "negatives": 30,
        "kappa": spread(0.1, 3.0),
        "competition": spread(0.0, 1.0),
        "multiplier": spread(0.5, 2.0),
        "temperature": spread(0.1, 0.4),
        "gradient": {"up_to_rank": [1, 2, 5, 10, 30], "sl": [0.4, 0.2, 0.2, 0.1, 0.1], "own": [0.3, 0.2, 0.2, 0.2, 0.1]},
        "radius": {
            "sl": spread(0.5, 3.0),
            "own": spread(1.0, 3.5),
            "bounds": {"checked": 1000, "value_broken": 0, "radius_broken": 0, "mean_sharpness_off": 1e-7},
        },
        "two_slates": [{"calm": calm, "contested": contested}],
        "most_contested": [contested] * 3,
        "least_contested": [calm] * 3,
    }


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium: Playwright's own, or the one that RIVALRY_BROWSER names."""
    with sync_playwright() as playwright:
        named = os.environ.get("RIVALRY_BROWSER")
        browser = playwright.chromium.launch(executable_path=named, args=["--no-sandbox"])
        yield browser
        browser.close()
