"""From the published archive of MemoryBench results to a warehouse that can be queried.

Data flows one way: archive -> normalize -> parquet -> database -> views.
"""
