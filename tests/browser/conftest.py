"""Fixtures: a report and a browser."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Iterator

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
    """A report with every kind of section, on short runs."""
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
            train(f"runs/<dsl> & more/{alpha}{beta}", "--loss", "dsl", "--set", f"loss.alpha={alpha}", "--set", f"loss.beta={beta}")
    (world / "runs/sl/1/metrics.json").unlink()
    for loss in ("sl", "dsl-ca"):
        train(f"runs/noisy/{loss}", "--loss", loss, "--set", "data.prepare.noise=0.2")
    subprocess.run([command, "inspect", "runs/dsl-ca/0", "--pairs", "1024"], cwd=world, check=True)
    rename_users(world / "runs/dsl-ca/0/inspect.json")
    subprocess.run([command, "report", "runs", "-o", "report.html"], cwd=world, check=True)
    return world / "report.html"


@pytest.fixture(scope="session")
def halved(command: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on a sweep with successive halving and two seeds, one of whose runs was inspected."""
    world = tmp_path_factory.mktemp("halved")
    small = ["--epochs", "9", "--negatives", "30", "--set", "train.eval_every=1", "--set", "model.dim=16"]
    losses = ["--loss", "sl", "--loss", "dsl-ca", "--trials", "5", "--seeds", "2", "--halving"]
    sweep = [command, "sweep", "--quiet", "--data", "synthetic", *losses, *small, "--out", "sweep"]
    subprocess.run(sweep, cwd=world, check=True)
    model = next((world / "sweep").glob("dsl-ca-*/model.safetensors"))
    subprocess.run([command, "inspect", model.parent, "--pairs", "512"], cwd=world, check=True)
    subprocess.run([command, "report", "sweep", "-o", "report.html"], cwd=world, check=True)
    return world / "report.html"


def rename_users(inspection: Path) -> None:
    """Renames all users of an inspection to a script element, which the report must escape.

    Format and checksum are removed, as in files of the first release: the report refuses a wrong checksum.
    """
    found = json.loads(inspection.read_text())
    for key in ("format", "checksum"):
        found.pop(key, None)
    pairs = [slate for two in found["two_slates"] for slate in two.values()]
    for slate in [*pairs, *found["most_contested"], *found["least_contested"]]:
        slate["user"] = "<script>alert(1)</script>"
    inspection.write_text(json.dumps(found))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium: Playwright's own, or the one that RIVALRY_BROWSER names."""
    with sync_playwright() as playwright:
        named = os.environ.get("RIVALRY_BROWSER")
        browser = playwright.chromium.launch(executable_path=named, args=["--no-sandbox"])
        yield browser
        browser.close()
