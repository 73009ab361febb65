"""The report in a real browser, opened from the file: it draws without an error, its controls work, axe finds nothing
serious. Needs Chromium, and for axe the packages that .ci/install-services installs."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.archive.sample import write_sample
from pipelines.report.pages import PAGES
from pipelines.report.site import write_report
from tests.browsers import opened_browser
from tests.built import warehouse_of
from tests.conftest import ROOT
from tests.handmade import A_MEM, HandmadeArchive, build, group_files
from tests.report_site import (
    BREAKS,
    DROP,
    SCRIPT,
    exhibit_rows,
    handmade_archive,
    keys,
    samples,
    scored_group,
    without_details,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.full

PACKAGES = ROOT / "tests" / "browser" / "node_modules"
NAMES = [page.name for page in PAGES]
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with opened_browser(tmp_path_factory.mktemp("downloads")) as opened:
        yield opened


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the bundled sample."""
    archive = tmp_path_factory.mktemp("sample")
    write_sample(archive)
    return write_report(warehouse_of(archive), tmp_path_factory.mktemp("report") / "r").path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the handmade archive, whose names and texts try to be markup."""
    root = tmp_path_factory.mktemp("hostile")
    archive = handmade_archive(root / "archive")
    build(archive.root, root / "w")
    return write_report(root / "w").path


class Opened:
    """A page, with what it said on its console."""

    def __init__(self, browser: Browser, site: Path, **context: Any) -> None:
        self.site = site
        self.context = browser.new_context(**{"viewport": DESKTOP, **context})
        self.page: Page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda m: self.said.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.said.append(f"{error} {error.stack}"))
        self.page.on("dialog", lambda dialog: (self.said.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def go(self, name: str, choices: str = "") -> Page:
        self.page.goto("about:blank")
        self.page.goto(f"{(self.site / f'{name}.html').as_uri()}{'#' + choices if choices else ''}")
        return self.drawn()

    def drawn(self) -> Page:
        self.page.wait_for_selector("html[data-drawn=yes]")
        return self.page

    def cells(self, exhibit: str, column: str) -> list[str]:
        """What a column of an exhibit's table shows."""
        table = self.page.locator(f"#{exhibit} table")
        heads = table.locator("thead th")
        names = [heads.nth(n).get_attribute("data-column") for n in range(heads.count())]
        return table.locator(f"tbody td:nth-child({names.index(column) + 1})").all_inner_texts()

    def close(self) -> None:
        self.context.close()
        assert self.said == []
        assert all(re.match(r"file:|about:|data:|blob:", url) for url in self.asked), self.asked


@pytest.fixture
def opened(browser: Browser, site: Path) -> Iterator[Opened]:
    one = Opened(browser, site)
    yield one
    one.close()


def open_numbers(page: Page, exhibit: str) -> None:
    page.locator(f"#{exhibit} details.numbers").evaluate("details => { details.open = true; }")


@pytest.mark.parametrize("name", NAMES)
def test_every_page_draws_without_an_error(name: str, opened: Opened) -> None:
    page = opened.go(name)
    assert page.locator("h1").inner_text()
    if name != "changes":  # the sample was built once: nothing moved
        assert page.locator("svg.plot").count() >= 1
    assert page.evaluate("document.documentElement.scrollWidth") <= DESKTOP["width"]
    assert page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") == "1120px"


