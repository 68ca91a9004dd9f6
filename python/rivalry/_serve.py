"""Recommendations over HTTP."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Mapping, Optional, Union

from . import _rivalry

if TYPE_CHECKING:
    from ._recommender import Recommender


class Server:
    """A running server, made by :func:`serve`: ``url`` is its address, and ``stop`` ends it.

    It can be used as a context manager. In a notebook, its representation is a link to its page.
    """

    def __init__(self, core: _rivalry.Server, folder: tempfile.TemporaryDirectory[str]) -> None:
        self._core = core
        self._folder = folder

    @property
    def url(self) -> str:
        """The address, such as ``http://127.0.0.1:7878``."""
        return f"http://{self._core.address()}"

    def stop(self) -> None:
        """Answers the requests that are in progress, and ends."""
        self._core.stop()
        self._folder.cleanup()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<rivalry.Server at {self.url}>"

    def _repr_html_(self) -> str:
        return f'<a href="{self.url}" target="_blank">Recommendations at {self.url}</a>'


def serve(
    model: Union[Recommender, Mapping[str, Recommender]],
    *,
    host: str = "127.0.0.1",
    port: int = 7878,
    key: Optional[str] = None,
    items: Optional[Union[str, os.PathLike[str]]] = None,
    feedback: Optional[Union[str, os.PathLike[str]]] = None,
) -> Server:
    """Serves fitted models over HTTP, with a page to look at them, in the background.

    The API is that of the command ``rivalry serve``: see "Serving" in the book, or ``/docs`` of the server.

    Parameters
    ----------
    model:
        A fitted model, or several by name.
    host, port:
        The address to listen on; port 0 takes a free one.
    key:
        The API key that requests must carry.
    items:
        A CSV file with titles of items: id, title, url, image.
    feedback:
        The file that feedback is appended to. Without it, feedback is refused.

    Returns
    -------
    Server:
        The running server.
    """
    models = dict(model) if isinstance(model, Mapping) else {"model": model}
    folder = tempfile.TemporaryDirectory(prefix="rivalry-serve-")
    sources = []
    for place, (name, fitted) in enumerate(models.items()):
        path = Path(folder.name) / f"{place}.safetensors"
        fitted.save(path)
        sources.append((name, os.fspath(path)))
    listen = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    core = _rivalry.Server.start(
        sources,
        listen,
        key,
        None if items is None else os.fspath(items),
        None if feedback is None else os.fspath(feedback),
    )
    return Server(core, folder)
