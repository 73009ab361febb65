"""What R reads of a CSV export. R's readers of Parquet are not among Debian's packages and are not tested."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pipelines.export.layout import ExportOptions
from pipelines.export.snapshot import export_folder
from tests.handmade import A_MEM, HandmadeArchive, build, evaluation, group_files, prediction

pytestmark = pytest.mark.full

if shutil.which("Rscript") is None:
    pytest.skip("no Rscript on the PATH", allow_module_level=True)

READ = """
read <- function(name, ...) read.csv(file.path("data", name, paste0(name, ".csv")),
                                     na.strings = "", encoding = "UTF-8", ...)
results <- read("results")
stopifnot(nrow(results) == 1, results$baseline == "a_mem", is.numeric(results$weighted_average))
scores <- read("sample_scores")
stopifnot(identical(as.numeric(scores$score), c(1, NA, 4)))
predictions <- read("predictions", skipNul = TRUE)
stopifnot(nrow(predictions) == 3)
stopifnot(identical(predictions$response[1], "ab"))
stopifnot(identical(predictions$response[2], "\\u6a21\\u578b, \\"quoted\\"\\nline"))
stopifnot(identical(predictions$group_id[1], "off-policy/Qwen3-8B/domain/Open-Domain/a_mem"))
warned <- FALSE
lost <- withCallingHandlers(read("predictions"), warning = function(w) {
  warned <<- grepl("embedded nul", conditionMessage(w)) || warned
  invokeRestart("muffleWarning")
})
stopifnot(warned, !identical(lost$response, predictions$response))  # as docs/readers.md says
"""


def test_base_r_reads_a_csv_export(tmp_path: Path, unchecked: None) -> None:
    archive = HandmadeArchive(tmp_path / "archive")
    texts = [prediction("NFCats", 0, "a\0b"), prediction("NFCats", 1, '模型, "quoted"\nline'), prediction("NFCats", 2)]
    evaluations = [evaluation("NFCats", i, {"score": score}) for i, score in enumerate((1, None, 4))]
    summary = {"summary": {"weighted_average": 0.5}, "details": {"NFCats": [1, None, 4]}}
    archive.add(A_MEM, group_files(predict=texts, evaluate_details=evaluations, summary=summary))
    build(archive.root, tmp_path / "warehouse")
    export_folder(tmp_path / "warehouse", tmp_path / "export", ExportOptions("csv"))
    command = ["Rscript", "--vanilla", "-e", READ]
    done = subprocess.run(command, cwd=tmp_path / "export", capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
