"""run_configs: what the runner was asked to do, one row for each group."""

from schemas.model import GROUP_ID, Column, Table

TABLE = Table(
    name="run_configs",
    grain="group",
    meaning="The runner's arguments (run_config.json). What was asked for: the runner lowers retrieve_k on errors.",
    key=("group_id",),
    columns=(
        GROUP_ID,
        Column("dataset_type", "text", "The split as the runner was told.", nullable=True),
        Column("set_name", "text", "The collection as the runner was told.", nullable=True),
        Column("memory_system", "text", "The memory system that ran.", nullable=True),
        Column("retrieve_k", "integer", "How many memories were to be retrieved for a sample.", nullable=True),
        Column("threads", "integer", "Number of parallel workers of the runner.", nullable=True),
        Column("llm_provider", "text", "Who served the backbone, such as vllm.", nullable=True),
        Column("llm_model", "text", "The backbone as its provider names it.", nullable=True),
        Column("temperature", "number", "The sampling temperature.", nullable=True),
        Column("output_dir", "text", "Where the runner wrote.", nullable=True),
        Column("memory_cache_prefix", "text", "Where the runner cached memories.", nullable=True),
        Column("config", "json", "The whole object as JSON text, key order kept.", long_text=True),
    ),
)
