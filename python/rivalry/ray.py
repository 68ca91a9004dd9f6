"""Sweeps on a Ray cluster: one task per trial, results in a folder as ``rivalry sweep`` writes it.

>>> import rivalry.ray                                                                       # doctest: +SKIP
>>> found = rivalry.ray.sweep("log.parquet", losses=["sl", "dsl-ca"], trials=50, out="runs/search")  # doctest: +SKIP
>>> found["chosen"][0]["settings"]                                                           # doctest: +SKIP
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Union

from . import _rivalry
from ._dataset import Dataset
from ._input import ids_of
from ._settings import threads, to_json

try:
    import ray
except ImportError as error:
    raise ImportError("rivalry.ray needs Ray\n  help: pip install ray") from error

__all__ = ["sweep"]

PathLike = Union[str, "os.PathLike[str]"]
# The files of a run folder by name.
Files = dict[str, bytes]
# The name of a trial, its config, and the epoch after which it pauses.
Trial = tuple[str, str, Optional[int]]


def sweep(
    data: PathLike,
    *,
    out: PathLike,
    losses: Sequence[str] = (),
    models: Sequence[str] = (),
    grid: Optional[Mapping[str, Sequence[Any]]] = None,
    search: Optional[PathLike] = None,
    settings: Optional[Mapping[str, Any]] = None,
    trials: Optional[int] = None,
    seeds: Optional[int] = None,
    halving: bool = False,
    num_threads: int = 1,
    address: Optional[str] = None,
) -> dict[str, Any]:
    """Searches settings on a Ray cluster, as ``rivalry sweep`` does on one machine.

    The data are read here and put into the object store once. A trial is a task of ``num_threads`` CPUs; a task whose
    node is lost is run again by Ray. Finished trials are written to ``out`` as they come, so the same call goes on
    where it was interrupted, and the nodes need not share a file system. The trials, their names and their results are
    those of ``rivalry sweep``, to the bit; ``rivalry compare`` and ``rivalry report`` read the folder.

    Parameters
    ----------
    data:
        The name of a data set or the path of a file, as for :func:`rivalry.datasets.load`. Only this process reads it.
    out:
        The folder of the sweep.
    losses, models:
        The losses to search, and models without a loss, such as ``"ials"``.
    grid:
        Values of keys, such as ``{"loss.tau": [0.1, 0.2]}``, instead of what is searched by default.
    search:
        A search file (``rivalry sweep --help``), which the other arguments add to.
    settings:
        Settings of all trials, such as ``{"train.epochs": 50}``.
    trials:
        Draws that many trials of each loss and model at random, besides their defaults.
    seeds:
        The number of seeds with which the best trial of each loss is trained in the end.
    halving:
        Early stopping of trials: only the best third goes on after a ninth and after a third of the epochs.
    num_threads:
        The CPUs and threads of a trial.
    address:
        The address of the cluster, if Ray is not initialised yet; ``"local"`` starts one of this machine alone. Default:
        ``$RAY_ADDRESS``, or a cluster that runs on this machine, or a new one.

    Returns
    -------
    The result of the sweep: ``chosen``, the best settings of each model and loss with validation and test metrics,
    and ``trials``, the status of each.
    """
    base: dict[str, Any] = {}
    for key, value in {**(settings or {}), "data.source": _source(data)}.items():
        _put(base, key, value)
    described = {
        "file": None if search is None else os.fspath(search),
        "base": base,
        "losses": list(losses),
        "models": list(models),
        "grid": {key: list(values) for key, values in (grid or {}).items()},
        "trials": trials,
        "seeds": seeds,
    }
    cpus = threads(num_threads) or _rivalry.cores()
    folder = _rivalry.Sweep(to_json(described), os.fspath(out), halving)
    loaded = folder.data()
    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False)
    stored = ray.put(Dataset._of(loaded, ids_of(loaded.users), ids_of(loaded.items)))
    task = ray.remote(num_cpus=cpus, max_retries=-1)(_train)
    # What the last task of a trial returned stays in the object store for the next one.
    states: dict[str, Any] = {}
    while following := folder.next_trials():
        running: dict[Any, str] = {}
        for trial in following:
            name = trial[0]
            state = states.pop(name, None) or _read(Path(out) / name)
            running[task.remote(stored, trial, state, cpus, _rivalry.version)] = name
        try:
            while running:
                [done], _ = ray.wait(list(running))
                name = running.pop(done)
                _write(Path(out) / name, ray.get(done))
                states[name] = done
        except ray.exceptions.RayTaskError as failed:
            error: Any = failed
            raise error.as_instanceof_cause() from None
        finally:
            for left in running:
                ray.cancel(left, force=True)
    found: dict[str, Any] = json.loads(folder.finish(cpus))
    return found


def _train(data: Dataset, trial: Trial, state: Files, cpus: int, version: str) -> Files:
    """A task: trains a trial from its files to the given epoch, and returns its files."""
    if _rivalry.version != version:
        raise RuntimeError(
            f"a node of the cluster has rivalry {_rivalry.version}, and the sweep was started with {version}\n"
            "  help: install the same version on all nodes"
        )
    with tempfile.TemporaryDirectory() as folder:
        name, config, last_epoch = trial
        _write(Path(folder) / name, state)
        _rivalry.train_trial(config, data._data, folder, last_epoch, cpus)
        return _read(Path(folder) / name)


def _read(folder: Path) -> Files:
    if not folder.is_dir():
        return {}
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file() and file.name[0] != "."}


def _write(folder: Path, files: Files) -> None:
    """Writes the files of a run. The record, which says that it is finished, comes last."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(files, key=lambda name: name == "metrics.json"):
        part = folder / f".{name}.part"
        part.write_bytes(files[name])
        os.replace(part, folder / name)
    for file in folder.iterdir():
        if file.is_file() and file.name not in files:
            file.unlink()


def _put(table: dict[str, Any], key: str, value: Any) -> None:
    """Sets a key such as ``"train.epochs"`` in a nested table."""
    *path, last = key.split(".")
    for part in path:
        table = table.setdefault(part, {})
    table[last] = value


def _source(data: PathLike) -> str:
    source = os.fspath(data)
    return os.path.abspath(source) if os.path.exists(source) else source
