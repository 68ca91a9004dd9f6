"""Threads, forks, the GIL and Ctrl-C."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import rivalry
from conftest import QUICK


def train_and_list(data: Any) -> tuple[bytes, list[int]]:
    fitted = rivalry.Recommender(**QUICK).fit(data.train, show_progress=False)
    return fitted.user_factors.tobytes(), fitted.recommend(0)[0].tolist()


def test_trainings_side_by_side_do_not_mix(data: Any) -> None:
    alone = train_and_list(data)
    with ThreadPoolExecutor(4) as pool:
        assert all(result == alone for result in pool.map(train_and_list, [data] * 4))


def test_one_model_serves_many_threads(model: Any, data: Any) -> None:
    users = np.arange(data.shape[0])
    alone = model.recommend(users)[0].tobytes()
    with ThreadPoolExecutor(4) as pool:
        assert all(ids.tobytes() == alone for ids, _ in pool.map(lambda _: model.recommend(users), range(8)))


def test_python_goes_on_while_a_model_trains(data: Any) -> None:
    counted, done = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    try:
        began = time.monotonic()
        rivalry.Recommender(epochs=3, negatives=1000).fit(data.train, show_progress=False)
        seconds = time.monotonic() - began
    finally:
        done.set()
        counter.join()
    # With the lock held throughout it would have counted to one or two.
    assert counted > 20 * seconds, (counted, seconds)


def in_child(data: Any, model: Any, queue: Any) -> None:
    queue.put((train_and_list(data), model.recommend(0)[0].tolist(), float(rivalry.sl_loss([0.5], [[0.1]]).value)))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_can_do_all_that_its_parent_can(data: Any, model: Any) -> None:
    parent = (train_and_list(data), model.recommend(0)[0].tolist(), float(rivalry.sl_loss([0.5], [[0.1]]).value))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=in_child, args=(data, model, queue)) for _ in range(2)]
    for child in children:
        child.start()
    for _ in children:
        assert queue.get(timeout=60) == parent
    for child in children:
        child.join(10)
        assert child.exitcode == 0


def test_joblib_workers(data: Any) -> None:
    joblib = pytest.importorskip("joblib")
    alone = train_and_list(data)
    for backend in ("loky", "multiprocessing", "threading"):
        results = joblib.Parallel(2, backend=backend)(joblib.delayed(train_and_list)(data) for _ in range(2))
        assert results == [alone, alone], backend


INTERRUPTED = """
    import sys, time
    import rivalry

    data = rivalry.datasets.load("synthetic")
    model = rivalry.Recommender(epochs=100000, negatives=1000, eval_every=1)
    try:
        model.fit(data.train, {validation}, lambda record: print("evaluated", flush=True), show_progress=False)
    except KeyboardInterrupt:
        ids, _ = model.recommend(0)
        print("interrupted", model.report_["ending"], model.report_["epochs"], len(ids), flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
@pytest.mark.parametrize("validation", ["None", "data.valid"])
def test_ctrl_c_stops_a_training_and_leaves_the_model(validation: str) -> None:
    script = textwrap.dedent(INTERRUPTED.format(validation=validation))
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "evaluated\n"
    child.send_signal(signal.SIGINT)
    began = time.monotonic()
    line = next(line.split() for line in child.stdout if line != "evaluated\n")
    seconds = time.monotonic() - began
    assert child.wait(10) == 0
    assert line[:2] == ["interrupted", "stopped"] and line[3] == "10", line
    assert int(line[2]) >= 1
    assert seconds < 1, seconds


LONG_LIST = """
    import numpy as np, rivalry, scipy.sparse as sp

    model = rivalry.Recommender(epochs=1, negatives=1, batch_size=4096)
    model.fit(sp.random(1000, 50_000, 1e-4, format="csr", random_state=0), show_progress=False)
    print("listing", flush=True)
    try:
        while True:
            model.recommend(np.zeros(50_000, dtype=int), N=100)
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
def test_ctrl_c_stops_long_lists() -> None:
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(LONG_LIST)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "listing\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    began = time.monotonic()
    assert child.stdout.readline() == "stopped\n"
    assert time.monotonic() - began < 1
    assert child.wait(10) == 0
