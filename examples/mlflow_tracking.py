"""Logs settings, learning curves, metrics and the model to MLflow.

pip install mlflow
python examples/mlflow_tracking.py
mlflow ui --backend-store-uri sqlite:///mlflow.db
"""

import mlflow
import rivalry


def named(metrics: dict, part: str) -> dict:
    """MLflow has no @ in names."""
    return {f"{part}/{name.replace('@', '_at_')}": value for name, value in metrics.items()}


def log(record: dict) -> None:
    mlflow.log_metrics({"loss": record["loss"], **named(record["valid"], "valid")}, step=record["epoch"])


data = rivalry.datasets.load("synthetic")
model = rivalry.Recommender(loss="sl", factors=32, epochs=10, negatives=100, eval_every=2)

mlflow.set_tracking_uri("sqlite:///mlflow.db")
mlflow.set_experiment("rivalry")
with mlflow.start_run() as run:
    mlflow.log_params({**model.get_params(), "data": data.name, "data_checksum": data.checksum})
    model.fit(data, callback=log, show_progress=False)
    mlflow.log_metrics(named(rivalry.evaluate(model, data)["metrics"], "test"))
    model.save("model.safetensors")
    mlflow.log_artifact("model.safetensors")

curve = mlflow.MlflowClient().get_metric_history(run.info.run_id, "valid/NDCG_at_20")
print("NDCG@20 by epoch:", {point.step: round(point.value, 4) for point in curve})
