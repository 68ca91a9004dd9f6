"""A first walk through Rivalry, cell by cell: open it in an editor that knows `# %%`, or run it as it is.

pip install .
python examples/tutorial.py
"""

# %% Data: the embedded set, made on the spot. Parts are SciPy CSR matrices, users as rows and items as columns.
import numpy as np
import rivalry
import scipy.sparse as sp

data = rivalry.datasets.load("synthetic")
print(data)

# %% Your own data go the same way: a matrix, or a frame with a user and an item column, cut by rivalry.split.
log = sp.random(300, 200, density=0.1, format="csr", random_state=0)
print(rivalry.split(log, test=0.2, seed=1))

# %% A model: settings first, then fit. The epoch that is best on the validation part is kept.
model = rivalry.Recommender(loss="sl", loss_params={"tau": 0.2}, factors=32, epochs=10, negatives=100, eval_every=2)
model.fit(data)
print(model.report_)
print("NDCG@20 by epoch:", {record["epoch"]: round(record["valid"]["NDCG@20"], 4) for record in model.history_})

# %% How good is it? Full ranking on the test part.
ours = rivalry.evaluate(model, data)["metrics"]
print({name: round(value, 4) for name, value in ours.items()})


# %% Is that good? Anything with factors can be evaluated: here, popularity.
class Popularity:
    user_factors = np.ones((data.shape[0], 1))
    item_factors = np.asarray(data.train.sum(axis=0)).T


popular = rivalry.evaluate(Popularity, data)["metrics"]
print(f"NDCG@20: popularity {popular['NDCG@20']:.4f}, ours {ours['NDCG@20']:.4f}")
assert ours["NDCG@20"] > 1.5 * popular["NDCG@20"]

# %% Lists. The data set has ids, so users and items are called by them. What a user is known to like is left out.
items, scores = model.recommend("user-0007", N=5)
print(dict(zip(items, scores.round(3))))
items, scores = model.recommend(["user-0007", "user-0008"], N=5)
print(items)

# %% The same with numbers instead of names: fit on a bare matrix.
bare = rivalry.Recommender(**model.get_params()).fit(data.train, validation=data.valid, show_progress=False)
assert (bare.user_factors == model.user_factors).all()
items, scores = bare.recommend(7, user_items=data.train[7], N=5)
print(items)

# %% Likeness, and a user that training never saw.
items, scores = model.similar_items("item-0042", N=4)
print(dict(zip(items, scores.round(3))))
vector = model.recalculate_user(["item-0042", "item-0007"])
best = np.argsort(-(model.item_factors @ vector))[:5]
print(model.item_ids[best])

# %% The factors are NumPy arrays: their products are the scores.
print(model.user_factors.shape, model.item_factors.shape)

# %% A callback sees every evaluation, and may end the training.
seen = []


def watch(record):
    seen.append(record["valid"]["NDCG@20"])
    return len(seen) > 2 and seen[-1] < seen[-2]


rivalry.Recommender(loss="dsl-ca", factors=32, epochs=12, negatives=100, eval_every=2).fit(
    data, callback=watch, show_progress=False
)
print([round(value, 4) for value in seen])

# %% Models are files, the same that the command line reads: rivalry recommend tutorial.safetensors --user user-0007
model.save("tutorial.safetensors")
again = rivalry.Recommender.load("tutorial.safetensors")
assert (again.user_factors == model.user_factors).all()

# %% The losses alone, for models of your own: value and gradients of a batch of scores.
rng = np.random.default_rng(0)
pos, neg, sim = rng.uniform(-1, 1, 4), rng.uniform(-1, 1, (4, 100)), rng.uniform(-1, 1, (4, 100))
value, grad_pos, grad_neg, _ = rivalry.dsl_loss(pos, neg, sim, tau=0.2, alpha=1.0, beta=1.0)
print(round(float(value), 4), grad_pos.shape, grad_neg.shape)
