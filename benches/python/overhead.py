"""What Python costs on top of the engine, on Amazon-Health: ratios in one run, alternating, the best of each.

    cargo build --release -p rivalry-cli && pip install .
    RIVALRY_DATA=folder-of-the-published-data python benches/python/overhead.py

`fit` is set against the command line's own clock (training and evaluation, without reading and writing files);
`recommend` for all users in one call against the evaluation inside a training, which ranks the same users and items
and measures the lists. Processor time is told too: on a machine that others use, it is the steadier of the two (the
command line's includes reading and writing files).
"""

import argparse
import json
import resource
import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import rivalry

parser = argparse.ArgumentParser()
parser.add_argument("--command", default=str(Path(__file__).parents[2] / "target" / "release" / "rivalry"))
parser.add_argument("--data", default="amazon2014-health")
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--rounds", type=int, default=5)
args = parser.parse_args()

data = rivalry.datasets.load(args.data)
print(data)
everyone = np.arange(data.shape[0])
times: dict[str, list[float]] = defaultdict(list)


def busy(whose: int) -> float:
    """Processor time until now."""
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


for _ in range(args.rounds):
    out = tempfile.mkdtemp()
    flags = ["--loss", "sl", "--epochs", str(args.epochs), "--eval-every", "1", "--json", "--quiet"]
    before = busy(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [args.command, "train", "--data", args.data, *flags, "--out", f"{out}/run"], check=True, capture_output=True
    )
    times["command, processor"].append(busy(resource.RUSAGE_CHILDREN) - before)
    seconds = json.loads(done.stdout)["seconds"]
    times["command"].append(seconds["train"] + seconds["eval"])
    shutil.rmtree(out)

    before, began = busy(resource.RUSAGE_SELF), time.perf_counter()
    model = rivalry.Recommender(loss="sl", epochs=args.epochs, eval_every=1)
    model.fit(data.train, validation=data.valid, show_progress=False)
    times["fit"].append(time.perf_counter() - began)
    times["fit, processor"].append(busy(resource.RUSAGE_SELF) - before)
    seconds = model.report_["seconds"]
    times["inside"].append(seconds["train"] + seconds["eval"])
    steps = [0.0, *(record["seconds"]["eval"] for record in model.history_)]
    times["evaluate"].append(min(np.diff(steps)))
    for _ in range(10):
        began = time.perf_counter()
        ids, scores = model.recommend(everyone, N=20)
        times["recommend"].append(time.perf_counter() - began)

best = {name: min(values) for name, values in times.items()}
print({name: f"{value:.4f} s" for name, value in best.items()})
print(
    f"fit / command line {best['fit'] / best['command']:.3f}   fit / its own training {best['fit'] / best['inside']:.3f}"
)
print(f"fit / command line, processor time {best['fit, processor'] / best['command, processor']:.3f}")
print(f"recommend / evaluator {best['recommend'] / best['evaluate']:.3f}")
