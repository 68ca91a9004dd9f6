"""Compares folded-in user vectors (`recalculate_user`) with trained ones: NDCG@20 on the test set, as a table.

RIVALRY_DATA=folder-of-the-published-data python benches/python/new_users.py
"""

from types import SimpleNamespace

import rivalry

MODELS = {
    "SL": {"loss": "sl"},
    "DSL-CA": {"loss": "dsl-ca"},
    "LightGCN with SL": {"model": "lightgcn", "loss": "sl"},
    "BPR by dot product": {"loss": "bpr", "score": "dot", "learning_rate": 0.01, "epochs": 60},
}

print("| | trained vector | fold-in | mean of items alone | popularity |\n|---|---|---|---|---|")
for source, tau in (("amazon2014-health", 0.25), ("synthetic", 0.2)):
    data = rivalry.datasets.load(source)
    for name, settings in MODELS.items():
        own = {} if settings["loss"] == "bpr" else {"loss_params": {"tau": tau}}
        model = rivalry.Recommender(**{"epochs": 20, **own, **settings})
        model.fit(data, show_progress=False)
        items = model.item_factors
        candidates = {
            "trained": model,
            "fold-in": SimpleNamespace(user_factors=model.recalculate_user(data.train), item_factors=items),
            "mean": SimpleNamespace(user_factors=data.train @ items, item_factors=items),
            "popularity": rivalry.Recommender("popularity").fit(data, show_progress=False),
        }
        figures = [rivalry.evaluate(candidate, data)["metrics"]["NDCG@20"] for candidate in candidates.values()]
        print(f"| {data.name}, {name} | " + " | ".join(f"{figure:.4f}" for figure in figures) + " |", flush=True)
