"""The baselines: the memory systems that the benchmark compares, by the key they are published under.

A baseline that is not listed is data like any other; it only has no paper name and no type.
"""

from dataclasses import dataclass
from typing import Literal

BaselineType = Literal["none", "retrieval", "memory_system", "continual_learning", "skill_library"]
"""How a baseline uses past dialogs.

none: not at all; retrieval: raw text is searched; memory_system: notes, facts or a graph are distilled from it and
searched; continual_learning: the feedback in it adapts how answers are made; skill_library: procedures that worked
are kept and offered again.
"""


@dataclass(frozen=True, slots=True)
class Baseline:
    """One baseline: its published key, the name that the paper or the method's authors use, and what it does."""

    baseline: str
    paper_name: str
    type: BaselineType
    description: str


_ROWS = (
    Baseline("wo_memory", "Vanilla", "none",
             "The backbone alone; on conversation datasets the whole conversation is in the prompt."),
    Baseline("bm25_message", "BM25-M", "retrieval", "BM25 over single messages."),
    Baseline("bm25_dialog", "BM25-S", "retrieval", "BM25 over whole sessions."),
    Baseline("embedder_message", "Emb-M", "retrieval", "Dense retrieval over single messages."),
    Baseline("embedder_dialog", "Emb-S", "retrieval", "Dense retrieval over whole sessions."),
    Baseline("a_mem", "A-Mem", "memory_system", "Linked notes with keywords and tags, rewritten as new ones arrive."),
    Baseline("mem0", "Mem0", "memory_system",
             "Facts extracted from each dialog; too slow for two of the collections, where it is not run."),
    Baseline("memoryos", "MemoryOS", "memory_system", "Short, middle and long-term stores, managed like an OS's."),
    Baseline("uno", "UNO", "continual_learning", "Learns from the feedback in past dialogs; later release."),
    Baseline("uno-single", "UNO-single", "continual_learning", "The single variant of UNO; later release."),
    Baseline("autoskill_with_library", "AutoSkill (with library)", "skill_library",
             "Skills distilled from dialogs, starting from a given library; later release."),
    Baseline("autoskill_without_library", "AutoSkill (without library)", "skill_library",
             "Skills distilled from dialogs, starting from nothing; later release."),
    Baseline("graphiti", "Graphiti", "memory_system", "A temporal knowledge graph of the dialogs; later release."),
    Baseline("light", "LIGHT", "memory_system", "The memory system published under this key; later release."),
    Baseline("tencentdb", "TencentDB", "memory_system", "The memory system published under this key; later release."),
)  # fmt: skip

BASELINES: dict[str, Baseline] = {row.baseline: row for row in _ROWS}
"""Every known baseline by its published key, in the order of the paper, later releases behind."""
