"""The losses as functions, against reference values and finite differences."""

from __future__ import annotations

import inspect
import json
from typing import Any

import numpy as np
import pytest
import rivalry
from conftest import ROOT

GOLDEN: list[dict[str, Any]] = json.loads((ROOT / "tests" / "golden" / "losses.json").read_text())
FUNCTIONS = sorted(name for name, entry in rivalry.losses().items() if entry["function"])


def batch(rows: int = 6, negatives: int = 40, dtype: Any = np.float64) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    return tuple(
        x.astype(dtype)
        for x in (
            rng.uniform(-1, 1, rows),
            rng.uniform(-1, 1, (rows, negatives)),
            rng.uniform(-1, 1, (rows, negatives)),
        )
    )  # type: ignore[return-value]


def test_there_is_a_function_for_every_loss_that_is_a_function_of_scores() -> None:
    assert "dsl" in FUNCTIONS and "guidedrec" not in FUNCTIONS
    for name in FUNCTIONS:
        function = getattr(rivalry, name.replace("@", "_at_").replace("-", "_") + "_loss")
        assert set(rivalry.losses()[name]["params"]) <= set(inspect.signature(function).parameters)
        assert function.__doc__
    declared = [name for name in rivalry.__annotations__ if name.endswith("_loss")]
    assert all(hasattr(rivalry, name) for name in declared)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_agree_with_differences(name: str) -> None:
    # κ and the temperatures are constants in the gradient although they follow the scores: they are switched off.
    off = {key: 0.0 for key in ("alpha", "beta") if key in rivalry.losses()[name]["params"] and name != "llpauc"}
    pos, neg, sim = batch()
    quantile = np.linspace(-0.3, 0.3, len(pos))

    def value(p: Any, n: Any) -> float:
        return float(rivalry.loss(name, p, n, sim, quantile=quantile, **off).value)

    found = rivalry.loss(name, pos, neg, sim, quantile=quantile, **off)
    h = 1e-6
    for row in range(len(pos)):
        step = np.zeros_like(pos)
        step[row] = h
        slope = (value(pos + step, neg) - value(pos - step, neg)) / (2 * h)
        assert abs(slope - found.grad_pos[row]) < 1e-6 * (1 + abs(slope))
    for row, column in [(0, 0), (2, 7), (5, 39)]:
        step = np.zeros_like(neg)
        step[row, column] = h
        slope = (value(pos, neg + step) - value(pos, neg - step)) / (2 * h)
        assert abs(slope - found.grad_neg[row, column]) < 1e-6 * (1 + abs(slope))


def embeddings_to_scores(case: dict[str, Any]) -> tuple[Any, ...]:
    """Scores and similarities of a golden case, and a function from score gradients to embedding gradients."""
    users, items = np.array(case["users"]), np.array(case["items"])
    cosine = case["score"] == "cosine"
    u_len = np.linalg.norm(users, axis=1, keepdims=True) if cosine else 1.0
    i_len = np.linalg.norm(items, axis=1, keepdims=True) if cosine else 1.0
    u, v = users / u_len, items / i_len
    unit = items / np.linalg.norm(items, axis=1, keepdims=True)
    bu, bi, bn = (np.array(case[key]) for key in ("batch_users", "batch_items", "negatives"))
    pos, neg = (u[bu] * v[bi]).sum(1), np.einsum("bd,bnd->bn", u[bu], v[bn])
    sim = np.einsum("bd,bnd->bn", unit[bi], unit[bn])

    def back(grad_pos: Any, grad_neg: Any) -> tuple[Any, Any]:
        gu, gv = np.zeros_like(u), np.zeros_like(v)
        np.add.at(gu, bu, grad_pos[:, None] * v[bi] + np.einsum("bn,bnd->bd", grad_neg, v[bn]))
        np.add.at(gv, bi, grad_pos[:, None] * u[bu])
        np.add.at(gv, bn, grad_neg[:, :, None] * u[bu][:, None, :])
        if cosine:
            gu = (gu - (gu * u).sum(1, keepdims=True) * u) / u_len
            gv = (gv - (gv * v).sum(1, keepdims=True) * v) / i_len
        return gu, gv

    return pos, neg, sim, back


def golden_arguments(case: dict[str, Any]) -> dict[str, Any]:
    """The case's parameters by this package's names, as far as they are parameters of the loss."""
    known = rivalry.losses()[case["loss"]]["params"]
    return {key: value for key, value in case["params"].items() if key in known}


@pytest.mark.parametrize(
    "case", [c for c in GOLDEN if c["loss"] in FUNCTIONS and "value" in c], ids=lambda c: c["loss"]
)
def test_values_and_gradients_are_the_golden_ones(case: dict[str, Any]) -> None:
    pos, neg, sim, back = embeddings_to_scores(case)
    extras: dict[str, Any] = {}
    if "user_quantiles" in case:
        extras["quantile"] = np.array(case["user_quantiles"])[np.array(case["batch_users"])]
    if "scalars" in case:
        extras["learned"] = list(case["scalars"].values()) if isinstance(case["scalars"], dict) else case["scalars"]
    if "adv_users" in case:
        adversary = {**case, "users": case["adv_users"], "items": case["adv_items"], "score": "cosine"}
        sim = embeddings_to_scores(adversary)[1]
    for dtype, tolerance in [(np.float64, 1e-6), (np.float32, 1e-3)]:
        arrays = [x.astype(dtype) for x in (pos, neg, sim)]
        found = rivalry.loss(case["loss"], *arrays, **extras, **golden_arguments(case))
        assert found.grad_neg.dtype == dtype
        assert abs(float(found.value) - case["value"]) < tolerance * (1 + abs(case["value"]))
        for ours, golden in zip(
            back(found.grad_pos.astype(float), found.grad_neg.astype(float)), (case["grad_users"], case["grad_items"])
        ):
            np.testing.assert_allclose(ours, np.array(golden), atol=tolerance * (1e-3 + np.abs(golden).max()))


