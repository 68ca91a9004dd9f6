"""Makes sure that the PyTorch step computes what Rivalry computes, before anybody times it.

Loss and gradients against `tests/golden/losses.json`, four whole steps of each backbone against
`tests/golden/training.json`, and the sampler against what it promises. Ends with an error if anything is off.
"""

import json
import pathlib
import sys

import torch

from step import LOSSES, Model, Negatives, adam, loss_of, step

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"


def main():
    checked = sum(check_losses(form) + check_training(form) for form in ("plain", "usual"))
    check_negatives()
    must(checked >= 4, "there are hardly any golden cases")
    print(f"the PyTorch step agrees with {checked} golden cases")


def check_losses(form):
    cases = [case for case in golden("losses.json") if case["loss"] in LOSSES]
    for case in cases:
        for dtype, room in [(torch.float64, 1e-9), (torch.float32, 1e-4)]:
            model = Model(torch.tensor(case["users"], dtype=dtype), torch.tensor(case["items"], dtype=dtype), form)
            value = loss_of(model, case["loss"], case["params"], *batch(case))
            value.backward()
            name = f"{case['loss']} {case['params']} ({form}, {dtype})"
            near(value, case["value"], room, f"value of {name}")
            near(model.users.grad, case["grad_users"], room, f"user gradients of {name}")
            near(model.items.grad, case["grad_items"], room, f"item gradients of {name}")
    return len(cases)


def check_training(form):
    cases = [case for case in golden("training.json") if case["loss"] in LOSSES]
    for case in cases:
        edges = torch.tensor(case["edges"]) if case["backbone"] == "lightgcn" else None
        tables = [torch.tensor(case[name], dtype=torch.float64) for name in ("users", "items")]
        model = Model(*tables, form, edges)
        optimizer = adam(model, case["lr"], case["weight_decay"])
        for one in case["steps"]:
            value = step(model, optimizer, case["loss"], case["params"], *batch(one))
            near(torch.tensor(value), one["value"], 1e-7, f"the loss of a step of {case['backbone']} {case['loss']}")
        name = f"{case['backbone']} {case['loss']} lr {case['lr']} ({form})"
        near(model.users, case["final_users"], 1e-7, f"users after four steps of {name}")
        near(model.items, case["final_items"], 1e-7, f"items after four steps of {name}")
    return len(cases)


def check_negatives():
    """One user with half of the items, one with a single one."""
    pairs = torch.tensor([(1, 7)] + [(0, item) for item in range(0, 20, 2)])
    drawn = Negatives(pairs, 2, 20).draw(torch.tensor([0, 1, 0]), 20_000)
    for row, free in [(0, range(1, 20, 2)), (1, [item for item in range(20) if item != 7]), (2, range(1, 20, 2))]:
        counts = torch.bincount(drawn[row], minlength=20)
        expected = 20_000 / len(free)
        must(counts.sum() == counts[list(free)].sum(), f"a positive was drawn: {counts}")
        must((counts[list(free)] - expected).abs().max() < 6 * expected**0.5, f"uneven draws: {counts}")


def golden(name):
    return json.loads((GOLDEN / name).read_text())


def batch(case):
    return [torch.tensor(case[name]) for name in ("batch_users", "batch_items", "negatives")]


def near(found, expected, room, what):
    found, expected = found.detach().double(), torch.tensor(expected, dtype=torch.float64)
    off = ((found - expected).abs().max() / expected.abs().max()).item()
    must(off < room, f"{what}: off by {off:.1e} of its size, more than {room:.0e}")


def must(hold, what):
    if not hold:
        sys.exit(f"the PyTorch step is not the same computation: {what}")


if __name__ == "__main__":
    main()
