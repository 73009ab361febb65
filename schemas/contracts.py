"""Input contracts: what the manifest's lines and the four files of a result group must hold, and what happens when one
does not.

Each key is declared once. The normalisers take the keys that they require, and the order in which the publisher writes
them, from here; the reference in docs/ is rendered from here. What a table holds is declared in the table's own module.

Drift is answered by one of three policies:

    evolve      it is data: it loads, comes back equal, and shows in the views;
    freeze      the shape is fixed: what differs is refused or kept aside with a finding, all else loads;
    quarantine  the group is set aside with a finding, and its last good version stays, marked stale.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Policy = Literal["evolve", "freeze", "quarantine"]
POLICIES: tuple[Policy, ...] = ("evolve", "freeze", "quarantine")


@dataclass(frozen=True)
class Key:
    """A key of an object: the JSON types it may have, and whether it must be there."""

    name: str
    types: tuple[str, ...]
    meaning: str
    required: bool = True


@dataclass(frozen=True)
class Drift:
    """What happens to input that departs from the contract in one way."""

    change: str
    policy: Policy
    outcome: str


@dataclass(frozen=True)
class Contract:
    """One kind of input. `top` is what stands at the top of the file; `keys` belong to the object that is there, or to
    each record of the list, in the order in which the publisher writes them."""

    name: str
    file: str
    top: Literal["object", "list of objects", "one object a line"]
    meaning: str
    keys: tuple[Key, ...]
    drift: tuple[Drift, ...]
    #: Keys that identify a record in the file: none may stand there twice.
    unique: tuple[str, ...] = ()

    @property
    def canonical_keys(self) -> tuple[str, ...]:
        """Every declared key, as the publisher orders them."""
        return tuple(key.name for key in self.keys)

    @property
    def required_keys(self) -> tuple[str, ...]:
        """The keys without which a record means nothing, in the same order."""
        return tuple(key.name for key in self.keys if key.required)

    def __getitem__(self, name: str) -> Key:
        for key in self.keys:
            if key.name == name:
                return key
        raise KeyError(f"contract {self.name} has no key {name!r}")


_NOT_JSON = Drift("not JSON, truncated, or nested too deep to be read", "quarantine", "the group is quarantined")
_WRONG_TOP = Drift("another type at the top", "quarantine", "the group is quarantined")
_MISSING_KEY = Drift("a required key is missing, or has another type", "quarantine", "the group is quarantined")
_DUPLICATE = Drift(
    "a (dataset, test_idx) stands twice", "quarantine", "the group is quarantined: no number says which one counts"
)
_NEW_KEY = Drift("an unknown key, or another order of keys", "evolve", "kept in `residue` and given back in its place")
_NEW_DATASET = Drift("an unknown dataset", "evolve", "it loads and has a row in `datasets` with NULLs")
_ODD_VALUES = Drift(
    "NaN, infinities, lone surrogates, NUL, integers past 64 bits, null",
    "evolve",
    "they load and come back equal; aggregates skip what is not finite and count it",
)
_MISSING_FILE = Drift(
    "the manifest names the file, and it is not there", "freeze", "the group is partial: a finding, and the rest loads"
)

_DATASET = Key("dataset", ("string",), "The dataset's name, not empty; with `test_idx` it identifies the sample.")
_TEST_IDX = Key("test_idx", ("integer",), "The sample's index inside its dataset; fits 64 bits.")

MANIFEST = Contract(
    name="manifest",
    file="manifest.jsonl",
    top="one object a line",
    meaning="Names every result group: its keys, its folder and its files. Without a manifest the folders are walked.",
    keys=(
        Key("exp", ("string",), "The experiment; `setting` may stand in place of `exp` and `model`.", required=False),
        Key("model", ("string",), "The backbone.", required=False),
        Key(
            "setting",
            ("string",),
            "Older manifests: experiment and backbone joined by '-'; only a known experiment can be split off.",
            required=False,
        ),
        Key("dataset_type", ("string",), "The split."),
        Key("set_name", ("string",), "The collection."),
        Key("baseline", ("string",), "The baseline."),
        Key("run_id", ("string", "null"), "The publisher's name of the run.", required=False),
        Key("relative_dir", ("string",), "The group's folder, inside the archive."),
        Key("files", ("list",), "The names of the group's files."),
    ),
    unique=("exp", "model", "dataset_type", "set_name", "baseline"),
    drift=(
        Drift("a line is not JSON, or lacks a required key", "freeze", "the line is refused with a finding"),
        Drift("neither exp and model nor setting is there", "freeze", "the line is refused with a finding"),
        Drift("a path leaves the archive", "freeze", "the line is refused; nothing outside is ever read"),
        Drift(
            "a key is empty, is NULL as a hive directory, holds control characters, or no directory can hold it",
            "freeze",
            "the line is refused",
        ),
        Drift("two lines name one group", "freeze", "the newest run is taken; the other is a finding"),
        Drift("an unknown experiment, backbone, split, collection or baseline", "evolve", "it loads like any other"),
        Drift("an unknown key", "evolve", "it is ignored"),
        Drift("fewer files than the four", "evolve", "the group is complete with what is named"),
        Drift("a group is gone", "evolve", "its rows leave the tables; `refreshes` says so"),
    ),
)

PREDICT = Contract(
    name="predict",
    file="predict.json",
    top="list of objects",
    meaning="What the system was asked and what it answered, a record for each sample.",
    keys=(
        _TEST_IDX,
        Key(
            "messages", ("any",), "The prompt: a list of {role, content}; whatever else stands there comes back equal."
        ),
        Key("response", ("string", "null"), "The answer; the runner's error text where there was none."),
        _DATASET,
    ),
    unique=("dataset", "test_idx"),
    drift=(
        *(_NOT_JSON, _WRONG_TOP, _MISSING_KEY, _DUPLICATE, _MISSING_FILE, _NEW_KEY, _NEW_DATASET, _ODD_VALUES),
        Drift("messages of another shape", "evolve", "kept in `residue` of prompts and given back equal"),
    ),
)

EVALUATE_DETAILS = Contract(
    name="evaluate_details",
    file="evaluate_details.json",
    top="list of objects",
    meaning="How each sample was scored.",
    keys=(
        _TEST_IDX,
        Key("metrics", ("object",), "Metric to value. No metric is required and none is forbidden."),
        _DATASET,
    ),
    unique=("dataset", "test_idx"),
    drift=(
        *(_NOT_JSON, _WRONG_TOP, _MISSING_KEY, _DUPLICATE, _MISSING_FILE, _NEW_KEY, _NEW_DATASET, _ODD_VALUES),
        Drift("a new metric, or one that changes its type", "evolve", "a row of sample_metrics or sample_annotations"),
        Drift("a value outside of its metric's range", "evolve", "it loads; a finding of check metric_range"),
        Drift("other samples than in the predictions", "evolve", "both load; a finding with both counts"),
    ),
)

SUMMARY = Contract(
    name="summary",
    file="summary.json",
    top="object",
    meaning="The numbers that the publisher printed, and the scores that they are made of.",
    keys=(
        Key("summary", ("object",), "Group-level numbers by name."),
        Key("average", ("any",), "Dataset group to mean score.", required=False),
        Key("minmax_normalized_average", ("any",), "Dataset group to [sum, count, mean], min-max.", required=False),
        Key("z_normalized_average", ("any",), "Dataset group to [sum, count, mean], z.", required=False),
        Key("details", ("any",), "Dataset group to scores, in the order of (dataset, test_idx).", required=False),
    ),
    drift=(
        *(_NOT_JSON, _WRONG_TOP, _MISSING_KEY, _MISSING_FILE, _NEW_KEY, _ODD_VALUES),
        Drift("details of another shape than dataset to list", "freeze", "no score is read from it; a finding"),
        Drift("details and evaluations differ in number", "freeze", "scores load without test_idx; a finding"),
        Drift("a new number in summary", "evolve", "a row of summary_metrics"),
        Drift("a number that the scores do not give", "evolve", "it loads as published; a finding with both numbers"),
    ),
)

RUN_CONFIG = Contract(
    name="run_config",
    file="run_config.json",
    top="object",
    meaning="The runner's arguments. No key is required; the whole object is kept as it is.",
    keys=(
        Key("dataset_type", ("string",), "The split as the runner was told.", required=False),
        Key("set_name", ("string",), "The collection as the runner was told.", required=False),
        Key("memory_system", ("string",), "The memory system that ran.", required=False),
        Key("memory_system_config", ("object",), "llm_provider, llm_config {model, temperature}, …", required=False),
        Key("memory_cache_prefix", ("string",), "Where the runner cached memories.", required=False),
        Key("output_dir", ("string",), "Where the runner wrote.", required=False),
        Key("threads", ("integer",), "Number of parallel workers.", required=False),
        Key("retrieve_k", ("integer", "null"), "How many memories were asked for.", required=False),
    ),
    drift=(
        *(_NOT_JSON, _WRONG_TOP, _MISSING_FILE, _ODD_VALUES),
        Drift("an unknown key", "evolve", "kept in `config`"),
        Drift("a known key of another type", "evolve", "NULL in its column, kept in `config`"),
    ),
)

CONTRACTS: dict[str, Contract] = {
    contract.name: contract for contract in (MANIFEST, PREDICT, EVALUATE_DETAILS, SUMMARY, RUN_CONFIG)
}