def test_dsl_takes_its_parameters_in_order() -> None:
    pos, neg, sim = batch()
    by_place = rivalry.dsl_loss(pos, neg, sim, 0.1, 2.0, 0.5)  # type: ignore[call-arg]
    by_name = rivalry.loss("dsl", pos, neg, sim, tau=0.1, alpha=2.0, beta=0.5)
    assert by_place.value == by_name.value and (by_place.grad_neg == by_name.grad_neg).all()
    plain = rivalry.sl_loss(pos, neg, tau=0.1)
    assert rivalry.dsl_loss(pos, neg, sim, tau=0.1, alpha=0, beta=0).value == plain.value


def test_sums_means_and_rows() -> None:
    pos, neg, _ = batch()
    mean, total, rows = (rivalry.sl_loss(pos, neg, reduction=r) for r in ("mean", "sum", "none"))
    assert rows.value.shape == (6,) and abs(rows.value.sum() - total.value) < 1e-12
    assert abs(total.value / 6 - mean.value) < 1e-12
    np.testing.assert_allclose(total.grad_neg / 6, mean.grad_neg)
    assert (rows.grad_neg == total.grad_neg).all()


def test_arrays_of_any_kind() -> None:
    pos, neg, sim = batch()
    reference = rivalry.dsl_loss(pos, neg, sim)
    assert rivalry.dsl_loss(pos.tolist(), neg.tolist(), sim.tolist()).value == reference.value
    backwards = np.asfortranarray(neg)
    assert rivalry.dsl_loss(pos, backwards, sim).value == reference.value
    assert rivalry.dsl_loss(pos, neg, sim, num_threads=1).value == reference.value
    single = rivalry.dsl_loss(*batch(dtype=np.float32))
    assert single.grad_pos.dtype == np.float32 and abs(single.value - reference.value) < 1e-5
    assert rivalry.dsl_loss(pos.astype(np.float32), neg, sim).grad_neg.dtype == np.float64


def test_losses_with_learned_parameters() -> None:
    pos, neg, _ = batch()
    learned = np.array(rivalry.losses()["llpauc"]["learned"])
    found = rivalry.llpauc_loss(pos, neg, learned=learned)
    assert found.value == rivalry.llpauc_loss(pos, neg).value and found.grad_learned.shape == learned.shape
    for place in range(len(learned)):
        step = np.eye(len(learned))[place] * 1e-6
        up, down = (float(rivalry.llpauc_loss(pos, neg, learned=learned + s).value) for s in (step, -step))
        assert abs((up - down) / 2e-6 - found.grad_learned[place]) < 1e-6


def test_log_q_corrects_for_the_probability_of_negatives() -> None:
    pos, neg, _ = batch()
    plain = rivalry.sl_loss(pos, neg)
    # A uniform distribution shifts the logits of all negatives alike: the gradient stays, the value moves.
    uniform = rivalry.sl_loss(pos, neg, log_q=True, log_probs=np.full(neg.shape, -np.log(neg.shape[1])))
    np.testing.assert_allclose(uniform.grad_neg, plain.grad_neg, atol=1e-12)
    assert uniform.value != plain.value
    # The value by hand for one row.
    log_probs = np.log(np.linspace(0.1, 1, neg.shape[1]))[None, :].repeat(len(pos), 0)
    found = rivalry.sl_loss(pos, neg, tau=0.2, log_q=True, log_probs=log_probs, reduction="none")
    by_hand = np.log(np.exp((neg - pos[:, None]) / 0.2 - log_probs).sum(axis=1))
    np.testing.assert_allclose(np.diff(found.value), np.diff(by_hand) * np.diff(found.value)[0] / np.diff(by_hand)[0])
    with pytest.raises(ValueError, match="log_q needs log_probs"):
        rivalry.sl_loss(pos, neg, log_q=True)


def test_invalid_batches_are_refused() -> None:
    pos, neg, sim = batch()
    cases: list[tuple[Any, str]] = [
        (lambda: rivalry.loss("dls", pos, neg), "did you mean 'dsl'"),
        (lambda: rivalry.loss("dsl", pos, neg), "needs sim"),
        (lambda: rivalry.loss("guidedrec", pos, neg), "several phases"),
        (lambda: rivalry.sl_loss(pos, neg, tau=0), "^tau must be a number > 0, not 0"),
        (lambda: rivalry.sl_loss(pos, neg, taus=1), "did you mean 'tau'"),
        (lambda: rivalry.sl_loss(pos[:3], neg), "shapes must be"),
        (lambda: rivalry.dsl_loss(pos, neg, sim[:, :3]), "shapes must be"),
        (lambda: rivalry.sl_loss(pos, neg[0]), "dimensions"),
        (lambda: rivalry.sl_loss(pos[:0], neg[:0]), "shapes must be"),
        (lambda: rivalry.sl_loss(pos, neg, reduction="max"), "unknown reduction"),
        (lambda: rivalry.sl_at_k_loss(pos, neg, quantile=[0.0]), "one value per row"),
        (lambda: rivalry.llpauc_loss(pos, neg, learned=[1.0]), "7 learned parameters, not 1"),
        (lambda: rivalry.sl_loss(pos, neg, learned=[1.0]), "0 learned parameters, not 1"),
    ]
    for ask, text in cases:
        with pytest.raises(ValueError, match=text):
            ask()
    with pytest.raises(TypeError):
        rivalry.sl_loss(pos, neg, None, 0.1, False, 0.2)  # type: ignore[call-arg]
