"""A search with Optuna that prunes unpromising trials between epochs.

pip install optuna
python examples/optuna_pruning.py
"""

import optuna
import rivalry

data = rivalry.datasets.load("synthetic")


def objective(trial: optuna.Trial) -> float:
    model = rivalry.Recommender(
        loss="dsl-ca",
        loss_params={
            "tau": trial.suggest_categorical("tau", rivalry.losses()["dsl-ca"]["params"]["tau"]["grid"]),
            "alpha": trial.suggest_float("alpha", 0.5, 3.0),
        },
        learning_rate=trial.suggest_float("learning_rate", 1e-2, 0.2, log=True),
        factors=32,
        epochs=12,
        negatives=100,
        eval_every=2,
    )

    def report(record: dict) -> None:
        trial.report(record["valid"]["NDCG@20"], record["epoch"])
        if trial.should_prune():
            raise optuna.TrialPruned  # stops the training

    model.fit(data, callback=report, show_progress=False)
    return max(record["valid"]["NDCG@20"] for record in model.history_)


study = optuna.create_study(
    direction="maximize",
    sampler=optuna.samplers.TPESampler(seed=0),
    pruner=optuna.pruners.MedianPruner(n_startup_trials=3, n_warmup_steps=2),
)
study.optimize(objective, n_trials=10)
pruned = [trial for trial in study.trials if trial.state == optuna.trial.TrialState.PRUNED]
print(f"best NDCG@20 {study.best_value:.4f} with {study.best_params}")
print(f"pruned {len(pruned)} of {len(study.trials)} trials")
