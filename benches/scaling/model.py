"""How long an epoch would take on several machines: a model, with rates estimated on one (docs/src/scaling.md).

    python benches/scaling/model.py [--gbit 10] [--cores 16]

A step of b pairs on m machines takes

    b / (rate · cores · m)                     scores, losses, gradients
    + 2 · (m - 1) / m · S / bandwidth          the item gradients of the step, S bytes
    + S · packing                              writing, reading and adding these
    + calls · latency · log2(m)                waiting for messages
"""

import argparse
import math

PAIRS, ITEMS, DIM = 1_000_000_000, 10_000_000, 64
LATENCY = 1e-4  # seconds: a message between two machines
CALLS = 6  # exchanges of a step
PACKING = 0.5e-9  # seconds a byte: benches/scaling/exchange.c
BYTES = 4 * DIM + 4

# Name, pairs a second and core, pairs of a step, and items drawn for a step beside the positives.
SETTINGS = [
    ("1000 uniform negatives, batches of 1024", 11_800, 1024, 1024 * 1000),
    ("--fast, batches of 1024", 33_000, 1024, 8 * 1000),
    ("--fast, batches of 16,384", 33_000, 16_384, 128 * 1000),
    ("  and sampler.pairs = 2048", 33_000, 16_384, 8 * 1000),
]


def table_bytes(pairs: int, drawn: int) -> float:
    touched = ITEMS * -math.expm1(-(pairs + drawn) / ITEMS)
    return touched * BYTES


def step(machines: int, rate: float, pairs: int, drawn: int, args: argparse.Namespace) -> float:
    computing = pairs / (rate * args.cores * machines)
    if machines == 1:
        return computing
    size = table_bytes(pairs, drawn)
    exchanging = 2 * (machines - 1) / machines * size / (args.gbit * 1e9 / 8)
    return computing + exchanging + size * PACKING + CALLS * LATENCY * math.log2(machines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gbit", type=float, default=10.0, help="bandwidth of each machine")
    parser.add_argument("--cores", type=int, default=16, help="cores of each machine")
    args = parser.parse_args()
    counts = [1, 2, 4, 8, 16, 32, 64]
    print("hours an epoch, by machines".ljust(44), *(f"{count:>7}" for count in counts))
    for name, rate, pairs, drawn in SETTINGS:
        hours = [step(count, rate, pairs, drawn, args) * PAIRS / pairs / 3600 for count in counts]
        print(name.ljust(44), *(f"{value:7.2f}" for value in hours))


if __name__ == "__main__":
    main()
