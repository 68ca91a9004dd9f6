"""The losses for PyTorch: modules whose values and gradients are computed on the CPU by Rivalry.

>>> import torch, rivalry.torch                                             # doctest: +SKIP
>>> criterion = rivalry.torch.Loss("dsl", tau=0.2, alpha=1.0, beta=1.0)      # doctest: +SKIP
>>> value = criterion(pos, neg, sim)                                         # doctest: +SKIP
>>> value.backward()                                                         # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any, Optional

from ._loss import loss as _loss
from ._registry import losses

try:
    import torch
except ImportError as error:
    raise ImportError("rivalry.torch needs PyTorch\n  help: pip install torch") from error

__all__ = ["Loss", "loss"]


class _Function(torch.autograd.Function):
    """A loss as an autograd function: the forward pass computes the gradients, the backward pass scales them."""

    @staticmethod
    def forward(
        ctx: Any, pos: Any, neg: Any, learned: Any, name: str, reduction: str, constants: Any, params: Any
    ) -> Any:
        inputs = {key: _array(x) for key, x in {**constants, "learned": learned}.items()}
        result = _loss(name, _array(pos), _array(neg), **inputs, reduction=reduction, **params)
        targets = (pos, neg, pos if learned is None else learned)
        gradients = zip((result.grad_pos, result.grad_neg, result.grad_learned), targets)
        ctx.save_for_backward(*(torch.from_numpy(g).to(device=x.device, dtype=x.dtype) for g, x in gradients))
        ctx.rows, ctx.learned = reduction == "none", learned is not None
        return torch.as_tensor(result.value, dtype=pos.dtype, device=pos.device)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, upstream: Any) -> Any:
        grad_pos, grad_neg, grad_learned = ctx.saved_tensors
        rows = upstream.unsqueeze(1) if ctx.rows else upstream
        grad_learned = upstream * grad_learned if ctx.learned else None
        return upstream * grad_pos, rows * grad_neg, grad_learned, None, None, None, None


def _array(tensor: Any) -> Any:
    return None if tensor is None else tensor.detach().cpu().numpy()


def loss(
    name: str,
    pos: torch.Tensor,
    neg: torch.Tensor,
    sim: Optional[torch.Tensor] = None,
    *,
    log_probs: Optional[torch.Tensor] = None,
    quantile: Optional[torch.Tensor] = None,
    learned: Optional[torch.Tensor] = None,
    reduction: str = "mean",
    **params: Any,
) -> torch.Tensor:
    """A loss of score tensors, with the shapes and parameters of :func:`rivalry.loss`.

    Gradients flow to ``pos``, ``neg`` and ``learned``; ``sim``, ``log_probs`` and ``quantile`` are constants, as in the
    published gradient. Tensors on other devices are copied to the CPU, and gradients back.
    """
    if learned is not None and reduction == "none":
        raise ValueError(
            "gradients of learned parameters are not available per row\n  help: use reduction='mean' or 'sum'"
        )
    constants = {"sim": sim, "log_probs": log_probs, "quantile": quantile}
    value: torch.Tensor = _Function.apply(pos, neg, learned, name, reduction, constants, params)
    return value


class Loss(torch.nn.Module):
    """A loss as a module: ``criterion(pos, neg, sim)``.

    Parameters
    ----------
    name:
        A loss that is a function of scores (see :func:`rivalry.losses`). If it has learned parameters (LLPAUC), they
        are the module's parameter ``learned``.
    reduction:
        ``"mean"``, ``"sum"`` or ``"none"``.
    params:
        The loss's parameters, such as ``tau=0.1``.
    """

    def __init__(self, name: str, *, reduction: str = "mean", **params: Any) -> None:
        super().__init__()
        known = losses()
        if name in known and not known[name]["function"]:
            raise ValueError(
                f"{name} is not a function of scores\n  help: train it with rivalry.Recommender(loss={name!r})"
            )
        self.name = name
        self.reduction = reduction
        self.params = params
        learned = known.get(name, {}).get("learned")
        self.learned = torch.nn.Parameter(torch.tensor(learned, dtype=torch.float64)) if learned else None

    def forward(
        self,
        pos: torch.Tensor,
        neg: torch.Tensor,
        sim: Optional[torch.Tensor] = None,
        quantile: Optional[torch.Tensor] = None,
        log_probs: Optional[torch.Tensor] = None,
    ) -> torch.Tensor:
        inputs: dict[str, Any] = {"log_probs": log_probs, "quantile": quantile, "learned": self.learned}
        return loss(self.name, pos, neg, sim, **inputs, reduction=self.reduction, **self.params)

    def extra_repr(self) -> str:
        return ", ".join([repr(self.name), *(f"{key}={value}" for key, value in self.params.items())])
