"""The recommender: settings, training, loading."""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Optional, Union

import numpy as np

from . import _rivalry
from ._errors import TrainingWarning, warn
from ._frame import Columns
from ._html import metrics, table
from ._input import ids_of, seed_of
from ._naming import arguments
from ._parameters import Parameters
from ._progress import Progress
from ._ranking import Ranking
from ._registry import models
from ._settings import threads, to_json
from ._training import training_data

#: Gets the record of each evaluation; returning ``True`` stops the training.
Callback = Callable[[dict[str, Any]], Optional[bool]]

#: Where a config has the settings of the constructor, by argument.
SETTINGS = {
    "model": ("model", "type"),
    "loss": ("loss", "type"),
    "sampler": ("sampler", "type"),
    "optimizer": ("optim", "type"),
    "factors": ("model", "dim"),
    "score": ("model", "score"),
    "learning_rate": ("optim", "lr"),
    "weight_decay": ("optim", "weight_decay"),
    "epochs": ("train", "epochs"),
    "batch_size": ("train", "batch_size"),
    "negatives": ("train", "negatives"),
    "eval_every": ("train", "eval_every"),
    "patience": ("train", "patience"),
    "random_state": ("train", "seed"),
    "k": ("eval", "k"),
    "select_by": ("eval", "select_by"),
}

#: The arguments that hold a section's other settings.
PARAMS = {"model_params": "model", "loss_params": "loss", "sampler_params": "sampler", "optimizer_params": "optim"}

#: The arguments by config key, for errors.
ARGUMENTS = {
    **{f"{section}.{key}": argument for argument, (section, key) in SETTINGS.items()},
    **{f"{section}.": argument for argument, section in PARAMS.items()},
}