def test_leaderboard_sorts_filters_and_searches(opened: Opened, site: Path) -> None:
    page = opened.go("leaderboard", "split=task")
    rows = [row for row in exhibit_rows(site, "leaderboard_systems") if row["split"] == "task"]
    ranks = opened.cells("leaderboard_systems", "rank")
    assert len(ranks) == len(rows)
    assert ranks[0] == "1"
    page.locator("#leaderboard_systems th[data-column=rating] button").click()
    expected = sorted((row["rating"] for row in rows if row["rating"] is not None), reverse=True)
    shown = [cell for cell in opened.cells("leaderboard_systems", "rating") if not cell.startswith("–")]
    assert [float(cell.replace(",", "")) for cell in shown] == pytest.approx(expected, abs=0.6)
    assert opened.cells("leaderboard_systems", "rating")[-1].startswith("–")  # what is missing is last
    header = page.locator("#leaderboard_systems th[data-column=rating]")
    assert header.get_attribute("aria-sort") == "descending"
    header.locator("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert opened.cells("leaderboard_systems", "rating")[-1].startswith("–")
    page.get_by_label("Backbone").select_option("Qwen3-8B")
    opened.drawn()
    assert set(opened.cells("leaderboard_systems", "backbone")) == {"Qwen3-8B"}
    assert "backbone=Qwen3-8B" in page.url
    page.locator("#search-leaderboard_systems").fill("uno")
    assert opened.cells("leaderboard_systems", "baseline") == ["uno"]
    page.locator("#search-leaderboard_systems").fill("bm25-s")  # the paper's name of it
    assert opened.cells("leaderboard_systems", "baseline") == ["bm25_dialog"]
    page.locator("#search-leaderboard_systems").fill("nothing like it")
    assert page.get_by_text("No row has all these words.").is_visible()


def test_invalid_groups_come_in_by_the_toggle(opened: Opened, site: Path) -> None:
    [invalid] = [row for row in exhibit_rows(site, "overview_coverage") if row["status"] == "invalid"]
    page = opened.go("collections", f"split={invalid['split']}&collection={invalid['collection']}")
    page.locator("#collection_results summary").first.click()
    page.locator("#search-collection_results").fill(f"{invalid['backbone']} {invalid['baseline'].replace('_', '-')}")
    assert opened.cells("collection_results", "weighted_average")[0].startswith("–")
    assert "invalid" in opened.cells("collection_results", "excluded")[0]
    page.get_by_label("with invalid groups").check()
    opened.drawn()
    assert re.fullmatch(r"-?\d+\.\d{3} !#?", opened.cells("collection_results", "weighted_average")[0])
    assert page.locator("#collection_results .note", has_text="“!”: the group is invalid").is_visible()


def test_cells_show_the_views_numbers_and_the_csv_has_them_whole(opened: Opened, site: Path) -> None:
    page = opened.go("collections", "split=domain&collection=Legal")
    open_numbers(page, "collection_gains")
    rows = [r for r in exhibit_rows(site, "collection_gains") if (r["split"], r["collection"]) == ("domain", "Legal")]
    shown = zip(opened.cells("collection_gains", "backbone"), opened.cells("collection_gains", "delta"), strict=True)
    assert list(shown) == [(row["backbone"], f"{row['delta']:.3f}") for row in rows]
    with page.expect_download() as saved:
        page.locator("#collection_gains").get_by_role("button", name="Save as CSV").click()
    assert saved.value.suggested_filename == "collection_gains.csv"
    text = Path(saved.value.path()).read_text(encoding="utf-8-sig")
    table = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["delta"]) for row in table] == [row["delta"] for row in rows]
    assert list(table[0]) == list(rows[0])
    assert {row["excluded"] for row in table} == {""}


def test_two_systems_are_compared_either_way_round(opened: Opened, site: Path) -> None:
    row = next(r for r in exhibit_rows(site, "compare_datasets") if r["wins"] != r["losses"] and r["n"] > 1)
    one, two = (f'["{row[f"{p}backbone"]}","{row[f"{p}baseline"]}"]' for p in ("", "other_"))
    for first, second, wins in ((one, two, row["wins"]), (two, one, row["losses"])):
        page = opened.go("compare", f"split={row['split']}&collection={row['collection'].replace('&', '%26')}")
        page.get_by_label("First system").select_option(first)
        page.get_by_label("Second system").select_option(second)
        opened.drawn()
        open_numbers(page, "compare_datasets")
        place = opened.cells("compare_datasets", "dataset_group").index(row["dataset_group"])
        assert opened.cells("compare_datasets", "wins")[place] == str(wins)
    page.locator("#compare_samples table a").first.click()
    opened.drawn()
    assert "/samples.html#" in page.url
    assert page.locator("#sample h2").is_visible()


