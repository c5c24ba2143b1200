"""Scores and losses of each partition, and their summary, made where the data are."""

import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np
from dask import delayed

from sklearn_reject._validation import check_option, check_vector, refuse_masked
from sklearn_reject.dask._labels_seen import SeenLabels
from sklearn_reject.dask._partitions import (
    check_lengths,
    errors_name_partition,
    merge_in_tree,
    pair_partitions,
)
from sklearn_reject.dask._rows import RemoteRows
from sklearn_reject.exceptions import InfeasibleTargetError
from sklearn_reject.losses import check_loss
from sklearn_reject.metrics import (
    is_table,
    is_vector,
    losses_and_labels,
    name_of_loss,
)
from sklearn_reject.selection import RiskCoverageSummary


class Samples(NamedTuple):
    """Validated float64 vectors of a partition, without samples of zero weight."""

    scores: np.ndarray
    losses: np.ndarray
    weight: np.ndarray | None
    labels: SeenLabels


class Reduced(NamedTuple):
    """What is kept of some partitions."""

    summary: RiskCoverageSummary
    labels: SeenLabels

    def merge(self, other):
        """Return what is kept of both."""
        return Reduced(
            self.summary.merge(other.summary), self.labels.merge(other.labels)
        )


@dataclass(frozen=True)
class PartitionedSamples:
    """Delayed `Samples` of each partition; `labels` are known beside those seen."""

    partitions: list
    has_weight: bool
    labels: object = None
    n_bits: int = 22

    def summarize(self):
        """Return the delayed summary of all partitions, by a tree of merges."""
        parts = [delayed(_reduce_one)(each, self.n_bits) for each in self.partitions]
        return merge_in_tree(parts, _merge)

    def answer(self, question, *, method="cells", certify=False, compute=True):
        """Ask a summary, with the rows that it needs where the answer is to be exact.

        `question` takes a summary and `parts`. To `certify` a rule, which has its
        threshold between two cells, takes no rows whatever the method is.
        """
        check_option(method, "method", ("exact", "cells"))
        check_option(compute, "compute", (True, False))
        self._try(question)
        reads_rows = method == "exact" and not certify
        if compute:
            # Asked here, where warnings are seen.
            parts = RemoteRows(self.partitions) if reads_rows else None
            return _ask(self.summarize().compute(), question, self.labels, parts)
        if reads_rows:
            raise ValueError(
                "compute=False cannot be combined with method='exact', which reads the "
                "data twice. Pass compute=True, or method='cells'."
            )
        return delayed(_ask)(self.summarize(), question, self.labels, None)

    def _try(self, question):
        """Raise for parameters that are wrong whatever the data, before a pass."""
        weight = [1.0] if self.has_weight else None
        summary = RiskCoverageSummary(self.n_bits).update([0.0], [0.0], weight)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(InfeasibleTargetError):
                question(summary, None)


def partition_losses(scores, losses, sample_weight, n_bits=22):
    """Return the samples of collections of scores and losses."""
    columns = {"scores": scores, "losses": losses}
    if sample_weight is not None:
        columns["sample_weight"] = sample_weight
    pairs = enumerate(pair_partitions(columns))
    partitions = [delayed(_take_losses)(index, each) for index, each in pairs]
    return PartitionedSamples(partitions, sample_weight is not None, n_bits=n_bits)


def partition_predictions(y_true, y_pred, uncertainty, loss, labels, sample_weight):
    """Return the samples of collections of labels, predictions and uncertainties."""
    columns = {"uncertainty": uncertainty}
    if is_vector(loss):
        columns["loss"], loss = loss, None
    else:
        loss = _check_task(loss, labels, y_true, y_pred)
        columns |= {"y_true": y_true, "y_pred": y_pred}
    if sample_weight is not None:
        columns["sample_weight"] = sample_weight
    pairs = enumerate(pair_partitions(columns))
    # Once for all partitions, whatever a callable brings along.
    loss = delayed(loss, traverse=False)
    partitions = [delayed(_judge)(index, each, loss, labels) for index, each in pairs]
    return PartitionedSamples(partitions, sample_weight is not None, labels)


def _check_task(loss, labels, y_true, y_pred):
    """Return the loss as an object, which knows all classes if it takes a table."""
    for name, labels_of in (("y_true", y_true), ("y_pred", y_pred)):
        if labels_of is None:
            raise ValueError(
                f"{name} is None, so loss= must be the losses themselves, a dask array "
                "or column with one loss per sample, but got "
                f"loss={name_of_loss(loss)}."
            )
    if is_table(loss) and labels is None and not hasattr(loss, "columns"):
        raise ValueError(
            f"loss is {name_of_loss(loss)}. Pass the labels of its rows and columns as "
            "labels=, because a partition may lack some of them."
        )
    return check_loss(loss, labels=labels)


def _take_losses(index, pieces):
    with errors_name_partition(index):
        if not check_lengths(pieces):
            return _NO_SAMPLES
        losses = check_vector(pieces["losses"], "losses", non_negative=True)
        return _make_samples(pieces, "scores", losses, SeenLabels())


def _judge(index, pieces, task, labels):
    """Return the samples of a partition from labels, or from losses in their place."""
    with errors_name_partition(index):
        if not check_lengths(pieces):
            return _NO_SAMPLES
        if task is None:
            losses = check_vector(pieces["loss"], "loss", non_negative=True)
            return _make_samples(pieces, "uncertainty", losses, SeenLabels())
        y_true, y_pred = pieces["y_true"], pieces["y_pred"]
        refuse_masked(y_true, "y_true")
        refuse_masked(y_pred, "y_pred")
        losses, compared = losses_and_labels(y_true, y_pred, task, labels)
        seen = SeenLabels.of_partition(index, compared)
        return _make_samples(pieces, "uncertainty", losses, seen)


def _make_samples(pieces, name, losses, labels):
    scores = check_vector(pieces[name], name)
    weight = pieces.get("sample_weight")
    if weight is None:
        return Samples(scores, losses, None, labels)
    weight = check_vector(weight, "sample_weight", non_negative=True)
    # Another partition may have what weighs something.
    present = weight > 0
    return Samples(scores[present], losses[present], weight[present], labels)


_NO_SAMPLES = Samples(np.zeros(0), np.zeros(0), None, SeenLabels())


def _reduce_one(samples, n_bits):
    summary = RiskCoverageSummary(n_bits=n_bits)
    summary.update(samples.scores, samples.losses, samples.weight)
    return Reduced(summary, samples.labels)


def _merge(parts):
    return reduce(Reduced.merge, parts)


def _ask(reduced, question, labels, parts):
    """Ask the summary of all partitions, after a look at all labels."""
    summary, seen = reduced
    seen.check(labels)
    if not summary.n_samples:
        raise ValueError(
            "No partition has a sample with a positive weight. At least one sample is "
            "needed."
        )
    return question(summary, parts)
