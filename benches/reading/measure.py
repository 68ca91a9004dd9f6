"""Times Rivalry on logs beside pandas, one process per measurement, in turns.

    cargo build --release -p rivalry-data --all-features --example reading
    python benches/reading/generate.py FOLDER
    python benches/reading/measure.py FOLDER [--split random] [--repeat 3]

pandas only reads the file (`read_csv`, `read_parquet`); Rivalry reads it, numbers the ids, merges duplicates, splits, and
computes the checksum. Prints medians, and the peak memory of both processes.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
PANDAS = """
import json, resource, sys, time
import pandas as pd
start = time.perf_counter()
log = (pd.read_parquet if sys.argv[1].endswith("parquet") else pd.read_csv)(sys.argv[1])
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6, "rows": len(log)}))
"""


def run(command: list) -> dict:
    done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--reader", type=pathlib.Path, default=ROOT / "target/release/examples/reading")
    parser.add_argument("--split", default="random")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", nargs="*", help="names of files")
    args = parser.parse_args()
    print("| log | MB | pandas s | Rivalry reading s | Rivalry in all s | ratio | pandas MB | Rivalry MB | bytes per row |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for path in sorted(args.folder.iterdir()):
        if args.only and path.name not in args.only:
            continue
        turns = [(run([sys.executable, "-c", PANDAS, path]), run([args.reader, path, args.split]))
                 for _ in range(args.repeat)]
        pandas = statistics.median(theirs["seconds"] for theirs, _ in turns)
        reading = statistics.median(ours["read_seconds"] for _, ours in turns)
        total = statistics.median(ours["total_seconds"] for _, ours in turns)
        ratio = statistics.median(ours["total_seconds"] / theirs["seconds"] for theirs, ours in turns)
        memory = max(ours["peak_megabytes"] for _, ours in turns)
        theirs, size = turns[0][0], path.stat().st_size / 1e6
        print(f"| {path.name} | {size:.0f} | {pandas:.2f} | {reading:.2f} | {total:.2f} | {ratio:.2f} "
              f"| {theirs['megabytes']:.0f} | {memory:.0f} | {memory * 1e6 / theirs['rows']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
