"""The report: every number on its pages is the warehouse's, nothing in it is a tag, and it can be written again."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import statistics
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from pipelines.cli import main
from pipelines.client.reader import SnapshotReader
from pipelines.load.views import SqlFileError, list_views
from pipelines.report.exhibits import list_exhibits, standalone_sql
from pipelines.report.pages import PAGES, SAMPLE_EXHIBITS
from pipelines.report.scripts import script
from pipelines.report.site import is_current, write_report
from tests.conftest import ROOT
from tests.handmade import A_MEM, HandmadeArchive, build, group_files
from tests.report_site import (
    BREAKS,
    DROP,
    SCRIPT,
    Page,
    data_file,
    exhibit_rows,
    handmade_archive,
    keys,
    rows_of,
    samples,
    scored_group,
    without_details,
)

STATIC = ROOT / "pipelines" / "report" / "static"
EXHIBITS = list_exhibits()

#: Tables that no view shows whole; everything else on the pages comes from views.
TABLES_READ = {"findings", "refreshes", "baselines", "datasets", "sample_metrics", "sample_annotations", "prompts"}

#: Exhibits that are columns of one view (or table), row by row.
PROJECTIONS = {
    "overview_coverage": "coverage",
    "leaderboard_systems": "leaderboard",
    "leaderboard_systems_all": "leaderboard_all",
    "collection_results": "collection_rankings",
    "collection_results_all": "collection_rankings_all",
    "collection_gains": "memory_gain",
    "collection_gains_all": "memory_gain_all",
    "dataset_means": "dataset_results",
    "quality_checks": "data_quality",
}

#: Their columns that come from another view.
JOINED = {
    "leaderboard_systems": ("n_invalid", "n_unknown", "n_out_of_scale"),
    "collection_results": ("validity", "n_out_of_scale", "n_means_out_of_range", "status"),
    "collection_gains": ("n_out_of_scale",),
}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The handmade archive, refreshed once more after some of its numbers moved."""
    root = tmp_path_factory.mktemp("report")
    archive = handmade_archive(root / "archive")
    build(archive.root, root / "w")
    moved = scored_group(samples(2, 0.0, 3, 0.5, 3, 0.25, 4, 0.75), weighted_average=0.55, z_score=0.1)
    again = ("B two", "wo_memory", "Open-Domain")
    archive.lines = [line for line in archive.lines if (line["model"], line["baseline"], line["set_name"]) != again]
    archive.add(keys("B two", "wo_memory"), moved)
    build(archive.root, root / "w")
    return root / "w"


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of one group."""
    root = tmp_path_factory.mktemp("single")
    archive = HandmadeArchive(root / "archive")
    archive.add(A_MEM)
    build(archive.root, root / "my warehouse")
    return root / "my warehouse"


@pytest.fixture(scope="module")
def site(warehouse: Path) -> Path:
    return write_report(warehouse).path


@pytest.fixture(scope="module")
def answers(warehouse: Path) -> Any:
    with SnapshotReader(warehouse) as reader:

        def ask(query: str) -> list[dict[str, Any]]:
            cursor = reader.execute(query)
            names = [column[0] for column in cursor.description or []]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

        yield ask


def as_set(rows: list[dict[str, Any]], names: list[str]) -> Counter[Any]:
    return Counter(tuple(repr(row[name]) for name in names) for row in rows)


class TestExhibits:
    @pytest.mark.parametrize("name", EXHIBITS)
    def test_header_and_select_agree(self, name: str) -> None:
        EXHIBITS[name].check()

    def test_numbers_come_from_views(self) -> None:
        views = {view.name for view in list_views()}
        for exhibit in EXHIBITS.values():
            others = set(exhibit.references) - views - TABLES_READ
            assert others <= {"samples", "sample_prompts"}, exhibit.file

    def test_every_exhibit_is_on_a_page(self) -> None:
        shown = {name for page in PAGES for name in (*page.exhibits, *page.data)} | set(SAMPLE_EXHIBITS)
        assert {name.removesuffix("_all") for name in EXHIBITS} == shown

    def test_no_exhibit_has_the_name_of_a_view(self) -> None:
        assert not {view.name for view in list_views()} & set(EXHIBITS)

    def test_a_reason_that_is_no_column_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "parts").mkdir()
        head = "-- x: a thing.\n-- title: X\n-- grain: one\n-- chunk: none\n-- reason: why\n-- column n: A number.\n"
        (tmp_path / "x.sql").write_text(head + "SELECT CAST(1 AS BIGINT) AS n\n")
        with pytest.raises(SqlFileError, match="names why, which is not one of its columns"):
            list_exhibits(root=tmp_path)


class TestNumbers:
    @pytest.mark.parametrize("name", PROJECTIONS)
    def test_rows_are_those_of_the_view(self, name: str, site: Path, answers: Any) -> None:
        shown = exhibit_rows(site, name)
        assert shown
        names = [column for column in shown[0] if column not in JOINED.get(name.removesuffix("_all"), ())]
        assert as_set(shown, names) == as_set(answers(f'SELECT * FROM "{PROJECTIONS[name]}"'), names)

    @pytest.mark.parametrize("name", [name for name in EXHIBITS if name not in ("samples", *SAMPLE_EXHIBITS)])
    def test_the_sql_on_the_page_gives_the_rows(self, name: str, site: Path, answers: Any) -> None:
        shown = exhibit_rows(site, name)
        again = answers(standalone_sql(EXHIBITS[name], EXHIBITS))
        assert as_set(shown, list(EXHIBITS[name].columns)) == as_set(again, list(EXHIBITS[name].columns))

    @pytest.mark.parametrize("name", SAMPLE_EXHIBITS)
    def test_the_sql_of_a_sample_gives_its_rows(self, name: str, site: Path, answers: Any) -> None:
        shown = [row for path in (site / "data" / "sample").iterdir() for row in rows_of(data_file(path)[1][name])]
        again = answers(standalone_sql(EXHIBITS[name], EXHIBITS))
        assert shown
        assert as_set(shown, list(EXHIBITS[name].columns)) == as_set(again, list(EXHIBITS[name].columns))

    def test_contents_are_counts_of_the_views(self, site: Path, answers: Any) -> None:
        [row] = exhibit_rows(site, "overview_contents")
        groups = answers("SELECT * FROM coverage")
        published = [group for group in groups if group["status"] != "not_published"]
        assert row["n_groups"] == len(published) == 11
        assert row["n_not_published"] == len(groups) - len(published)
        assert row["n_invalid"] == 1
        assert row["n_responses"] == sum(group["n_predictions"] for group in published)
        assert row["n_scores"] == sum(group["n_scores"] for group in published)
        assert row["n_derived"] == 0
        assert row["n_failed"] == 6
        assert row["n_changes"] == len(answers("SELECT * FROM revision_changes"))

    def test_headlines_are_counted_from_the_gains_and_the_leaderboard(self, site: Path, answers: Any) -> None:
        gains = answers("SELECT * FROM memory_gain")
        for row in exhibit_rows(site, "overview_gains"):
            mine = [g for g in gains if all(g[k] == row[k] for k in ("experiment", "protocol", "split", "baseline"))]
            counts = Counter(gain["on_these_datasets"] for gain in mine)
            assert row["n"] == len(mine)
            assert (row["n_better"], row["n_worse"]) == (counts["better"], counts["worse"])
            assert (row["n_not_significant"], row["n_cannot_tell"]) == (
                counts["not significant"],
                counts["cannot tell"],
            )
            assert row["n_no_gain"] == counts[None]
        board = answers("SELECT * FROM leaderboard")
        for row in exhibit_rows(site, "overview_leaders"):
            split = [b for b in board if b["split"] == row["split"] and b["protocol"] == row["protocol"]]
            assert row["rank"] == 1 or row["rank_low"] == 1
            assert row["n_may_be_first"] == (sum(b["rank_low"] == 1 for b in split) or None)

    def test_what_cannot_be_judged_is_marked_unknown(self, tmp_path: Path) -> None:
        archive = HandmadeArchive(tmp_path / "archive")
        archive.add(keys("B one", "a_mem"), scored_group(samples(3, 0.5, 4, 0.25)))
        for collection in ("Open-Domain", "Legal"):
            summary = {"summary": {"average": 0.5, "weighted_average": 0.5, "z_score": 0.0}}
            archive.add(keys("B one", "wo_memory", collection), {"summary.json": summary})
        build(archive.root, tmp_path / "w")
        site = write_report(tmp_path / "w").path
        unknown = {row["baseline"]: row["n_unknown"] for row in exhibit_rows(site, "leaderboard_systems")}
        assert unknown == {"a_mem": 0, "wo_memory": 2}
        shown = {(r["baseline"], r["collection"]): r["validity"] for r in exhibit_rows(site, "collection_results")}
        assert shown["a_mem", "Open-Domain"] == "valid"
        assert shown["wo_memory", "Open-Domain"] is shown["wo_memory", "Legal"] is None
        [contents] = exhibit_rows(site, "overview_contents")
        assert (contents["n_groups"], contents["n_unknown"], contents["n_summary_only"]) == (3, 2, 2)
        assert contents["n_baselines"] == 1

    def test_scores_out_of_scale_are_counted_where_their_numbers_stand(self, tmp_path: Path) -> None:
        archive = HandmadeArchive(tmp_path / "archive")
        archive.add(keys("B one", "a_mem"), scored_group(samples(7, 0.5, 4, 2.5), weighted_average=0.7))
        archive.add(keys("B one", "wo_memory"), scored_group(samples(3, 0.5, 4, 0.25)))
        build(archive.root, tmp_path / "w")
        site = write_report(tmp_path / "w").path
        for name, of_a_mem in (
            ("collection_results", 2),
            ("leaderboard_systems", 1),
            ("leaderboard_systems_all", 1),
        ):
            found = {row["baseline"]: row["n_out_of_scale"] for row in exhibit_rows(site, name)}
            assert found == {"a_mem": of_a_mem, "wo_memory": 0}, name
        for name in ("collection_gains", "collection_gains_all", "compare_collections"):
            assert [row["n_out_of_scale"] for row in exhibit_rows(site, name)] == [2], name
        assert [row["n_out_of_scale"] for row in exhibit_rows(site, "compare_samples")] == [1, 1]
        [first] = [row for row in exhibit_rows(site, "overview_leaders") if row["rank"] == 1]
        assert (first["baseline"], first["n_out_of_scale"], first["n_unknown"]) == ("a_mem", 1, 0)

    def test_a_mean_that_cannot_be_leads_nothing_and_is_warned_of(self, tmp_path: Path) -> None:
        archive = HandmadeArchive(tmp_path / "archive")
        archive.add(keys("B one", "a_mem"), scored_group(samples(3, 0.5), weighted_average=1.7))
        archive.add(keys("B one", "wo_memory"), scored_group(samples(3, 0.5), weighted_average=0.4, average=-2.0))
        archive.add(keys("B one", "uno"), scored_group(samples(3, 0.5), weighted_average=0.3))
        build(archive.root, tmp_path / "w")
        site = write_report(tmp_path / "w").path
        assert [r["baseline"] for r in exhibit_rows(site, "overview_leaders") if r["rank"] == 1] == ["wo_memory"]
        warned = {row["baseline"]: row["validity_reasons"] for row in exhibit_rows(site, "overview_validity")}
        assert warned == {
            "a_mem": "the published weighted_average is outside of 0 to 1",
            "wo_memory": "the published average is outside of 0 to 1",
        }
        shown = {row["baseline"]: row for row in exhibit_rows(site, "collection_results")}
        assert (shown["a_mem"]["weighted_average"], shown["a_mem"]["rank"]) == (1.7, None)
        assert {name: row["n_means_out_of_range"] for name, row in shown.items()} == {
            "a_mem": 1, "uno": 0, "wo_memory": 1
        }  # fmt: skip

    def test_an_invalid_group_is_out_unless_asked_for(self, site: Path) -> None:
        def of_mem0(name: str) -> dict[str, Any]:
            return next(row for row in exhibit_rows(site, name) if row["baseline"] == "mem0")

        assert of_mem0("collection_results")["weighted_average"] is None
        assert "invalid" in of_mem0("collection_results")["excluded"]
        assert of_mem0("collection_results_all")["weighted_average"] == 0.01
        assert of_mem0("leaderboard_systems_all")["n_invalid"] == 1
        assert all(row["is_invalid"] for row in exhibit_rows(site, "compare_datasets") if "mem0" in row.values())

    def test_distributions_count_every_score(self, site: Path, answers: Any) -> None:
        shown = exhibit_rows(site, "dataset_distributions")
        system = ("protocol", "split", "collection", "backbone", "baseline", "dataset_group")
        scores: dict[Any, list[float]] = {}
        for row in answers("SELECT * FROM sample_results WHERE score IS NOT NULL"):
            scores.setdefault(tuple(row[key] for key in system), []).append(row["score"])
        bins: dict[Any, list[dict[str, Any]]] = {}
        for row in shown:
            bins.setdefault(tuple(row[key] for key in system), []).append(row)
        assert set(bins) == set(scores)
        for key, values in scores.items():
            assert math.isclose(sum(row["share"] for row in bins[key]), 1.0)
            for row in bins[key]:
                if len(set(values)) <= 12:
                    assert row["n"] == values.count(row["bin_low"]) and row["bin_high"] == row["bin_low"]
                assert math.isclose(row["share"], row["n"] / len(values))
                assert (row["n_scores"], row["origin"]) == (len(values), "published")

    def test_derived_scores_are_told_from_published_ones(self, tmp_path: Path) -> None:
        archive = HandmadeArchive(tmp_path / "archive")
        archive.add(keys("B one", "a_mem"), without_details(scored_group(samples(3, 0.5, 4, 0.25))))
        archive.add(keys("B one", "wo_memory"), scored_group(samples(2, 0.5, 4, 0.75)))
        build(archive.root, tmp_path / "w")
        site = write_report(tmp_path / "w").path
        [contents] = exhibit_rows(site, "overview_contents")
        assert (contents["n_scores"], contents["n_derived"]) == (8, 4)
        spread = {
            (row["baseline"], row["n_scores"], row["origin"]) for row in exhibit_rows(site, "dataset_distributions")
        }
        assert spread == {("a_mem", 2, "derived"), ("wo_memory", 2, "published")}
        listed = exhibit_rows(site, "samples")
        assert {(row["n_scores"], row["n_derived"]) for row in listed} == {(2, 1)}
        shown = rows_of(data_file(site / "data" / "sample" / "1.js")[1]["sample_responses"])
        assert {row["baseline"]: row["origin"] for row in shown} == {"a_mem": "derived", "wo_memory": "published"}

    def test_many_different_scores_are_in_twelve_bins(self, site: Path) -> None:
        rows = [row for row in exhibit_rows(site, "dataset_distributions") if row["collection"] == "Long-Short"]
        assert [row["bin"] for row in rows] == list(range(12))
        assert [row["n"] for row in rows] == [2] * 11 + [3]
        assert math.isclose(rows[3]["bin_low"], 0.25) and math.isclose(rows[11]["bin_high"], 1.0)

    def test_two_systems_are_compared_sample_by_sample(self, site: Path, answers: Any) -> None:
        by_system: dict[Any, dict[Any, dict[str, Any]]] = {}
        for row in answers(
            "SELECT * FROM sample_results WHERE score IS NOT NULL AND origin = 'published' AND protocol = 'metrics'"
        ):
            place = (row["split"], row["collection"], row["backbone"], row["baseline"])
            by_system.setdefault(place, {})[row["dataset"], row["test_idx"]] = row
        expected: dict[Any, list[tuple[str, float, float, Any]]] = {}
        with_intervals: list[dict[str, Any]] = []
        for (one, a), (two, b) in combinations(sorted(by_system.items()), 2):
            for sample in a.keys() & b.keys() if one[:2] == two[:2] else ():
                x, y = a[sample], b[sample]
                if x["minmax_score"] is None:
                    normalized = math.nan
                else:
                    normalized = x["minmax_score"] - y["minmax_score"]
                pair = (x["dataset_group"], x["score"] - y["score"], normalized, sample)
                expected.setdefault((*one[:2], frozenset([one[2:], two[2:]])), []).append(pair)

        def pair_of(row: dict[str, Any]) -> tuple[Any, int]:
            one, two = (row["backbone"], row["baseline"]), (row["other_backbone"], row["other_baseline"])
            return (row["split"], row["collection"], frozenset([one, two])), 1 if one < two else -1

        def agrees(row: dict[str, Any], pairs: list[tuple[str, float, float, Any]], sign: int) -> None:
            assert row["n"] == len(pairs)
            assert row["wins"] == sum(sign * difference > 1e-9 for _, difference, _, _ in pairs)
            assert row["losses"] == sum(sign * difference < -1e-9 for _, difference, _, _ in pairs)
            assert row["wins"] + row["ties"] + row["losses"] == row["n"]
            normalized = [sign * m for _, _, m, _ in pairs]
            if math.isnan(normalized[0]):  # no constants of that dataset in that collection
                assert row["minmax_difference"] is row["minmax_low"] is row["minmax_high"] is None
                return
            assert math.isclose(row["minmax_difference"], statistics.fmean(normalized), abs_tol=1e-12)
            if len(pairs) >= 5:
                with_intervals.append(row)
                half = 1.96 * statistics.stdev(normalized) / math.sqrt(len(pairs))
                assert math.isclose(row["minmax_high"] - row["minmax_difference"], half, abs_tol=1e-12)
                assert math.isclose(row["minmax_difference"] - row["minmax_low"], half, abs_tol=1e-12)
            else:
                assert row["minmax_low"] is row["minmax_high"] is None

        def shown_rows(name: str) -> list[dict[str, Any]]:
            return [row for row in exhibit_rows(site, name) if row["protocol"] == "metrics"]

        seen = set()
        for row in shown_rows("compare_collections"):
            key, sign = pair_of(row)
            seen.add(key)
            agrees(row, expected[key], sign)
        assert seen == set(expected)
        for row in shown_rows("compare_datasets"):
            key, sign = pair_of(row)
            pairs = [pair for pair in expected[key] if pair[0] == row["dataset_group"]]
            agrees(row, pairs, sign)
            assert row["is_unknown"] is False
            assert math.isclose(row["difference"], sign * statistics.fmean(d for _, d, _, _ in pairs), abs_tol=1e-12)
        assert with_intervals
        most: dict[Any, list[dict[str, Any]]] = {}
        for row in shown_rows("compare_samples"):
            most.setdefault(pair_of(row)[0], []).append(row)
        for key, pairs in expected.items():
            unknown = math.isnan(pairs[0][2])
            sizes = sorted((abs(d if unknown else m) for _, d, m, _ in pairs if abs(d) > 1e-9), reverse=True)[:5]
            shown = [
                abs(row["score"] - row["other_score"] if unknown else row["minmax_difference"])
                for row in most.get(key, [])
            ]
            assert shown == pytest.approx(sizes)
            assert [row["place"] for row in most.get(key, [])] == list(range(1, len(sizes) + 1))

    def test_samples_are_the_widest_and_the_drawn(self, site: Path, answers: Any) -> None:
        shown = exhibit_rows(site, "samples")
        assert [row["sample"] for row in shown] == list(range(1, len(shown) + 1))
        spreads: dict[Any, dict[Any, list[float]]] = {}
        for row in answers(
            "SELECT s.* FROM sample_results AS s JOIN coverage USING (group_id) WHERE coverage.validity <> 'invalid'"
        ):
            place = (row["split"], row["collection"], row["dataset_group"], row["protocol"])
            spreads.setdefault(place, {}).setdefault((row["dataset"], row["test_idx"]), []).append(row["score"])
        for place, values in spreads.items():
            mine = [r for r in shown if (r["split"], r["collection"], r["dataset_group"], r["protocol"]) == place]
            digests = sorted((hashlib.md5(f"memorybench|{d}|{i}".encode()).hexdigest(), d, i) for d, i in values)
            drawn = {(d, i) for _, d, i in digests[:3]}
            assert {(r["dataset"], r["test_idx"]) for r in mine if r["chosen"] in ("drawn", "both")} == drawn
            widest = sorted((max(v) - min(v) for v in values.values() if len(v) > 1), reverse=True)[:3]
            differing = [r["spread"] for r in mine if r["chosen"] in ("differs", "both")]
            assert sorted(differing, reverse=True) == pytest.approx([w for w in widest if w > 1e-9])

    def test_reconciliation_has_every_number(self, site: Path, answers: Any) -> None:
        shown = exhibit_rows(site, "quality_reconciliation")
        results = {
            (row["group_id"], row["protocol"]): row
            for row in answers("SELECT * FROM results WHERE protocol IS NOT NULL")
        }
        assert len(shown) == 3 * len(results)
        for row in shown:
            names = ("experiment", "backbone", "split", "collection", "baseline")
            group = results["/".join(_encoded(row[name]) for name in names), row["protocol"]]
            assert row["published"] == group[row["metric"]]
            assert row["recomputed"] == group[f"recomputed_{row['metric']}"]
            if row["difference"] is None:
                assert row["why_not"]
            else:
                assert row["difference"] == row["recomputed"] - row["published"]

    def test_changes_are_those_of_the_last_refresh(self, site: Path, answers: Any) -> None:
        shown = exhibit_rows(site, "changes_numbers")
        moved = answers("SELECT * FROM revision_changes")
        assert shown and {row["baseline"] for row in shown} == {"wo_memory"}
        names = [name for name in shown[0] if name != "n_in_all"]
        assert as_set(shown, names) == as_set(moved, names)
        assert {row["n_in_all"] for row in shown} == {len(moved)}
        last, first = exhibit_rows(site, "changes_refreshes")
        assert (first["n_changed"], first["n_added"]) == (0, 0)
        assert last["n_changed"] == sum(row["change"] == "changed" for row in moved)

    def test_protocols_never_meet(self, site: Path) -> None:
        both = [row for row in exhibit_rows(site, "compare_datasets") if row["collection"] == "Short-Short"]
        by_protocol = {row["protocol"]: row for row in both}
        assert len(both) == 2 and set(by_protocol) == {"metrics", "llm_judge"}
        assert by_protocol["llm_judge"]["n"] == by_protocol["metrics"]["n"] == 4
        assert by_protocol["llm_judge"]["minmax_difference"] is None
        for row in exhibit_rows(site, "samples"):
            parts = data_file(site / "data" / "sample" / f"{row['sample']}.js")[1]
            names = {measure["metric"] for measure in rows_of(parts["sample_measures"])}
            assert ("llm_judge_score" in names) == (row["protocol"] == "llm_judge")


def _encoded(key: str) -> str:
    return key.replace("%", "%25").replace("/", "%2F")


class TestTexts:
    def test_hostile_texts_are_data(self, site: Path) -> None:
        for path in site.rglob("*.html"):
            text = path.read_text(encoding="utf-8")
            assert SCRIPT not in text and DROP not in text
            assert not re.search(r"<script(?! src=\"(assets|data)/)", text)
        for path in (site / "data").rglob("*.js"):
            text = path.read_text(encoding="utf-8")
            assert not set("<>\u2028\u2029\x00") & set(text), path

    def test_they_come_back_as_they_were(self, site: Path) -> None:
        assert any(
            row["baseline"] == SCRIPT and row["backbone"] == DROP for row in exhibit_rows(site, "overview_coverage")
        )
        responses = [
            row["response"]
            for path in (site / "data" / "sample").iterdir()
            for row in rows_of(data_file(path)[1]["sample_responses"])
            if row["baseline"] == SCRIPT
        ]
        assert f"{BREAKS} 0" in responses

    def test_script_escapes_what_could_end_it(self) -> None:
        text = script("x", {"a": "</script><!--&\u2028\u2029", "b": [float("nan"), None, True]})
        assert not set("<>&\u2028\u2029") & set(text)
        assert json.loads(text.removeprefix('mbw.put("x", ').removesuffix(");\n"))["a"] == "</script><!--&\u2028\u2029"

    def test_no_file_name_comes_from_the_archive(self, site: Path) -> None:
        for path in (site / "data").rglob("*.js"):
            name = path.relative_to(site / "data").with_suffix("").as_posix()
            exhibit, _, number = name.partition("/")
            assert (exhibit in EXHIBITS or exhibit == "sample") and (not number or number.isdigit())

    def test_pages_set_a_strict_policy(self, site: Path) -> None:
        for page in PAGES:
            tags = Page(site / page.file).tags
            [policy] = [a["content"] for tag, a in tags if tag == "meta" and "http-equiv" in a]
            assert policy and "default-src 'none'" in policy and "unsafe" not in policy
            assert not any(name.startswith("on") or name == "style" for _, a in tags for name in a)
            assert not any(tag == "style" for tag, _ in tags)

    def test_scripts_never_write_markup(self) -> None:
        for path in STATIC.rglob("*.js"):
            if "vendor" not in path.parts:
                text = path.read_text(encoding="utf-8")
                assert not re.search(
                    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text
                )


class TestSite:
    def test_links_resolve_inside(self, site: Path) -> None:
        for page in PAGES:
            for tag, attributes in Page(site / page.file).tags:
                for name in ("href", "src"):
                    target = attributes.get(name)
                    if target is None:
                        continue
                    assert not re.match(r"[a-z]+:|//", target), (tag, target)
                    path, _, fragment = target.partition("#")
                    assert not path or (site / path).is_file(), (page.file, target)
                    if fragment:
                        assert any(a.get("id") == fragment for _, a in Page(site / (path or page.file)).tags)

    def test_every_page_shows_source_and_revision(self, site: Path, warehouse: Path) -> None:
        revision = SnapshotReader(warehouse).snapshot.info.revision
        for page in PAGES:
            parsed = Page(site / page.file)
            assert revision in parsed.text
            assert parsed.tags[0] == ("html", {"lang": "en"})

    def test_the_sql_is_on_the_page(self, site: Path) -> None:
        for page in PAGES:
            text = Page(site / page.file).text
            for name in page.exhibits:
                assert standalone_sql(EXHIBITS[name], EXHIBITS) in text

    def test_the_same_snapshot_gives_the_same_bytes(self, warehouse: Path, site: Path, tmp_path: Path) -> None:
        again = write_report(warehouse, tmp_path / "again").path
        assert _contents(again) == _contents(site)

    def test_it_is_current_until_something_changes(self, warehouse: Path, tmp_path: Path) -> None:
        output = tmp_path / "r"
        assert not is_current(warehouse, output)
        write_report(warehouse, output)
        assert is_current(warehouse, output)
        marker = json.loads((output / "report.json").read_text())
        (output / "report.json").write_text(json.dumps({**marker, "refresh_id": 0}))
        assert not is_current(warehouse, output)
        write_report(warehouse, output)
        assert is_current(warehouse, output)

    def test_nothing_but_a_report_is_replaced(self, warehouse: Path, tmp_path: Path, capsys: Any) -> None:
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "thesis.txt").write_text("years of work")
        assert main(["report", "--warehouse", str(warehouse), "--output", str(tmp_path / "mine")]) == 2
        assert "holds something that is not a report" in capsys.readouterr().err
        assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
        (tmp_path / "file").write_text("x")
        assert main(["report", "--warehouse", str(warehouse), "--output", str(tmp_path / "file")]) == 2

    def test_what_a_report_did_not_write_stays_in_its_place(
        self, warehouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        output = write_report(warehouse, tmp_path / "pub").path
        (output / "data" / "of-an-earlier-report.js").write_text("gone")
        marker = json.loads((output / "report.json").read_text())
        assert marker["files"] == sorted(set(_contents(output)) - {"data/of-an-earlier-report.js"})
        marker["files"].append("data/of-an-earlier-report.js")
        (output / "report.json").write_text(json.dumps(marker))
        mine = {"CNAME": b"example.org", ".git/config": b"[core]", "notes/a.txt": b"a", "data/mine.csv": b"1"}
        for name, content in mine.items():
            (output / name).parent.mkdir(exist_ok=True)
            (output / name).write_bytes(content)
        (output / ".git" / "refs").mkdir()
        (output / "link").symlink_to("notes")
        output.chmod(0o750)
        assert main(["report", "--warehouse", str(warehouse), "--output", str(output)]) == 0
        fresh = _contents(write_report(warehouse, tmp_path / "fresh").path)
        assert _contents(output) == {**fresh, **mine}
        assert (output / ".git" / "refs").is_dir() and os.readlink(output / "link") == "notes"
        assert output.stat().st_mode & 0o777 == 0o750
        assert sorted(path.name for path in tmp_path.iterdir()) == ["fresh", "pub"]

    def test_a_report_that_lists_no_files_is_known_by_its_names(self, warehouse: Path, tmp_path: Path) -> None:
        output = write_report(warehouse, tmp_path / "pub").path
        marker = json.loads((output / "report.json").read_text())
        del marker["files"]
        (output / "report.json").write_text(json.dumps(marker))
        (output / "data" / "old.js").write_text("gone")
        (output / "CNAME").write_text("example.org")
        write_report(warehouse, output)
        assert not (output / "data" / "old.js").exists() and (output / "CNAME").read_text() == "example.org"

    def test_a_file_in_the_way_of_the_report_is_refused(self, warehouse: Path, tmp_path: Path, capsys: Any) -> None:
        output = write_report(warehouse, tmp_path / "pub").path
        marker = json.loads((output / "report.json").read_text())
        marker["files"].remove("changes.html")
        (output / "report.json").write_text(json.dumps(marker))
        before = _contents(output)
        assert main(["report", "--warehouse", str(warehouse), "--output", str(output)]) == 2
        assert "changes.html was not written by a report and is in the way" in capsys.readouterr().err
        assert _contents(output) == before

    def test_a_swap_that_fails_half_way_brings_the_old_report_back(
        self, warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        output = write_report(warehouse, tmp_path / "pub").path
        (output / "CNAME").write_text("example.org")
        before = _contents(output)
        rename = Path.rename

        def failing(self: Path, target: Path) -> Path:
            if ".partial-" in self.name:
                raise OSError(5, "Input/output error")
            return rename(self, target)

        monkeypatch.setattr(Path, "rename", failing)
        assert main(["report", "--warehouse", str(warehouse), "--output", str(output)]) == 2
        assert _contents(output) == before
        assert [path.name for path in tmp_path.iterdir()] == ["pub"]

    @pytest.mark.parametrize("place", [".", "snapshots", "snapshots/new", "parquet/x", "report/x", "my/report"])
    def test_no_place_in_a_warehouse_is_written_but_its_own(self, single: Path, place: str, capsys: Any) -> None:
        before = sorted(single.rglob("*"))
        assert main(["report", "--warehouse", str(single), "--output", str(single / place)]) == 2
        assert "lies inside of a warehouse" in capsys.readouterr().err
        assert sorted(single.rglob("*")) == before

    def test_another_warehouse_and_a_link_into_one_are_refused(
        self, warehouse: Path, single: Path, tmp_path: Path, capsys: Any
    ) -> None:
        (tmp_path / "link").symlink_to(single)
        for place in (single / "report", tmp_path / "link" / "x", single.parent):
            assert main(["report", "--warehouse", str(warehouse), "--output", str(place)]) == 2
            assert main(["report", "--warehouse", str(single), "--output", str(single.parent)]) == 2
        assert "has the warehouse inside" in capsys.readouterr().err

    def test_a_folder_in_the_place_of_report_json_makes_no_report(
        self, warehouse: Path, tmp_path: Path, capsys: Any
    ) -> None:
        (tmp_path / "r" / "report.json").mkdir(parents=True)
        assert main(["report", "--warehouse", str(warehouse), "--output", str(tmp_path / "r")]) == 2
        assert "holds something that is not a report" in capsys.readouterr().err
        assert not is_current(warehouse, tmp_path / "r")

    def test_the_folder_that_one_is_in_is_not_replaced(
        self, warehouse: Path, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        output = write_report(warehouse, tmp_path / "r").path
        monkeypatch.chdir(output / "data")
        for place in (".", ".."):
            assert main(["report", "--warehouse", str(warehouse), "--output", place]) == 2
        assert "you are in it" in capsys.readouterr().err

    def test_a_failure_leaves_the_old_report(
        self, warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        output = write_report(warehouse, tmp_path / "r").path
        before = _contents(output)

        def full(*_: Any, **__: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "write_text", full)
        assert main(["report", "--warehouse", str(warehouse), "--output", str(output)]) == 2
        assert _contents(output) == before
        assert [path.name for path in tmp_path.iterdir()] == ["r"]

    def test_data_docs_come_along_where_they_are(self, single: Path) -> None:
        site = write_report(single).path
        assert "mbw verify --docs" in Page(site / "quality.html").text
        docs = single / "current" / "quality" / "data_docs"
        docs.mkdir()
        (docs / "index.html").write_text("<p>docs</p>")
        assert not is_current(single)
        site = write_report(single).path
        assert (site / "data_docs" / "index.html").read_text() == "<p>docs</p>"
        assert any(a.get("href") == "data_docs/index.html" for _, a in Page(site / "quality.html").tags)

    def test_build_mentions_it(self, single: Path, capsys: Any) -> None:
        archive = str(single.parent / "archive")
        assert main(["build", "--source", archive, "--warehouse", str(single), "--jobs", "1"]) == 0
        told = capsys.readouterr()
        assert f"mbw report --warehouse '{single}'" in told.err
        assert "mbw report" not in told.out

    @pytest.mark.full
    @pytest.mark.parametrize(
        "files",
        [
            group_files(summary=None, evaluate_details=None),
            group_files(predict=None, evaluate_details=None),
            group_files(predict=[], evaluate_details=[], summary={"summary": {}}),
        ],
        ids=["predictions alone", "a summary alone", "nothing in the files"],
    )
    def test_a_warehouse_with_little_in_it_gives_a_report(self, files: Any, tmp_path: Path) -> None:
        archive = HandmadeArchive(tmp_path / "archive")
        archive.add(A_MEM, files)
        build(archive.root, tmp_path / "w")
        _check_little(write_report(tmp_path / "w").path)

    def test_one_group_alone_gives_a_report(self, single: Path, tmp_path: Path) -> None:
        _check_little(write_report(single, tmp_path / "r").path)

    def test_the_generated_sample_is_called_one_on_every_page(self, site: Path, tmp_path: Path) -> None:
        warehouse = tmp_path / "w"
        build = ["build", "--source", "sample", "--warehouse", str(warehouse)]
        assert main([*build, "--select", "backbone=Qwen3-8B", "--select", "collection=Legal"]) == 0
        generated = write_report(warehouse).path
        for page in PAGES:
            text = Page(generated / page.file).text
            assert "Generated sample: the numbers mean nothing." in text and "do not cite them" in text
            assert "Generated sample" not in Page(site / page.file).text

    def test_there_has_to_be_a_warehouse(self, tmp_path: Path, capsys: Any) -> None:
        assert main(["report", "--warehouse", str(tmp_path)]) == 1
        assert "There is no warehouse at" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []

    def test_the_command_says_what_it_wrote(self, warehouse: Path, tmp_path: Path, capsys: Any) -> None:
        output = tmp_path / "pages"
        assert main(["report", "--warehouse", str(warehouse), "--output", str(output), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        files = [path for path in output.rglob("*") if path.is_file()]
        assert told["first_page"] == str(output / "index.html")
        assert (told["files"], told["bytes"]) == (len(files), sum(path.stat().st_size for path in files))
        assert told["samples"] == len(exhibit_rows(output, "samples"))


def _check_little(site: Path) -> None:
    assert exhibit_rows(site, "overview_coverage")[0]["baseline"] == "a_mem"
    assert exhibit_rows(site, "compare_datasets") == []
    assert exhibit_rows(site, "changes_numbers") == []
    assert exhibit_rows(site, "overview_contents")[0]["n_groups"] == 1


def test_carried_scripts_are_those_that_are_documented() -> None:
    table = (STATIC / "vendor" / "README.md").read_text(encoding="utf-8")
    for path in (STATIC / "vendor").glob("*.js"):
        assert f"| {path.name} |" in table and hashlib.sha256(path.read_bytes()).hexdigest() in table


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
