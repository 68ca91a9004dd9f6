"""Writes a log of any size as a folder of part files, to measure `rivalry data prepare` on data larger than memory.

    python benches/reading/generate_large.py FOLDER [--rows 500000000] [--users 20000000] [--items 1000000]
                                             [--times] [--format csv|parquet]

Items follow Zipf's law mixed with a flatter one, which gives the tail its interactions; users a flat power law. Rows are in
random order. A few million rows are in memory at a time. The same arguments write the same rows. Needs numpy, and pyarrow for
Parquet.
"""

import argparse
import pathlib

import numpy as np

PART = 5_000_000


def scattered(ids: np.ndarray, n: int) -> np.ndarray:
    """Other numbers for these, all with the same number of digits: otherwise small numbers would be the frequent ones."""
    factor = next(factor for factor in range(int(n * 0.618) | 1, 2 * n) if np.gcd(factor, n) == 1)
    digits = len(str(n))
    first = 10 ** (digits - 1) if 10 ** (digits - 1) + n <= 10**digits else 10**digits
    return first + (ids * factor + 7) % n


def part(number: int, rows: int, args: argparse.Namespace) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([1, number])
    user = (args.users * rng.random(rows) ** 1.5).astype(np.int64)
    # The density of rank r is about 1 / r for a quarter of the rows.
    item = np.exp(rng.random(rows) * np.log(args.items)).astype(np.int64) - 1
    flatter = rng.random(rows) < 0.75
    item[flatter] = (args.items * rng.random(int(flatter.sum())) ** 2).astype(np.int64)
    columns = {"user": scattered(user, args.users), "item": scattered(item, args.items)}
    if args.times:
        columns["timestamp"] = 1_500_000_000 + rng.integers(0, 200_000_000, rows)
    return columns


def csv(columns: dict[str, np.ndarray]) -> bytes:
    """All numbers of a column have the same number of digits, so that a file is one array of characters."""
    widths = [len(str(column[0])) for column in columns.values()]
    text = np.full((len(columns["user"]), sum(widths) + len(widths)), ord(","), np.uint8)
    end = 0
    for column, width in zip(columns.values(), widths):
        for place in range(end + width - 1, end - 1, -1):
            column, digit = np.divmod(column, 10)
            text[:, place] = digit + ord("0")
        end += width + 1
    text[:, -1] = ord("\n")
    return ",".join(columns).encode() + b"\n" + text.tobytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=500_000_000)
    parser.add_argument("--users", type=int, default=20_000_000)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--times", action="store_true", help="add a column of timestamps")
    parser.add_argument("--format", choices=["csv", "parquet"], default="csv")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    starts = range(0, args.rows, PART)
    for number, start in enumerate(starts):
        columns = part(number, min(PART, args.rows - start), args)
        path = args.folder / f"part-{number:05}.{args.format}"
        if args.format == "csv":
            path.write_bytes(csv(columns))
        else:
            import pyarrow
            import pyarrow.parquet

            pyarrow.parquet.write_table(pyarrow.table(columns), path)
        if number % 10 == 9:
            print(f"{number + 1} of {len(starts)} files", flush=True)
    (args.folder / "_SUCCESS").touch()


if __name__ == "__main__":
    main()
