"""Apache Spark: the warehouse's tables and views in a session, and the engine that builds a warehouse on executors.

Needs the extra `spark`; pyspark is imported where it is used, and nowhere on import of this package.
"""

from __future__ import annotations

from pipelines.spark.session import require_pyspark
from pipelines.spark.tables import read_table
from pipelines.spark.views import register_views

__all__ = ["read_table", "register_views", "require_pyspark"]
