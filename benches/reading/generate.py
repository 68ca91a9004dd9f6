"""Writes logs of interactions to time readers on.

    python benches/reading/generate.py FOLDER [--rows 10000000]

Users and items follow power laws and rows are in random order, which is the hard case: neighbouring rows have nothing in
common. The same seed writes the same files. Needs pandas and pyarrow.
"""

import argparse
import pathlib

import numpy as np
import pandas as pd

USERS, ITEMS = 1_000_000, 100_000


def columns(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    user = (USERS * rng.random(rows) ** 1.5).astype(np.int64)
    item = (ITEMS * rng.random(rows) ** 3).astype(np.int64)
    # Otherwise small numbers would be the frequent ones, and close together in memory.
    user, item = rng.permutation(USERS)[user], rng.permutation(ITEMS)[item]
    time = 1_500_000_000 + rng.integers(0, 200_000_000, rows)
    return pd.DataFrame({"user": user, "item": item, "rating": rng.integers(1, 11, rows) / 2, "time": time})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    log = columns(args.rows)
    log[["user", "item"]].to_csv(args.folder / "pairs.csv", index=False)
    log[["user", "item", "time"]].to_csv(args.folder / "times.csv", index=False)
    log.to_csv(args.folder / "ratings.csv", index=False)
    log.to_parquet(args.folder / "ratings.parquet", index=False)
    # Ten-digit numbers, far apart.
    sparse = log.assign(user=log.user * 4001 + 1_000_000_007, item=log.item * 40_009 + 7)
    sparse[["user", "item", "time"]].to_csv(args.folder / "sparse.csv", index=False)
    # Ids such as Amazon's: fourteen and ten characters.
    text = log.assign(user="A" + sparse.user.astype(str) + "XYZ", item="B" + (sparse.item + 100_000_000).astype(str))
    text.to_csv(args.folder / "text.csv", index=False)
    text.to_parquet(args.folder / "text.parquet", index=False)
    for name in sorted(args.folder.iterdir()):
        print(f"{name}  {name.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
