"""The recommender: settings, training, loading."""

from __future__ import annotations

import inspect
import json
import os
from typing import Any, Callable, Optional, Union

import numpy as np

from . import _rivalry
from ._dataset import as_dataset
from ._input import ids_of, seed_of
from ._progress import Progress
from ._ranking import Ranking
from ._settings import to_json

#: Gets the record of each evaluation; returning ``True`` stops the training.
Callback = Callable[[dict[str, Any]], Optional[bool]]

#: The settings of the gradient trainer and of gradient models: where a config has them, by constructor argument.
SETTINGS = {
    "factors": ("model", "dim"),
    "score": ("model", "score"),
    "learning_rate": ("optim", "lr"),
    "weight_decay": ("optim", "weight_decay"),
    "epochs": ("train", "epochs"),
    "batch_size": ("train", "batch_size"),
    "negatives": ("train", "negatives"),
    "eval_every": ("train", "eval_every"),
    "patience": ("train", "patience"),
}


class Recommender(Ranking):
    """An implicit-feedback recommender.

    Users and items are identified by row and column numbers if the model was fitted on a matrix, and by their ids if it
    was fitted on a frame or a data set with ids. The same settings, data and ``random_state`` give the same model, bit for
    bit: for any number of threads, and on the command line, too.

    Closed-form models, such as ``"popularity"``, have no loss, no epochs and no factors. For them, the loss and the
    settings of gradient training must be left at their defaults.

    Parameters
    ----------
    model, model_params:
        The model, such as ``"mf"``, ``"lightgcn"`` or ``"popularity"``, and its parameters, such as ``{"layers": 2}``
        (see :func:`rivalry.models`).
    loss, loss_params:
        The loss and its parameters, such as ``{"tau": 0.1}`` (see :func:`rivalry.losses`).
    factors:
        The embedding dimension.
    score:
        ``"cosine"`` or ``"dot"``.
    learning_rate, weight_decay:
        The learning rate and L2 regularisation of Adam.
    epochs, batch_size:
        Passes over the training pairs; training pairs in a step.
    negatives:
        Negatives for each training pair; ``None`` for the loss's default (1000 for the softmax family).
    eval_every, patience:
        Epochs between evaluations; early stopping after this many evaluations without an improvement.
    k:
        The list lengths of evaluations. The epoch is chosen by NDCG@20 (or at the longest, if 20 is not among them).
    random_state:
        An integer, a NumPy generator, or ``None`` for a new seed at each fit.
    num_threads:
        0 for all cores.
    backbone, backbone_params:
        Deprecated aliases of ``model`` and ``model_params``.

    Attributes
    ----------
    user_factors, item_factors:
        The embeddings whose dot products are the scores.
    history_:
        One dictionary per evaluation; empty for a closed-form model.
    report_:
        How the training ended, its seconds, and for gradient models the number of epochs and the epoch that was kept.

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
        model: str = "mf",
        loss: str = "dsl",
        loss_params: Optional[dict[str, Any]] = None,
        factors: int = 64,
        learning_rate: float = 0.1,
        epochs: int = 200,
        negatives: Optional[int] = None,
        random_state: Union[None, int, np.random.Generator, np.random.RandomState] = 0,
        num_threads: int = 0,
        *,
        model_params: Optional[dict[str, Any]] = None,
        score: str = "cosine",
        weight_decay: float = 0.0,
        batch_size: int = 1024,
        eval_every: int = 5,
        patience: Optional[int] = None,
        k: Union[int, list[int], tuple[int, ...]] = 20,
        backbone: Optional[str] = None,
        backbone_params: Optional[dict[str, Any]] = None,
    ) -> None:
        self.model = model
        self.loss = loss
        self.loss_params = loss_params
        self.factors = factors
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.negatives = negatives
        self.random_state = random_state
        self.num_threads = num_threads
        self.model_params = model_params
        self.score = score
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.eval_every = eval_every
        self.patience = patience
        self.k = k
        self.backbone = backbone
        self.backbone_params = backbone_params

    @classmethod
    def _parameters(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings, as in scikit-learn."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params: Any) -> Recommender:
        """Changes settings. A fitted model stays as it is until the next fit."""
        known = self._parameters()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"unknown parameter {name!r}\n  help: known: {', '.join(known)}")
            setattr(self, name, value)
        return self

    @classmethod
    def _default(cls, name: str) -> Any:
        return inspect.signature(cls.__init__).parameters[name].default

    def _chosen(self) -> tuple[str, dict[str, Any]]:
        """The model and its parameters, which may have been given by their deprecated names."""
        name, params = self.model, self.model_params
        if self.backbone is not None:
            if name not in (self._default("model"), self.backbone):
                raise ValueError(
                    f"model={name!r} and backbone={self.backbone!r} disagree\n  help: backbone is an alias: leave it out"
                )
            name = self.backbone
        if self.backbone_params is not None:
            if params is not None:
                raise ValueError(
                    "model_params and backbone_params are both given\n  help: backbone_params is an alias: leave it out"
                )
            params = self.backbone_params
        return name, params or {}

    def _settings(self, n_items: int) -> str:
        """The settings as a config in JSON. Defaults are left out: not every model has all settings."""
        name, params = self._chosen()
        settings: dict[str, Any] = {"model": {**params, "type": name}}
        if self.loss != self._default("loss") or self.loss_params is not None:
            settings["loss"] = {**(self.loss_params or {}), "type": self.loss}
        for argument, (section, key) in SETTINGS.items():
            value = getattr(self, argument)
            if value != self._default(argument):
                settings.setdefault(section, {})[key] = value
        settings.setdefault("train", {})["seed"] = seed_of(self.random_state)
        lengths = [self.k] if isinstance(self.k, (int, np.integer)) else list(self.k)
        # The default is shortened for a small catalogue; other lengths are taken as they are.
        settings["eval"] = {"k": [min(20, n_items)] if lengths == [20] else lengths}
        return to_json(settings)

    def fit(
        self,
        user_items: Any,
        validation: Any = None,
        callback: Optional[Callback] = None,
        show_progress: bool = True,
    ) -> Recommender:
        """Trains the model.

        A stored entry above zero is an interaction; its value does not matter.

        Ctrl-C stops the training between two steps. A gradient model that is stopped can be used: it is the best epoch so
        far if there is validation, otherwise it has the latest factors.

        Parameters
        ----------
        user_items:
            A SciPy CSR matrix with users as rows and items as columns; a frame (pandas, polars, pyarrow) with a user and
            an item column; or a :class:`rivalry.Dataset`, of which the training and validation parts are used.
        validation:
            Held-out interactions in the same form. The epoch that is best on them is kept; without them, the last.
        callback:
            Called after each evaluation (every ``eval_every`` epochs) on this thread, with a dictionary: ``epoch``,
            ``loss``, ``valid`` (metrics, if there is validation), ``best`` and ``seconds``. If it returns ``True`` or
            raises, the training stops. Closed-form models have no epochs, so it is not called for them.
        show_progress:
            Whether to report progress on ``stderr``.
        """
        data = as_dataset(user_items, validation)
        if len(data._data.train) == 0:
            raise ValueError("user_items has no interactions\n  help: check how the matrix was built")
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
        """Reads a model file or the model in a run folder. The settings it was trained with are restored, too."""
        if not os.path.exists(path):
            raise FileNotFoundError(
                f"{os.fspath(path)}: no such file or folder\n  help: give a model file or a run folder"
            )
        core = _rivalry.Model.load(os.fspath(path))
        config = json.loads(core.config)
        section = dict(config["model"])
        params: dict[str, Any] = {"model": section.pop("type")}
        for argument, (name, key) in SETTINGS.items():
            if key in config.get(name, {}):
                params[argument] = config[name][key]
        own = {key: value for key, value in section.items() if ("model", key) not in SETTINGS.values()}
        loss = dict(config.get("loss", {}))
        if loss:
            params["loss"] = loss.pop("type")
        model = cls(
            **params,
            model_params=own or None,
            loss_params=loss or None,
            random_state=config["train"]["seed"],
            k=config["eval"]["k"],
        )
        model._take(core, ids_of(core.users), ids_of(core.items))
        return model

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        given = [f"{name}={value!r}" for name, value in self.get_params().items() if value is not defaults[name].default]
        return f"Recommender({', '.join(given)})"


def _selection_metric(lengths: list[int]) -> str:
    return f"NDCG@{20 if 20 in lengths else max(lengths, default=20)}"
