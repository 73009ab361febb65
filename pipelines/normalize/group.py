"""One result group: the bytes of its files in, the rows of every table out. No I/O.

Rows go to a sink as they are made, so that a group of any size passes through in bounded memory. What a group says as
a whole comes back as `GroupFacts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import pyarrow as pa

from pipelines.archive.groups import EVALUATE_DETAILS, GROUP_FILES, PREDICT, RUN_CONFIG, SUMMARY, GroupKey
from pipelines.archive.json_reader import dumps, loads
from pipelines.errors import BadRecord
from pipelines.findings import Finding
from pipelines.normalize import evaluate_details, predict, run_config, summary
from pipelines.normalize.evaluate_details import EvaluatedSample
from pipelines.normalize.scores import Scores, add_scores

_T = TypeVar("_T")

#: Takes a table's name and some of its rows.
Sink = Callable[[str, pa.RecordBatch], None]


@dataclass
class GroupFacts:
    """What a group says as a whole. Counts are None where the file is not there."""

    n_predictions: int | None = None
    n_evaluations: int | None = None
    n_failed: int | None = None
    n_scores: int = 0
    n_out_of_scale: int = 0
    all_responses_equal: bool = False
    #: Judge calls that failed, over all evaluations.
    n_judge_errors: int = 0
    scale_doubts: list[str] = field(default_factory=list)
    protocols: list[str] = field(default_factory=list)
    datasets: list[str] = field(default_factory=list)
    residue: str | None = None
    findings: list[Finding] = field(default_factory=list)


def normalize_group(key: GroupKey, relative_dir: str, files: Mapping[str, bytes], sink: Sink) -> GroupFacts:
    """Normalise all files of a group, those of the four names first.

    Raises:
        BadRecord: a file of the four names breaks the contract, with `file` filled in; all rows that went to the sink
            are then void.
    """
    return _Group(key, relative_dir, files, sink).normalize()


class _Group:
    def __init__(self, key: GroupKey, relative_dir: str, files: Mapping[str, bytes], sink: Sink) -> None:
        self.group_id = key.group_id
        self.relative_dir = relative_dir
        self.files = files
        self.sink = sink
        self.facts = GroupFacts()
        self.residues: dict[str, str] = {}
        self.samples: dict[str, list[EvaluatedSample]] = {}
        self.sample_files: dict[str, str] = {}
        self.summaries: dict[str, summary.Summary] = {}

    def normalize(self) -> GroupFacts:
        predict_facts = self._file(PREDICT, self._predictions) or predict.PredictFacts()
        self._file(EVALUATE_DETAILS, self._evaluations)
        self._file(SUMMARY, self._summary)
        self._file(RUN_CONFIG, self._run_config)
        for name in sorted(self.files):
            if name not in GROUP_FILES:
                self._other_file(name)
        self._scores(predict_facts)
        self._compare_samples(predict_facts)
        facts = self.facts
        facts.protocols = sorted(self.samples.keys() | self.summaries.keys(), reverse=True)
        evaluated = (sample.key[0] for samples in self.samples.values() for sample in samples)
        facts.datasets = sorted({dataset for dataset, _ in predict_facts.failed}.union(evaluated))
        if self.residues:
            facts.residue = dumps(self.residues)
        return facts

    def _path(self, name: str) -> str:
        return f"{self.relative_dir}/{name}"

    def _file(self, name: str, read: Callable[[str, bytes], _T]) -> _T | None:
        if name not in self.files:
            return None
        try:
            return read(name, self.files[name])
        except BadRecord as error:
            raise error.at(file=self._path(name)) from error

    def _predictions(self, _name: str, data: bytes) -> predict.PredictFacts:
        facts = predict.PredictFacts()
        for batch in predict.normalize(data, self.group_id, facts):
            self.sink("predictions", batch.predictions)
            self.sink("prompts", batch.prompts)
        self.facts.n_predictions = len(facts.failed)
        self.facts.n_failed = sum(facts.failed.values())
        self.facts.all_responses_equal = facts.distinct_responses == 1
        return facts

    def _evaluations(self, name: str, data: bytes) -> None:
        rows = evaluate_details.normalize(data, self.group_id, name)
        if name == EVALUATE_DETAILS:
            self.facts.n_evaluations = rows.n_records
        taken = sorted(self.samples.keys() & rows.samples.keys())
        if taken:
            self._not_loaded(
                name, f"{self.sample_files[taken[0]]} already holds the evaluations of protocol {taken[0]}"
            )
            return
        for protocol, samples in rows.samples.items():
            self.samples[protocol] = samples
            self.sample_files[protocol] = name
            self.facts.n_judge_errors += sum(sample.judge_error for sample in samples)
        self.sink("evaluations", rows.evaluations)
        self.sink("sample_metrics", rows.sample_metrics)
        self.sink("sample_annotations", rows.sample_annotations)

    def _summary(self, name: str, data: bytes) -> None:
        parsed = summary.normalize(data, self.group_id, name, self._path(name))
        if parsed.protocol in self.summaries:
            self._not_loaded(name, f"the group already has a summary of protocol {parsed.protocol}")
            return
        self.summaries[parsed.protocol] = parsed
        if parsed.residue is not None:
            self.residues[name] = parsed.residue
        self.facts.findings += parsed.findings
        self.sink("summary_metrics", parsed.summary_metrics(self.group_id))
        self.sink("summary_datasets", parsed.summary_datasets(self.group_id))

    def _run_config(self, _name: str, data: bytes) -> None:
        self.sink("run_configs", run_config.normalize(data, self.group_id))

    def _other_file(self, name: str) -> None:
        """A file beside the four loads where its content is evaluation details or a summary; else it is only listed."""
        if not name.endswith(".json"):
            self._not_loaded(name, "not one of the four files")
            return
        try:
            document = loads(self.files[name])
            if evaluate_details.looks_like_evaluations(document):
                self._evaluations(name, self.files[name])
            elif summary.looks_like_summary(document):
                self._summary(name, self.files[name])
            else:
                self._not_loaded(name, "neither evaluation details nor a summary")
        except BadRecord as error:
            self._not_loaded(name, error.reason)

    def _not_loaded(self, name: str, reason: str) -> None:
        message = f"listed, not loaded: {reason}"
        self.facts.findings.append(
            Finding("unknown_file", "info", message, group_id=self.group_id, file=self._path(name))
        )

    def _scores(self, predict_facts: predict.PredictFacts) -> None:
        scores = Scores()
        for protocol in sorted(self.samples.keys() | self.summaries.keys(), reverse=True):
            parsed = self.summaries.get(protocol)
            add_scores(
                scores,
                self.group_id,
                protocol,
                parsed.details if parsed else None,
                self.samples.get(protocol, [] if self.samples else None),
                predict_facts.failed,
                self._path(SUMMARY) if parsed else None,
            )
        self.sink("sample_scores", scores.batch(self.group_id))
        self.facts.n_scores = len(scores.rows)
        self.facts.n_out_of_scale = scores.n_out_of_scale
        self.facts.scale_doubts = scores.scale_doubts
        self.facts.findings += scores.findings

    def _compare_samples(self, predict_facts: predict.PredictFacts) -> None:
        """Predictions and evaluations should hold the same samples; where they do not, both are kept and it is said."""
        if PREDICT not in self.files:
            return
        for protocol, samples in self.samples.items():
            keys = {sample.key for sample in samples}
            predicted = predict_facts.failed.keys()
            if keys != predicted:
                message = (
                    f"predictions and evaluations (protocol {protocol}) hold different samples: {len(predicted)} "
                    f"predicted, {len(keys)} evaluated, {len(keys & predicted)} in both"
                )
                path = self._path(self.sample_files[protocol])
                self.facts.findings.append(
                    Finding("sample_mismatch", "warning", message, group_id=self.group_id, file=path)
                )
