"""Results as text: aligned columns for people, CSV, JSON, Markdown and LaTeX for what comes next.

A result is its column names and its rows of plain Python values. Parquet is no text; `pipelines.commands.output` writes
it.
"""

from pipelines.render.cells import MISSING, Style, fixed, significant
from pipelines.render.data import unique_names, write_csv, write_json
from pipelines.render.documents import write_latex, write_markdown
from pipelines.render.text import shows_bold, write_text

__all__ = [
    "MISSING",
    "Style",
    "fixed",
    "shows_bold",
    "significant",
    "unique_names",
    "write_csv",
    "write_json",
    "write_latex",
    "write_markdown",
    "write_text",
]
