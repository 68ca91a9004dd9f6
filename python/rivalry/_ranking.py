"""Recommendations, similar items and users, and factors of a trained model."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt
from scipy import sparse

from . import _rivalry
from ._errors import NoEmbeddingsError, NotFittedError
from ._frame import Columns, Ids, is_frame
from ._input import interactions, to_csr, to_log
from ._labels import Labels
from ._lists import columns as list_columns
from ._lists import maker
from ._settings import threads

#: Ids and scores.
Ranked = tuple[npt.NDArray[Any], npt.NDArray[np.float32]]


class Candidates(NamedTuple):
    """What lists are chosen from."""

    #: The length of a list: not more than there are candidates.
    n: int
    #: The only ids allowed, ascending; ``None`` allows all.
    allow: Optional[npt.NDArray[np.uint32]]
    #: Ids that are left out, ascending.
    deny: Optional[npt.NDArray[np.uint32]]


class Ranking:
    """The methods of a recommender that need a trained model and no settings but the number of threads."""

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

    def recommend(
        self,
        userid: Any,
        user_items: Any = None,
        N: int = 10,
        filter_already_liked_items: bool = True,
        filter_items: Any = None,
        items: Any = None,
        recalculate_user: bool = False,
        *,
        exclude: str = "all",
        user_col: Any = None,
        item_col: Any = None,
    ) -> Ranked:
        """The ``N`` best items for one user or for several, best first.

        Parameters
        ----------
        userid:
            A user, or a list or array of users.
        user_items:
            The users' interactions: a CSR matrix with one row per user in ``userid``, or a frame. Default: those that
            the model knows, see ``exclude``.
        N:
            The length of a list, at most the number of candidates.
        filter_already_liked_items:
            Whether to leave out the items of these interactions.
        exclude:
            Which of the interactions that the model knows are left out: ``"train"``, ``"train+valid"`` or ``"all"``.
            A model fitted in Python knows its training and validation interactions, so test items can be in its lists. A
            model trained by the command line knows the test set, too, and leaves its items out, as ``rivalry
            recommend`` does: to score its lists against the test set, pass ``"train+valid"``.
        filter_items:
            Items to leave out in addition.
        items:
            The only candidates.
        recalculate_user:
            Treat the users as new ones who are known by ``user_items`` only, see :meth:`recalculate_user`. ``userid``
            then only decides whether one list or several are returned, and which rows of a frame are whose.
        user_col, item_col:
            The columns of a frame. Default: those with usual names, such as ``user_id`` and ``item``.

        Returns
        -------
        ids, scores:
            Two arrays: one-dimensional for one user, with as many entries as there are candidates left; two-dimensional
            for several users, where unfilled places hold -1 (``None`` if ids are text) and minus infinity.
        """
        model = self._model
        one = np.ndim(userid) == 0
        n, allow, deny = self._candidates(N, filter_items, items, self._items)
        if recalculate_user and user_items is None:
            raise ValueError(
                "recalculate_user needs the users' interactions\n  help: pass user_items, one row for each user"
            )
        columns = Columns(user_col, item_col, rating="", time="")
        liked = None if user_items is None else self._rows(user_items, [userid] if one else userid, columns)
        if recalculate_user:
            assert liked is not None
            _check_rows(liked)
            filter_ = (exclude if filter_already_liked_items else None, None, allow, deny)
            ranked = model.recommend_new(liked, n, filter_, threads(self.num_threads))
        else:
            users = self._users.dense(userid)
            known = exclude if filter_already_liked_items and liked is None else None
            rows = liked if filter_already_liked_items else None
            ranked = model.recommend(users, n, (known, rows, allow, deny), threads(self.num_threads))
        return self._labelled(ranked, n, one, self._items)

    def recommend_frame(self, userid: Any = None, N: int = 10, *, library: str = "pandas", **options: Any) -> Any:
        """The lists of :meth:`recommend` as a frame with the columns ``user``, ``item``, ``rank`` and ``score``.

        Parameters
        ----------
        userid:
            A user, or a list or array of users. Default: all users that the model was trained with.
        N:
            The length of a list, at most the number of candidates.
        library:
            The kind of frame: ``"pandas"``, ``"polars"`` or ``"pyarrow"``, which has to be installed.
        options:
            The other arguments of :meth:`recommend`.
        """
        make = maker(library)
        self._model
        users = np.atleast_1d(np.asarray(self._users.all() if userid is None else userid))
        items, scores = self.recommend(users, N=N, **options)
        return make(list_columns(users, items, scores))

    def similar_items(self, itemid: Any, N: int = 10, filter_items: Any = None, items: Any = None) -> Ranked:
        """The ``N`` items most similar to an item (or to each of several) by cosine, the item itself first.

        Raises ``ValueError`` if the model defines no similarity of items.
        """
        self._model
        return self._similar(False, itemid, self._candidates(N, filter_items, items, self._items))

    def similar_users(self, userid: Any, N: int = 10, filter_users: Any = None, users: Any = None) -> Ranked:
        """The ``N`` users most similar to a user (or to each of several) by cosine, the user first.

        Raises ``ValueError`` if the model defines no similarity of users.
        """
        self._model
        return self._similar(True, userid, self._candidates(N, filter_users, users, self._users))

    def recalculate_user(self, items: Any) -> npt.NDArray[np.float32]:
        """Fold-in: the vector of a new user, computed from the user's items without training.

        It is the mean of these items' factors minus the mean of all items' factors: the direction of the softmax
        loss's first gradient step for a user with a zero embedding. If scores are cosines, it has length one, so that
        ``item_factors @ vector`` are the scores.

        Raises ``ValueError`` if the model has no embeddings; ``recommend(…, recalculate_user=True)`` works for every
        model.

        Parameters
        ----------
        items:
            A list of items, or a CSR matrix of interactions for one vector per row.
        """
        self._model
        if sparse.issparse(items):
            return self._fold_in(interactions(to_csr(items, "items", len(self._items))))
        history = self._items.dense(items)
        row = sparse.csr_array(
            (np.ones(len(history)), (np.zeros(len(history), dtype=np.int64), history.astype(np.int64))),
            shape=(1, len(self._items)),
        )
        vector: npt.NDArray[np.float32] = self._fold_in(interactions(row))[0]
        return vector

    def _fold_in(self, histories: _rivalry.Interactions) -> npt.NDArray[np.float32]:
        _check_rows(histories)
        vectors: npt.NDArray[np.float32] = self._model.fold_in(histories).reshape(histories.shape[0], -1)
        return vectors

    def _similar(self, of_users: bool, which: Any, candidates: Candidates) -> Ranked:
        labels = self._users if of_users else self._items
        n, allow, deny = candidates
        ids, filter_ = labels.dense(which), (None, None, allow, deny)
        ranked = self._model.similar(of_users, ids, n, filter_, threads(self.num_threads))
        return self._labelled(ranked, n, np.ndim(which) == 0, labels)

    @staticmethod
    def _candidates(n: int, without: Any, only: Any, labels: Labels) -> Candidates:
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
            raise ValueError(f"N must be an integer ≥ 1, found {n!r}\n  help: ask for at least one")
        if only is not None and without is not None:
            raise ValueError(
                f"give the only candidates or those to leave out, not both\n  help: remove them from the {labels.noun}s"
            )
        allow = None if only is None else np.unique(labels.dense(only, empty=True))
        deny = None if without is None else np.unique(labels.dense(without, empty=True))
        left = (len(labels) if allow is None else len(allow)) - (0 if deny is None else len(deny))
        if left == 0:
            raise ValueError(f"there are no {labels.noun}s left to choose from\n  help: leave out fewer, or allow more")
        return Candidates(min(int(n), left), allow, deny)

    def _rows(self, user_items: Any, users: Any, columns: Columns) -> _rivalry.Interactions:
        """The interactions of these users, one row for each."""
        if is_frame(user_items):
            return interactions(self._rows_of_frame(user_items, users, columns))
        csr = to_csr(user_items, "user_items", len(self._items))
        columns.refuse("user_items")
        if csr.shape[0] != len(users):
            raise ValueError(
                f"user_items has {csr.shape[0]} rows for {len(users)} users\n"
                "  help: pass one row per user: user_items[userid]"
            )
        return interactions(csr)

    def _rows_of_frame(self, frame: Any, users: Any, columns: Columns) -> sparse.csr_array:
        log = to_log(frame, columns)
        assert log.user_ids is not None and log.item_ids is not None
        # Users without a row in the frame have no interactions: their row is the last, which is empty.
        of_user, _ = Labels("user", len(log.user_ids), log.user_ids).find(users)
        asked = np.isin(log.user, of_user)
        user, item = log.user[asked], log.item[asked]
        present, place = np.unique(item, return_inverse=True)
        items = self._items.dense(log.item_ids[present], empty=True)[place.reshape(-1)]
        shape = (len(log.user_ids) + 1, len(self._items))
        return sparse.csr_array((np.ones(len(user), dtype=np.float32), (user, items)), shape=shape)[of_user]

    @staticmethod
    def _labelled(ranked: tuple[Any, Any], length: int, one: bool, labels: Labels) -> Ranked:
        ids, scores = (array.reshape(-1, length) for array in ranked)
        if one:
            filled = int((ids[0] >= 0).sum())
            ids, scores = ids[0, :filled], scores[0, :filled]
        return labels.original(ids), scores

    @property
    def user_factors(self) -> npt.NDArray[np.float32]:
        """The user embeddings, one row per user: a read-only array, the same on every access.

        Raises :class:`NoEmbeddingsError` if the model has none.
        """
        return self._table(True)

    @property
    def item_factors(self) -> npt.NDArray[np.float32]:
        """The item embeddings, one row per item: a read-only array, the same on every access.

        Raises :class:`NoEmbeddingsError` if the model has none.
        """
        return self._table(False)

    def _table(self, of_users: bool) -> npt.NDArray[np.float32]:
        model = self._model
        if of_users not in self._factors:
            try:
                values = model.factors(of_users)
            except ValueError as error:
                raise NoEmbeddingsError(str(error)) from None
            table = values.reshape(model.shape[0 if of_users else 1], -1)
            table.flags.writeable = False
            self._factors[of_users] = table
        return self._factors[of_users]

    @property
    def user_ids(self) -> Optional[Ids]:
        """The original user ids by row; ``None`` if users are identified by row numbers."""
        self._model
        return self._users.ids

    @property
    def item_ids(self) -> Optional[Ids]:
        """The original item ids by column; ``None`` if items are identified by column numbers."""
        self._model
        return self._items.ids

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes a model file, which the command line can read, too: `rivalry recommend PATH`."""
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


def _check_rows(histories: _rivalry.Interactions) -> None:
    """Every new user has an item."""
    indptr, _ = histories.to_csr()
    empty = np.flatnonzero(np.diff(indptr) == 0)
    if len(empty):
        raise ValueError(f"row {empty[0]} has no items\n  help: give at least one item for each new user")
