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
    regularization, unobserved = 0.4, 0.2

    def start(rows: int, shift: int) -> np.ndarray:
        r, c = np.indices((rows, 3))
        return ((r * 7 + c * 5 + shift) % 11 - 5.0) / 10.0

    def solve(x: np.ndarray, others: np.ndarray) -> np.ndarray:
        rows = []
        frequencies = x.sum(axis=1) + unobserved * len(others)
        for row, frequency in zip(x, frequencies):
            own = others[row > 0]
            norm = regularization * frequency / frequencies.mean()
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


def without_diagonal(weights: np.ndarray) -> np.ndarray:
    return weights - np.diag(np.diag(weights))


def item_knn(x: np.ndarray, weighting: str, shrinkage: float) -> np.ndarray:
    """The weightings of `implicit`, whose matrices are transposed: items are documents, users are terms."""
    items = x.T
    idf = np.log(N_ITEMS) - np.log1p(x.sum(axis=1))
    if weighting == "bm25":
        k1, b = 1.2, 0.75
        length = (1 - b) + b * items.sum(axis=1) / items.sum(axis=1).mean()
        items = items * (k1 + 1) / (k1 * length[:, None] + items) * idf
    else:
        items = items * idf if weighting == "tfidf" else items
        items = items / np.linalg.norm(items, axis=1, keepdims=True)
    common = x.T @ x
    return without_diagonal(items @ items.T * common / (common + shrinkage))


def rp3beta(x: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    degrees = np.maximum(x.sum(axis=1, keepdims=True), 1)
    to_user = (x.T / x.sum(axis=0)[:, None]) ** alpha
    to_item = (x / degrees) ** alpha
    return without_diagonal(to_user @ to_item / x.sum(axis=0) ** beta)


def turbo_cf(x: np.ndarray, alpha: float, power: float) -> np.ndarray:
    degrees = np.maximum(x.sum(axis=1, keepdims=True), 1)
    normalised = degrees**-alpha * x * x.sum(axis=0) ** (alpha - 1)
    return without_diagonal((normalised.T @ normalised) ** power)


if __name__ == "__main__":
    x = training_set()
    weights = {
        "ease": ease(x, 2.0),
        "cosine": item_knn(x, "cosine", 2.0),
        "tfidf": item_knn(x, "tfidf", 0.0),
        "bm25": item_knn(x, "bm25", 0.0),
        "rp3beta": rp3beta(x, 0.8, 0.4),
        "turbo-cf": turbo_cf(x, 0.3, 1.3),
    }
    print(json.dumps({**ials(x), **{name: matrix.tolist() for name, matrix in weights.items()}}, indent=0))
