"""What the benchmark's runner writes literally: its error text and the experiments it knows.

Constants only; how they are recognised or acted on is decided where they are used.
"""

FAILED_GENERATION = "Error: Unable to generate response."
"""The response the runner records when a model gave none; the metrics score it like any other text."""

KNOWN_EXPERIMENTS = ("off-policy", "stepwise off-policy", "on-policy", "train performance")
"""The runner's experiments. A folder is named `<experiment>-<backbone>` and backbones hold hyphens themselves,
so only a known experiment can be split off; of two that match, the longer one is meant."""

NO_MEMORY = "wo_memory"
"""The baseline that every gain is measured against."""
