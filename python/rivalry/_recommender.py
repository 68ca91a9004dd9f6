"""The recommender: settings, training, lists."""

from __future__ import annotations

import inspect
import json
import os
from typing import Any, Callable, Optional, Union

import numpy as np

from . import _rivalry
from ._dataset import as_dataset
from ._input import ids_of, seed_of
from ._lists import Lists
from ._progress import Progress
from ._settings import to_json

#: Is told of each evaluation; ``True`` stops the training.
Callback = Callable[[dict[str, Any]], Optional[bool]]


class Recommender(Lists):
    """An implicit-feedback recommender.

    Users and items are called by the numbers of their rows and columns where the model was fitted on a matrix, and by
    their own ids where it was fitted on a frame or a data set that has them. The same settings, data and
    ``random_state`` give the same factors, bit for bit: for any number of threads, and on the command line too.

    Parameters
    ----------
    backbone, backbone_params:
        How learned embeddings become scored ones, such as ``"mf"`` or ``"lightgcn"`` (see :func:`rivalry.backbones`).
    loss, loss_params:
        What is minimised, and its parameters, such as ``{"tau": 0.1}`` (see :func:`rivalry.losses`).
    factors:
        Numbers in an embedding.
    score:
        ``"cosine"`` or ``"dot"``.
    learning_rate, weight_decay:
        Of Adam.
    epochs, batch_size:
        Times through the training pairs; pairs in a step.
    negatives:
        Negatives for each pair; ``None`` for as many as the loss is used with (1000 for the softmax family).
    eval_every, patience:
        Epochs between evaluations; stop after so many evaluations without a better one.
    k:
        The lengths of list that evaluations measure. The epoch is chosen by NDCG@20 (or at the longest, without 20).
    random_state:
        An integer, a NumPy generator, or ``None`` for a new seed each time.
    num_threads:
        0 for all cores.

    Attributes
    ----------
    user_factors, item_factors:
        The embeddings whose dot products are the scores.
    history_:
        One dictionary for each evaluation.
    report_:
        How the training ended, how many epochs it ran, which one was kept, and the seconds it took.

    Examples
    --------
    >>> data = rivalry.datasets.load("synthetic")
    >>> model = rivalry.Recommender(loss="sl", epochs=5, negatives=100).fit(data, show_progress=False)
    >>> items, scores = model.recommend("user-0007", N=3)
    >>> len(items)
    3
    """

    def __init__(
        self,
        backbone: str = "mf",
        loss: str = "dsl",
        loss_params: Optional[dict[str, Any]] = None,
        factors: int = 64,
        learning_rate: float = 0.1,
        epochs: int = 200,
        negatives: Optional[int] = None,
        random_state: Union[None, int, np.random.Generator, np.random.RandomState] = 0,
        num_threads: int = 0,
        *,
        backbone_params: Optional[dict[str, Any]] = None,
        score: str = "cosine",
        weight_decay: float = 0.0,
        batch_size: int = 1024,
        eval_every: int = 5,
        patience: Optional[int] = None,
        k: Union[int, list[int], tuple[int, ...]] = 20,
    ) -> None:
        self.backbone = backbone
        self.loss = loss
        self.loss_params = loss_params
        self.factors = factors
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.negatives = negatives
        self.random_state = random_state
        self.num_threads = num_threads
        self.backbone_params = backbone_params
        self.score = score
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.eval_every = eval_every
        self.patience = patience
        self.k = k

    @classmethod
    def _parameters(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings, as scikit-learn asks for them."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params: Any) -> Recommender:
        """Changes settings; a fitted model stays as it is until it is fitted again."""
        known = self._parameters()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"unknown parameter {name!r}\n  help: known: {', '.join(known)}")
            setattr(self, name, value)
        return self

    def _settings(self, n_items: Optional[int] = None) -> str:
        """The settings as the config of a run has them."""
        lengths = [self.k] if isinstance(self.k, (int, np.integer)) else list(self.k)
        if n_items is not None:
            # A short catalogue has no lists of twenty; whoever asks for other lengths is taken at their word.
            lengths = [min(20, n_items)] if lengths == [20] else lengths
        settings = {
            "backbone": {**(self.backbone_params or {}), "type": self.backbone},
            "loss": {**(self.loss_params or {}), "type": self.loss},
            "model": {"dim": self.factors, "score": self.score},
            "optim": {"lr": self.learning_rate, "weight_decay": self.weight_decay},
            "train": {
                "epochs": self.epochs,
                "batch_size": self.batch_size,
                "negatives": self.negatives,
                "eval_every": self.eval_every,
                "patience": self.patience,
                "seed": seed_of(self.random_state),
            },
            "eval": {"k": lengths},
        }
        return to_json(settings)

    def fit(
        self,
        user_items: Any,
        validation: Any = None,
        callback: Optional[Callback] = None,
        show_progress: bool = True,
    ) -> Recommender:
        """Trains the model.

        A stored entry above zero says that the user likes the item; how large it is does not matter.

        Ctrl-C stops the training between two steps. However it is stopped, the model is then what it would have been
        had it ended there: the best epoch so far where there is validation, otherwise the latest factors.

        Parameters
        ----------
        user_items:
            A SciPy CSR matrix with users as rows and items as columns; a frame (pandas, polars, pyarrow) with a user
            and an item column; or a :class:`rivalry.Dataset`, whose training and validation parts are taken.
        validation:
            Held-out interactions of the same kind. The epoch that is best on them is kept; without them, the last.
        callback:
            Called after each evaluation (every ``eval_every`` epochs) on this thread, with a dictionary: ``epoch``,
            ``loss``, ``valid`` (metrics, where there is validation), ``best`` and ``seconds``. If it returns ``True``
            or raises, the training stops.
        show_progress:
            Whether to write to ``stderr`` how far it is.
        """
        data = as_dataset(user_items, validation)
        if len(data._data.train) == 0:
            raise ValueError("user_items holds no interactions\n  help: check that the matrix was built as you meant")
        settings = self._settings(data.shape[1])
        progress = Progress(show_progress, self.epochs)
        metric = _selection_metric(json.loads(settings)["eval"]["k"])
        history: list[dict[str, Any]] = []

        def on_evaluation(text: str) -> bool:
            record = json.loads(text)
            history.append(record)
            progress.evaluated(record, metric)
            return callback is not None and callback(dict(record)) is True

        try:
            core, report, reason = _rivalry.fit(settings, data._data, self._threads(), on_evaluation, progress.tick)
        finally:
            progress.close()
        self._take(core, data.user_ids, data.item_ids)
        self.history_ = history
        self.report_: dict[str, Any] = json.loads(report)
        if reason is not None:
            raise reason
        return self

    @classmethod
    def load(cls, path: Union[str, os.PathLike[str]]) -> Recommender:
        """Reads a model file, or the model in a run's folder. The settings come with it."""
        if not os.path.exists(path):
            raise FileNotFoundError(
                f"{os.fspath(path)}: no such file or folder\n  help: give a model file, or the folder of a run"
            )
        core = _rivalry.Model.load(os.fspath(path))
        config = json.loads(core.config)
        sections = {name: dict(config[name]) for name in ("backbone", "loss")}
        names = {name: section.pop("type") for name, section in sections.items()}
        train = config["train"]
        model = cls(
            backbone=names["backbone"],
            backbone_params=sections["backbone"] or None,
            loss=names["loss"],
            loss_params=sections["loss"] or None,
            factors=config["model"]["dim"],
            score=config["model"]["score"],
            learning_rate=config["optim"]["lr"],
            weight_decay=config["optim"]["weight_decay"],
            epochs=train["epochs"],
            batch_size=train["batch_size"],
            negatives=train.get("negatives"),
            random_state=train["seed"],
            eval_every=train["eval_every"],
            patience=train.get("patience"),
            k=config["eval"]["k"],
        )
        model._take(core, ids_of(core.users), ids_of(core.items))
        return model

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        told = [f"{name}={value!r}" for name, value in self.get_params().items() if value is not defaults[name].default]
        return f"Recommender({', '.join(told)})"


def _selection_metric(lengths: list[int]) -> str:
    return f"NDCG@{20 if 20 in lengths else max(lengths, default=20)}"
