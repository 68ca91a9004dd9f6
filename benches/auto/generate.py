"""Writes a log of the size of MovieLens-1M: 6,040 users, 3,706 items, about 1,000,000 pairs.

    python benches/auto/generate.py ml-like.csv [--seed 0]

Items have log-normal popularity and a place in a space of 16 tastes, users a place in the same space and a log-normal number
of items, at least 20. Each user takes items without replacement with a probability that grows with popularity and with the
product of both places. No times and no ratings. Needs NumPy.
"""

import argparse

import numpy as np

USERS, ITEMS, PAIRS, TASTES = 6040, 3706, 1_000_000, 16
FEWEST = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    random = np.random.default_rng(args.seed)
    popularity = 1.4 * random.standard_normal(ITEMS)
    items = random.standard_normal((ITEMS, TASTES)) / np.sqrt(TASTES)
    users = random.standard_normal((USERS, TASTES))
    activity = np.exp(random.standard_normal(USERS))
    counts = FEWEST + activity / activity.sum() * (PAIRS - USERS * FEWEST)
    counts = np.minimum(counts.astype(int), ITEMS // 2)
    with open(args.out, "w") as out:
        out.write("user,item\n")
        for user in range(USERS):
            scores = popularity + 1.5 * (items @ users[user])
            # The largest of scores plus Gumbel noise are a draw without replacement.
            chosen = np.argsort(-(scores + random.gumbel(size=ITEMS)))[: counts[user]]
            out.writelines(f"u{user},i{item}\n" for item in chosen)


if __name__ == "__main__":
    main()