def test_samples_are_searched_and_read_side_by_side(opened: Opened, site: Path) -> None:
    page = opened.go("samples", "split=domain")
    total = page.locator("#sample-list li").count()
    assert total == sum(row["split"] == "domain" for row in exhibit_rows(site, "samples"))
    questions = {row["sample"]: row["question"] for row in exhibit_rows(site, "sample_questions")}
    found = [
        row
        for row in exhibit_rows(site, "samples")
        if row["split"] == "domain"
        and "judge" in f"{row['dataset']} {row['collection']} {questions.get(row['sample'], '')}".lower()
    ]
    assert 2 <= len(found) < total
    page.locator("#sample-search").fill("judge")
    page.get_by_text(f"{len(found)} of {total} samples", exact=True).wait_for()
    opened.drawn()
    assert page.locator("#sample h2").inner_text() == f"{found[0]['dataset']}, sample {found[0]['test_idx']}"
    assert page.locator(".answer").count() == 4
    page.locator(".picks input:not(:checked)").first.check()
    assert page.locator(".answer").count() == 5
    systems = page.get_by_role("group", name=re.compile("Whose answers are shown")).get_by_role("checkbox")
    assert systems.count() == found[0]["n_systems"]
    page.locator("#sample-list button").nth(1).click()
    opened.drawn()
    assert "sample=" in page.url
    asked = page.locator("#sample-list button[aria-current]").inner_text().split("\n")[0]
    assert page.locator("#sample h2").inner_text().replace(", sample", "") == asked


def test_the_theme_is_switched_and_kept(opened: Opened) -> None:
    page = opened.go("index")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.get_by_role("button", name="Switch to dark colours").click()
    opened.drawn()
    assert page.evaluate(paper) != light
    page = opened.go("quality")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.get_by_role("button", name="Switch to light colours").click()
    assert page.evaluate(paper) == light


def test_links_lead_through_all_pages_by_keyboard(opened: Opened) -> None:
    page = opened.go("index")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    for title in [entry.title for entry in PAGES]:
        page.get_by_role("link", name=title, exact=True).press("Enter")
        page.locator("h1", has_text=title).wait_for()
        opened.drawn()
        assert page.locator("nav [aria-current]").inner_text() == title


def test_hostile_names_are_shown_as_texts(browser: Browser, hostile: Path) -> None:
    one = Opened(browser, hostile)
    page = one.go("leaderboard")
    one.page.locator("#search-leaderboard_systems").fill("alert(1)")
    assert one.cells("leaderboard_systems", "backbone") == [DROP]
    assert one.cells("leaderboard_systems", "baseline") == [SCRIPT]
    for name in NAMES:
        page = one.go(name)
        assert page.locator("main img, main script").count() == 0
    sample = next(r["sample"] for r in exhibit_rows(hostile, "samples") if r["n_systems"] > 3)
    page = one.go("samples", f"sample={sample}")
    for box in page.locator(".picks input").all():
        box.check()
    texts = page.locator(".answer .text").all_text_contents()
    shown = BREAKS.replace("\x00", "")
    assert any(text.replace("\x00", "").replace("\ufffd", "").startswith(shown) for text in texts)
    one.close()


@pytest.mark.parametrize(
    "files",
    [group_files(), group_files(summary=None, evaluate_details=None), group_files(predict=None, evaluate_details=None)],
    ids=["one group", "predictions alone", "a summary alone"],
)
def test_little_data_gives_honest_pages(files: Any, browser: Browser, tmp_path: Path) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    archive.add(A_MEM, files)
    build(archive.root, tmp_path / "w")
    one = Opened(browser, write_report(tmp_path / "w").path)
    for name in NAMES:
        page = one.go(name)
        assert not re.search(r"undefined|NaN|\[object", page.locator("main").inner_text())
    one.go("compare")
    assert page.get_by_text("No two systems can be compared").or_(page.get_by_text("no sample here")).first.is_visible()
    one.close()


def bars(page: Page, exhibit: str) -> int:
    return page.locator(f"#{exhibit} svg.plot g[stroke-width='2.5'] line").count()


def test_intervals_from_fewer_than_five_samples_are_not_drawn(opened: Opened, site: Path) -> None:
    means = [row for row in exhibit_rows(site, "dataset_means") if row["validity"] != "invalid"]
    for collection in ("Open-Domain", "Legal"):
        here = [row for row in means if (row["split"], row["collection"]) == ("domain", collection)]
        for dataset in sorted({row["dataset_group"] for row in here})[:4]:
            rows = [row for row in here if row["dataset_group"] == dataset]
            many = sum(row["n"] >= 5 for row in rows)
            page = opened.go("datasets", f"split=domain&collection={collection}&dataset_group={dataset}")
            assert bars(page, "dataset_means") == many
            assert page.locator("#dataset_means .note", has_text="5 scores or more are needed").count() == (
                many < len(rows)
            )


