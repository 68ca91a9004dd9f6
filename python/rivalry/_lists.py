"""What a trained model answers: lists, likeness, factors."""

from __future__ import annotations

import os
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt
from scipy import sparse

from . import _rivalry
from ._errors import NotFittedError
from ._input import Ids, interactions, to_csr
from ._labels import Labels

#: Ids and scores.
Ranked = tuple[npt.NDArray[Any], npt.NDArray[np.float32]]


class Lists:
    """The half of a recommender that needs no settings but the number of threads."""

    num_threads: int

    def _take(self, core: _rivalry.Model, user_ids: Optional[Ids], item_ids: Optional[Ids]) -> None:
        self._core = core
        self._users = Labels("user", core.shape[0], user_ids)
        self._items = Labels("item", core.shape[1], item_ids)
        self._factors: dict[bool, npt.NDArray[np.float32]] = {}

    @property
    def _model(self) -> _rivalry.Model:
        core: Optional[_rivalry.Model] = getattr(self, "_core", None)
        if core is None:
            raise NotFittedError(
                "this Recommender is not fitted yet\n  help: call fit(user_items) first, or load a model"
            )
        return core

    def _threads(self) -> int:
        threads = self.num_threads
        if not isinstance(threads, (int, np.integer)) or not 0 <= threads <= 4096:
            raise ValueError(
                f"num_threads must be a whole number in [0, 4096], found {threads!r}\n  help: 0 takes all cores"
            )
        return int(threads)

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
            raise ValueError(
                "recalculate_user makes users from their items\n  help: pass user_items, one row for each user"
            )
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
            raise ValueError(
                f"row {empty[0]} holds no items to learn a user from\n  help: give at least one item for each user"
            )
        vectors: npt.NDArray[np.float32] = self._model.new_users(baskets).reshape(baskets.shape[0], -1)
        return vectors

    def _similar(
        self, of_users: bool, which: Any, length: int, candidates: Optional[npt.NDArray[np.uint32]], labels: Labels
    ) -> Ranked:
        ranked = self._model.similar(of_users, labels.dense(which), length, self._threads(), candidates)
        return self._labelled(ranked, length, np.ndim(which) == 0, labels)

    def _choice(self, n: int, without: Any, only: Any, labels: Labels) -> tuple[int, Optional[npt.NDArray[np.uint32]]]:
        """How long lists are, and which ids they are chosen from if not from all."""
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
            raise ValueError(f"N must be a whole number ≥ 1, found {n!r}\n  help: ask for at least one")
        if only is not None and without is not None:
            raise ValueError(
                f"choose from a list or leave a list out, not both\n  help: take them off the {labels.noun}s yourself"
            )
        candidates: Optional[npt.NDArray[np.uint32]] = None
        if only is not None:
            candidates = np.unique(labels.dense(only, empty=True))
        elif without is not None:
            everything = np.arange(len(labels), dtype=np.uint32)
            candidates = np.setdiff1d(everything, labels.dense(without, empty=True), assume_unique=False)
        if candidates is not None and len(candidates) == 0:
            raise ValueError(
                f"there are no {labels.noun}s left to choose from\n  help: leave fewer out, or choose from more"
            )
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

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the model file, the same that the command line writes and reads: `rivalry recommend PATH`."""
        self._model.save(os.fspath(path))

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
