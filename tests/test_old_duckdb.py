"""The oldest promised client, DuckDB 1.2, opens the file wherever it lies and runs every view and macro."""

from __future__ import annotations

import json
import shutil
import subprocess
import textwrap
import venv
from pathlib import Path

import duckdb
import pytest

from pipelines.archive.local import LocalSource
from pipelines.archive.sample import write_sample
from pipelines.config import BuildOptions
from pipelines.load.snapshots import Warehouse
from pipelines.refresh import refresh

pytestmark = pytest.mark.full

OLDEST = "duckdb==1.2.0"
NEEDED = (OLDEST, "pytz")  # that DuckDB cannot turn a time with a zone into a Python object without pytz


@pytest.fixture(scope="module")
def old_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the oldest promised DuckDB and nothing of ours."""
    folder = tmp_path_factory.mktemp("old")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *NEEDED]
    subprocess.run(install, check=True)
    return python


def test_the_oldest_client_reads_every_table_and_view_of_a_copied_database(old_python: Path, tmp_path: Path) -> None:
    write_sample(tmp_path / "archive")
    refresh(LocalSource(tmp_path / "archive"), Warehouse(tmp_path / "warehouse"), BuildOptions(jobs=2))
    (tmp_path / "elsewhere").mkdir()
    copied = shutil.copy(tmp_path / "warehouse" / "memorybench.duckdb", tmp_path / "elsewhere" / "copy.duckdb")
    names = "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'copy' ORDER BY table_name"
    with duckdb.connect(str(copied), read_only=True) as connection:
        tables = [row[0] for row in connection.execute(names).fetchall()]
        counts = {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone() for name in tables}
    script = textwrap.dedent(
        f"""
        import duckdb, json
        assert duckdb.__version__ == {OLDEST.split("==")[1]!r}, duckdb.__version__
        connection = duckdb.connect({str(copied)!r}, read_only=True)
        counts = {{}}
        for (name,) in connection.execute({names!r}).fetchall():
            rows = connection.execute(f'SELECT * FROM "{{name}}"').fetchall()
            counts[name] = [len(rows)]
        prompts = connection.execute("SELECT count(*) FROM prompts(?)", [{str(tmp_path / "warehouse" / "parquet")!r}])
        print(json.dumps({{"counts": counts, "prompts": prompts.fetchone()}}))
        """
    )
    run = subprocess.run(
        [old_python, "-c", script], check=False, capture_output=True, text=True, cwd=tmp_path / "elsewhere"
    )
    assert run.returncode == 0, run.stderr
    said = json.loads(run.stdout)
    assert said["counts"] == {name: list(count or ()) for name, count in counts.items()}
    assert said["prompts"] == list(counts["predictions"] or ())
