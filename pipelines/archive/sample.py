"""A deterministic archive of the published shape, with invented content: what is built when no source is given.

    python -m pipelines.archive.sample OUT [--samples F] [--context CHARS] [--backbones N] [--add-backbone NAME]
                                           [--traps] [--seed S]

As many systems and collections as are published (4 backbones, 7 collections, 9 baselines, 244 groups), all 28
datasets, summaries by the publisher's formulas. Bundled size by default; `--samples 1.0 --context 34000` is the size
of the published archive. The same arguments give the same bytes. Texts are in `sample_texts`, metrics in
`sample_metrics`; reading an archive belongs elsewhere.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from pipelines.archive.json_reader import dumps
from pipelines.archive.sample_metrics import Item, Metrics, Score, draw_metrics, draw_score, failed_score
from pipelines.archive.sample_texts import Language, Writer
from pipelines.errors import UsageError
from schemas.reference import DATASETS, FAILED_GENERATION, NO_MEMORY, NormalizationRow, dataset_group, normalization_of

SAMPLES, CONTEXT_CHARS, SEED = 0.04, 160, 7
"""The bundled sample: 244 groups in a few megabytes."""

EXPERIMENT = "off-policy"
RUN_ID = "start_at_2026-06-01-08-00-00"
BACKBONES = ("DeepSeek-V4-Flash", "Mistral-Small-3.2-24B-Instruct-2506", "Qwen3-32B", "Qwen3-8B")
BASELINES = (
    NO_MEMORY, "bm25_message", "bm25_dialog", "embedder_message", "embedder_dialog", "a_mem", "mem0", "memoryos", "uno",
)  # fmt: skip
COLLECTIONS = (
    ("domain", "Academic&Knowledge"),
    ("domain", "Legal"),
    ("domain", "Open-Domain"),
    ("task", "Long-Long"),
    ("task", "Long-Short"),
    ("task", "Short-Long"),
    ("task", "Short-Short"),
)
NOT_RUN = {("mem0", "domain", "Open-Domain"), ("mem0", "task", "Long-Short")}

TEST_SAMPLES = dict.fromkeys(DATASETS, 50) | {
    **{dataset: 5 for dataset in DATASETS if dataset.startswith("Locomo-")},
    **{dataset: 17 for dataset in DATASETS if dataset.startswith("DialSim-")},
    "HelloBench-Academic&Knowledge-QA": 43,
    "HelloBench-Academic&Knowledge-Writing": 17,
    "HelloBench-Creative&Design": 46,
    "WritingBench-Academic&Engineering": 34,
    "WritingBench-Politics&Law": 41,
}
"""Test samples that the published archive holds for each dataset."""

# Strength in standard deviations of a dataset's scores: enough for the tables to show an order, and for the small
# differences to stay within their intervals.
_BACKBONE_STRENGTH = {
    "DeepSeek-V4-Flash": 0.25, "Mistral-Small-3.2-24B-Instruct-2506": -0.05, "Qwen3-32B": 0.08, "Qwen3-8B": -0.15,
}  # fmt: skip
_BASELINE_STRENGTH = {
    NO_MEMORY: 0.0, "bm25_message": 0.06, "bm25_dialog": 0.12, "embedder_message": 0.02, "embedder_dialog": 0.08,
    "a_mem": 0.15, "mem0": -0.05, "memoryos": -0.15, "uno": 0.25,
}  # fmt: skip
_EASE_SD, _NOISE_SD, _PAIRING_SD = 0.6, 0.7, 0.05

# What happens in real archives: a system that answered nothing but the error text and was scored all the same, and
# one single failed generation elsewhere.
FAILED_SYSTEM = ("Mistral-Small-3.2-24B-Instruct-2506", "a_mem", "task", "Short-Long")
FAILED_ONCE = ("Qwen3-8B", "memoryos", "domain", "Legal")

# Beyond this many characters of context the texts are drawn from a larger pool, so that long prompts differ as much
# as real ones, and two processes write them.
_LONG_CONTEXT = 5_000
_POOL_SMALL, _POOL_LARGE = 3_000, 20_000
_PARALLEL_FROM_CHARS = 50_000_000


@dataclass(frozen=True, slots=True)
class SampleStats:
    """What one call wrote: result groups, samples in them, bytes of all files."""

    groups: int
    samples: int
    bytes: int


@dataclass(frozen=True, slots=True)
class _Group:
    """One group to write, and the options that shape it; small, because it travels to another process."""

    out: Path
    backbone: str
    split: str
    collection: str
    baseline: str
    baseline_number: int
    samples: float
    context_chars: int
    seed: int
    traps: bool

    @property
    def relative_dir(self) -> str:
        return f"{EXPERIMENT}-{self.backbone}/{self.split}/{self.collection}/{self.baseline}"

    @property
    def long(self) -> bool:
        return self.context_chars > _LONG_CONTEXT

    def fails(self, number: int) -> bool:
        system = (self.backbone, self.baseline, self.split, self.collection)
        return system == FAILED_SYSTEM or (system == FAILED_ONCE and number == 0)


def write_sample(
    out: Path,
    *,
    backbones: Sequence[str] = BACKBONES,
    baselines: Sequence[str] = BASELINES,
    samples: float = SAMPLES,
    context_chars: int = CONTEXT_CHARS,
    seed: int = SEED,
    traps: bool = False,
    append: bool = False,
) -> SampleStats:
    """Write a sample archive into a folder, which is made if it is not there.

    samples: share of each dataset's published test samples, rounded up, so that every dataset has at least one.
    context_chars: median length of the memories in a prompt; prompts of wo_memory have some on conversations only.
    traps: also what strict readers trip over (NaN, lone surrogates, huge integers, null content, unknown keys, …).
    append: add to the manifest that is there, as a new release would, instead of writing a new one.

    Groups that an earlier call left in the folder are not removed. Raises UsageError for sizes that make no archive.
    """
    if not samples > 0 or context_chars < 0:
        raise UsageError(f"samples must be above 0 and context_chars not below 0, not {samples} and {context_chars}.")
    groups = [
        _Group(out, backbone, split, collection, baseline, number, samples, context_chars, seed, traps)
        for backbone in backbones
        for split, collection in COLLECTIONS
        for number, baseline in enumerate(baselines)
        if (baseline, split, collection) not in NOT_RUN
    ]
    out.mkdir(parents=True, exist_ok=True)
    if len(groups) * 220 * samples * context_chars > _PARALLEL_FROM_CHARS:
        with ProcessPoolExecutor(max_workers=2) as pool:
            written = list(pool.map(_write_group, groups, chunksize=4))
    else:
        written = [_write_group(group) for group in groups]
    manifest_bytes = _write_manifest(out / "manifest.jsonl", [line for line, _, _ in written], append)
    return SampleStats(
        groups=len(groups),
        samples=sum(count for _, count, _ in written),
        bytes=sum(size for _, _, size in written) + manifest_bytes,
    )


def _write_manifest(path: Path, lines: list[str], append: bool) -> int:
    """Write the manifest and return the bytes added; a group that is named already is not named again."""
    kept = path.read_text(encoding="utf-8").splitlines() if append and path.exists() else []
    known = set(kept)
    added = [line for line in lines if line not in known]
    path.write_text("".join(f"{line}\n" for line in [*kept, *added]), encoding="utf-8", newline="\n")
    return sum(len(line.encode()) + 1 for line in added)


def _write_group(group: _Group) -> tuple[str, int, int]:
    """Write one group's four files; returns its manifest line, its samples and its bytes."""
    predictions, evaluations, summary = _answers(group)
    files: dict[str, Any] = {
        "evaluate_details.json": evaluations,
        "predict.json": predictions,
        "run_config.json": _run_config(group),
        "summary.json": summary,
    }
    folder = group.out / group.relative_dir
    folder.mkdir(parents=True, exist_ok=True)
    size = 0
    for name, content in files.items():
        data = dumps(content, indent=4, ascii=group.traps).encode()
        (folder / name).write_bytes(data)
        size += len(data)
    line = {
        "exp": EXPERIMENT,
        "model": group.backbone,
        "dataset_type": group.split,
        "set_name": group.collection,
        "baseline": group.baseline,
        "run_id": RUN_ID,
        "relative_dir": group.relative_dir,
        "files": list(files),
    }
    return dumps(line), len(predictions), size


