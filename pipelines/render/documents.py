"""Tables for documents: Markdown and LaTeX, in which no name or text of the archive is taken for markup."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TextIO

from pipelines.render.cells import Style, cells_of, escaped, left_out, noted
from pipelines.render.data import Row


def write_markdown(stream: TextIO, columns: Row, rows: Iterable[Row], style: Style | None = None) -> None:
    """A table in GitHub's Markdown, its legend a list below. No name or text of the archive is taken for markup."""
    style = style or Style()
    if style.nothing:
        stream.write(f"{_markdown_escaped(style.nothing)}\n")
        stream.write(_markdown_list(style.origin))
        return
    cells, numeric, _ = cells_of(columns, rows, style, _markdown_escaped, "**{}**".format)
    stream.write(f"| {' | '.join(_markdown_escaped(str(column)) for column in columns)} |\n")
    stream.write(f"| {' | '.join('---:' if right else '---' for right in numeric)} |\n")
    for row in cells:
        stream.write(f"| {' | '.join(row)} |\n")
    stream.write(_markdown_list([*style.whole_legend(shows_bold=True), *style.origin]))


def _markdown_list(lines: Iterable[str]) -> str:
    """The lines as a list with an empty line before it, without which it would be rows of the table."""
    items = []
    for line in lines:
        guard = "\\" if line.startswith(("#", "-", "+")) else ""  # else a heading, or a list of its own
        items.append(f"- {guard}{_markdown_escaped(line)}\n")
    return "".join(["\n", *items]) if items else ""


def _markdown_escaped(text: str) -> str:
    for character in "\\`*_~|<>[]&$":
        text = text.replace(character, "\\" + character)
    return "<br>".join(escaped(line) for line in text.splitlines())


def write_latex(stream: TextIO, columns: Row, rows: Iterable[Row], style: Style | None = None) -> None:
    r"""A tabular environment with the rules of the package booktabs, in a table with caption and legend where there is
    a caption. No name or text of the archive is taken for a command.

    Columns that are empty throughout are left out, which the legend says.
    """
    style = style or Style()
    if style.nothing:
        stream.writelines(f"{_latex_escaped(line)}\\par\n" for line in [style.nothing, *style.origin])
        return
    rows, notes = noted(rows, style)
    cells, numeric, filled = cells_of(columns, rows, style, _latex_escaped, r"\textbf{{{}}}".format, _latex_number)
    kept = [i for i in range(len(columns)) if filled[i] or not cells]
    legend = [
        *style.whole_legend(shows_bold=True),
        *notes,
        *left_out(str(column) for i, column in enumerate(columns) if i not in kept),
        *style.origin,
    ]
    stream.write("% \\usepackage{booktabs}\n")
    if style.caption:
        stream.write(f"\\begin{{table}}\n\\centering\n\\caption{{{_latex_escaped(style.caption)}}}\n")
    stream.write(f"\\begin{{tabular}}{{{''.join('r' if numeric[i] else 'l' for i in kept)}}}\n\\toprule\n")
    stream.write(f"{' & '.join(_latex_escaped(str(columns[i])) for i in kept)} \\\\\n\\midrule\n")
    for row in cells:
        line = [row[i] for i in kept]
        # A star or a bracket after the end of a line would be taken for its argument.
        guard = "{}" if line and line[0].startswith(("*", "[")) else ""
        stream.write(f"{guard}{' & '.join(line)} \\\\\n")
    stream.write("\\bottomrule\n\\end{tabular}\n")
    if style.caption:
        stream.writelines(f"\\par\\smallskip{{\\footnotesize {_latex_escaped(line)}\\par}}\n" for line in legend)
        stream.write("\\end{table}\n")
    else:
        stream.writelines(f"% {_latex_escaped(line)}\n" for line in legend)


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # In the oldest font encoding, which is still the default, these three are other characters.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{character: "\\" + character for character in "&%$#_{}"},
}


def _latex_escaped(text: str) -> str:
    return escaped("".join(_LATEX.get(c, c) for c in " ".join(text.split())))


def _latex_number(text: str) -> str:
    """A number, or an interval of two, with minus signs where a text would have hyphens."""
    return re.sub(r"(?<![^ \[])-", "$-$", text)
