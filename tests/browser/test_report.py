"""The report in a browser: desktop and phone, light and dark, without network access, without scripts unless stated."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Iterator

import pytest
from playwright.sync_api import Browser, Page

SIZES = {"desktop": {"width": 1300, "height": 900}, "phone": {"width": 420, "height": 800}}
VIEWS = [(size, scheme) for size in SIZES for scheme in ("light", "dark")]


@pytest.fixture(params=VIEWS, ids="-".join)
def page(request: pytest.FixtureRequest, browser: Browser, report: Path) -> Iterator[Page]:
    """The report in a browser without scripts."""
    yield from opened(browser, report, *request.param, scripts=False)


@pytest.fixture(params=VIEWS, ids="-".join)
def sweep_page(request: pytest.FixtureRequest, browser: Browser, halved: Path) -> Iterator[Page]:
    """The report on a sweep with halving, in a browser with scripts."""
    yield from opened(browser, halved, *request.param, scripts=True)


def opened(browser: Browser, report: Path, size: str, scheme: str, scripts: bool) -> Iterator[Page]:
    """A report in a browser. A network request or a console message fails the test."""
    context = browser.new_context(viewport=SIZES[size], color_scheme=scheme, java_script_enabled=scripts)
    page = context.new_page()
    requests: list[str] = []
    messages: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.goto(report.as_uri())
    screenshots = os.environ.get("RIVALRY_SCREENSHOTS")
    if screenshots:
        name = f"{report.parent.name}-{size}-{scheme}.png"
        page.screenshot(path=Path(screenshots) / name, full_page=True)
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


def test_tables_use_the_width_of_the_page(page: Page) -> None:
    rows = page.evaluate(
        """() => [...document.querySelectorAll(".tables")].map(row => [row.getBoundingClientRect().right,
            Math.max(...[...row.querySelectorAll(".scroll")].map(table => table.getBoundingClientRect().right))])"""
    )
    assert len(rows) >= 4
    width = page.viewport_size["width"]  # type: ignore[index]
    for available, used in rows:
        assert used > 0.98 * available and available > 0.95 * width


def test_runs_are_sorted_by_validation_without_scripts(page: Page) -> None:
    assert page.locator("th[aria-sort]").inner_text().startswith("validation")
    assert page.locator("table.sortable button").count() == 0
    values = column(page, "validation NDCG@20")
    assert values == sorted(values, key=float, reverse=True)


def column(page: Page, title: str) -> list[str]:
    """The cells of a column of the table of runs."""
    heads = [text.strip() for text in page.locator("table.sortable thead th").all_inner_texts()]
    place = heads.index(title) + 1
    return page.locator(f"table.sortable tbody tr > :nth-child({place})").all_inner_texts()


def test_a_click_on_a_title_sorts_the_runs(sweep_page: Page) -> None:
    title = sweep_page.locator("table.sortable thead th", has_text="loss.tau")
    title.locator("button").click()
    assert title.get_attribute("aria-sort") == "descending"
    tau = [float(text) for text in column(sweep_page, "loss.tau")]
    assert tau == sorted(tau, reverse=True) and len(set(tau)) > 1
    title.locator("button").press("Enter")
    assert [float(text) for text in column(sweep_page, "loss.tau")] == sorted(tau)
    # Runs without a value come last in either direction.
    sweep_page.locator("table.sortable thead th button", has_text="test NDCG@20").click()
    test = column(sweep_page, "test NDCG@20")
    assert test[-1] == "–" and test[0] != "–"
    sweep_page.locator("table.sortable thead th button", has_text="test NDCG@20").click()
    assert column(sweep_page, "test NDCG@20")[-1] == "–"


def test_the_name_of_a_run_leads_to_its_config(sweep_page: Page) -> None:
    link = sweep_page.locator("table.sortable tbody a").first
    config = sweep_page.locator("details.run", has=sweep_page.locator(link.get_attribute("href") or "")).locator("pre")
    assert not config.is_visible()
    link.click()
    config.wait_for(state="visible")


def test_a_table_that_scrolls_says_so(sweep_page: Page) -> None:
    areas = sweep_page.locator(".table")
    wide = 0
    for index in range(areas.count()):
        area = areas.nth(index).locator(".scroll")
        scrolls = area.evaluate("area => area.scrollWidth > area.clientWidth + 1")
        assert areas.nth(index).locator(".hint").is_visible() == scrolls
        assert area.evaluate("area => getComputedStyle(area).backgroundImage").count("gradient") == 4
        if scrolls:
            wide += 1
            area.focus()
            area.press("ArrowRight")
            area.evaluate("area => new Promise(done => setTimeout(() => done(area.scrollLeft), 300))")
            assert area.evaluate("area => area.scrollLeft") > 0
    assert wide > 0 or sweep_page.viewport_size["width"] > 1000  # type: ignore[index]


def test_a_sweep_with_halving_is_counted_once(sweep_page: Page) -> None:
    states = column(sweep_page, "state")
    finished, pruned = states.count("finished"), states.count("pruned")
    assert finished > 0 and pruned > 0 and finished + pruned == len(states)
    overview = sweep_page.locator("#overview p").first.inner_text()
    assert overview.startswith(f"{len(states)} runs: {finished} finished, {pruned} pruned.")
    assert "unfinished" not in sweep_page.locator("main").inner_text()
    rows = sweep_page.locator("#tables table").first.locator("tbody tr")
    texts = [rows.nth(index).locator("th, td").all_inner_texts() for index in range(rows.count())]
    assert sum(int(cells[-2]) for cells in texts) == 12
    assert all("loss.tau" in cells[-1] for cells in texts)
    caption = sweep_page.locator("#comparison figcaption").first.inner_text()
    if "Settings tried" in caption:
        assert all(f"{cells[0]} {cells[-2]}" in caption for cells in texts)


def test_the_selected_epoch_is_marked_and_differences_are_tested(sweep_page: Page) -> None:
    marked = sweep_page.locator("#curves svg text", has_text="selected epoch")
    assert marked.count() == 2
    tested = sweep_page.locator("#tables .table", has_text="Wilcoxon signed-rank test")
    assert tested.count() == 1 and tested.locator("tbody tr").count() == 2
    overview = sweep_page.locator("#overview").inner_text()
    for text in ("users", "items", "training", "validation", "test", "Rivalry", "processor", "cores", "threads"):
        assert text in overview


def test_no_negative_is_listed_twice(sweep_page: Page) -> None:
    cells = sweep_page.locator("#inspections tbody td:last-child").all_inner_texts()
    assert len(cells) == 10
    for cell in cells:
        items = [part.split(" (")[0] for part in cell.split("), ")]
        assert len(items) == len(set(items)) == 3


def test_user_text_is_escaped(page: Page) -> None:
    # The only script is the page's own, which the content security policy names by its digest.
    assert page.locator("script").count() == 1
    assert page.get_by_text("<script>alert(1)</script>").count() > 0
