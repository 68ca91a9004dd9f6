from os import PathLike
from typing import Callable, Optional, final

import numpy as np
import numpy.typing as npt

__all__ = [
    "Dataset",
    "Interactions",
    "Model",
    "backbones",
    "config",
    "datasets",
    "evaluate",
    "fit",
    "load",
    "loss_f32",
    "loss_f64",
    "losses",
    "split",
    "version",
]

version: str

_Ranked = tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]

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
        users: Optional[list[str]] = None,
        items: Optional[list[str]] = None,
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
    def epoch(self) -> int: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def users(self) -> list[str]: ...
    @property
    def items(self) -> list[str]: ...
    def factors(self, of_users: bool) -> npt.NDArray[np.float32]: ...
    def recommend(
        self,
        users: npt.NDArray[np.uint32],
        n: int,
        threads: int,
        liked: Optional[Interactions] = None,
        filter_known: bool = False,
        candidates: Optional[npt.NDArray[np.uint32]] = None,
    ) -> _Ranked: ...
    def recommend_to(
        self,
        vectors: npt.NDArray[np.float32],
        n: int,
        threads: int,
        liked: Optional[Interactions] = None,
        candidates: Optional[npt.NDArray[np.uint32]] = None,
    ) -> _Ranked: ...
    def similar(
        self,
        of_users: bool,
        ids: npt.NDArray[np.uint32],
        n: int,
        threads: int,
        candidates: Optional[npt.NDArray[np.uint32]] = None,
    ) -> _Ranked: ...
    def new_users(self, baskets: Interactions) -> npt.NDArray[np.float32]: ...

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
    user: npt.NDArray[np.uint32],
    item: npt.NDArray[np.uint32],
    rating: Optional[npt.NDArray[np.float32]],
    time: Optional[npt.NDArray[np.int64]],
    settings: str,
) -> Dataset: ...
def evaluate(
    dataset: Dataset,
    users: npt.NDArray[np.float32],
    items: npt.NDArray[np.float32],
    part: str,
    options: str,
    threads: int,
) -> str: ...
def losses() -> str: ...
def backbones() -> str: ...
def datasets() -> str: ...
def config(settings: str) -> str: ...
def loss_f32(
    section: str,
    pos: npt.NDArray[np.float32],
    neg: npt.NDArray[np.float32],
    sim: Optional[npt.NDArray[np.float32]] = None,
    quantiles: Optional[list[float]] = None,
    own: Optional[list[float]] = None,
    threads: int = 0,
) -> tuple[npt.NDArray[np.float32], list[npt.NDArray[np.float32]]]: ...
def loss_f64(
    section: str,
    pos: npt.NDArray[np.float64],
    neg: npt.NDArray[np.float64],
    sim: Optional[npt.NDArray[np.float64]] = None,
    quantiles: Optional[list[float]] = None,
    own: Optional[list[float]] = None,
    threads: int = 0,
) -> tuple[npt.NDArray[np.float64], list[npt.NDArray[np.float64]]]: ...
