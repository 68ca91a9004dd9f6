"""The automatic search: from a log to the best model for it."""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

from . import _rivalry
from ._errors import DataWarning, warn
from ._frame import Columns, is_frame, unused_columns
from ._input import to_log
from ._naming import arguments
from ._recommender import Recommender
from ._settings import threads, to_json
from ._split import ARGUMENTS, Split, preparation


@dataclass(frozen=True)
class AutoResult:
    """What :func:`auto` found.

    Attributes
    ----------
    model:
        The winner, trained on all interactions.
    report:
        What was understood of the log, what was tried, and how the winner was tested: the content of ``auto.json``.
    """

    model: Recommender
    report: dict[str, Any]

    def __repr__(self) -> str:
        test, metric = self.report["test"], self.report["metric"]
        low, high = test["interval"]
        winner = self.report["models"][0]["name"]
        return f"<rivalry.AutoResult: {winner}, test {metric} {test['mean']:.4f} ({low:.4f} to {high:.4f})>"


def auto(
    data: Any,
    minutes: float = 10,
    *,
    metric: Optional[str] = None,
    out: Optional[Union[str, os.PathLike[str]]] = None,
    split: Optional[Split] = None,
    min_rating: Optional[float] = None,
    user_col: Any = None,
    item_col: Any = None,
    rating_col: Any = None,
    time_col: Any = None,
    num_threads: int = 0,
    show_progress: bool = True,
) -> AutoResult:
    """Finds the best model for a log within a time budget, as ``rivalry auto`` does.

    The cheap models are fitted first, and the rest of the time goes to models trained by gradients. The validation set
    decides; the winner is tested once, and then trained on all interactions. Ctrl-C ends the search with the best so
    far.

    Parameters
    ----------
    data:
        A frame (pandas, polars, pyarrow) with a user and an item column and, optionally, a rating and a time column; or
        the path of a file or the name of a data set.
    minutes:
        The time for the search.
    metric:
        The metric that decides, such as ``"Recall@10"``. Default: NDCG@20, or of shorter lists where there are few
        items.
    out:
        A folder for the search. Given again, the search goes on in it. Default: a temporary one, of which nothing is kept
        but the model.
    split, min_rating:
        How the test set is chosen, as in :func:`split`, and the lowest rating that counts. Default: by time where there
        is time, otherwise at random; three of five stars.
    user_col, item_col, rating_col, time_col:
        The columns. Default: those with usual names.
    num_threads:
        0 or -1 for all cores, -2 for all but one.
    show_progress:
        Whether to report what leads on ``stderr``.

    Examples
    --------
    >>> found = rivalry.auto("synthetic", minutes=0.01, show_progress=False)
    >>> items, scores = found.model.recommend("user-0007", N=3)
    >>> len(items)
    3
    """
    columns = Columns(user_col, item_col, rating_col, time_col)
    prepare = preparation(split, None, None, min_rating, None, None)
    read = {"user": user_col, "item": item_col, "rating": rating_col, "time": time_col}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary if out is None else out)
        if is_frame(data):
            folder.mkdir(parents=True, exist_ok=True)
            source, read = folder / "log.csv", {}
            _write(data, columns, source)
        elif isinstance(data, (str, os.PathLike)):
            source = Path(os.path.abspath(data)) if os.path.exists(data) else Path(data)
        else:
            raise TypeError(
                f"data must be a frame, a path or the name of a data set, not {type(data).__name__}\n"
                "  help: a sparse matrix has no times and no ids; make a frame of its pairs"
            )
        settings = {"data": {"source": str(source), "read": read, "prepare": prepare}}
        with arguments({**ARGUMENTS, "minutes": "minutes"}):
            text = _rivalry.auto(
                to_json(settings), (metric, float(minutes)), folder, threads(num_threads), _show(show_progress)
            )
        report = json.loads(text)
        return AutoResult(Recommender.load(folder / report["run"]["path"]), report)


def _write(frame: Any, columns: Columns, path: Path) -> None:
    """Writes a frame as a log."""
    unused = unused_columns(frame, columns)
    if unused:
        names = ", ".join(map(repr, unused))
        warn(f"not used of the frame: {names}; name ratings and times with rating_col and time_col", DataWarning)
    log = to_log(frame, columns, rating=columns.rating != "", time=columns.time != "")
    users, items = log.user_ids, log.item_ids
    assert users is not None and items is not None
    optional = {"rating": log.rating, "time": log.time}
    given = {name: values.tolist() for name, values in optional.items() if values is not None}
    rows = zip(users[log.user].tolist(), items[log.item].tolist(), *given.values())
    draft = path.with_name("." + path.name)
    with draft.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["user", "item", *given])
        writer.writerows(rows)
    draft.replace(path)


def _show(shown: bool) -> Any:
    """Reports what leads, one line for each new leader."""
    best: list[Any] = [None]

    def on_event(text: str) -> None:
        event = json.loads(text)
        if "understood" in event and shown:
            understood = event["understood"]
            for key in ("ratings", "times", "split"):
                sys.stderr.write(f"{key:8}{understood[key]}\n")
        leaders = event.get("leaders") or [None]
        leader = leaders[0] and (leaders[0]["model"], leaders[0].get("loss"), leaders[0]["valid"])
        if leader and leader != best[0]:
            best[0] = leader
            if shown:
                name = " ".join(part for part in leader[:2] if part)
                sys.stderr.write(f"leads   {name}   validation {leader[2]:.4f}\n")

    return on_event
