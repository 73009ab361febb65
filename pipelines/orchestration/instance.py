"""Where Dagster keeps its state for a warehouse: `.dagster` inside of it, with a dagster.yaml of its own.

The project's dagster.yaml says the same for `dagster dev` in the project's folder; a test compares the two. Does not
import dagster.
"""

from __future__ import annotations

from pathlib import Path

MODULE = "pipelines.orchestration.definitions"
STATE = ".dagster"

_CONFIG = """\
telemetry:
  enabled: false
# No invitation to a newsletter in front of the UI.
nux:
  enabled: false
storage:
  sqlite:
    base_dir: {state}/storage
local_artifact_storage:
  module: dagster._core.storage.root
  class: LocalArtifactStorage
  config:
    base_dir: {state}
compute_logs:
  module: dagster._core.storage.local_compute_log_manager
  class: LocalComputeLogManager
  config:
    base_dir: {state}/logs
# A warehouse has one writer: a second run waits for the first.
concurrency:
  runs:
    max_concurrent_runs: 1
# A run whose process died is marked as failed after this many seconds, so that the next one can start.
run_monitoring:
  enabled: true
  start_timeout_seconds: 180
# Ticks, in days.
retention:
  schedule:
    purge_after_days: 30
  sensor:
    purge_after_days:
      skipped: 7
      failure: 30
      success: 30
"""


def instance_config(state: str) -> str:
    """The text of dagster.yaml for a state folder; quoted, so that any path is one."""
    quoted = state.replace("'", "''")
    lines = []
    for line in _CONFIG.splitlines():
        if "{state}" in line:
            key, _, value = line.partition(": ")
            line = f"{key}: '{value.replace('{state}', quoted)}'"
        lines.append(line)
    return "\n".join(lines) + "\n"


def prepare_home(warehouse: Path) -> Path:
    """Make the warehouse's state folder with its dagster.yaml; returns it, for DAGSTER_HOME."""
    home = warehouse.expanduser().absolute() / STATE
    home.mkdir(parents=True, exist_ok=True)
    config = home / "dagster.yaml"
    text = instance_config(str(home))
    if not config.exists() or config.read_text(encoding="utf-8") != text:
        config.write_text(text, encoding="utf-8")
    return home
