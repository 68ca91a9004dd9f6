"""A sweep on a Ray cluster.

pip install ray rivalry                            # the same versions on all nodes
ray start --head                                   # on one node, and `ray start --address=HEAD:6379` on the others
python examples/cluster/ray_sweep.py               # on any of them; without a cluster it uses this machine
"""

import sys

import rivalry.ray

out = sys.argv[1] if len(sys.argv) > 1 else "runs/ray"
found = rivalry.ray.sweep(
    "synthetic",
    losses=["sl", "dsl-ca"],
    trials=4,
    settings={"train.epochs": 9, "train.negatives": 100, "train.eval_every": 1},
    halving=True,
    out=out,
)
for best in found["chosen"]:
    print(best["loss"], best["settings"])
