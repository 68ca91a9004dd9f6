"""The page of `rivalry serve` in a browser: desktop and phone, light and dark, with nothing but the server to ask."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

SIZES = {"desktop": {"width": 1300, "height": 900}, "phone": {"width": 420, "height": 800}}
VIEWS = [(size, scheme) for size in SIZES for scheme in ("light", "dark")]
HOSTILE = "<img src=x onerror=alert(1)>"
KEY = "a-key-for-the-browser"


@pytest.fixture(scope="session")
def runs(command: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with DSL and one of popularity, and titles of items, one of which is a script."""
    world = tmp_path_factory.mktemp("served")
    small = ["--data", "synthetic", "--epochs", "4", "--eval-every", "2", "--negatives", "30", "--dim", "16"]
    subprocess.run([command, "train", "--quiet", *small, "--loss", "dsl", "--out", "dsl"], cwd=world, check=True)
    popular = ["--data", "synthetic", "--model", "popularity", "--out", "popular"]
    subprocess.run([command, "train", "--quiet", *popular], cwd=world, check=True)
    rows = [f'item-{item:04},"{HOSTILE} {item}",https://example.org/{item},' for item in range(20)]
    rows += [f'item-{item:04},"A rather long title of an item number {item}",,' for item in range(20, 800)]
    (world / "items.csv").write_text("\n".join(["id,title,url,image", *rows]) + "\n")
    (world / "key").write_text(KEY + "\n")
    return world


def serve(command: str, world: Path, *more: str) -> Iterator[str]:
    """A server on a free port; its address."""
    arguments = ["serve", "dsl", "popular", "--listen", "127.0.0.1:0", "--items", "items.csv", *more]
    with subprocess.Popen([command, *arguments], cwd=world, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        address = re.fullmatch(r"serving on (http://\S+)\n", line)
        assert address is not None, line
        yield address[1]
        server.terminate()
        assert server.wait(timeout=20) == 0


@pytest.fixture(scope="session")
def address(command: str, runs: Path) -> Iterator[str]:
    yield from serve(command, runs, "--feedback", "feedback.jsonl")


@pytest.fixture(scope="session")
def locked(command: str, runs: Path) -> Iterator[str]:
    """A server that wants a key."""
    yield from serve(command, runs, "--key-file", "key")


@pytest.fixture(params=VIEWS, ids="-".join)
def page(request: pytest.FixtureRequest, browser: Browser, address: str) -> Iterator[Page]:
    """The page. A request to another place, a message on the console or a dialog fails the test."""
    size, scheme = request.param
    context = browser.new_context(viewport=SIZES[size], color_scheme=scheme)
    page = context.new_page()
    elsewhere: list[str] = []
    messages: list[str] = []
    page.on("request", lambda request: None if request.url.startswith((address, "data:")) else elsewhere.append(request.url))
    # The browser reports answers such as 404, which the page shows, too.
    answered = "Failed to load resource: the server responded with a status of 4"
    page.on("console", lambda message: None if message.text.startswith(answered) else messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("dialog", lambda dialog: (messages.append(dialog.message), dialog.dismiss()))
    page.goto(address)
    expect(page.locator("#list > li")).to_have_count(20)
    yield page
    assert (elsewhere, messages) == ([], [])
    context.close()


def screenshot(page: Page, request: pytest.FixtureRequest) -> None:
    folder = os.environ.get("RIVALRY_SCREENSHOTS")
    if folder:
        name = re.sub(r"[^\w-]+", "-", request.node.name).strip("-")
        page.screenshot(path=Path(folder) / f"serve-{name}.png", full_page=True)


def choose(page: Page, text: str) -> None:
    """Types into the search field and takes the first thing found, by keyboard alone."""
    page.locator("#query").click()
    page.keyboard.press("Control+a")
    page.keyboard.type(text)
    expect(page.locator("#found li").first).to_contain_text(text)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")


def test_a_user_is_found_and_a_recommendation_explained(page: Page, request: pytest.FixtureRequest) -> None:
    choose(page, "user-0017")
    expect(page.locator("#list-title")).to_have_text("Recommendations for user-0017")
    expect(page.locator("#list-note")).to_have_text("by the model")
    expect(page.locator("#about")).to_contain_text("1,500 users · 1,000 items")
    expect(page.locator("#history-title")).to_contain_text("training items")
    page.locator("#list .item").first.click()
    why = page.locator("#why")
    expect(why).to_contain_text("History items that support it")
    expect(why).to_contain_text("Hardest rivals")
    expect(why).to_contain_text("Most similar rivals")
    expect(why).to_contain_text("temperature of this pair")
    screenshot(page, request)
    page.get_by_role("button", name="Neighbours", exact=True).click()
    expect(page.locator("#why-title")).to_contain_text("Neighbours of")
    page.locator("#more").click()
    expect(page.locator("#list > li")).to_have_count(40)
    content, visible = page.evaluate("() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert content <= visible


def test_a_history_is_built_from_items(page: Page, request: pytest.FixtureRequest) -> None:
    page.get_by_label("A history of items").check()
    expect(page.locator("#list-note")).to_contain_text("by popularity")
    for item in ("title of an item number 31", "title of an item number 44"):
        choose(page, item)
    expect(page.locator("#picked-items li")).to_have_count(2)
    expect(page.locator("#list-note")).to_contain_text("fold-in")
    page.locator("#list .item").first.click()
    expect(page.locator("#why table").first.locator("tbody tr")).to_have_count(2)
    screenshot(page, request)
    page.get_by_role("button", name=re.compile("Remove .* 31")).click()
    expect(page.locator("#picked-items li")).to_have_count(1)


def test_a_stranger_gets_popularity_and_other_models_can_be_chosen(page: Page) -> None:
    page.locator("#query").fill("<b>nobody</b>")
    page.keyboard.press("Enter")
    expect(page.locator("#list-note")).to_contain_text("not in the training data")
    expect(page.locator("#list-title")).to_have_text("Recommendations for <b>nobody</b>")
    page.locator("#model").select_option("popular")
    expect(page.locator("#about")).to_contain_text("popularity")
    page.locator("#list .item").first.click()
    expect(page.locator("#status")).to_contain_text("defines no similarity")


def test_titles_are_text_and_never_markup(page: Page) -> None:
    page.get_by_label("A history of items").check()
    choose(page, HOSTILE)
    expect(page.locator("#picked-items")).to_contain_text(HOSTILE)
    page.locator("#list .item").first.click()
    expect(page.locator("#why table").first).to_contain_text(HOSTILE)
    assert page.locator("img[src=x]").count() == 0


def test_the_key_is_asked_for(browser: Browser, locked: str) -> None:
    page = browser.new_page()
    page.goto(locked)
    page.get_by_label("This server wants an API key").fill(KEY)
    page.keyboard.press("Enter")
    expect(page.locator("#list > li")).to_have_count(20)
    page.close()


def test_the_interface_is_described(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/docs")
    expect(page.locator("article")).to_have_count(15)
    expect(page.locator("main")).to_contain_text("GET /api/recommend/{user}")
    page.close()
