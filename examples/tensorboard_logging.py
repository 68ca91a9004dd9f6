"""Learning curves in TensorBoard. (`torch.utils.tensorboard.SummaryWriter` has the same interface.)

pip install tensorboardX
python examples/tensorboard_logging.py
tensorboard --logdir tensorboard
"""

import rivalry
from tensorboardX import SummaryWriter

data = rivalry.datasets.load("synthetic")

for loss in ("sl", "dsl-ca"):
    with SummaryWriter(f"tensorboard/{loss}") as writer:

        def log(record: dict) -> None:
            writer.add_scalar("loss", record["loss"], record["epoch"])
            for name, value in record["valid"].items():
                writer.add_scalar(f"valid/{name.replace('@', '_at_')}", value, record["epoch"])

        model = rivalry.Recommender(loss=loss, factors=32, epochs=10, negatives=100, eval_every=2)
        model.fit(data, callback=log, show_progress=False)
        print(f"{loss}: NDCG@20 {rivalry.evaluate(model, data)['metrics']['NDCG@20']:.4f}")
