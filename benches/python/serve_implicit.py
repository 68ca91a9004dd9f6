"""The comparison of docs/src/serving.md: the embeddings of a Rivalry model served by implicit behind FastAPI and uvicorn.

    rivalry export RUN --to npy -o vectors
    python benches/python/serve_implicit.py RUN/model.safetensors vectors 7902

needs implicit, fastapi, uvicorn, safetensors. The job is the same as that of `rivalry serve`: known items are left out, 20 items
with scores, original ids, as JSON.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from fastapi import FastAPI, HTTPException
from implicit.cpu.als import AlternatingLeastSquares
from safetensors.numpy import load_file
from scipy.sparse import csr_matrix

model_file, vectors, port = sys.argv[1:]


def ids(name: str) -> list[str]:
    return (Path(vectors) / f"{name}.csv").read_text().splitlines()[1:]


model = AlternatingLeastSquares(num_threads=1)
model.user_factors = np.load(f"{vectors}/users.npy")
model.item_factors = np.load(f"{vectors}/items.npy")
users, items = {user: n for n, user in enumerate(ids("users"))}, ids("items")
tensors = load_file(model_file)
rows, columns = [], []
for part in ("train", "held_out"):
    counts = tensors[f"{part}.counts"]
    rows.append(np.repeat(np.arange(len(counts)), counts))
    columns.append(tensors[f"{part}.items"])
row, column = np.concatenate(rows), np.concatenate(columns)
known = csr_matrix((np.ones(len(row), np.float32), (row, column)), shape=(len(users), len(items)))

app = FastAPI()


@app.get("/api/recommend/{user}")
def recommend(user: str, n: int = 20) -> dict[str, Any]:
    if user not in users:
        raise HTTPException(404)
    dense = users[user]
    found, scores = model.recommend(dense, known[dense], N=n)
    listed = [{"item": items[item], "score": float(score)} for item, score in zip(found, scores)]
    return {"user": user, "items": listed}


uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning", access_log=False)
