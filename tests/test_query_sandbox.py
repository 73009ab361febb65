"""`mbw query` against the known ways of making a database read, write or reach what it should not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pipelines import cli
from tests.handmade import A_MEM, HandmadeArchive, build

SECRET = "the content of a file outside"


class Place:
    """A warehouse, and a folder outside of it with a file that nobody may learn of or change."""

    def __init__(self, root: Path) -> None:
        archive = HandmadeArchive(root / "archive")
        archive.add(A_MEM)
        build(archive.root, root / "warehouse")
        self.warehouse = root / "warehouse"
        self.outside = root / "outside"
        self.outside.mkdir()
        (self.outside / "secret.csv").write_text(f"{SECRET}\n1\n")
        (self.outside / "secret.json").write_text(f'[{{"text": "{SECRET}"}}]')
        self.link = self.warehouse / "link.csv"
        self.link.symlink_to(self.outside / "secret.csv")

    def files(self) -> dict[str, bytes]:
        """Every file of the warehouse and of the folder outside, to see that nothing was written."""
        roots = (self.outside, self.warehouse)
        return {str(path): path.read_bytes() for root in roots for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("sandbox"))


#: {out} is the folder outside, {wh} the warehouse, {link} a link in the warehouse that leads out.
TRICKS = {
    "copy a table out": "COPY results TO '{out}/new.csv'",
    "copy a query out": "COPY (SELECT 1) TO '{out}/new.parquet' (FORMAT parquet)",
    "copy over a file of the warehouse": "COPY (SELECT 1) TO '{wh}/parquet/x.parquet'",
    "copy in": "COPY results FROM '{out}/secret.csv'",
    "copy a database": "COPY FROM DATABASE memorybench TO memory",
    "export": "EXPORT DATABASE '{out}/new'",
    "import": "IMPORT DATABASE '{out}/new'",
    "attach a new file": "ATTACH '{out}/new.duckdb' AS n",
    "attach the warehouse for writing": "ATTACH '{wh}/memorybench.duckdb' AS w (READ_WRITE)",
    "attach memory": "ATTACH ':memory:' AS m",
    "detach": "DETACH memorybench",
    "use another database": "USE memory",
    "install": "INSTALL httpfs",
    "install by force": "FORCE INSTALL httpfs FROM 'http://127.0.0.1:1'",
    "load": "LOAD httpfs",
    "load a library": "LOAD '{out}/evil.duckdb_extension'",
    "read text": "SELECT * FROM read_text('{out}/secret.csv')",
    "read blob": "SELECT * FROM read_blob('{out}/secret.csv')",
    "read csv": "SELECT * FROM read_csv('{out}/secret.csv')",
    "read csv by its other name": "SELECT * FROM read_csv_auto('{out}/secret.csv')",
    "sniff csv": "SELECT * FROM sniff_csv('{out}/secret.csv')",
    "read json": "SELECT * FROM read_json('{out}/secret.json')",
    "read json objects": "SELECT * FROM read_json_objects('{out}/secret.json')",
    "read parquet": "SELECT * FROM read_parquet('{out}/secret.parquet')",
    "parquet's metadata": "SELECT * FROM parquet_metadata('{out}/secret.parquet')",
    "list a folder": "SELECT * FROM glob('{out}/*')",
    "read a folder": "SELECT * FROM read_text('{out}/*')",
    "climb out": "SELECT * FROM read_text('{wh}/../outside/secret.csv')",
    "follow a link out": "SELECT * FROM read_text('{link}')",
    "a link without its folder": "SELECT * FROM read_text('link.csv')",
    "a file as a table": "FROM '{out}/secret.csv'",
    "a quoted file as a table": 'SELECT * FROM "{out}/secret.csv"',
    "a file as a table in a subquery": "SELECT (SELECT count(*) FROM '{out}/secret.json')",
    "a file in a CTE": "WITH t AS (FROM '{out}/secret.csv') FROM t",
    "a file in PIVOT": "PIVOT '{out}/secret.csv' ON 1",
    "a file in SUMMARIZE": "SUMMARIZE FROM '{out}/secret.csv'",
    "a file in DESCRIBE": "DESCRIBE FROM '{out}/secret.csv'",
    "the macro over another folder": "FROM prompts('{out}')",
    "a file by way of query()": "FROM query('SELECT * FROM read_text(''{out}/secret.csv'')')",
    "a file by way of query_table()": "FROM query_table('{out}/secret.csv')",
    "the network": "SELECT * FROM read_csv('http://127.0.0.1:1/x.csv')",
    "the network as a table": "FROM 'https://127.0.0.1:1/x.parquet'",
    "S3": "SELECT * FROM read_parquet('s3://bucket/x.parquet')",
    "the Hub": "SELECT * FROM read_parquet('hf://datasets/a/b/x.parquet')",
    "standard input": "SELECT * FROM read_text('/dev/stdin')",
    "the process's environment": "SELECT * FROM read_text('/proc/self/environ')",
    "allow access again": "SET enable_external_access = true",
    "allow a folder": "SET allowed_directories = ['{out}']",
    "allow a file": "SET allowed_paths = ['{out}/secret.csv']",
    "unlock": "SET lock_configuration = false",
    "reset": "RESET enable_external_access",
    "reset by pragma": "PRAGMA enable_external_access = true",
    "profile into a file": "PRAGMA profile_output = '{out}/new.json'",
    "log into a file": "SET log_query_path = '{out}/new.log'",
    "spill elsewhere": "SET temp_directory = '{out}/new'",
    "secrets in a folder": "SET secret_directory = '{out}'",
    "file search path": "SET file_search_path = '{out}'",
    "create a secret": "CREATE SECRET s (TYPE s3)",
    "a variable": "SET VARIABLE x = 1",
    "insert": "INSERT INTO memorybench.refreshes SELECT * FROM memorybench.refreshes",
    "update": "UPDATE predictions SET response = ''",
    "delete": "DELETE FROM predictions",
    "truncate": "TRUNCATE predictions",
    "merge": "MERGE INTO predictions USING (SELECT 1) ON true WHEN MATCHED THEN DELETE",
    "create a table": "CREATE TABLE t AS SELECT 1",
    "create a temporary table": "CREATE TEMP TABLE t AS SELECT 1",
    "create a view": "CREATE TEMP VIEW v AS SELECT 1",
    "create a macro": "CREATE TEMP MACRO m() AS 1",
    "create a table from a pivot": "CREATE TEMP TABLE t AS PIVOT results ON baseline",
    "drop": "DROP TABLE predictions",
    "alter": "ALTER TABLE predictions ADD COLUMN c INT",
    "comment": "COMMENT ON TABLE predictions IS ''",
    "vacuum": "VACUUM",
    "checkpoint": "CHECKPOINT",
    "begin": "BEGIN",
    "call": "CALL pragma_version()",
    "prepare": "PREPARE p AS COPY (SELECT 1) TO '{out}/new.csv'",
    "execute": "EXECUTE p",
    "explain a copy": "EXPLAIN COPY (SELECT 1) TO '{out}/new.csv'",
    "run a copy to explain it": "EXPLAIN ANALYZE COPY (SELECT 1) TO '{out}/new.csv'",
    "run an insert to explain it": "EXPLAIN ANALYZE INSERT INTO memorybench.predictions FROM memorybench.predictions",
    "run a create to explain it": "EXPLAIN ANALYZE CREATE TEMP TABLE t AS SELECT 1",
    "run a create behind options": "EXPLAIN (ANALYZE, FORMAT json) CREATE TEMP TABLE t AS SELECT 1",
    "run a create behind a comment": "EXPLAIN /* ; */ ANALYZE -- x\n CREATE TEMP TABLE t AS SELECT 1",
    "two statements": "SELECT 1; COPY (SELECT 1) TO '{out}/new.csv'",
    "a statement behind a comment": "SELECT 1 -- ;\n; DROP TABLE predictions",
    "nothing": "",
    "a comment alone": "/* nothing */",
    "a variable of Python": "FROM connection",
    "a variable of Python's caller": "FROM session",
    "another variable of Python": "SELECT * FROM args",
    "the secrets": "SELECT * FROM duckdb_secrets()",
    "the environment": "SELECT getenv('HOME')",
}


@pytest.mark.parametrize("trick", TRICKS)
def test_a_trick_is_refused_and_leaves_no_trace(
    place: Place, trick: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place.warehouse)
    before = place.files()
    sql = TRICKS[trick].format(out=place.outside, wh=place.warehouse, link=place.link)
    status = cli.main(["query", sql, "--warehouse", str(place.warehouse)])
    out, err = capfd.readouterr()
    assert status in (1, 2), f"{trick}: {out}"
    assert out == ""
    assert err.startswith("mbw: ")
    assert SECRET not in err.replace(str(place.outside), "")
    assert place.files() == before
    assert sorted(os.listdir(place.outside)) == ["secret.csv", "secret.json"]


def test_what_the_session_shows_of_itself_gives_nothing_away(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    query = "SELECT count(*) AS n FROM duckdb_variables()"
    assert cli.main(["query", query, "--warehouse", str(place.warehouse), "--format", "csv"]) == 0
    assert capsys.readouterr().out.split() == ["n", "0"]


def test_the_warehouse_itself_can_be_read_in_every_way_that_is_offered(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    for query in (
        "SELECT count(*) FROM results",
        "FROM prompts",
        f"FROM prompts('{place.warehouse}/parquet')",
        "PIVOT results ON baseline USING max(n_samples) GROUP BY backbone",
        "EXPLAIN SELECT 1",
        "EXPLAIN ANALYZE SELECT count(*) FROM results",
        "EXPLAIN (ANALYZE, FORMAT json) FROM results",
        "DESCRIBE results",
        "SUMMARIZE predictions",
        "WITH t AS (SELECT 1 AS a) FROM t",
        "-- a comment\nSELECT 1;",
    ):
        assert cli.main(["query", query, "--warehouse", str(place.warehouse)]) == 0, query
        assert capsys.readouterr().out


def test_an_output_file_is_the_one_thing_that_is_written_and_only_where_the_user_says(
    place: Place, tmp_path: Path
) -> None:
    before = place.files()
    wanted = tmp_path / "wanted.csv"
    assert cli.main(["query", "SELECT 1 AS a", "--warehouse", str(place.warehouse), "--output", str(wanted)]) == 0
    assert wanted.read_text().split() == ["a", "1"]
    assert place.files() == before