class Recommender(Parameters, Ranking):
    """An implicit-feedback recommender.

    Users and items are identified by row and column numbers if the model was fitted on a matrix, and by their ids if it
    was fitted on a frame or a data set with ids. The same settings, data and ``random_state`` give the same model, bit
    for bit: for any number of threads, and on the command line, too.

    ``None`` stands for the default of a setting, which depends on the model or the loss; the values below are those of
    ``"mf"`` with the default loss. Closed-form models, such as ``"ease"``, have no loss and no epochs, and, except for
    ``"ials"`` no factors: for them, these settings must not be given.

    Parameters
    ----------
    model, model_params:
        The model, such as ``"mf"``, ``"lightgcn"`` or ``"ease"``, and its parameters, such as ``{"layers": 2}``
        (see :func:`rivalry.models`).
    loss, loss_params:
        The loss (default ``"dsl-ca"`` with a popularity prior) and its parameters, such as ``{"tau": 0.1}`` (see
        :func:`rivalry.losses`).
    factors:
        The embedding dimension (default 64).
    score:
        ``"cosine"`` or ``"dot"`` (default ``"cosine"``).
    learning_rate, weight_decay:
        The learning rate (default 0.1) and L2 regularisation (default 0.0).
    epochs, batch_size:
        Passes over the training pairs (default 200); training pairs in a step (default 1024).
    negatives:
        Negatives for each training pair (default 1000).
    eval_every:
        Epochs between evaluations (default 5).
    patience:
        Early stopping after this many evaluations without an improvement on the validation set; ``None`` runs all
        epochs. The default, ``"default"``, is that of the command line: 10 if there is validation.
    sampler, sampler_params:
        The negative sampler (default ``"uniform"``) and its parameters (see :func:`rivalry.samplers`).
    optimizer, optimizer_params:
        The optimiser (default ``"adam"``) and its other parameters (see :func:`rivalry.optimizers`).
    k:
        The list lengths of evaluations.
    select_by:
        The validation metric that the epoch is chosen by, such as ``"Recall@10"``. Default: NDCG@20, or NDCG at the
        longest list if 20 is not among them.
    random_state:
        An integer, a NumPy generator, or ``None`` for a new seed at each fit.
    num_threads:
        0 or -1 for all cores, -2 for all but one, as in scikit-learn.
    backbone, backbone_params:
        Deprecated aliases of ``model`` and ``model_params``.

    Attributes
    ----------
    user_factors, item_factors:
        The embeddings whose dot products are the scores; with a popularity prior they have one column more than ``factors``.
    history_:
        One dictionary per evaluation; empty for a closed-form model.
    report_:
        How the training ended, its seconds, and for gradient models the number of epochs and the epoch that was kept.
        ``nothing_learned`` says why the model is no better than chance, if it is not; `fit` warns of it, too.

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
        loss: Optional[str] = None,
        loss_params: Optional[dict[str, Any]] = None,
        factors: Optional[int] = None,
        learning_rate: Optional[float] = None,
        epochs: Optional[int] = None,
        negatives: Optional[int] = None,
        random_state: Union[None, int, np.random.Generator, np.random.RandomState] = 0,
        num_threads: int = 0,
        *,
        model_params: Optional[dict[str, Any]] = None,
        score: Optional[str] = None,
        weight_decay: Optional[float] = None,
        batch_size: Optional[int] = None,
        eval_every: Optional[int] = None,
        patience: Union[None, int, str] = "default",
        sampler: Optional[str] = None,
        sampler_params: Optional[dict[str, Any]] = None,
        optimizer: Optional[str] = None,
        optimizer_params: Optional[dict[str, Any]] = None,
        k: Union[int, list[int], tuple[int, ...]] = 20,
        select_by: Optional[str] = None,
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
        self.sampler = sampler
        self.sampler_params = sampler_params
        self.optimizer = optimizer
        self.optimizer_params = optimizer_params
        self.k = k
        self.select_by = select_by
        self.backbone = backbone
        self.backbone_params = backbone_params

    def _chosen(self) -> tuple[str, dict[str, Any]]:
        """The model and its parameters, which may have been given by their deprecated names."""
        name, params = self.model, self.model_params
        if self.backbone is not None:
            if name not in (self._defaults()["model"], self.backbone):
                raise ValueError(
                    f"model={name!r} and backbone={self.backbone!r} disagree\n"
                    "  help: backbone is an alias: leave it out"
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
        """The settings that were given as a config in JSON."""
        model, model_params = self._chosen()
        lengths = [self.k] if np.ndim(self.k) == 0 else list(self.k)  # type: ignore[arg-type]
        given = {
            **{argument: getattr(self, argument) for argument in SETTINGS},
            "model": model,
            "patience": self._patience(),
            "random_state": seed_of(self.random_state),
            # The default is shortened for a small catalogue; other lengths are taken as they are.
            "k": [min(20, n_items)] if lengths == [20] else lengths,
        }
        entry = models().get(str(model))
        if self.factors is not None and entry is not None and "dim" not in entry["params"]:
            raise ValueError(f"factors: {model} has no factors\n  help: leave factors out")
        settings: dict[str, dict[str, Any]] = {section: {} for section, _ in SETTINGS.values()}
        for argument, section in PARAMS.items():
            settings[section].update(model_params if argument == "model_params" else getattr(self, argument) or {})
        for argument, (section, key) in SETTINGS.items():
            if given[argument] is None:
                continue
            if key in settings[section]:
                params = ARGUMENTS[section + "."]
                raise ValueError(f'{argument} and {params}["{key}"] are both given\n  help: leave one out')
            settings[section][key] = given[argument]
        return to_json({section: keys for section, keys in settings.items() if keys})

    def _patience(self) -> Union[None, int, str]:
        """The patience as a config has it; ``None`` if it is not given."""
        patience = self.patience
        if patience is None:
            return "none"
        if patience == "default":
            return None
        if not isinstance(patience, (int, np.integer)) or isinstance(patience, bool):
            raise ValueError(
                f'patience must be a whole number ≥ 1, None to run all epochs or "default", not {patience!r}'
            )
        return int(patience)

    def fit(
        self,
        user_items: Any,
        validation: Any = None,
        callback: Optional[Callback] = None,
        show_progress: bool = True,
        *,
        user_col: Any = None,
        item_col: Any = None,
        rating_col: Any = None,
        time_col: Any = None,
    ) -> Recommender:
        """Trains the model.

        A stored entry above zero is an interaction; its value does not matter.

        Ctrl-C stops the training between two steps. A gradient model that is stopped can be used: it is the best epoch
        so far if there is validation, otherwise it has the latest factors.

        Parameters
        ----------
        user_items:
            A SciPy CSR matrix with users as rows and items as columns; a frame (pandas, polars, pyarrow) with a user
            and an item column; or a :class:`rivalry.Dataset`, of which the training and validation sets are used.
        validation:
            Held-out interactions in the same form; or the fraction of ``user_items`` that is held out, such as 0.1,
            or another way to choose it, as in :func:`rivalry.split`. The epoch that is best on them is kept; without
            them, the last.
        callback:
            Called after each evaluation (every ``eval_every`` epochs) on this thread, with a dictionary: ``epoch``,
            ``loss``, ``valid`` (metrics, if there is validation), ``best`` and ``seconds``. If it returns ``True`` or
            raises, the training stops. Closed-form models have no epochs, so it is not called for them.
        show_progress:
            Whether to report progress on ``stderr``.
        user_col, item_col, rating_col, time_col:
            The columns of a frame. Default: those with usual names, such as ``user_id`` and ``item``. An interaction
            counts whatever its rating (:func:`rivalry.split` can leave out low ratings); times matter only where
            ``validation`` chooses by them.
        """
        data = training_data(user_items, validation, Columns(user_col, item_col, rating_col, time_col))
        if len(data._data.train) == 0:
            raise ValueError("user_items has no interactions\n  help: check how the matrix was built")
        with arguments(ARGUMENTS):
            settings = self._settings(data.shape[1])
            config = json.loads(_rivalry.config(settings))
        progress = Progress(show_progress, config["train"].get("epochs", 0))
        metric = config["eval"].get("select_by") or _selection_metric(config["eval"]["k"])
        history: list[dict[str, Any]] = []

        def on_evaluation(text: str) -> bool:
            record = json.loads(text)
            history.append(record)
            progress.evaluated(record, metric)
            return callback is not None and callback(dict(record)) is True

        try:
            with arguments(ARGUMENTS):
                core, report, reason = _rivalry.fit(
                    settings, data._data, threads(self.num_threads), on_evaluation, progress.tick
                )
        finally:
            progress.close()
        self._take(core, data.user_ids, data.item_ids)
        self.history_ = history
        # The library's advice names the flag of the command line.
        self.report_: dict[str, Any] = json.loads(report.replace("--lr", "learning_rate"))
        if "nothing_learned" in self.report_:
            warn(f"nothing was learned: {self.report_['nothing_learned']}", TrainingWarning)
        if reason is not None:
            raise reason
        return self

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        if getattr(self, "_core", None) is None:
            return table(repr(self), {"state": "not fitted yet"})
        config = json.loads(self._core.config)
        report: dict[str, Any] = getattr(self, "report_", {})
        kept = [record for record in getattr(self, "history_", []) if record["epoch"] == report.get("best_epoch")]
        users, items = self._core.shape
        rows = {
            "model": config["model"]["type"],
            "loss": config.get("loss", {}).get("type"),
            "fitted on": f"{users:,} users, {items:,} items",
            "epoch": f"{report['best_epoch']} of {report['epochs']}" if "best_epoch" in report else None,
            "validation": metrics(kept[0].get("valid")) if kept else None,
        }
        return table(repr(self), rows)

    @classmethod
    def load(cls, path: Union[str, os.PathLike[str]]) -> Recommender:
        """Reads a model file or the model in a run folder. The settings it was trained with are restored, too."""
        if not os.path.exists(path):
            raise FileNotFoundError(
                f"{os.fspath(path)}: no such file or folder\n  help: give a model file or a run folder"
            )
        core = _rivalry.Model.load(os.fspath(path))
        config = json.loads(core.config)
        params = {argument: config.get(name, {}).get(key) for argument, (name, key) in SETTINGS.items()}
        for argument, name in PARAMS.items():
            own = {key: value for key, value in config.get(name, {}).items() if (name, key) not in SETTINGS.values()}
            params[argument] = own or None
        if not config.get("loss"):
            # A closed-form model has no epochs.
            params["patience"] = cls._defaults()["patience"]
        elif params["patience"] == "none":
            params["patience"] = None
        model = cls(**params)
        model._take(core, ids_of(core.users), ids_of(core.items))
        return model


def _selection_metric(lengths: list[int]) -> str:
    return f"NDCG@{20 if 20 in lengths else max(lengths, default=20)}"
