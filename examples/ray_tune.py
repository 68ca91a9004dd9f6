"""A search with Ray Tune: one process per trial, unpromising ones stopped early.

pip install "ray[tune]"
python examples/ray_tune.py
"""

import tempfile

import ray
import rivalry
from ray import tune
from ray.tune.schedulers import ASHAScheduler


def train(config: dict) -> None:
    data = rivalry.datasets.load("synthetic")
    model = rivalry.Recommender(
        loss="sl",
        loss_params={"tau": config["tau"]},
        learning_rate=config["learning_rate"],
        factors=32,
        epochs=8,
        negatives=100,
        eval_every=2,
        num_threads=1,  # one core per trial
    )
    model.fit(data, callback=lambda record: tune.report({"ndcg": record["valid"]["NDCG@20"]}), show_progress=False)


ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
tuner = tune.Tuner(
    train,
    param_space={"tau": tune.grid_search([0.05, 0.2]), "learning_rate": tune.grid_search([0.02, 0.1])},
    tune_config=tune.TuneConfig(metric="ndcg", mode="max", scheduler=ASHAScheduler(max_t=4, grace_period=2)),
    run_config=tune.RunConfig(storage_path=tempfile.mkdtemp(), verbose=0),
)
results = tuner.fit()
best = results.get_best_result()
print(f"best NDCG@20 {best.metrics['ndcg']:.4f} with {best.config}")
print(f"{len(results)} trials, {len(results.errors)} failed")
ray.shutdown()
