"""Rivalry beside `implicit`: BPR and ALS there; iALS, EASE, and matrix factorisation with SL, DSL-CA and CAP here, each
tuned over a small grid on the validation set, all judged by the same evaluator on the test set.

    pip install . implicit
    RIVALRY_DATA=folder-of-the-published-data python benches/python/vs_implicit.py > table.md
    RIVALRY_DATA=folder-of-the-published-data python benches/python/vs_implicit.py --speed

`--speed` times ALS alone, both in one run on the same matrix: Gowalla, the same factors, iterations and threads.

The time is that of one `fit` with the chosen settings, after the search, on the same number of threads. Ours evaluates
on the validation set as it goes, to find the epoch; for `implicit` the number of iterations is part of the grid.
"""

import argparse
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Optional

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `implicit` asks for

import implicit
import numpy as np
import rivalry
import scipy.sparse as sp
from implicit.cpu.als import AlternatingLeastSquares
from implicit.cpu.bpr import BayesianPersonalizedRanking

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=os.cpu_count())
parser.add_argument("--speed", action="store_true", help="time ALS on Gowalla at 64 and 256 factors, and nothing else")
parser.add_argument("--only", action="append", metavar="METHOD", help="this method, such as 'rivalry EASE'; repeatable")
parser.add_argument("--quick", action="store_true", help="one setting each, to see that it runs")
args = parser.parse_args()


def movielens_like(users: int = 2000, items: int = 1500, seed: int = 0) -> rivalry.Dataset:
    """Dense like MovieLens (a hundred items a user), long-tailed, with tastes of sixteen dimensions."""
    rng = np.random.default_rng(seed)
    tastes, traits = rng.normal(size=(users, 16)), rng.normal(size=(items, 16))
    popularity = -0.9 * np.log(np.arange(items) + 5.0)
    rng.shuffle(popularity)
    attraction = popularity + 0.55 * tastes @ traits.T + rng.gumbel(size=(users, items))
    activity = np.clip(rng.lognormal(np.log(75), 0.8, users), 15, items // 3).astype(int)
    best = np.argsort(-attraction, axis=1)
    rows = np.repeat(np.arange(users), activity)
    columns = np.concatenate([best[user, :n] for user, n in enumerate(activity)])
    return rivalry.split(
        sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(users, items)), name="MovieLens-like"
    )


def grid(**choices: list[Any]) -> Iterator[dict[str, Any]]:
    lists = [values[:1] for values in choices.values()] if args.quick else list(choices.values())
    return (dict(zip(choices, values)) for values in itertools.product(*lists))


Fit = Callable[[rivalry.Dataset], Any]


def bpr(**settings: Any) -> Fit:
    model = BayesianPersonalizedRanking(**settings, num_threads=args.threads, random_state=0)
    return lambda data: model.fit(data.train, show_progress=False) or model


def als(**settings: Any) -> Fit:
    model = AlternatingLeastSquares(**settings, num_threads=args.threads, random_state=0)
    return lambda data: model.fit(data.train, show_progress=False) or model


def ours(loss: str, learning_rate: float, **loss_params: float) -> Fit:
    model = rivalry.Recommender(
        loss=loss, loss_params=loss_params, learning_rate=learning_rate, negatives=200, epochs=60, patience=2,
        num_threads=args.threads,
    )  # fmt: skip
    return lambda data: model.fit(data.train, validation=data.valid, show_progress=False)


def without_gradients(model: str, factors: Optional[int] = None, **params: float) -> Fit:
    fitted = rivalry.Recommender(model, factors=factors, model_params=params, num_threads=args.threads)
    return lambda data: fitted.fit(data.train, show_progress=False)


