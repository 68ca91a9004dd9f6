"""Times the PyTorch step on a few batches, or PyTorch's matrix product, and prints the figures as JSON."""

import argparse
import json
import pathlib
import time

import numpy
import torch

from step import LOSSES, Model, Negatives, adam, step

WARM_UP = 2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["gemm", *LOSSES])
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--data", type=pathlib.Path, help="a folder as 'rivalry data prepare' writes it")
    parser.add_argument("--backbone", choices=["mf", "lightgcn"])
    parser.add_argument("--form", choices=["plain", "usual"])
    parser.add_argument("--params", type=json.loads, help="the loss's parameters, as JSON")
    parser.add_argument("--lr", type=float)
    for name in ("batches", "batch-size", "negatives", "dim"):
        parser.add_argument(f"--{name}", type=int)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    print(json.dumps(gemm() if args.what == "gemm" else steps(args)))


def gemm(n=2048, repeats=8):
    """The best rate of a square f32 product, in floating-point operations a second."""
    a, b, out = torch.randn(n, n), torch.randn(n, n), torch.empty(n, n)
    best = min(timed(lambda: torch.mm(a, b, out=out)) for _ in range(repeats))
    return {"flops_per_second": 2 * n**3 / best, "torch": torch.__version__}


def steps(args):
    """Seconds of each of a few steps after the first ones: drawing, forward, backward, Adam."""
    pairs = torch.from_numpy(numpy.loadtxt(args.data / "train.tsv", dtype=numpy.int64, skiprows=1))
    n_users, n_items = (rows(args.data / name) for name in ("user_list.tsv", "item_list.tsv"))
    tables = torch.randn(n_users, args.dim), torch.randn(n_items, args.dim)
    model = Model(*tables, args.form, pairs if args.backbone == "lightgcn" else None)
    optimizer, negatives = adam(model, args.lr), Negatives(pairs, n_users, n_items)
    order = torch.randperm(len(pairs))

    def one(batch):
        users, items = pairs[order[torch.arange(batch * args.batch_size, (batch + 1) * args.batch_size) % len(pairs)]].T
        drawn = negatives.draw(users, args.negatives)
        step(model, optimizer, args.what, args.params, users, items, drawn)

    seconds = [timed(lambda: one(batch)) for batch in range(WARM_UP + args.batches)][WARM_UP:]
    return {"pairs": len(pairs), "step_seconds": seconds}


def rows(path):
    with path.open() as lines:
        return sum(1 for _ in lines) - 1


def timed(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