def test_an_interval_beyond_the_scale_is_cut_with_an_arrow(opened: Opened, site: Path) -> None:
    rows = [
        row
        for row in exhibit_rows(site, "dataset_means")
        if (row["collection"], row["dataset_group"]) == ("Open-Domain", "Locomo") and row["n"] >= 5
    ]
    beyond = [row for row in rows if row["mean"] + 1.96 * row["standard_error"] > 1]
    assert beyond
    page = opened.go("datasets", "split=domain&collection=Open-Domain&dataset_group=Locomo")
    assert page.locator("#dataset_means svg text", has_text="▸").count() == len(beyond)
    assert page.locator("#dataset_means .note", has_text="goes on beyond the scale").is_visible()
    ends = page.locator("#dataset_means svg.plot g[stroke-width='2.5'] line").evaluate_all(
        "lines => Math.max(...lines.map(line => Number(line.getAttribute('x2'))))"
    )
    assert ends <= page.locator("#dataset_means svg.plot").evaluate("svg => svg.clientWidth") - 18


def test_two_systems_with_nothing_in_common_are_told_why(opened: Opened, site: Path) -> None:
    [invalid] = [row for row in exhibit_rows(site, "overview_coverage") if row["status"] == "invalid"]
    one = f'["{invalid["backbone"]}","{invalid["baseline"]}"]'
    page = opened.go("compare", f"split={invalid['split']}&collection={invalid['collection']}")
    page.get_by_label("First system").select_option(one)
    opened.drawn()
    assert page.locator("#compare_datasets .note", has_text="one of the two groups is invalid").is_visible()
    assert page.locator("#compare_collections .note", has_text="not independent replications").is_visible()
    absent = next(row for row in exhibit_rows(site, "overview_coverage") if row["status"] == "not_published")
    page = opened.go("compare", f"split={absent['split']}&collection={absent['collection']}")
    page.get_by_label("First system").select_option(f'["{absent["backbone"]}","{absent["baseline"]}"]')
    opened.drawn()
    text = f"of {absent['backbone']} · {absent['baseline']} nothing is published"
    assert page.locator("#compare_datasets .note", has_text=text).is_visible()


def test_a_summary_alone_is_marked_as_unknown(browser: Browser, tmp_path: Path) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    archive.add(A_MEM, {"summary.json": {"summary": {"average": 0.5, "weighted_average": 0.5, "z_score": 0.0}}})
    build(archive.root, tmp_path / "w")
    one = Opened(browser, write_report(tmp_path / "w").path)
    page = one.go("leaderboard")
    assert one.cells("leaderboard_systems", "n_unknown") == ["1"]
    assert one.cells("leaderboard_systems", "mean_weighted_average") == ["0.500 ?"]
    assert page.locator(".note", has_text="the validity is unknown").is_visible()
    page = one.go("collections")
    open_numbers(page, "collection_results")
    assert one.cells("collection_results", "validity") == ["unknown"]
    assert page.locator("#collection_results svg text", has_text="0.500 ?").is_visible()
    page = one.go("index")
    assert page.get_by_text("1 group with a summary only, without answers").is_visible()
    assert page.locator("#overview_coverage svg text", has_text="Σ").is_visible()
    one.close()


def test_a_mean_that_cannot_be_has_no_colour_and_stretches_none(browser: Browser, tmp_path: Path) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    for baseline, mean in (("a_mem", 17.0), ("mem0", 0.6), ("uno", 0.5), ("wo_memory", 0.4)):
        archive.add(keys("B one", baseline), scored_group(samples(3, 0.5, 4, 0.25), weighted_average=mean))
    build(archive.root, tmp_path / "w")
    one = Opened(browser, write_report(tmp_path / "w").path)
    page = one.go("collections")
    assert page.locator("#collection_results svg text", has_text="17.000 #").is_visible()
    legend = page.locator("#collection_results .legend").inner_text()
    assert "lowest: 0.400" in legend and "highest: 0.600" in legend
    cells = page.locator("#collection_results svg rect").evaluate_all(
        "all => all.map((one) => one.getAttribute('fill'))"
    )
    assert len(cells) == 4 and cells.count("none") == 1 and len(set(cells)) == 4
    note = "a_mem (the published weighted_average is outside of 0 to 1)"
    assert page.locator("#collection_results .note", has_text=note).is_visible()
    page = one.go("index")
    card = page.locator(".headline", has_text="Highest mean in the split domain").inner_text()
    assert "B one · mem0" in card and "17" not in card
    assert page.locator("#overview_validity td", has_text="outside of 0 to 1").is_visible()
    one.close()


