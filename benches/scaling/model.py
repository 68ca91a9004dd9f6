"""How long an epoch would take on several machines: a model, fitted to measurements on one (docs/src/scaling.md).

    python benches/scaling/model.py [--gbit 10] [--cores 16]

A step of b pairs on m machines takes

    b / (computing · cores · m)                draws, scores, losses, gradients
    + (items + b / m) / (updating · cores)     updates: each machine moves all items of the step, and its own users
    + shards / m · L · SUMMING                 adding up the item gradients of a machine's shards, L bytes each
    + (m - 1) / m · (M + S) / bandwidth        those of a machine, M bytes, and the sum of all, S bytes
    + S · PACKING                              adding what was received, and putting the sum into its table
    + CALLS · LATENCY · log2(m)                waiting for messages

One machine has no shards; several have 8, or one each.
"""

import argparse
import math
from typing import NamedTuple

PAIRS, ITEMS, DIM = 1_000_000_000, 10_000_000, 64
LATENCY = 1e-4  # seconds: a message between two machines; assumed
CALLS = 10  # messages of a step that wait for each other
SUMMING = 0.93e-9  # seconds a byte
PACKING = 0.62e-9  # seconds a byte
ROW = 4 * DIM + 4  # bytes of a listed row


class Setting(NamedTuple):
    name: str
    alone: float  # pairs a second and core of one machine
    computing: float  # pairs a second and core in shards, without updates
    updating: float  # rows a second and core
    pairs: int  # of a step
    sharing: int  # pairs that share their negatives
    negatives: int = 1000


SETTINGS = [
    Setting("1000 uniform negatives, batches of 1024", 3_190, 2_745, 2_145_000, 1024, 1),
    Setting("--fast, batches of 1024", 32_300, 27_400, 597_000, 1024, 128),
    Setting("--fast, batches of 16,384", 39_600, 39_400, 1_381_000, 16_384, 128),
    Setting("  and sampler.pairs = 2048", 77_800, 60_800, 948_000, 16_384, 2048),
]


class Exchange(NamedTuple):
    """Bytes of a step."""

    shard: float
    machine: float
    whole: float
    received: float  # by each machine


def exchange(machines: int, shards: int, setting: Setting, items: int = ITEMS) -> Exchange:
    def listed(count: int) -> float:
        """Bytes of the items of so many shards, which are drawn uniformly. Each shard has negatives of its own."""
        pairs = setting.pairs / shards
        drawn = count * (pairs + math.ceil(pairs / setting.sharing) * setting.negatives)
        return -items * math.expm1(-drawn / items) * ROW

    machine, whole = listed(shards // machines), listed(shards)
    return Exchange(listed(1), machine, whole, (machines - 1) / machines * (machine + whole))


def step(machines: int, setting: Setting, gbit: float, cores: int, items: int = ITEMS) -> float:
    """Seconds."""
    if machines == 1:
        return setting.pairs / (setting.alone * cores)
    shards = max(8, machines)
    size = exchange(machines, shards, setting, items)
    computing = setting.pairs / (setting.computing * cores * machines)
    updating = (size.whole / ROW + setting.pairs / machines) / (setting.updating * cores)
    summing = shards / machines * size.shard * SUMMING
    sending = size.received / (gbit * 1e9 / 8)
    return computing + updating + summing + sending + size.whole * PACKING + CALLS * LATENCY * math.log2(machines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gbit", type=float, default=10.0, help="bandwidth of each machine")
    parser.add_argument("--cores", type=int, default=16, help="cores of each machine")
    args = parser.parse_args()
    counts = [1, 2, 4, 8, 16, 32, 64]
    print("hours an epoch, by machines".ljust(44), *(f"{count:>7}" for count in counts))
    for setting in SETTINGS:
        steps = PAIRS / setting.pairs
        hours = [step(count, setting, args.gbit, args.cores) * steps / 3600 for count in counts]
        print(setting.name.ljust(44), *(f"{value:7.2f}" for value in hours))


if __name__ == "__main__":
    main()