def _answers(group: _Group) -> tuple[list[Metrics], list[Metrics], Metrics]:
    """The predictions in no particular order, the evaluations in the runner's order, and their summary."""
    rng = Random(f"{group.seed}/{group.relative_dir}")
    strength = _strength(group, rng)
    predictions: list[Metrics] = []
    evaluations: list[Metrics] = []
    scores: dict[tuple[str, int], Score] = {}
    for number, (item, constants) in enumerate(_items(group)):
        writer = _writer(DATASETS[item.dataset].language, group.long, group.seed)
        failed = group.fails(number)
        level = strength + item.ease + rng.gauss(0, _NOISE_SD)
        wanted = failed_score(constants) if failed else draw_score(constants, level)
        metrics, score = draw_metrics(item, wanted, writer, rng)
        response = FAILED_GENERATION if failed else writer.sentences(rng, 1 + min(group.context_chars // 2000, 14))
        messages = _messages(group, item, writer, rng)
        extra: Metrics = {}
        if group.traps:
            metrics, messages, response = _trap(number + group.baseline_number, metrics, messages, response)
            extra = {"latency": 0.5}
        predictions.append(
            {
                "test_idx": item.test_idx,
                "messages": messages,
                "response": response,
                "dataset": item.dataset,
                **extra,
            }
        )
        evaluations.append({"test_idx": item.test_idx, "metrics": metrics, "dataset": item.dataset})
        scores[item.dataset, item.test_idx] = score
    rng.shuffle(predictions)
    return predictions, evaluations, _summary(group, scores)


def _strength(group: _Group, rng: Random) -> float:
    """How far the system lies above the mean, in standard deviations; an unknown name has a strength of its own."""

    def of(names: dict[str, float], name: str) -> float:
        return names[name] if name in names else Random(f"{group.seed}/strength/{name}").gauss(0, 0.15)

    return of(_BACKBONE_STRENGTH, group.backbone) + of(_BASELINE_STRENGTH, group.baseline) + rng.gauss(0, _PAIRING_SD)


def _items(group: _Group) -> Iterator[tuple[Item, NormalizationRow]]:
    for dataset, facts in DATASETS.items():
        if group.collection != (facts.domain if group.split == "domain" else facts.task):
            continue
        constants = normalization_of(group.split, group.collection, facts.dataset_group)
        assert constants is not None, f"no normalisation of {facts.dataset_group} in {group.collection}"
        count = math.ceil(TEST_SAMPLES[dataset] * group.samples)
        for item in _test_items(dataset, count, group.seed, 1 + min(group.context_chars // 8000, 3), group.long):
            yield item, constants


@lru_cache(maxsize=len(DATASETS))
def _test_items(dataset: str, count: int, seed: int, text_sentences: int, long: bool) -> tuple[Item, ...]:
    """The test samples of a dataset, the same in both of its collections; a larger archive only adds to them."""
    order = Random(f"{seed}/items/{dataset}")
    writer = _writer(DATASETS[dataset].language, long, seed)
    items, test_idx = [], 0
    for _ in range(count):
        test_idx += order.randint(1, 12)
        key = f"{seed}/{dataset}/{test_idx}"
        rng = Random(key)
        ease = rng.gauss(0, _EASE_SD)
        question = writer.sentences(rng, 1)
        reference = writer.name(rng) if dataset.startswith("Locomo") else writer.sentences(rng, text_sentences)
        items.append(Item(dataset, test_idx, question, reference, ease, key, text_sentences))
    return tuple(items)


@lru_cache(maxsize=8)
def _writer(language: Language, long: bool, seed: int) -> Writer:
    return Writer(language, _POOL_LARGE if long else _POOL_SMALL, seed)


def _messages(group: _Group, item: Item, writer: Writer, rng: Random) -> list[Metrics]:
    """The prompt: retrieved memories and the question. Without a memory only a conversation is put before it."""
    conversation = item.dataset.startswith(("Locomo", "DialSim"))
    content = item.question
    if group.baseline != NO_MEMORY or conversation:
        chars = int(group.context_chars * rng.lognormvariate(0, 0.6))
        if writer.language == "zh":
            content = f"相关知识：\n{writer.text(rng, chars)}\n\n用户：\n{content}"
        else:
            content = f"Context:\n{writer.text(rng, chars)}\n\nUser:\n{content}"
    messages = [{"role": "user", "content": content}]
    if item.dataset == "JuDGE":
        messages.insert(0, {"role": "system", "content": "你是一名书记员，请起草判决书。"})
    elif item.dataset == "LimitGen-Syn":
        messages.insert(0, {"role": "system", "content": "Name three limitations of the paper below, as JSON."})
    return messages


def _trap(kind: int, metrics: Metrics, messages: list[Metrics], response: str) -> tuple[Metrics, list[Metrics], str]:
    """Put one kind of awkward but legal content into a sample; eleven kinds take turns."""
    match kind % 11:
        case 0:
            metrics["CLI"] = math.nan
        case 1:
            metrics["ratio"] = -math.inf
        case 2:
            response += "cut emoji \ud83d"
        case 3:
            messages[0]["content"] += "\x00end"
        case 4:
            metrics["seed_used"] = 2**70 + 1
        case 5:
            metrics["extra_metric"] = None
        case 6:
            messages.append({"role": "assistant", "content": None, "tool_calls": [{"id": 1}]})
        case 7:
            response = FAILED_GENERATION
        case 8:
            metrics["empty"] = []
            metrics["nested"] = {"a": {"b": [1, 2.0, True, None]}}
        case 9:
            metrics["1e400-ish"] = sys.float_info.max
            response = ""
        case 10:
            metrics = {}
    return metrics, messages, response


def _summary(group: _Group, scores: dict[tuple[str, int], Score]) -> Metrics:
    """The publisher's summary: means of the raw, min-max and z scores by dataset group, and over all samples."""
    details: dict[str, list[Score]] = {}
    for (dataset, _), score in sorted(scores.items()):
        details.setdefault(dataset_group(dataset), []).append(score)
    average: dict[str, float] = {}
    minmax: dict[str, list[float]] = {}
    z_scores: dict[str, list[float]] = {}
    for name, values in details.items():
        constants = normalization_of(group.split, group.collection, name)
        assert constants is not None, f"no normalisation of {name} in {group.collection}"
        span, sigma = constants.maximum - constants.minimum, constants.sigma
        average[name] = sum(values) / len(values)
        minmax[name] = _mean_of([(s - constants.minimum) / span if span > 0 else 0.0 for s in values])
        z_scores[name] = _mean_of([(s - constants.mu) / sigma if sigma > 1e-6 else 0.0 for s in values])
    count = len(scores)
    return {
        "summary": {
            "average": sum(mean for _, _, mean in minmax.values()) / len(minmax),
            "weighted_average": sum(total for total, _, _ in minmax.values()) / count,
            "z_score": sum(total for total, _, _ in z_scores.values()) / count,
        },
        "average": average,
        "minmax_normalized_average": minmax,
        "z_normalized_average": z_scores,
        "details": details,
    }


def _mean_of(values: list[float]) -> list[float]:
    """Sum, count and mean, as the publisher lists them."""
    return [sum(values), len(values), sum(values) / len(values)]


def _run_config(group: _Group) -> Metrics:
    """The runner's arguments; what a memory system needs beyond its model differs from one to the next."""
    memory: Metrics = {
        "llm_provider": "vllm",
        "llm_config": {"model": group.backbone, "temperature": 0.1, "max_tokens": 8192},
    }
    if group.baseline.startswith("embedder") or group.baseline == "mem0":
        memory["embedder_config"] = {"model": "Qwen3-Embedding-0.6B", "dims": 1024}
    if group.baseline in {"a_mem", "mem0", "memoryos"}:
        memory["user_id"] = "memory_user"
    return {
        "dataset_type": group.split,
        "set_name": group.collection,
        "memory_system": group.baseline,
        "memory_system_config": memory,
        "memory_cache_prefix": f"{EXPERIMENT}/",
        "output_dir": f"{EXPERIMENT}/results/",
        "threads": 4,
        "retrieve_k": None if group.baseline == NO_MEMORY else 5,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a sample archive from the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m pipelines.archive.sample", description="Write a sample archive.")
    add = parser.add_argument
    add("out", type=Path, help="folder to write into")
    add("--samples", type=float, default=SAMPLES, help="share of the published samples (default %(default)s)")
    add("--context", type=int, default=CONTEXT_CHARS, help="median characters of context (default %(default)s)")
    add("--backbones", type=int, default=len(BACKBONES), help="how many backbones (default %(default)s)")
    add("--add-backbone", metavar="NAME", help="add this backbone to the archive that is there")
    add("--traps", action="store_true", help="put in what strict readers trip over")
    add("--seed", type=int, default=SEED, help="another seed, another archive (default %(default)s)")
    options = parser.parse_args(arguments)
    try:
        stats = write_sample(
            options.out,
            backbones=[options.add_backbone] if options.add_backbone else BACKBONES[: options.backbones],
            samples=options.samples,
            context_chars=options.context,
            seed=options.seed,
            traps=options.traps,
            append=bool(options.add_backbone),
        )
    except UsageError as error:
        parser.error(str(error))
    print(f"{stats.groups} groups, {stats.samples} samples, {stats.bytes / 1e6:.1f} MB in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