def test_numbers_with_scores_out_of_scale_are_marked(browser: Browser, tmp_path: Path) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    archive.add(keys("B one", "a_mem"), scored_group(samples(7, 0.5, 4, 2.5, 3, 0.5), weighted_average=0.7))
    archive.add(keys("B one", "wo_memory"), scored_group(samples(3, 0.5, 4, 0.25, 2, 0.0), weighted_average=0.4))
    build(archive.root, tmp_path / "w")
    one = Opened(browser, write_report(tmp_path / "w").path)
    unknown = "numbers over samples take them as they are, and whether a published one does is not known"
    meaning = (
        f"“#”: some scores lie outside of their dataset's range ({unknown}), or a published mean of min-max scores"
    )
    page = one.go("leaderboard")
    assert one.cells("leaderboard_systems", "mean_weighted_average") == ["0.700 #", "0.400"]
    assert [cell[-1] == "#" for cell in one.cells("leaderboard_systems", "rating")] == [True, False]
    assert page.locator("#leaderboard_systems .note", has_text=meaning).is_visible()
    assert page.locator("#leaderboard_systems svg text", has_text="a_mem #").count() == 1
    page = one.go("collections")
    assert page.locator("#collection_results svg text", has_text="0.700 #").is_visible()
    assert page.locator("#collection_results svg text", has_text="0.400 #").count() == 0
    assert page.locator("#collection_results .note", has_text=meaning).is_visible()
    assert page.locator("#collection_gains svg text", has_text="a_mem #").count() == 1
    assert page.locator("#collection_gains .note", has_text=meaning).is_visible()
    open_numbers(page, "collection_gains")
    assert [cell[-2:] for cell in one.cells("collection_gains", "delta")] == [" #"]
    page = one.go("compare")
    for exhibit, name in (("compare_collections", "Open-Domain #"), ("compare_datasets", "NFCats #")):
        assert page.locator(f"#{exhibit} figure", has_text=name).count() == 2, exhibit
        assert page.locator(f"#{exhibit} .note", has_text=meaning).is_visible()
        open_numbers(page, exhibit)
        assert one.cells(exhibit, "minmax_difference")[0].endswith(" #")
    page = one.go("index")
    card = page.locator(".headline", has_text="Highest mean in the split domain")
    assert "Weighted average 0.700 #; 2 systems ranked." in card.inner_text()
    told = f"# In 1 collection, scores lie outside of their dataset's range ({unknown}), or a published mean is outside of 0 to 1."
    assert told in card.inner_text()
    one.close()


def test_changes_to_texts_and_nan_are_shown_and_counted(browser: Browser, tmp_path: Path) -> None:
    place = keys("B one", "a_mem")

    def published(**summary: Any) -> HandmadeArchive:
        archive = HandmadeArchive(tmp_path / "archive")
        archive.add(place, scored_group(samples(3, 0.5, 4, 0.25), **summary))
        return archive

    build(published(weighted_average=0.5, z_score=0.25, extra=1.0, spare=2.0, more=1.0).root, tmp_path / "w")
    moved = published(weighted_average=0.55, z_score=math.nan, extra="0.48", spare=math.inf, more=1.5)
    build(moved.root, tmp_path / "w")
    site = write_report(tmp_path / "w").path
    rows = exhibit_rows(site, "changes_numbers")
    assert [row["metric"] for row in rows] == ["spare", "more", "weighted_average", "extra", "z_score"]
    assert [row["new_text"] for row in rows] == [None, None, None, "0.48", None]
    one = Opened(browser, site)
    page = one.go("changes")
    assert one.cells("changes_numbers", "new_value") == ["Infinity", "1.500", "0.550", "0.48", "NaN"]
    assert one.cells("changes_numbers", "old_value") == ["2", "1", "0.500", "1", "0.250"]
    told = "3 that changed are not drawn, having no difference that could be: NaN, an infinity or a text"
    assert page.locator("#changes_numbers .note", has_text=told).is_visible()
    page.get_by_label("Number", exact=True).select_option("more")
    one.drawn()
    assert page.locator("#changes_numbers .note", has_text="not drawn").count() == 0
    one.close()


