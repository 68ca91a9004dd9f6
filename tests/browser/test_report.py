"""The report in a browser: desktop and phone, light and dark, without scripts and network access."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Iterator

import pytest
from playwright.sync_api import Browser, Page

SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 375, "height": 800}}


@pytest.fixture(params=[(size, scheme) for size in SIZES for scheme in ("light", "dark")], ids="-".join)
def page(request: pytest.FixtureRequest, browser: Browser, report: Path) -> Iterator[Page]:
    """The report in a browser. A network request or a console message fails the test."""
    size, scheme = request.param
    context = browser.new_context(viewport=SIZES[size], color_scheme=scheme, java_script_enabled=False)
    page = context.new_page()
    requests: list[str] = []
    messages: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.goto(report.as_uri())
    screenshots = os.environ.get("RIVALRY_SCREENSHOTS")
    if screenshots:
        page.screenshot(path=Path(screenshots) / f"{size}-{scheme}.png", full_page=True)
    yield page
    assert [url for url in requests if not url.startswith("data:")] == [report.as_uri()]
    assert messages == []
    context.close()


def boxes(page: Page, selector: str) -> list[dict[str, Any]]:
    """The bounding boxes of elements."""
    found = page.locator(selector)
    return [found.nth(index).bounding_box() or {"width": 0, "height": 0, "x": -1} for index in range(found.count())]


def test_every_figure_is_drawn_inside_the_page(page: Page) -> None:
    width = page.viewport_size["width"]  # type: ignore[index]
    figures = boxes(page, "figure svg")
    assert len(figures) >= 13
    for box in figures:
        assert box["width"] > 300 and box["height"] > 60
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
    assert page.locator("figure svg").count() == page.locator("figure figcaption").count()


def test_no_label_exceeds_its_figure(page: Page) -> None:
    outside = page.evaluate(
        """() => [...document.querySelectorAll("figure svg")].flatMap(svg => {
            const frame = svg.getBoundingClientRect();
            return [...svg.querySelectorAll("text")].filter(text => {
                const box = text.getBoundingClientRect();
                return box.left < frame.left - 1 || box.right > frame.right + 1
                    || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
            }).map(text => svg.getAttribute("aria-label") + ": " + text.textContent);
        })"""
    )
    assert outside == []


def test_the_page_does_not_scroll_horizontally(page: Page) -> None:
    content, visible = page.evaluate("() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert content <= visible


def test_text_is_large_enough_to_read(page: Page) -> None:
    smallest = page.evaluate(
        """() => Math.min(...[...document.querySelectorAll("figure svg")].map(svg =>
            13 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width))"""
    )
    assert smallest >= 9


def test_commands_and_configs_open_without_scripts(page: Page) -> None:
    details = page.locator("figure details").first
    assert not details.locator("code").first.is_visible()
    details.locator("summary").click()
    assert details.locator("code").first.is_visible()
    assert "rivalry train --config" in details.locator("code").first.inner_text()


def test_text_contrasts_with_the_background(page: Page) -> None:
    colours = page.evaluate(
        """() => [getComputedStyle(document.documentElement).backgroundColor,
            ...[...document.querySelectorAll("figure svg text")].map(text => getComputedStyle(text).fill)]"""
    )
    background, *texts = [sum(int(part) for part in colour.strip("rgb()").split(",")[:3]) / 3 for colour in colours]
    dark = page.evaluate("() => matchMedia('(prefers-color-scheme: dark)').matches")
    assert (background < 60) if dark else (background > 200)
    # The values in a heat map are on the colour of their cell.
    assert sum(abs(text - background) > 70 for text in texts) > 0.8 * len(texts)


def test_user_text_is_escaped(page: Page) -> None:
    assert page.locator("script").count() == 0
    assert page.get_by_text("<script>alert(1)</script>").count() > 0
