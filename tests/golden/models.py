"""Reference values of the closed-form models on a small training set, by NumPy in double precision:

    python tests/golden/models.py > tests/golden/models.json
"""

import json

import numpy as np

N_USERS, N_ITEMS = 20, 12


def training_set() -> np.ndarray:
    """Two groups of users and items; user 0 has every item, user 1 none."""
    x = np.zeros((N_USERS, N_ITEMS))
    for user in range(N_USERS):
        for item in range(N_ITEMS):
            own = item % 2 == user % 2 and (item * user + 1) % 5 > 0
            x[user, item] = user == 0 or (user != 1 and own)
    return x


def ials(x: np.ndarray) -> dict[str, list[list[float]]]:
    """One sweep with exact solutions, users first."""
    regularization, unobserved = 0.05, 0.2

    def start(rows: int, shift: int) -> np.ndarray:
        r, c = np.indices((rows, 3))
        return ((r * 7 + c * 5 + shift) % 11 - 5.0) / 10.0

    def solve(x: np.ndarray, others: np.ndarray) -> np.ndarray:
        rows = []
        for row in x:
            own = others[row > 0]
            norm = regularization * (len(own) + unobserved * len(others))
            matrix = own.T @ own + unobserved * others.T @ others + norm * np.eye(3)
            rows.append(np.linalg.solve(matrix, own.sum(axis=0)))
        return np.array(rows)

    users = solve(x, start(N_ITEMS, 3))
    items = solve(x.T, users)
    return {"ials_users": users.tolist(), "ials_items": items.tolist()}


def ease(x: np.ndarray, regularization: float) -> np.ndarray:
    inverse = np.linalg.inv(x.T @ x + regularization * np.eye(N_ITEMS))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0.0)
    return weights


if __name__ == "__main__":
    x = training_set()
    print(json.dumps({**ials(x), "ease": ease(x, 2.0).tolist()}, indent=0))
