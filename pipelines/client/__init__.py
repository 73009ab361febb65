"""The Python client: the publisher's class, served from the warehouse.

from pipelines.client import MemoryBenchResults, load_result_summary_table
"""

from pipelines.client.results import MemoryBenchResults, ResultEntry, load_result_summary_table

__all__ = ["MemoryBenchResults", "ResultEntry", "load_result_summary_table"]
