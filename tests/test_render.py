"""Results as text, in every format."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from pipelines import render
from pipelines.render import Style


def written(write: Callable[..., None], columns: list[str], rows: list[tuple[Any, ...]], *style: Style) -> str:
    stream = io.StringIO()
    write(stream, columns, rows, *style)
    return stream.getvalue()


def test_numbers_stand_right_and_texts_left() -> None:
    text = written(render.write_text, ["name", "n", "x"], [("a", 1, 0.5), ("long name", 1000, None)])
    assert text == (
        "name          n    x\n"  #
        "---------  ----  ---\n"
        "a             1  0.5\n"
        "long name  1000    -\n"
    )


def test_wide_and_combining_characters_take_the_room_they_take() -> None:
    text = written(render.write_text, ["a", "b"], [("数据", "x"), ("e\u0301", "y")])
    assert text == "a     b\n----  -\n数据  x\ne\u0301     y\n"


def test_text_stays_on_its_line_and_cannot_control_the_terminal() -> None:
    text = written(render.write_text, ["a"], [("x\ny\x1b[31m\0",)])
    assert text.splitlines()[2] == r"x\ny\x1b[31m\x00"


def test_long_cells_are_cut_unless_asked_for_whole() -> None:
    assert written(render.write_text, ["a"], [("字" * 50,)]).splitlines()[2] == "字" * 29 + "…"
    assert written(render.write_text, ["a"], [("x" * 99,)], Style(whole=True)).splitlines()[2] == "x" * 99


def test_no_rows_keep_their_headers() -> None:
    assert written(render.write_text, ["a", "b"], []) == "a  b\n-  -\n(no rows)\n"
    assert written(render.write_csv, ["a", "b"], []) == "a,b\n"
    assert json.loads(written(render.write_json, ["a", "b"], [])) == []


def test_sections_narrow_headers_and_marks() -> None:
    rows = [("Qwen", "domain", 0.12345, None), ("Qwen", "task", None, None), ("Phi", "task", 1.0, 2.0)]
    style = Style(digits=4, sections=1, narrow=True, marks={(0, 2): "!"})
    assert written(render.write_text, ["backbone", "split", "embedder_message", "b"], rows, style) == (
        "Qwen\n"
        "        embedder_\n"
        "split     message\n"
        "------  ---------\n"
        "domain    0.1235!\n"
        "task           -\n"
        "\n"
        "Phi\n"
        "        embedder_\n"
        "split     message      b\n"
        "------  ---------  -----\n"
        "task       1.000   2.000\n"
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.12345, "0.1235"),
        (0.5, "0.5000"),
        (-5.8, "-5.800"),
        (0.0, "0.0"),
        (0.00016, "0.0001600"),
        (0.00001234, "1.234e-05"),
        (1234.0, "1234"),
        (123456.7, "123457"),
        (1e20, "1.000e+20"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
    ],
)
def test_significant_digits(value: float, expected: str) -> None:
    assert render.significant(value, 4) == expected


def test_an_integer_too_long_for_a_cell_is_rounded_rather_than_cut() -> None:
    def cell(value: int, style: Style) -> str:
        return written(render.write_text, ["a"], [(value,)], style).splitlines()[-1]

    assert cell(-123456 * 10**400, Style(decimals=4)) == "-1.2346e+405"
    assert cell(10**400, Style(digits=4)) == "1.000e+400"
    assert cell(2**62 + 1, Style(digits=4)) == str(2**62 + 1)
    assert cell(10**400, Style(whole=True)) == str(10**400)


def test_csv_is_read_back_the_same() -> None:
    rows = [("a,b", 'say "x"', "line\nbreak", 0.1, True, None, [1, {"a": None}])]
    text = written(render.write_csv, list("abcdefg"), rows)
    expected = ["a,b", 'say "x"', "line\nbreak", "0.1", "true", "", '[1,{"a":null}]']
    assert list(csv.reader(io.StringIO(text))) == [list("abcdefg"), expected]


def test_json_is_strict_and_loses_no_column() -> None:
    moment = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    row = (1, 2, float("nan"), float("-inf"), Decimal("1.5"), moment, date(2026, 1, 2), b"\xff", {"k": [float("inf")]})
    text = written(render.write_json, ["a", "a", *"bcdefgh"], [row])

    def refuse(token: str) -> None:
        raise AssertionError(token)

    assert json.loads(text, parse_constant=refuse) == [
        {
            "a": 1,
            "a_1": 2,
            "b": "NaN",
            "c": "-Infinity",
            "d": 1.5,
            "e": "2026-01-02T03:04:00+00:00",
            "f": "2026-01-02",
            "g": "ff",
            "h": {"k": ["Infinity"]},
        }
    ]


def test_markdown_and_latex_escape() -> None:
    rows = [("a|b_c*<i>", 1), ("two\nlines", 2)]
    assert written(render.write_markdown, ["x_y", "n"], rows) == (
        "| x\\_y | n |\n"
        "| --- | ---: |\n"
        "| a\\|b\\_c\\*\\<i\\> | 1 |\n"
        "| two<br>lines | 2 |\n"
    )  # fmt: skip
    assert written(render.write_latex, ["x_y", "n"], [("50% & {a}\\", 1)]) == (
        "% \\usepackage{booktabs}\n"
        "\\begin{tabular}{lr}\n\\toprule\nx\\_y & n \\\\\n\\midrule\n"
        "50\\% \\& \\{a\\}\\textbackslash{} & 1 \\\\\n\\bottomrule\n\\end{tabular}\n"
    )


@pytest.mark.parametrize("character", "\\`*_~|<>[]&$")
def test_no_name_is_markup_in_markdown(character: str) -> None:
    text = written(render.write_markdown, ["a"], [(f"x{character}y",)]).splitlines()[2]
    assert text == f"| x\\{character}y |"


def test_no_name_is_a_command_in_latex() -> None:
    name = r"a&b%c$d#e_f{g}h~i^j\k<l>m|n"
    text = written(render.write_latex, [name, "n"], [(name, "x")])
    lines = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert len(lines) == 2
    for line in lines:
        cell = line.removesuffix(r" \\").rsplit(" & ", 1)[0]
        for command in ("textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar"):
            assert f"\\{command}{{}}" in cell
            cell = cell.replace(f"\\{command}{{}}", "")
        for special in "&%$#_{}":
            assert cell.count(f"\\{special}") == 1
            cell = cell.replace(f"\\{special}", "")
        assert cell == "abcdefghijklmn"


@pytest.mark.parametrize("name", ["*", "[x]"])
def test_no_name_is_an_argument_of_the_line_before_it_in_latex(name: str) -> None:
    assert f"\n{{}}{name} & 1 \\\\\n" in written(render.write_latex, ["a", "n"], [("b", 1), (name, 1)])


def test_a_latex_table_with_a_caption_says_what_its_marks_mean_and_what_is_left_out() -> None:
    style = Style(
        decimals=4,
        marks={(0, 1): "#"},
        bold={(1, 1)},
        bold_means="the best",
        noted={3},
        caption="A_B of 50%",
        legend=["# odd & more"],
    )
    rows = [("a", 0.5, None, "why"), ("-", 0.75, None, "why"), ("c", None, None, "other_why"), ("d", None, None, None)]
    assert written(render.write_latex, ["x", "m", "empty_one", "why not"], rows, style) == (
        "% \\usepackage{booktabs}\n"
        "\\begin{table}\n\\centering\n\\caption{A\\_B of 50\\%}\n"
        "\\begin{tabular}{lrl}\n\\toprule\nx & m & why not \\\\\n\\midrule\n"
        "a & 0.5000\\# & [1] \\\\\n"
        "- & \\textbf{0.7500}  & [1] \\\\\n"
        "c & -  & [2] \\\\\n"
        "d & -  & - \\\\\n"
        "\\bottomrule\n\\end{tabular}\n"
        "\\par\\smallskip{\\footnotesize bold: the best\\par}\n"
        "\\par\\smallskip{\\footnotesize \\# odd \\& more\\par}\n"
        "\\par\\smallskip{\\footnotesize [1] why\\par}\n"
        "\\par\\smallskip{\\footnotesize [2] other\\_why\\par}\n"
        "\\par\\smallskip{\\footnotesize left out, as empty in every row: empty\\_one\\par}\n"
        "\\end{table}\n"
    )
    assert "% left out, as empty in every row: b\n" in written(render.write_latex, ["a", "b"], [(1, None)])
    assert "a & b" in written(render.write_latex, ["a", "b"], [])


def test_a_negative_number_has_a_minus_sign_in_latex_and_a_text_its_hyphen() -> None:
    rows = [(-0.1354, -3, Decimal("-1.50"), "-0.5", None), (0.5, 3, -math.inf, "-", -1.25e-5)]
    out = written(render.write_latex, list("abcde"), rows, Style(digits=4, bold={(0, 0)}))
    assert "\\textbf{$-$0.1354} & $-$3 & $-$1.50 & -0.5 & - \\\\\n" in out
    rows = [("[-0.5000, -0.2500]", "[-a, -b]"), ("[0.1, 0.2]", "-[1, -2]")]
    assert "[$-$0.5000, $-$0.2500] & [-a, -b] \\\\\n{}[0.1, 0.2] & -[1, -2]" in written(
        render.write_latex, ["a", "b"], rows
    )
    assert "0.5000 & 3 & $-$inf & - & $-$1.250e-05 \\\\\n" in out


def test_each_reason_stands_once_below_the_table() -> None:
    rows = [("a", "r" * 70), ("b", None), ("c", "r" * 70), ("d", "s t")]
    assert written(render.write_text, ["x", "why"], rows, Style(noted={1})) == (
        f"x  why\n-  ---\na  [1]\nb  -\nc  [1]\nd  [2]\n\n[1] {'r' * 70}\n[2] s t\n"
    )
    assert written(render.write_text, ["x", "why"], rows, Style(noted={1}, width=6)).endswith("[2] s\n  t\n")
    assert written(render.write_markdown, ["x", "why"], rows[3:], Style(noted={1})).endswith("| d | s t |\n")


def test_markdown_has_its_legend_below_as_a_list_of_texts() -> None:
    style = Style(legend=["# a|b", "- c"], provenance="source: x_y", warning="A sample.")
    assert written(render.write_markdown, ["a"], [(1,)], style) == (
        "| a |\n| ---: |\n| 1 |\n\n- \\# a\\|b\n- \\- c\n- source: x\\_y\n- A sample.\n"
    )


def test_what_no_block_of_a_text_table_has_is_named() -> None:
    rows = [("Qwen", 1, None, None), ("Phi", None, None, 2)]
    stream = io.StringIO()
    remarks = render.write_text(stream, ["backbone", "a", "empty", "b"], rows, Style(sections=1))
    assert stream.getvalue() == "Qwen\na\n-\n1\n\nPhi\nb\n-\n2\n"
    assert remarks == ["left out, as empty in every row: empty"]


def test_where_there_is_nothing_to_show_a_line_says_so_in_place_of_the_table() -> None:
    style = Style(nothing="no a_b: none", legend=["a: b"], caption="C", provenance="source: s")
    assert written(render.write_text, ["a"], [(None,)], style) == "no a_b: none\n"
    assert written(render.write_markdown, ["a"], [(None,)], style) == "no a\\_b: none\n\n- source: s\n"
    assert written(render.write_latex, ["a"], [(None,)], style) == "no a\\_b: none\\par\nsource: s\\par\n"


def test_the_reader_is_told_what_is_cut_and_what_stands_below() -> None:
    def remarks(value: str, **style: Any) -> list[str]:
        return render.write_text(io.StringIO(), ["a", "b", "c"], [("x" * 30, value, 1)], Style(**style))

    assert remarks("y") == []
    assert remarks("y" * 61) == ["texts that end in … are cut at 60 characters: other formats have them whole"]
    assert remarks("y" * 61, whole=True) == []
    assert remarks("y" * 30, width=40) == ["the table is wider than the terminal: its other columns stand below"]


def test_without_a_column_that_leads_the_first_one_is_repeated() -> None:
    row = ("k" * 5, "v" * 9, "o" * 9)
    text = written(render.write_text, ["key", "value", "other"], [row], Style(width=20, leading=("baseline",)))
    assert [part.splitlines()[0].split() for part in text.split("\n\n")] == [["key", "value"], ["key", "other"]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.12345, "0.1235"),
        (0.00016, "0.0002"),
        (-0.00001, "0.0000"),
        (-5.8, "-5.8000"),
        (1234567.0, "1234567.0000"),
        (1e20, "1.0000e+20"),
        (float("nan"), "nan"),
    ],
)
def test_fixed_decimals(value: float, expected: str) -> None:
    assert render.fixed(value, 4) == expected


def widths(text: str) -> list[int]:
    return [len(line) for line in text.splitlines()]


def test_what_is_too_wide_goes_on_below_itself_and_loses_and_doubles_no_column() -> None:
    columns = ["experiment", "backbone", "baseline", "metric", "value", "other"]
    row = ("e" * 9, "b" * 9, "m" * 9, "q" * 9, "v" * 9, "o" * 9)
    for width in range(20, 70):
        style = Style(width=width, leading=("baseline", "metric"))
        text = written(render.write_text, columns, [row], style)
        assert max(widths(text)) <= width
        assert all(cell in text for cell in row)
        for part in text.split("\n\n"):
            titles = part.splitlines()[0].split()
            assert len(titles) == len(set(titles))


def test_headings_and_headers_without_rows_keep_within_the_width() -> None:
    columns = [f"column_{i}" for i in range(12)]
    assert max(widths(written(render.write_text, columns, [], Style(width=40)))) <= 40
    text = written(render.write_text, ["a", "b", "c"], [("x" * 30, "y" * 30, 1)], Style(sections=2, width=40))
    assert text.splitlines()[:2] == ["x" * 30 + " /", "y" * 30]


def test_the_last_column_can_be_wrapped() -> None:
    rows = [("a", "one two three four"), ("b", None), ("c", "five")]
    text = written(render.write_text, ["name", "meaning"], rows, Style(whole=True, wrap=True, width=17))
    assert text.splitlines()[2:] == ["a     one two", "      three four", "b     -", "c     five"]


def test_unique_names() -> None:
    assert render.unique_names(["a", "a", "a_1", "a"]) == ["a", "a_1", "a_1_1", "a_2"]


def test_bold_is_for_terminals_whose_user_has_not_asked_for_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def shown(stream: io.StringIO) -> str:
        render.write_text(stream, ["a"], [(1,)], render.Style(bold={(0, 0)}))
        return stream.getvalue()

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert shown(Terminal()) == "a\n-\n\x1b[1m1\x1b[0m\n" and shown(io.StringIO()) == "a\n-\n1\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert shown(Terminal()) == "a\n-\n1\n" and not render.shows_bold(Terminal())
    monkeypatch.setenv("NO_COLOR", "")
    assert render.shows_bold(Terminal())
