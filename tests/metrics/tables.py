"""All metrics called on the same rows, for tests of what holds for each of them."""

from dataclasses import dataclass, fields
from functools import partial

import numpy as np

from sklearn_reject import metrics


@dataclass
class Data:
    """Rows with all that a metric may ask for; OOD samples have a label of -1."""

    y_true: np.ndarray
    y_pred: np.ndarray
    y_second: np.ndarray
    uncertainty: np.ndarray
    novelty: np.ndarray
    weight: np.ndarray | None = None

    def take(self, rows):
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return Data(**{k: None if v is None else v[rows] for k, v in columns.items()})

    def __len__(self):
        return len(self.y_true)

    @property
    def losses(self):
        """0/1 losses, also of OOD samples."""
        return 1.0 * (self.y_true != self.y_pred)


def draw_data(seed=0, n=80, with_ood=True):
    """Draw rows with ties of both scores, three classes, and weights of all sizes."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(-1 if with_ood else 0, 3, n)
    is_ood = y_true == -1
    right = np.maximum(y_true, 0)
    wrong = rng.integers(0, 3, n)
    return Data(
        y_true,
        np.where(rng.random(n) < 0.7, right, wrong),
        np.where(rng.random(n) < 0.8, right, np.roll(wrong, 1)),
        rng.integers(0, 20, n) / 20 + 0.4 * is_ood,
        rng.integers(0, 20, n) / 4 + is_ood,
        10.0 ** rng.uniform(-2, 1, n) * (rng.random(n) < 0.9),
    )


def rows_of(n_samples, *, n_resamples=60, **options):
    """Return the rows of each resample, and those that are left of each part."""
    seen = []

    def note(rows):
        seen.append(rows)
        return (-1) ** len(seen) * len(seen)  # never equal, the first in the middle

    options = {"random_state": 0, "confidence_level": 0.8, **options}
    samples = (np.arange(n_samples),)
    metrics.bootstrap_interval(note, samples, n_resamples=n_resamples, **options)
    np.testing.assert_array_equal(seen[0], *samples)
    return seen[1 : n_resamples + 1], seen[n_resamples + 1 :]


# Each takes data, whether labels or the losses themselves are given, and the unit that
# losses, and what is measured in them, are given in.
def of_order(name, data, *, as_labels=False, unit=1.0, **options):
    if "risk" in options:
        options["risk"] *= unit
    samples = [data.y_true, data.y_pred]
    if not as_labels:
        samples, options["loss"] = [None, None], unit * data.losses
    metric = getattr(metrics, name)
    return metric(*samples, data.uncertainty, sample_weight=data.weight, **options)


def of_opinions(name, data, *, as_labels=False, unit=1.0, **options):
    samples = [data.y_true, data.y_pred, data.y_second]
    if not as_labels:
        losses = [unit * (data.y_true != y) for y in samples[1:]]
        samples, options["loss"] = [None] * 3, losses
    metric = getattr(metrics, name)
    return metric(*samples, data.uncertainty, sample_weight=data.weight, **options)


def of_costs(data, *, as_labels=False, unit=1.0):
    samples, options = [data.y_true, data.y_pred], {"reject_cost": 0.2 * unit}
    if not as_labels:
        samples, options["loss"] = [None, None], unit * data.losses
    accepted = data.uncertainty < 0.6
    options["sample_weight"] = data.weight
    return metrics.selective_cost_score(*samples, accepted, **options)


def of_origins(name, data, *, two=False, **options):
    options |= {"novelty": data.novelty} if two else {}
    metric, samples = getattr(metrics, name), (data.y_true, data.uncertainty)
    return metric(*samples, sample_weight=data.weight, **options)


def of_inside(name, data, *, as_labels=False, unit=1.0, two=False, **options):
    options |= {"novelty": data.novelty} if two else {}
    y_pred = data.y_pred
    if not as_labels:
        y_pred, options["loss"] = None, unit * data.losses
    metric, samples = getattr(metrics, name), (data.y_true, y_pred, data.uncertainty)
    return metric(*samples, sample_weight=data.weight, **options)


def of_ratings(name, data, **options):
    rated = np.where(data.y_second == 2, -1, data.y_pred > 0)
    metric = getattr(metrics, name)
    return metric(rated, data.uncertainty, sample_weight=data.weight, **options)


def of_sets(data, **options):
    samples = [y[:, np.newaxis] == [0, 1, 2] for y in (data.y_pred, data.y_second)]
    return metrics.set_loss(*samples, sample_weight=data.weight, **options)


@dataclass
class Metric:
    """A call, and how its results change.

    `kinds` has a letter for each result: "u" is in units of the loss, "s" a score, "w"
    a sum of weights, and "1" a number without a unit.
    """

    call: object
    kinds: str
    takes_losses: bool = True
    repeats: bool = True  # integer weights are repeats of rows
    is_ranked: bool = True  # by one score, of which the order matters only

    def __call__(self, data, **options):
        value = self.call(data, **options)
        return [np.asarray(x) for x in (value if isinstance(value, tuple) else [value])]


RATES = {"min_tpr": 0.5, "max_fpr": 0.6}
PRECISION = {"min_precision": 0.6, "min_tpr": 0.5, "ood_prior": 0.2}
AURC = partial(of_order, "aurc_score")
DEFERRAL = partial(of_opinions, "deferral_area_score")
AT_COVERAGE = partial(of_order, "selective_risk_at_coverage_score", coverage=0.6)
AT_RISK = partial(of_order, "coverage_at_risk_score", risk=0.25)
TPR_FPR = partial(of_inside, "selective_risk_at_tpr_fpr_score", **RATES)
AT_PRECISION = partial(of_inside, "selective_risk_at_precision_recall_score")

ORDER = {
    "curve": Metric(partial(of_order, "risk_coverage_curve"), "1us"),
    "aurc": Metric(AURC, "u", repeats=False),
    "aurc, excess": Metric(partial(AURC, normalize="excess"), "u", repeats=False),
    "aurc, prr": Metric(partial(AURC, normalize="prr"), "1", repeats=False),
    "augrc": Metric(partial(of_order, "augrc_score"), "u"),
    "sele": Metric(partial(of_order, "sele_score"), "u"),
    "sele, ties": Metric(partial(of_order, "sele_score", ties="midrank"), "u"),
    "at coverage": Metric(AT_COVERAGE, "u"),
    "at coverage, random": Metric(partial(AT_COVERAGE, randomize=True), "u"),
    "at risk": Metric(AT_RISK, "1"),
    "at risk, random": Metric(partial(AT_RISK, randomize=True), "1"),
}
OPINIONS = {
    "deferral curve": Metric(partial(of_opinions, "deferral_curve"), "1us"),
    "deferral area": Metric(DEFERRAL, "u"),
    "deferral area, excess": Metric(partial(DEFERRAL, normalize="excess"), "u"),
    "deferral area, prr": Metric(partial(DEFERRAL, normalize="prr"), "1"),
    "cost": Metric(of_costs, "u", is_ranked=False),
}
OF_OOD = {"positive": "ood", "ood_prior": 0.3}
CURVE_OF_ID = partial(of_inside, "risk_coverage_curve", ood_label="auto", max_fpr=0.7)
ORIGINS = {
    "auroc": (partial(of_origins, "ood_auroc_score"), "1"),
    "aupr": (partial(of_origins, "ood_aupr_score", positive="id"), "1"),
    "aupr of ood": (partial(of_origins, "ood_aupr_score", **OF_OOD), "1"),
    "fpr": (partial(of_origins, "fpr_at_tpr_score", positive="id", tpr=0.7), "1"),
    "fpr of ood": (partial(of_origins, "fpr_at_tpr_score", positive="ood"), "1"),
}
INSIDE = {
    "curve of ID": (CURVE_OF_ID, "1us"),
    "at TPR and FPR": (TPR_FPR, "u"),
    "at TPR and FPR, random": (partial(TPR_FPR, randomize=True), "u"),
    "at precision and recall": (partial(AT_PRECISION, **PRECISION), "u"),
}


def with_two(table, takes_losses):
    """Return metrics of one score and, but for curves, of two."""
    for name, (call, kinds) in table.items():
        yield name, Metric(call, kinds, takes_losses)
        if "s" not in kinds:
            two = partial(call, two=True)
            yield f"{name}, two", Metric(two, kinds, takes_losses, is_ranked=False)


OOD = {**dict(with_two(ORIGINS, False)), **dict(with_two(INSIDE, True))}
OTHERS = {
    "pn curve": Metric(partial(of_ratings, "pn_curve"), "wws", False),
    "pn area": Metric(partial(of_ratings, "pn_auc_score", normalize=True), "1", False),
    "sets": Metric(partial(of_sets, loss="jaccard"), "1", False, is_ranked=False),
}
METRICS = ORDER | OPINIONS | OOD | OTHERS


def data_of(name):
    return draw_data(with_ood=name in OOD)


# Scorers by their options, and the same of labels, predictions and uncertainties
PRECISE = {"min_precision": 0.7, "min_tpr": 0.4, "ood_prior": 0.2}
OF_ERRORS = {
    "neg_aurc": [{}, {"loss": "absolute"}, {"normalize": "excess"}],
    "neg_augrc": [{}],
    "neg_selective_risk_at_coverage": [{"coverage": 0.7}],
    "coverage_at_risk": [{"risk": 0.25}, {"risk": 0.5, "loss": "squared"}],
}
OF_NOVELTY = {
    "neg_selective_risk_at_tpr_fpr": [RATES, RATES | {"loss": "squared"}],
    "neg_selective_risk_at_precision_recall": [PRECISE],
    "ood_auroc": [{}],
    "neg_fpr_at_tpr": [{"positive": "id"}, {"positive": "ood", "tpr": 0.7}],
}


def score(name, options, y, y_pred, uncertainty, weight=None):
    metric = getattr(metrics, name.removeprefix("neg_") + "_score")
    is_of_origins = name in ("ood_auroc", "neg_fpr_at_tpr")
    samples = (y, uncertainty) if is_of_origins else (y, y_pred, uncertainty)
    value = metric(*samples, sample_weight=weight, **options)
    return -value if name.startswith("neg_") else value


def cases_of(table):
    """Return (name, scorer, metric) of each row."""
    make = metrics.get_selective_scorer
    cases = [(name, options) for name, rows in table.items() for options in rows]
    return [(n, make(n, **options), partial(score, n, options)) for n, options in cases]


# Those of opinions, costs and sets ask estimators of their own kind.
SCORERS = cases_of(OF_ERRORS) + cases_of(OF_NOVELTY)
