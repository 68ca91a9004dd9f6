"""`rivalry.serve`: the lists of the model, over HTTP."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import numpy as np
import pytest
import rivalry
from conftest import QUICK


def ask(url: str, body: Any = None, **headers: str) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def test_served_lists_are_those_of_the_model(data: Any) -> None:
    model = rivalry.Recommender(**QUICK).fit(data.train, show_progress=False)
    ids, scores = model.recommend(7, user_items=data.train[7], N=10)
    with rivalry.serve(model, port=0) as server:
        answer = ask(f"{server.url}/api/recommend/7?n=10")
        assert server.url in repr(server) and server.url in server._repr_html_()
    assert [int(item["item"]) for item in answer["items"]] == ids.tolist()
    assert np.array([item["score"] for item in answer["items"]], np.float32).tolist() == scores.tolist()
    with pytest.raises(urllib.error.URLError):
        ask(f"{server.url}/api/recommend/7")


def test_models_side_by_side_with_a_key(data: Any, tmp_path: Any) -> None:
    models = {
        "mf": rivalry.Recommender(**QUICK).fit(data.train, show_progress=False),
        "popular": rivalry.Recommender(model="popularity").fit(data.train, show_progress=False),
    }
    with rivalry.serve(models, port=0, key="a-key-of-some-length", feedback=tmp_path / "log.jsonl") as server:
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask(f"{server.url}/api/models")
        key = {"X-API-Key": "a-key-of-some-length"}
        assert [model["name"] for model in ask(f"{server.url}/api/models", **key)["models"]] == ["mf", "popular"]
        event = {"events": [{"user": "7", "item": "3"}]}
        assert ask(f"{server.url}/api/feedback", event, **key) == {"stored": 1, "positive": 1}
    assert json.loads((tmp_path / "log.jsonl").read_text())["item"] == "3"


def test_what_can_not_be_served_is_refused(data: Any) -> None:
    with pytest.raises(rivalry.NotFittedError):
        rivalry.serve(rivalry.Recommender(), port=0)
    model = rivalry.Recommender(model="popularity").fit(data.train, show_progress=False)
    with pytest.raises(ValueError, match="no address"):
        rivalry.serve(model, host="not a host", port=0)
