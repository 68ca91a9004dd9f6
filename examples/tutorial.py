"""A tour of Rivalry in cells: open it in an editor that knows `# %%`, or run it as a script.

pip install .
python examples/tutorial.py
"""

# %% Data: a synthetic data set. Its parts are SciPy CSR matrices with users as rows and items as columns.
import numpy as np
import rivalry
import scipy.sparse as sp

data = rivalry.datasets.load("synthetic")
print(data)

# %% Your own data: a sparse matrix, or a frame with a user and an item column. rivalry.split splits it.
log = sp.random(300, 200, density=0.1, format="csr", random_state=0)
print(rivalry.split(log, test=0.2, seed=1))

# %% Training. The epoch that is best on the validation set is kept.
model = rivalry.Recommender(loss="sl", loss_params={"tau": 0.2}, factors=32, epochs=10, negatives=100, eval_every=2)
model.fit(data)
print(model.report_)
print("NDCG@20 by epoch:", {record["epoch"]: round(record["valid"]["NDCG@20"], 4) for record in model.history_})

# %% Evaluation by full ranking on the test set.
ours = rivalry.evaluate(model, data)["metrics"]
print({name: round(value, 4) for name, value in ours.items()})

# %% A baseline: popularity is a closed-form model, without loss and epochs.
baseline = rivalry.Recommender("popularity").fit(data)
popular = rivalry.evaluate(baseline, data)["metrics"]
print(f"NDCG@20: popularity {popular['NDCG@20']:.4f}, ours {ours['NDCG@20']:.4f}")
assert ours["NDCG@20"] > 1.5 * popular["NDCG@20"]

# %% Recommendations. The data set has ids, so users and items are identified by them. Known items are left out.
items, scores = model.recommend("user-0007", N=5)
print(dict(zip(items, scores.round(3))))
items, scores = model.recommend(["user-0007", "user-0008"], N=5)
print(items)

# %% The same with row and column numbers: fit on a matrix.
bare = rivalry.Recommender(**model.get_params()).fit(data.train, validation=data.valid, show_progress=False)
assert (bare.user_factors == model.user_factors).all()
items, scores = bare.recommend(7, user_items=data.train[7], N=5)
print(items)

# %% Similar items, and a new user.
items, scores = model.similar_items("item-0042", N=4)
print(dict(zip(items, scores.round(3))))
vector = model.recalculate_user(["item-0042", "item-0007"])
best = np.argsort(-(model.item_factors @ vector))[:5]
print(model.item_ids[best])

# %% The factors are NumPy arrays: their dot products are the scores.
print(model.user_factors.shape, model.item_factors.shape)

# %% A callback gets the record of each evaluation and may stop the training.
seen = []


def watch(record):
    seen.append(record["valid"]["NDCG@20"])
    return len(seen) > 2 and seen[-1] < seen[-2]


rivalry.Recommender(loss="dsl-ca", factors=32, epochs=12, negatives=100, eval_every=2).fit(
    data, callback=watch, show_progress=False
)
print([round(value, 4) for value in seen])

# %% Model files can be read by the command line, too: rivalry recommend tutorial.safetensors --user user-0007
model.save("tutorial.safetensors")
again = rivalry.Recommender.load("tutorial.safetensors")
assert (again.user_factors == model.user_factors).all()

# %% The losses as functions, for your own models: value and gradients for a batch of scores.
rng = np.random.default_rng(0)
pos, neg, sim = rng.uniform(-1, 1, 4), rng.uniform(-1, 1, (4, 100)), rng.uniform(-1, 1, (4, 100))
value, grad_pos, grad_neg, _ = rivalry.dsl_loss(pos, neg, sim, tau=0.2, alpha=1.0, beta=1.0)
print(round(float(value), 4), grad_pos.shape, grad_neg.shape)
