"""Training, evaluation, files and pickling."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rivalry
import scipy.sparse as sp
from conftest import GRADIENT, QUICK
from rivalry import _rivalry
from rivalry._recommender import SETTINGS

DOC = str(rivalry.Recommender.__doc__)


def test_a_trained_model_recommends_held_out_items(model: Any, data: Any) -> None:
    metrics = rivalry.evaluate(model, data)["metrics"]
    popularity = rivalry.Recommender("popularity").fit(data.train, show_progress=False)
    assert metrics["NDCG@20"] > 1.5 * rivalry.evaluate(popularity, data)["metrics"]["NDCG@20"]
    # The same by hand, for one user.
    user = int(np.flatnonzero(np.diff(data.test.indptr))[0])
    known = (data.train + data.valid)[user]
    ids, _ = model.recommend(user, known, N=20)
    hits = np.isin(ids, data.test[user].indices)
    each = rivalry.evaluate(model, data, per_user=True)["per_user"]
    assert each["users"][0] == user
    assert abs(each["values"]["Recall@20"][0] - hits.sum() / data.test[user].nnz) < 1e-12


def test_evaluation_takes_any_factors(data: Any) -> None:
    class Popularity:
        user_factors = np.ones((data.shape[0], 1))
        item_factors = np.asarray(data.train.sum(axis=0)).T

    found = rivalry.evaluate(
        Popularity, data, k=[5, 20], buckets=True, beyond_accuracy=True, mask="train", average="all"
    )
    assert {"NDCG@5", "NDCG@20"} <= set(found["metrics"])
    assert found["beyond"]["Coverage@20"] < 0.2
    fitted = rivalry.Recommender("popularity").fit(data.train, show_progress=False)
    assert rivalry.evaluate(fitted, data)["metrics"] == rivalry.evaluate(Popularity, data)["metrics"]
    assert found["head"]["metrics"]["Recall@20"] > found["tail"]["metrics"]["Recall@20"]


def test_the_same_seed_gives_the_same_bits_whatever_the_threads(data: Any) -> None:
    def factors(**settings: Any) -> bytes:
        fitted = rivalry.Recommender(**{**QUICK, **settings}).fit(
            data.train, validation=data.valid, show_progress=False
        )
        return fitted.user_factors.tobytes() + fitted.item_factors.tobytes()

    reference = factors(num_threads=1)
    assert factors(num_threads=3) == reference
    assert factors(random_state=1) != reference
    assert factors(random_state=np.random.default_rng(5)) == factors(random_state=np.random.default_rng(5))
    assert factors(random_state=None) != factors(random_state=None)


def test_lists_are_the_same_whatever_the_threads(model: Any, data: Any) -> None:
    users = np.arange(data.shape[0])
    ids, scores = model.recommend(users, N=20)
    try:
        model.set_params(num_threads=1)
        one_ids, one_scores = model.recommend(users, N=20)
    finally:
        model.set_params(num_threads=0)
    assert ids.tobytes() == one_ids.tobytes() and scores.tobytes() == one_scores.tobytes()


@pytest.mark.parametrize("name", sorted(rivalry.losses()))
def test_every_loss_trains(data: Any, name: str) -> None:
    fitted = rivalry.Recommender(**{**QUICK, "loss": name})
    try:
        fitted.fit(data.train, validation=data.valid, show_progress=False)
    except ValueError as error:
        # Some losses work with a fixed number of negatives.
        assert str(error).startswith("negatives: ")
        fitted.set_params(negatives=None).fit(data.train, validation=data.valid, show_progress=False)
    assert np.isfinite(fitted.user_factors).all()
    assert len(fitted.history_) == 2


@pytest.mark.parametrize("name", GRADIENT)
def test_every_gradient_model_trains(data: Any, name: str) -> None:
    fitted = rivalry.Recommender(**{**QUICK, "model": name, "loss": "sl"}).fit(data.train, show_progress=False)
    ids, scores = fitted.recommend(0, N=5)
    np.testing.assert_allclose(scores, (fitted.item_factors @ fitted.user_factors[0])[ids], atol=1e-5)


def test_the_callback_is_told_of_each_evaluation(data: Any) -> None:
    told: list[dict[str, Any]] = []
    fitted = rivalry.Recommender(**{**QUICK, "epochs": 5}).fit(
        data.train, data.valid, callback=told.append, show_progress=False
    )
    assert [record["epoch"] for record in told] == [2, 4, 5]
    assert told == fitted.history_
    assert {"NDCG@20", "Recall@20"} <= set(told[0]["valid"])
    assert told[0]["loss"] > told[-1]["loss"]
    assert fitted.report_["ending"] == "finished" and fitted.report_["epochs"] == 5
    best = max(told, key=lambda record: record["valid"]["NDCG@20"])
    assert fitted.report_["best_epoch"] == best["epoch"]
    kept = rivalry.evaluate(fitted, data, part="valid")["metrics"]["NDCG@20"]
    assert kept == best["valid"]["NDCG@20"]


def test_a_callback_can_stop_the_training(data: Any) -> None:
    short = rivalry.Recommender(**{**QUICK, "epochs": 2}).fit(data.train, show_progress=False)
    fitted = rivalry.Recommender(**{**QUICK, "epochs": 50})
    fitted.fit(data.train, callback=lambda record: True, show_progress=False)
    assert fitted.report_["ending"] == "stopped" and fitted.report_["epochs"] == 2
    assert fitted.user_factors.tobytes() == short.user_factors.tobytes()


def test_a_callback_that_raises_stops_the_training_and_keeps_the_model(data: Any) -> None:
    class Enough(Exception):
        pass

    def raising(record: dict[str, Any]) -> None:
        raise Enough(record["epoch"])

    fitted = rivalry.Recommender(**{**QUICK, "epochs": 50})
    with pytest.raises(Enough, match="2"):
        fitted.fit(data.train, callback=raising, show_progress=False)
    assert fitted.report_["epochs"] == 2 and len(fitted.recommend(0)[0]) == 10


def test_patience_ends_a_training(data: Any) -> None:
    fitted = rivalry.Recommender(**{**QUICK, "epochs": 400, "eval_every": 1, "patience": 2, "learning_rate": 0.5})
    fitted.fit(data.train, data.valid, show_progress=False)
    assert fitted.report_["ending"] == "out-of-patience"
    assert fitted.report_["epochs"] == fitted.report_["best_epoch"] + 2


def test_progress_is_shown_only_if_wanted(blocks: sp.csr_matrix, capfd: Any) -> None:
    settings = {**QUICK, "negatives": 5}
    rivalry.Recommender(**settings).fit(blocks, show_progress=False)
    assert capfd.readouterr() == ("", "")
    rivalry.Recommender(**settings).fit(blocks, validation=sp.csr_matrix(np.eye(20)))
    out, err = capfd.readouterr()
    assert out == "" and err.count("\n") == 2 and "epoch 4/4   loss" in err and "NDCG@20" in err


def test_factors_are_made_once_and_can_not_be_written(model: Any, data: Any) -> None:
    assert model.user_factors is model.user_factors and model.item_factors is model.item_factors
    assert model.user_factors.shape == (data.shape[0], 32) and model.user_factors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(model.item_factors, axis=1), 1, atol=1e-5)
    with pytest.raises(ValueError, match="read-only"):
        model.user_factors[0, 0] = 1
    held = model.user_factors[3]
    copy = held.copy()
    del model
    assert (held == copy).all()


@pytest.mark.parametrize("width", [1, 7, 16, 33])
def test_any_width_works(blocks: sp.csr_matrix, width: int) -> None:
    settings = {**QUICK, "factors": width, "negatives": 5}
    fitted = rivalry.Recommender(**settings).fit(blocks, show_progress=False)
    assert fitted.user_factors.shape == (20, width + 1), "the default loss has a popularity prior"
    fitted = rivalry.Recommender(**settings, loss="sl").fit(blocks, show_progress=False)
    assert fitted.user_factors.shape == (20, width)
    np.testing.assert_allclose(
        fitted.recommend(0, N=1)[1][0], (fitted.item_factors @ fitted.user_factors[0]).max(), atol=1
    )


def test_settings_come_back_as_they_were_given() -> None:
    params = {"tau": 0.1}
    fresh = rivalry.Recommender(loss="sl", loss_params=params, epochs=3)
    assert fresh.get_params()["loss_params"] is params
    assert rivalry.Recommender(**fresh.get_params()).get_params() == fresh.get_params()
    assert fresh.set_params(epochs=7, k=[5, 10]) is fresh and fresh.epochs == 7
    assert repr(fresh) == "Recommender(loss='sl', loss_params={'tau': 0.1}, epochs=7, k=[5, 10])"


def test_scikit_learn_can_clone_it() -> None:
    base = pytest.importorskip("sklearn.base")
    fresh = rivalry.Recommender(loss="sl", loss_params={"tau": 0.1}, epochs=3)
    assert base.clone(fresh).get_params() == fresh.get_params()


def same(one: Any, other: Any, data: Any) -> None:
    assert one.user_factors.tobytes() == other.user_factors.tobytes()
    assert one.item_factors.tobytes() == other.item_factors.tobytes()
    assert one.recommend([0, 5], N=7)[0].tolist() == other.recommend([0, 5], N=7)[0].tolist()


def test_a_model_survives_pickling(model: Any, data: Any) -> None:
    copy = pickle.loads(pickle.dumps(model))
    same(model, copy, data)
    assert copy.get_params() == model.get_params() and copy.history_ == model.history_
    fresh = pickle.loads(pickle.dumps(rivalry.Recommender(epochs=3)))
    assert fresh.epochs == 3
    with pytest.raises(rivalry.NotFittedError):
        fresh.recommend(0)
    assert pickle.loads(pickle.dumps(data)).checksum == data.checksum


@pytest.mark.parametrize("name", GRADIENT)
def test_a_model_survives_its_file(data: Any, tmp_path: Path, name: str) -> None:
    settings = {**QUICK, "model": name, "loss": "sl", "loss_params": {"tau": 0.3}, "random_state": 4}
    fitted = rivalry.Recommender(**settings).fit(data.train, data.valid, show_progress=False)
    fitted.save(tmp_path / "model.safetensors")
    loaded = rivalry.Recommender.load(tmp_path / "model.safetensors")
    same(fitted, loaded, data)
    params = loaded.get_params()
    assert {**params, **settings, "loss_params": params["loss_params"]} == params
    assert params["loss_params"]["tau"] == 0.3
    again = rivalry.Recommender(**loaded.get_params()).fit(data.train, data.valid, show_progress=False)
    assert again.user_factors.tobytes() == fitted.user_factors.tobytes()


def test_the_defaults_are_those_of_the_library() -> None:
    config = json.loads(_rivalry.config("{}"))
    params = rivalry.Recommender().get_params()
    assert params["model"] == config["model"]["type"] and params["random_state"] == config["train"]["seed"]
    own = {"model", "random_state", "k", "patience", "select_by"}
    for argument, (section, key) in SETTINGS.items():
        assert params[argument] is None or argument in own, argument
        if argument not in own:
            # The documentation says what None stands for.
            default = json.dumps(config[section][key])
            documented = re.search(rf"^    [a-z_, ]*\b{argument}\b[a-z_, ]*:\n((?:        .*\n)+)", DOC, re.MULTILINE)
            assert documented and f"(default {default}" in documented[1].replace("`", ""), (argument, default)


def test_sampler_and_optimizer_are_settings_like_others(data: Any, tmp_path: Path) -> None:
    def fitted(**settings: Any) -> Any:
        return rivalry.Recommender(**{**QUICK, **settings}).fit(data.train, show_progress=False)

    reference = fitted().user_factors.tobytes()
    assert fitted(sampler="uniform", optimizer="adam").user_factors.tobytes() == reference
    popular = fitted(sampler="popularity", sampler_params={"power": 0.5}, optimizer="lazy-adam")
    assert popular.user_factors.tobytes() != reference
    popular.save(tmp_path / "model")
    params = rivalry.Recommender.load(tmp_path / "model").get_params()
    assert (params["sampler"], params["sampler_params"]) == ("popularity", {"power": 0.5})
    assert params["optimizer"] == "lazy-adam" and params["optimizer_params"]["beta1"] == 0.9
    for settings, text in [
        ({"sampler": "poplarity"}, "^sampler: unknown sampler 'poplarity'\n.*did you mean 'popularity'"),
        ({"optimizer": "adm"}, "^optimizer: unknown optimizer 'adm'\n.*did you mean 'adam'"),
        ({"optimizer_params": {"beta3": 1}}, "^optimizer_params: unknown parameter 'beta3'"),
        ({"optimizer_params": {"lr": 1}, "learning_rate": 1}, r'^learning_rate and optimizer_params\["lr"\] are both'),
        ({"sampler_params": {"power": 2}}, "^sampler_params: unknown parameter 'power'"),
    ]:
        with pytest.raises(ValueError, match=text):
            fitted(**settings)
    assert set(rivalry.samplers()) >= {"uniform", "popularity"} and set(rivalry.optimizers()) == {"adam", "lazy-adam"}


def test_patience_is_that_of_the_command_line_unless_it_is_given(blocks: sp.csr_matrix, tmp_path: Path) -> None:
    valid = sp.csr_matrix(np.eye(20))
    settings = {**QUICK, "negatives": 5, "epochs": 60, "eval_every": 1, "learning_rate": 1e-9}

    def ending(**patience: Any) -> tuple[str, Any]:
        fitted = rivalry.Recommender(**settings, **patience).fit(blocks, valid, show_progress=False)
        fitted.save(tmp_path / "model")
        return fitted.report_["ending"], rivalry.Recommender.load(tmp_path / "model").patience

    assert ending() == ("out-of-patience", 10)
    assert ending(patience="default") == ("out-of-patience", 10)
    assert ending(patience=3) == ("out-of-patience", 3)
    assert ending(patience=None) == ("finished", None)
    for odd in ("soon", 2.5, True):
        with pytest.raises(ValueError, match=f"^patience must be a whole number ≥ 1, None .*, not {odd!r}"):
            ending(patience=odd)
    with pytest.raises(ValueError, match="^patience must be a whole number ≥ 1 .*, not 0"):
        ending(patience=0)


def test_defaults_are_those_of_the_loss(blocks: sp.csr_matrix, tmp_path: Path) -> None:
    def settings(**given: Any) -> dict[str, Any]:
        rivalry.Recommender(epochs=1, **given).fit(blocks, show_progress=False).save(tmp_path / "model")
        return rivalry.Recommender.load(tmp_path / "model").get_params()

    bpr = settings(loss="bpr")
    assert (bpr["score"], bpr["learning_rate"], bpr["negatives"]) == ("dot", 0.003, 1)
    assert settings(loss="bpr", score="cosine", learning_rate=0.1)["score"] == "cosine"
    assert settings(loss="sl", negatives=5)["score"] == "cosine"


def test_the_metric_that_selects_an_epoch_is_a_choice(data: Any) -> None:
    settings = {**QUICK, "k": [5, 20], "eval_every": 1}
    fitted = rivalry.Recommender(**settings, select_by="recall@5").fit(data.train, data.valid, show_progress=False)
    best = max(fitted.history_, key=lambda record: record["valid"]["Recall@5"])
    assert fitted.report_["best_epoch"] == best["epoch"]
    with pytest.raises(ValueError, match="^select_by: "):
        rivalry.Recommender(**settings, select_by="Recall@7").fit(data.train, data.valid, show_progress=False)


def test_backbone_is_an_alias_of_model(blocks: sp.csr_matrix) -> None:
    settings = {**QUICK, "negatives": 5, "loss": "sl"}

    def factors(**model: Any) -> bytes:
        fitted = rivalry.Recommender(**settings, **model).fit(blocks, show_progress=False)
        return fitted.user_factors.tobytes()

    by_model = factors(model="lightgcn", model_params={"layers": 2})
    assert factors(backbone="lightgcn", backbone_params={"layers": 2}) == by_model
    assert factors(model="lightgcn", backbone="lightgcn", model_params={"layers": 2}) == by_model
    assert rivalry.Recommender("lightgcn").model == "lightgcn"
    with pytest.raises(ValueError, match="model='lightgcn' and backbone='xsimgcl' disagree"):
        factors(model="lightgcn", backbone="xsimgcl")
    with pytest.raises(ValueError, match="both given"):
        factors(model_params={"layers": 2}, backbone_params={"layers": 2})
    assert set(rivalry.backbones()) == set(GRADIENT)
