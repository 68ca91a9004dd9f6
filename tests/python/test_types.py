"""The types are those that the stubs promise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import rivalry
from conftest import ROOT

pytest.importorskip("mypy")


def check(*arguments: str) -> None:
    done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_is_typed() -> None:
    assert (Path(rivalry.__file__).parent / "py.typed").exists()
    check("mypy", "--config-file", str(ROOT / "pyproject.toml"), str(ROOT / "python" / "rivalry"))


def test_the_stubs_are_those_of_the_compiled_half() -> None:
    check("mypy.stubtest", "rivalry._rivalry", "--mypy-config-file", str(ROOT / "pyproject.toml"))


def test_people_who_use_it_get_types(tmp_path: Path) -> None:
    script = tmp_path / "use.py"
    script.write_text(
        "import rivalry\n"
        "model = rivalry.Recommender(epochs=3)\n"
        "ids, scores = model.recommend(0)\n"
        "value = rivalry.dsl_loss([0.1], [[0.2]], [[0.3]], tau=0.1).value\n"
        "reveal_type(scores)\n"
        "model.recomend(0)\n"
    )
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", str(script)], capture_output=True, text=True)
    assert "ndarray" in done.stdout.splitlines()[0], done.stdout
    assert '"Recommender" has no attribute "recomend"' in done.stdout and "Found 1 error" in done.stdout, done.stdout