def test_derived_scores_and_small_numbers_are_named(browser: Browser, tmp_path: Path) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    for baseline in ("a_mem", "wo_memory"):
        archive.add(keys("B one", baseline), without_details(scored_group(samples(3, 0.5, 4, 0.25))))
    many = {("Locomo-0", n): n / 24 for n in range(25)}
    archive.add(keys("B one", "wo_memory", "Long-Short", "task"), scored_group(many))
    build(archive.root, tmp_path / "w")
    one = Opened(browser, write_report(tmp_path / "w").path)
    page = one.go("index")
    assert page.locator(".figures li", has_text="scores, 8 of them derived").locator("b").inner_text() == "33"
    no_rating = "No rating: no usable scores of single samples are published."
    assert page.locator(".headline", has_text="in the split domain").get_by_text(no_rating).is_visible()
    page = one.go("datasets", "split=domain&collection=Open-Domain&dataset_group=NFCats")
    for exhibit in ("dataset_distributions", "dataset_means"):
        assert page.locator(f"#{exhibit} .note", has_text="All scores here are derived, not published").is_visible()
        assert page.locator(f"#{exhibit} svg text", has_text="a_mem (n = 2)").count() >= 1
        open_numbers(page, exhibit)
        assert set(one.cells(exhibit, "origin")) == {"derived"}
    assert set(one.cells("dataset_distributions", "n_scores")) == {"2"}
    assert page.locator("#dataset_distributions title", has_text="1 of 2 scores (50.0 %), derived").count() >= 1
    page = one.go("datasets", "split=task&collection=Long-Short&dataset_group=Locomo")
    assert page.locator("#dataset_distributions svg text", has_text="n = ").count() == 0
    assert page.locator(".note", has_text="derived").count() == 0
    page = one.go("samples", "split=domain")
    assert page.locator("#sample", has_text="2 scores of valid systems, all derived, not published").is_visible()
    assert page.locator(".answer .derived").count() == 2
    one.close()


def test_a_wide_table_says_that_it_scrolls(opened: Opened) -> None:
    page = opened.go("leaderboard")
    hint = page.locator("#leaderboard_systems .table .hint")
    assert hint.is_visible()
    page = opened.go("compare", "split=domain")
    assert not page.locator("#compare_samples .table .hint").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_nothing_serious(name: str, size: Any, scheme: Any, browser: Browser, site: Path) -> None:
    axe = PACKAGES / "axe-core" / "axe.min.js"
    if not axe.is_file():
        pytest.skip("no axe-core; .ci/install-services installs it")
    one = Opened(browser, site, viewport=size, color_scheme=scheme)
    page = one.go(name)
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    for details in page.locator("details").all():
        details.evaluate("details => { details.open = true; }")
    if folder := os.environ.get("MBW_SCREENSHOTS"):
        width = "phone" if size is PHONE else "desktop"
        page.screenshot(path=Path(folder) / f"report-{name}-{width}-{scheme}.png", full_page=True)
    page.evaluate(axe.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run({preload: false}).then(result => result.violations)")
    serious = [
        (fault["id"], fault["help"], [node["html"][:160] for node in fault["nodes"]][:3])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]
    assert serious == []
    one.close()


def test_pages_are_printed_with_their_numbers(opened: Opened) -> None:
    page = opened.go("collections")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible() and not page.locator("#controls").is_visible()
    assert page.locator("#collection_results table").is_visible()
    assert page.pdf()[:5] == b"%PDF-"


@pytest.mark.parametrize(
    ("file", "package"),
    [("d3.min.js", "d3/dist/d3.min.js"), ("plot.umd.min.js", "@observablehq/plot/dist/plot.umd.min.js")],
)
def test_carried_scripts_are_those_of_the_packages(file: str, package: str) -> None:
    if not (PACKAGES / package).is_file():
        pytest.skip("no packages; .ci/install-services installs them")
    carried = ROOT / "pipelines" / "report" / "static" / "vendor" / file
    assert carried.read_bytes() == (PACKAGES / package).read_bytes()
