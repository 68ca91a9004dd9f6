"""The losses for PyTorch: drop-in modules with exact gradients, computed on the CPU by Rivalry's own kernels.

>>> import torch, rivalry.torch                                             # doctest: +SKIP
>>> criterion = rivalry.torch.Loss("dsl", tau=0.2, alpha=1.0, beta=1.0)      # doctest: +SKIP
>>> value = criterion(pos, neg, sim)                                         # doctest: +SKIP
>>> value.backward()                                                         # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any, Optional

from ._loss import loss as _loss
from ._loss import losses

try:
    import torch
except ImportError as error:
    raise ImportError("rivalry.torch needs PyTorch\n  help: pip install torch") from error

__all__ = ["Loss", "loss"]


class _Function(torch.autograd.Function):
    """A loss on the autograd tape: the gradients come with the value, so going back only scales them."""

    @staticmethod
    def forward(
        ctx: Any, pos: Any, neg: Any, sim: Any, own: Any, quantile: Any, name: str, reduction: str, params: Any
    ) -> Any:
        arrays: list[Any] = [None if x is None else x.detach().cpu().numpy() for x in (pos, neg, sim, own, quantile)]
        found = _loss(name, *arrays[:3], own=arrays[3], quantile=arrays[4], reduction=reduction, **params)
        gradients = zip((found.grad_pos, found.grad_neg, found.grad_own), (pos, neg, pos if own is None else own))
        ctx.save_for_backward(*(torch.from_numpy(g).to(device=x.device, dtype=x.dtype) for g, x in gradients))
        ctx.rows, ctx.own = reduction == "none", own is not None
        return torch.as_tensor(found.value, dtype=pos.dtype, device=pos.device)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, upstream: Any) -> Any:
        grad_pos, grad_neg, grad_own = ctx.saved_tensors
        rows = upstream.unsqueeze(1) if ctx.rows else upstream
        grad_own = upstream * grad_own if ctx.own else None
        return upstream * grad_pos, rows * grad_neg, None, grad_own, None, None, None, None


def loss(
    name: str,
    pos: torch.Tensor,
    neg: torch.Tensor,
    sim: Optional[torch.Tensor] = None,
    *,
    own: Optional[torch.Tensor] = None,
    quantile: Optional[torch.Tensor] = None,
    reduction: str = "mean",
    **params: Any,
) -> torch.Tensor:
    """A loss of score tensors; shapes and parameters as for :func:`rivalry.loss`.

    Gradients flow to ``pos``, ``neg`` and ``own``. ``sim`` is a constant, as in the published gradient. Tensors on other
    devices are brought to the CPU and back.
    """
    if own is not None and reduction == "none":
        raise ValueError("rows have no gradients of their own for the loss's numbers\n  help: reduce by mean or sum")
    value: torch.Tensor = _Function.apply(pos, neg, sim, own, quantile, name, reduction, params)
    return value


class Loss(torch.nn.Module):
    """A loss as a module: ``criterion(pos, neg, sim)``.

    Parameters
    ----------
    name:
        A loss that is a function of scores (see :func:`rivalry.losses`). If it learns numbers itself (LLPAUC), they
        are the module's parameter ``own``.
    reduction:
        ``"mean"``, ``"sum"`` or ``"none"``.
    params:
        Its parameters, such as ``tau=0.1``.
    """

    def __init__(self, name: str, *, reduction: str = "mean", **params: Any) -> None:
        super().__init__()
        known = losses()
        if name in known and not known[name]["function"]:
            raise ValueError(
                f"{name} is more than a function of scores\n  help: train it with rivalry.Recommender(loss={name!r})"
            )
        self.name = name
        self.reduction = reduction
        self.params = params
        learned = known.get(name, {}).get("own")
        self.own = torch.nn.Parameter(torch.tensor(learned, dtype=torch.float64)) if learned else None

    def forward(
        self,
        pos: torch.Tensor,
        neg: torch.Tensor,
        sim: Optional[torch.Tensor] = None,
        quantile: Optional[torch.Tensor] = None,
    ) -> torch.Tensor:
        extras: dict[str, Any] = {"own": self.own, "quantile": quantile, "reduction": self.reduction}
        return loss(self.name, pos, neg, sim, **extras, **self.params)

    def extra_repr(self) -> str:
        return ", ".join([repr(self.name), *(f"{key}={value}" for key, value in self.params.items())])
