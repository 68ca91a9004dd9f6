"""The recommender: settings, training, lists."""

from __future__ import annotations

import inspect
import json
import os
from typing import Any, Callable, Optional, Union

import numpy as np
import numpy.typing as npt
from scipy import sparse

from . import _rivalry
from ._dataset import as_dataset
from ._errors import NotFittedError
from ._input import Ids, ids_of, interactions, seed_of, to_csr
from ._labels import Labels
from ._progress import Progress
from ._settings import to_json

#: Ids and scores.
Ranked = tuple[npt.NDArray[Any], npt.NDArray[np.float32]]
#: Is told of each evaluation; ``True`` stops the training.
Callback = Callable[[dict[str, Any]], Optional[bool]]


class Recommender:
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

    # Settings

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

    # Training

    def fit(
        self,
        user_items: Any,
        validation: Any = None,
        callback: Optional[Callback] = None,
        show_progress: bool = True,
    ) -> Recommender:
        """Trains the model.

        A stored entry above zero says that the user likes the item; how large it is does not matter.

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

        Ctrl-C stops the training between two steps. However it is stopped, the model is then what it would have been
        had it ended there: the best epoch so far where there is validation, otherwise the latest factors.
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

    def _take(self, core: _rivalry.Model, user_ids: Optional[Ids], item_ids: Optional[Ids]) -> None:
        self._core = core
        self._users = Labels("user", core.shape[0], user_ids)
        self._items = Labels("item", core.shape[1], item_ids)
        self._factors: dict[bool, npt.NDArray[np.float32]] = {}

    @property
    def _model(self) -> _rivalry.Model:
        core: Optional[_rivalry.Model] = getattr(self, "_core", None)
        if core is None:
            raise NotFittedError("this Recommender is not fitted yet\n  help: call fit(user_items) first, or load a model")
        return core

    def _threads(self) -> int:
        threads = self.num_threads
        if not isinstance(threads, (int, np.integer)) or not 0 <= threads <= 4096:
            raise ValueError(f"num_threads must be a whole number in [0, 4096], found {threads!r}\n  help: 0 takes all cores")
        return int(threads)

    # Lists

    def recommend(
        self,
        userid: Any,
        user_items: Any = None,
        N: int = 10,
        filter_already_liked_items: bool = True,
        filter_items: Any = None,
        items: Any = None,
        recalculate_user: bool = False,
    ) -> Ranked:
        """The ``N`` best items for one user or for many, best first.

        Parameters
        ----------
        userid:
            A user, or a list or array of users.
        user_items:
            What they like: a CSR matrix with one row for each of these users. Without it, what the model was trained
            with (the validation part too; from a run of the command line also the test part).
        N:
            The length of a list. There are no more places than there are items to choose from.
        filter_already_liked_items:
            Whether to leave those out.
        filter_items:
            More items to leave out.
        items:
            Choose from these items only.
        recalculate_user:
            Make the users' vectors anew from ``user_items``, see :meth:`recalculate_user`; ``userid`` then only says
            whether there is one list or many.

        Returns
        -------
        ids, scores:
            Two arrays: of one dimension for one user, and then no longer than there are items left; of two for many
            users, where places that a list does not fill hold -1 (``None`` if ids are text) and minus infinity.
        """
        model = self._model
        one = np.ndim(userid) == 0
        length, candidates = self._choice(N, filter_items, items, self._items)
        if recalculate_user and user_items is None:
            raise ValueError("recalculate_user makes users from their items\n  help: pass user_items, one row for each user")
        liked = None if user_items is None else self._rows(user_items, 1 if one else len(userid))
        if recalculate_user:
            assert liked is not None
            vectors = self._new_users(liked)
            masked = liked if filter_already_liked_items else None
            ranked = model.recommend_to(vectors, length, self._threads(), masked, candidates)
        else:
            users = self._users.dense(userid)
            known = filter_already_liked_items and liked is None
            masked = liked if filter_already_liked_items else None
            ranked = model.recommend(users, length, self._threads(), masked, known, candidates)
        return self._labelled(ranked, length, one, self._items)

    def similar_items(self, itemid: Any, N: int = 10, filter_items: Any = None, items: Any = None) -> Ranked:
        """The ``N`` items most like an item (or like each of many) by the cosine of their factors, itself first."""
        self._model
        length, candidates = self._choice(N, filter_items, items, self._items)
        return self._similar(False, itemid, length, candidates, self._items)

    def similar_users(self, userid: Any, N: int = 10, filter_users: Any = None, users: Any = None) -> Ranked:
        """The ``N`` users most like a user (or like each of many) by the cosine of their factors, themselves first."""
        self._model
        length, candidates = self._choice(N, filter_users, users, self._users)
        return self._similar(True, userid, length, candidates, self._users)

    def recalculate_user(self, items: Any) -> npt.NDArray[np.float32]:
        """A vector for a user that training never saw, from the items they like; nothing is retrained.

        It is the mean of those items' factors less the mean of all items' factors: the direction of the softmax
        loss's first step for a user about whom nothing is known. Where scores are cosines it has length one, so that
        ``item_factors @ vector`` are the scores.

        Parameters
        ----------
        items:
            A list of items; or a CSR matrix of items liked, for one vector a row.
        """
        self._model
        if sparse.issparse(items):
            return self._new_users(interactions(to_csr(items, "items", len(self._items))))
        basket = self._items.dense(items)
        row = sparse.csr_array(
            (np.ones(len(basket)), (np.zeros(len(basket), dtype=np.int64), basket.astype(np.int64))),
            shape=(1, len(self._items)),
        )
        vector: npt.NDArray[np.float32] = self._new_users(interactions(row))[0]
        return vector

    def _new_users(self, baskets: _rivalry.Interactions) -> npt.NDArray[np.float32]:
        indptr, _ = baskets.to_csr()
        empty = np.flatnonzero(np.diff(indptr) == 0)
        if len(empty):
            raise ValueError(f"row {empty[0]} holds no items to learn a user from\n  help: give at least one item for each user")
        vectors: npt.NDArray[np.float32] = self._model.new_users(baskets).reshape(baskets.shape[0], -1)
        return vectors

    def _similar(
        self, of_users: bool, which: Any, length: int, candidates: Optional[npt.NDArray[np.uint32]], labels: Labels
    ) -> Ranked:
        ranked = self._model.similar(of_users, labels.dense(which), length, self._threads(), candidates)
        return self._labelled(ranked, length, np.ndim(which) == 0, labels)

    def _choice(
        self, n: int, without: Any, only: Any, labels: Labels
    ) -> tuple[int, Optional[npt.NDArray[np.uint32]]]:
        """How long lists are, and which ids they are chosen from if not from all."""
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
            raise ValueError(f"N must be a whole number ≥ 1, found {n!r}\n  help: ask for at least one")
        if only is not None and without is not None:
            raise ValueError(f"choose from a list or leave a list out, not both\n  help: take them off the {labels.noun}s yourself")
        candidates: Optional[npt.NDArray[np.uint32]] = None
        if only is not None:
            candidates = np.unique(labels.dense(only, empty=True))
        elif without is not None:
            everything = np.arange(len(labels), dtype=np.uint32)
            candidates = np.setdiff1d(everything, labels.dense(without, empty=True), assume_unique=False)
        if candidates is not None and len(candidates) == 0:
            raise ValueError(f"there are no {labels.noun}s left to choose from\n  help: leave fewer out, or choose from more")
        return min(int(n), len(labels) if candidates is None else len(candidates)), candidates

    def _rows(self, user_items: Any, users: int) -> _rivalry.Interactions:
        csr = to_csr(user_items, "user_items", len(self._items))
        if csr.shape[0] != users:
            raise ValueError(
                f"user_items has {csr.shape[0]} rows for {users} users\n"
                "  help: one row for each user asked for: user_items[userid]"
            )
        return interactions(csr)

    @staticmethod
    def _labelled(ranked: tuple[Any, Any], length: int, one: bool, labels: Labels) -> Ranked:
        ids, scores = (array.reshape(-1, length) for array in ranked)
        if one:
            filled = int((ids[0] >= 0).sum())
            ids, scores = ids[0, :filled], scores[0, :filled]
        return labels.original(ids), scores

    # What was learned

    @property
    def user_factors(self) -> npt.NDArray[np.float32]:
        """One row a user. Read-only, made once: every access gives the same array."""
        return self._table(True)

    @property
    def item_factors(self) -> npt.NDArray[np.float32]:
        """One row an item. Read-only, made once: every access gives the same array."""
        return self._table(False)

    def _table(self, of_users: bool) -> npt.NDArray[np.float32]:
        model = self._model
        if of_users not in self._factors:
            rows = model.shape[0 if of_users else 1]
            table = model.factors(of_users).reshape(rows, -1)
            table.flags.writeable = False
            self._factors[of_users] = table
        return self._factors[of_users]

    @property
    def user_ids(self) -> Optional[Ids]:
        """What the rows of ``user_factors`` stand for, where not just their numbers."""
        self._model
        return self._users.ids

    @property
    def item_ids(self) -> Optional[Ids]:
        """What the rows of ``item_factors`` stand for, where not just their numbers."""
        self._model
        return self._items.ids

    # Files

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the model file, the same that the command line writes and reads: `rivalry recommend PATH`."""
        self._model.save(os.fspath(path))

    @classmethod
    def load(cls, path: Union[str, os.PathLike[str]]) -> Recommender:
        """Reads a model file, or the model in a run's folder. The settings come with it."""
        if not os.path.exists(path):
            raise FileNotFoundError(f"{os.fspath(path)}: no such file or folder\n  help: give a model file, or the folder of a run")
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

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name not in ("_core", "_factors")}
        core = getattr(self, "_core", None)
        return {**state, "_bytes": None if core is None else core.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        data = state.pop("_bytes")
        self.__dict__.update(state)
        if data is not None:
            self._core = _rivalry.Model.from_bytes(data)
            self._factors = {}

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        told = [f"{name}={value!r}" for name, value in self.get_params().items() if value is not defaults[name].default]
        return f"Recommender({', '.join(told)})"


def _selection_metric(lengths: list[int]) -> str:
    return f"NDCG@{20 if 20 in lengths else max(lengths, default=20)}"
