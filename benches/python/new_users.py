"""How good are vectors made anew (`recalculate_user`) beside trained ones? NDCG@20 on the test part, as a table.

RIVALRY_DATA=folder-of-the-published-data python benches/python/new_users.py
"""

from types import SimpleNamespace

import numpy as np
import rivalry

MODELS = {
    "SL": {"loss": "sl"},
    "DSL-CA": {"loss": "dsl-ca"},
    "LightGCN with SL": {"backbone": "lightgcn", "loss": "sl"},
    "BPR by dot product": {"loss": "bpr", "score": "dot", "learning_rate": 0.01, "epochs": 60},
}

print("| | trained vector | made anew | mean of items alone | popularity |\n|---|---|---|---|---|")
for source, tau in (("amazon2014-health", 0.25), ("synthetic", 0.2)):
    data = rivalry.datasets.load(source)
    for name, settings in MODELS.items():
        own = {} if settings["loss"] == "bpr" else {"loss_params": {"tau": tau}}
        model = rivalry.Recommender(**{"epochs": 20, **own, **settings})
        model.fit(data, show_progress=False)
        items, counts = model.item_factors, np.asarray(data.train.sum(axis=0))
        candidates = {
            "trained": model,
            "anew": SimpleNamespace(user_factors=model.recalculate_user(data.train), item_factors=items),
            "mean": SimpleNamespace(user_factors=data.train @ items, item_factors=items),
            "popularity": SimpleNamespace(user_factors=np.ones((data.shape[0], 1)), item_factors=counts.T),
        }
        figures = [rivalry.evaluate(candidate, data)["metrics"]["NDCG@20"] for candidate in candidates.values()]
        print(f"| {data.name}, {name} | " + " | ".join(f"{figure:.4f}" for figure in figures) + " |", flush=True)