def time_als(iterations: int = 5, repetitions: int = 3) -> None:
    """The best of several fits each, in turns; settings with equal objectives."""
    data = rivalry.datasets.load("gowalla")
    weight, regularization = 0.1, 5.0
    print("| factors | implicit ALS (CG) | rivalry ials | ratio | NDCG@20 of both |")
    print("|---|---|---|---|---|")
    for factors in (64, 256):
        scale = (1 + weight) / weight
        params = {"iterations": iterations, "regularization_exp": 0.0}
        methods = (
            als(factors=factors, iterations=iterations, alpha=scale, regularization=regularization * scale),
            without_gradients("ials", factors, regularization=regularization, unobserved_weight=weight, **params),
        )
        seconds = [float("inf")] * 2
        for _ in range(repetitions):
            for place, fit in enumerate(methods):
                began = time.perf_counter()
                model = fit(data)
                seconds[place] = min(seconds[place], time.perf_counter() - began)
        quality = [rivalry.evaluate(fit(data), data)["metrics"]["NDCG@20"] for fit in methods]
        print(
            f"| {factors} | {seconds[0]:.2f} s | {seconds[1]:.2f} s | {seconds[0] / seconds[1]:.2f}× "
            f"| {quality[0]:.4f}, {quality[1]:.4f} |",
            flush=True,
        )


METHODS: dict[str, list[tuple[Callable[..., Fit], dict[str, Any]]]] = {
    "implicit BPR": [
        (bpr, s)
        for s in grid(
            factors=[64, 16],
            learning_rate=[0.01, 0.03, 0.003, 0.001],
            regularization=[0.01, 0.1],
            iterations=[100, 300],
        )
    ],
    "implicit ALS": [
        (als, s)
        for s in grid(factors=[64, 16], regularization=[0.1, 1.0, 10.0, 100.0, 300.0], alpha=[1.0, 5.0, 20.0, 40.0])
    ],
    "rivalry iALS": [
        (without_gradients, {"model": "ials", **s})
        for s in grid(factors=[64, 16], regularization=[1.0, 3.0, 5.0, 10.0, 20.0], unobserved_weight=[0.03, 0.1, 0.3, 1.0])
    ],
    "rivalry EASE": [
        (without_gradients, {"model": "ease", **s})
        for s in grid(regularization=[10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0])
    ],
    "rivalry SL": [(ours, {"loss": "sl", **s}) for s in grid(tau=[0.2, 0.1, 0.25, 0.3], learning_rate=[0.1, 0.03])],
    "rivalry DSL-CA": [
        (ours, {"loss": "dsl-ca", **s})
        for s in grid(tau=[0.25, 0.2, 0.3], alpha=[1.0, 3.0, 5.0], learning_rate=[0.1, 0.03])
    ],
    "rivalry CAP": [(ours, {"loss": "cap", **s}) for s in grid(tau=[0.2, 0.1, 0.25, 0.3], learning_rate=[0.1, 0.03])],
}

if unknown := set(args.only or ()) - set(METHODS):
    parser.error(f"no such method: {', '.join(unknown)}; there are {', '.join(METHODS)}")
print(
    f"implicit {implicit.__version__}, rivalry {rivalry.__version__}, {args.threads} threads, {time.strftime('%d %B %Y')}"
)
if args.speed:
    time_als()
    sys.exit()
for data in (rivalry.datasets.load("amazon2014-health"), movielens_like()):
    print(f"\n{data}\n")
    print("| method | NDCG@20 | Recall@20 | fit | processor time | settings tried | chosen |")
    print("|---|---|---|---|---|---|---|")
    for name, candidates in METHODS.items():
        if args.only and name not in args.only:
            continue
        scored = []
        for make, settings in candidates:
            model = make(**settings)(data)
            scored.append((rivalry.evaluate(model, data, part="valid")["metrics"]["NDCG@20"], make, settings))
            print(f"{data.name}, {name}, {settings}: validation NDCG@20 {scored[-1][0]:.4f}", file=sys.stderr)
        _, make, settings = max(scored, key=lambda entry: entry[0])
        times = []
        for _ in range(3):
            began = (time.perf_counter(), time.process_time())
            model = make(**settings)(data)
            times.append((time.perf_counter() - began[0], time.process_time() - began[1]))
        seconds, busy = (min(column) for column in zip(*times))
        metrics = rivalry.evaluate(model, data)["metrics"]
        chosen = ", ".join(f"{key} {value}" for key, value in settings.items() if key not in ("loss", "model"))
        print(
            f"| {name} | {metrics['NDCG@20']:.4f} | {metrics['Recall@20']:.4f} | {seconds:.1f} s | {busy:.1f} s | {len(scored)} | {chosen} |",
            flush=True,
        )
