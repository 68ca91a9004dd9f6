"""Writes a log with a large catalogue: 1,000,000 items, 100,000 users, about 5,200,000 pairs.

    python benches/serving/generate.py million.csv [--items 1000000] [--users 100000] [--seed 0]

Items come in groups of 200. A group has a place in a space of 16 tastes, a user has a place in the same space and a log-normal
activity. An item has three interactions and a log-normal number of further ones, each with a user drawn with a probability that
grows with the user's activity and with the product of both places. No times and no ratings. Needs NumPy.
"""

import argparse

import numpy as np

GROUP, TASTES, FEWEST = 200, 16, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    random = np.random.default_rng(args.seed)
    users = random.standard_normal((args.users, TASTES), dtype=np.float32)
    activity = np.exp(0.7 * random.standard_normal(args.users, dtype=np.float32))
    with open(args.out, "w") as out:
        out.write("user,item\n")
        for start in range(0, args.items, GROUP):
            items = np.arange(start, min(start + GROUP, args.items))
            counts = FEWEST + np.exp(1.2 * random.standard_normal(len(items)) + 0.4).astype(int)
            group = random.standard_normal(TASTES, dtype=np.float32)
            shares = np.cumsum(activity * np.exp(0.8 * (users @ group)), dtype=np.float64)
            drawn = np.searchsorted(shares, random.random(counts.sum()) * shares[-1])
            pairs = sorted(set(zip(drawn.tolist(), np.repeat(items, counts).tolist())))
            out.writelines(f"u{user},i{item}\n" for user, item in pairs)


if __name__ == "__main__":
    main()
