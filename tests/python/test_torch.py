"""The losses as PyTorch modules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import rivalry
from test_losses import FUNCTIONS, GOLDEN, batch, golden_arguments

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
losses = pytest.importorskip("rivalry.torch")


def tensors(grad: bool = True) -> list[Any]:
    pos, neg, sim = (torch.tensor(x) for x in batch(4, 12))
    return [pos.requires_grad_(grad), neg.requires_grad_(grad), sim]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_autograd_agrees_with_differences(name: str, reduction: str) -> None:
    # κ and the temperatures are constants in the gradient although they follow the scores: they are switched off.
    off = {key: 0.0 for key in ("alpha", "beta") if key in rivalry.losses()[name]["params"] and name != "llpauc"}
    criterion = losses.Loss(name, reduction=reduction, **off)
    pos, neg, sim = tensors()
    if criterion.learned is not None and reduction == "none":
        with pytest.raises(ValueError, match="not available per row"):
            criterion(pos, neg, sim)
        return
    assert torch.autograd.gradcheck(lambda p, n: criterion(p, n, sim), (pos, neg))
    if criterion.learned is not None:
        assert torch.autograd.gradcheck(
            lambda learned: losses.loss(name, pos.detach(), neg.detach(), learned=learned), (criterion.learned,)
        )


@pytest.mark.parametrize(
    "case", [c for c in GOLDEN if c["loss"].startswith(("sl", "dsl", "psl", "bsl", "bpr"))], ids=lambda c: c["loss"]
)
def test_embeddings_get_the_golden_gradients(case: dict[str, Any]) -> None:
    users, items = (torch.tensor(case[key], dtype=torch.float64, requires_grad=True) for key in ("users", "items"))
    cosine = case["score"] == "cosine"
    normal = torch.nn.functional.normalize
    u, v = (normal(x, dim=1) if cosine else x for x in (users, items))
    bu, bi, bn = (torch.tensor(case[key]) for key in ("batch_users", "batch_items", "negatives"))
    pos, neg = (u[bu] * v[bi]).sum(1), torch.einsum("bd,bnd->bn", u[bu], v[bn])
    unit = normal(items.detach(), dim=1)
    sim = torch.einsum("bd,bnd->bn", unit[bi], unit[bn])
    quantile = torch.tensor(case["user_quantiles"])[bu] if "user_quantiles" in case else None
    value = losses.Loss(case["loss"], **golden_arguments(case))(pos, neg, sim, quantile)
    value.backward()
    assert abs(value.item() - case["value"]) < 1e-6 * (1 + abs(case["value"]))
    for ours, golden in ((users.grad, case["grad_users"]), (items.grad, case["grad_items"])):
        np.testing.assert_allclose(ours.numpy(), np.array(golden), atol=1e-6 * (1e-3 + np.abs(golden).max()))


def test_a_model_learns_with_it() -> None:
    torch.manual_seed(0)
    users, items = torch.nn.Embedding(8, 4), torch.nn.Embedding(16, 4)
    criterion = losses.Loss("dsl", tau=0.2)
    optimiser = torch.optim.Adam([*users.parameters(), *items.parameters()], lr=0.05)
    values = []
    for _ in range(60):
        u, v = (torch.nn.functional.normalize(table.weight, dim=1) for table in (users, items))
        chosen = torch.arange(8)
        negatives = torch.arange(8, 16).repeat(8, 1)
        pos, neg = (u * v[chosen]).sum(1), torch.einsum("bd,bnd->bn", u, v[negatives])
        sim = torch.einsum("bd,bnd->bn", v[chosen], v[negatives])
        optimiser.zero_grad()
        value = criterion(pos, neg, sim)
        value.backward()
        optimiser.step()
        values.append(value.item())
    assert value.dtype == torch.float32
    assert values[-1] < values[0] - 1


def test_learned_parameters_of_a_loss_are_a_parameter_of_the_module() -> None:
    criterion = losses.Loss("llpauc")
    assert criterion.learned.shape == (7,)
    pos, neg, _ = tensors()
    criterion(pos, neg).backward()
    assert criterion.learned.grad.abs().sum() > 0
    assert list(losses.Loss("sl").parameters()) == []
    assert repr(losses.Loss("sl", tau=0.1)) == "Loss('sl', tau=0.1)"


def test_invalid_calls_are_refused() -> None:
    pos, neg, sim = tensors()
    with pytest.raises(ValueError, match="not a function"):
        losses.Loss("guidedrec")
    with pytest.raises(ValueError, match="needs sim"):
        losses.Loss("dsl")(pos, neg)
    with pytest.raises(ValueError, match="did you mean"):
        losses.Loss("dls")(pos, neg)
