"""Checks that every relative link in folders of HTML leads to a file and an anchor that exist, without a network:

python scripts/check_links.py target/book
"""

from __future__ import annotations

import sys
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The anchors and links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors.update(value for key in ("id", "name") if (value := given.get(key)))
        self.links.update(value for key in ("href", "src") if (value := given.get(key)))


@lru_cache(maxsize=None)
def page(path: Path) -> Page:
    return Page(path.read_text(errors="replace"))


def broken(path: Path, link: str) -> bool:
    scheme, host, place, _, anchor = urlsplit(link)
    if scheme or host or place.startswith("/"):
        return False
    target = (path.parent / unquote(place)).resolve() if place else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return True
    if not anchor or target.suffix != ".html":
        return False
    return unquote(anchor) not in page(target).anchors


def main(folders: list[str]) -> int:
    pages = [path.resolve() for folder in folders for path in sorted(Path(folder).rglob("*.html"))]
    if not pages:
        print(f"no pages in {', '.join(folders)}", file=sys.stderr)
        return 1
    found, links = [], 0
    for path in pages:
        links += len(page(path).links)
        found += [f"{path.relative_to(Path.cwd())}: {link}" for link in sorted(page(path).links) if broken(path, link)]
    print(f"{len(pages)} pages, {links} links, {len(found)} broken")
    print("\n".join(found[:50]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
