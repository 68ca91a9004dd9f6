from os import PathLike
from typing import Callable, Optional, final

import numpy as np
import numpy.typing as npt

__all__ = [
    "Dataset",
    "Interactions",
    "Model",
    "Server",
    "Sweep",
    "auto",
    "column_names",
    "config",
    "cores",
    "datasets",
    "evaluate",
    "fit",
    "load",
    "loss_f32",
    "loss_f64",
    "losses",
    "models",
    "optimizers",
    "parse_times",
    "samplers",
    "split",
    "train_trial",
    "version",
]

version: str

_Ranked = tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]
# Leave out what is known, leave out per list, allow, deny.
_Filter = tuple[
    Optional[str], Optional[Interactions], Optional[npt.NDArray[np.uint32]], Optional[npt.NDArray[np.uint32]]
]
# Part, settings in JSON, each user's values.
_Evaluation = tuple[str, str, bool]
# User, item, rating, time.
_Columns = tuple[
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    Optional[npt.NDArray[np.float32]],
    Optional[npt.NDArray[np.int64]],
]
# Positives, negatives, features, log-probabilities.
_Batch32 = tuple[
    npt.NDArray[np.float32],
    npt.NDArray[np.float32],
    Optional[npt.NDArray[np.float32]],
    Optional[npt.NDArray[np.float32]],
]
_Batch64 = tuple[
    npt.NDArray[np.float64],
    npt.NDArray[np.float64],
    Optional[npt.NDArray[np.float64]],
    Optional[npt.NDArray[np.float64]],
]
# Quantiles, learned parameters.
_LossState = tuple[Optional[list[float]], Optional[list[float]]]

@final
class Interactions:
    def __new__(cls, indptr: npt.NDArray[np.int64], indices: npt.NDArray[np.uint32], n_items: int) -> Interactions: ...
    def to_csr(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    def __len__(self) -> int: ...

@final
class Dataset:
    def __new__(
        cls,
        name: str,
        train: Interactions,
        valid: Optional[Interactions] = None,
        test: Optional[Interactions] = None,
        ids: Optional[tuple[Optional[list[str]], Optional[list[str]]]] = None,
    ) -> Dataset: ...
    @property
    def name(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def checksum(self) -> str: ...
    @property
    def users(self) -> list[str]: ...
    @property
    def items(self) -> list[str]: ...
    @property
    def train(self) -> Interactions: ...
    @property
    def valid(self) -> Interactions: ...
    @property
    def test(self) -> Interactions: ...

@final
class Model:
    @staticmethod
    def load(path: str | PathLike[str]) -> Model: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def to_bytes(self) -> bytes: ...
    @property
    def config(self) -> str: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def users(self) -> list[str]: ...
    @property
    def items(self) -> list[str]: ...
    def factors(self, of_users: bool) -> npt.NDArray[np.float32]: ...
    def recommend(self, users: npt.NDArray[np.uint32], n: int, filter: _Filter, threads: int) -> _Ranked: ...
    def recommend_new(self, histories: Interactions, n: int, filter: _Filter, threads: int) -> _Ranked: ...
    def similar(
        self, of_users: bool, ids: npt.NDArray[np.uint32], n: int, filter: _Filter, threads: int
    ) -> _Ranked: ...
    def fold_in(self, histories: Interactions) -> npt.NDArray[np.float32]: ...
    def evaluate(self, dataset: Dataset, options: _Evaluation, threads: int) -> str: ...

def fit(
    settings: str,
    dataset: Dataset,
    threads: int,
    on_evaluation: Callable[[str], bool],
    on_tick: Callable[[int, int, int, float], None],
) -> tuple[Model, str, Optional[BaseException]]: ...
def load(source: str, settings: str, data_dir: Optional[str | PathLike[str]]) -> Dataset: ...
def split(
    name: str,
    users: tuple[Optional[list[str]], int],
    items: tuple[Optional[list[str]], int],
    columns: _Columns,
    settings: str,
) -> Dataset: ...
def evaluate(
    dataset: Dataset,
    users: npt.NDArray[np.float32],
    items: npt.NDArray[np.float32],
    options: _Evaluation,
    threads: int,
) -> str: ...
def models() -> str: ...
def losses() -> str: ...
def samplers() -> str: ...
def optimizers() -> str: ...
def datasets() -> str: ...
def config(settings: str) -> str: ...
def column_names() -> dict[str, list[str]]: ...
def cores() -> int: ...
def parse_times(texts: list[str]) -> npt.NDArray[np.int64]: ...
def loss_f32(
    section: str, scores: _Batch32, state: _LossState, threads: int
) -> tuple[npt.NDArray[np.float32], list[npt.NDArray[np.float32]]]: ...
def loss_f64(
    section: str, scores: _Batch64, state: _LossState, threads: int
) -> tuple[npt.NDArray[np.float64], list[npt.NDArray[np.float64]]]: ...

@final
class Server:
    @staticmethod
    def start(
        models: list[tuple[str, str]],
        listen: str,
        key: Optional[str],
        items: Optional[str],
        feedback: Optional[str],
    ) -> Server: ...
    def address(self) -> str: ...
    def stop(self) -> None: ...

def auto(
    settings: str,
    budget: tuple[Optional[str], float],
    out: PathLike[str],
    threads: int,
    on_event: Callable[[str], None],
) -> str: ...

@final
class Sweep:
    def __new__(cls, search: str, out: str, halving: bool) -> Sweep: ...
    def data(self) -> Dataset: ...
    def next_trials(self) -> list[tuple[str, str, Optional[int]]]: ...
    def finish(self, threads: int) -> str: ...

def train_trial(
    config: str, data: Dataset, out: str, last_epoch: Optional[int], threads: int
) -> None: ...
