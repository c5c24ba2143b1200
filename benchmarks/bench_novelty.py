"""Novelty scores on classes that were held back: areas, and the rules that they make.

A set is left out where it is not in the folder that SKLEARN_REJECT_DATA names.
"""

import warnings
from collections import namedtuple

import numpy as np

from benchmarks._novelty_sets import (
    CLASSIFIERS,
    NOVEL,
    SETS,
    available_sets,
    draw_split,
    draw_unseen,
    forget,
)
from benchmarks._report import NOT_INSTALLED, Row, at_least
from sklearn_reject import DoubleScoreOODClassifier, InfeasibleTargetError
from sklearn_reject import _curves as curves
from sklearn_reject.metrics import fpr_at_tpr_score, ood_auroc_score
from sklearn_reject.scores import get_score_names, resolve_novelty

TITLE = "AUROC of novelty scores, alone (beside the risk), on classes held back"

_N_DRAWS = {False: 2, True: 20}
_MIN_TPR = 0.8

# The default is asked to come this close to the best score that every classifier has
# and that learns from no OOD sample.
_MARGIN = 0.01

# A rule: its bound, what it promises by the samples that tuned it, and what it does on
# new ones.
Rule = namedtuple("Rule", "max_fpr risk_weight tpr fpr risk new_tpr new_fpr new_risk")

# One score on one draw. The rule `shared` may accept as many OOD samples as the risk
# alone does at this TPR, the highest FPR of all scores; `least` as few as is possible.
Record = namedtuple(
    "Record",
    "set classifier seed score why_not n_id n_ood n_new_id n_new_ood risk_area area "
    "both shared least",
    defaults=(None,) * 10,
)


def run_in_full():
    """Return the rows of the table, of many draws."""
    return run(full=True)


def run(full=False):
    """Yield the rows of the table."""
    yield from rows_of_tpr_alone(_N_DRAWS[full])
    yield from summarize(measure(_N_DRAWS[full]))


# Measuring


def measure(n_draws):
    """Return a record of each score, classifier, set and draw."""
    records = []
    for name in available_sets():
        for seed in range(n_draws):
            split = draw_split(name, seed)
            for classifier in CLASSIFIERS:
                records += measure_split(split, name, classifier, seed)
    return records


def measure_split(split, name, classifier, seed):
    """Return the records of all scores on one draw."""
    key = name, classifier, seed
    with warnings.catch_warnings():
        # Networks that do not converge, rare classes that a fold hardly has.
        warnings.simplefilter("ignore")
        records = [_measure(key, score, split) for score in get_score_names("novelty")]
    forget()
    return records


def _measure(key, score, split):
    """Return the record of a score, with a reason where it cannot be had."""
    _, classifier, seed = key
    model = DoubleScoreOODClassifier(
        CLASSIFIERS[classifier](),
        novelty_score=score,
        min_tpr=_MIN_TPR,
        random_state=seed,
    )
    try:
        model.fit(split.X, split.y)
    except ValueError as error:
        return Record(*key, score, why_not=str(error).partition(". ")[0])
    risk, novelty = model.risk_and_novelty(split.X_new)
    is_ood, is_new_ood = split.y == NOVEL, split.y_new == NOVEL
    losses = 1.0 * (model.predict_label(split.X_new) != split.y_new)
    rules = {
        name: _measure_rule(model, bound, (risk, novelty, losses, is_new_ood))
        for name, bound in _bounds(model.calibration_).items()
    }
    return Record(
        *key,
        score,
        n_id=int((~is_ood).sum()),
        n_ood=int(is_ood.sum()),
        n_new_id=int((~is_new_ood).sum()),
        n_new_ood=int(is_new_ood.sum()),
        risk_area=ood_auroc_score(-1 * is_new_ood, risk, ood_label=NOVEL),
        area=ood_auroc_score(-1 * is_new_ood, novelty, ood_label=NOVEL),
        both=ood_auroc_score(-1 * is_new_ood, risk, novelty=novelty, ood_label=NOVEL),
        **rules,
    )


def _bounds(known):
    """Return bounds on the FPR: that of the risk alone, the least of both scores."""
    risk, novelty = known.scores.T
    origins, options = -1 * known.is_ood, {"ood_label": NOVEL}
    shared = fpr_at_tpr_score(origins, risk, positive="id", tpr=_MIN_TPR, **options)
    scores = np.column_stack([risk, novelty])
    fpr, tpr = curves.roc_frontier(scores, known.is_ood)
    return {"shared": float(shared), "least": float(fpr[tpr >= _MIN_TPR][0])}


def _measure_rule(model, max_fpr, sample):
    """Return what a rule of this bound promises, and what it does on new samples."""
    try:
        rule = model.retarget(max_fpr=max_fpr).rule_
    except InfeasibleTargetError as error:
        # What differs by rounding alone is two scores to a curve, and one to a rule.
        max_fpr = error.attainable["max_fpr"]
        rule = model.retarget(max_fpr=max_fpr).rule_
    new = rule.measure(*sample)
    promised = rule.risk_weight, rule.tpr, rule.fpr, rule.selective_risk
    return Rule(max_fpr, *promised, new.tpr, new.fpr, new.selective_risk)


# Rows


def summarize(records):
    """Yield the rows of the table."""
    if not records:
        yield Row("classes held back", measured=NOT_INSTALLED)
        return
    yield from _verdict_rows(records)
    for classifier in ("all classifiers", *CLASSIFIERS):
        for score in get_score_names("novelty"):
            some = [
                record
                for record in records
                if record.score == score
                and classifier in ("all classifiers", record.classifier)
            ]
            yield _score_row(f"{classifier}, {score}", some)
    yield from _set_rows(records)


def _verdict_rows(records):
    """Judge the default by the risk alone, and by the best score there is."""
    default = DoubleScoreOODClassifier(None).novelty_score
    n_draws = len({record[:3] for record in records})
    areas = {
        score: _mean(found, "both")
        for score in get_score_names("novelty")
        if not resolve_novelty(score).needs_ood
        and len(found := _found(records, score)) == n_draws
    }
    found = _found(records, default)
    alone, best = _mean(found, "risk_area"), max(areas, key=areas.get)
    what = f"{default} beside the risk, mean of {n_draws} draws"
    value = areas[default]
    yield at_least(f"{what}, against the risk", round(alone, 3), value)
    limit = round(areas[best] - _MARGIN, 3)
    yield at_least(f"{what}, against {best} less {_MARGIN}", limit, value)


def _found(records, score):
    return [r for r in records if r.score == score and r.why_not is None]


def _mean(records, name):
    return float(np.mean([getattr(record, name) for record in records]))


def _score_row(what, records):
    found = [record for record in records if record.why_not is None]
    missing = len(records) - len(found)
    reasons = sorted({record.why_not for record in records if record.why_not})
    details = [f"{missing} of {len(records)}: {reasons[0]}"] if missing else []
    if not found:
        return Row(what, "", "not available", "", *details)
    area, both, alone = (_mean(found, name) for name in ("area", "both", "risk_area"))
    details = [_show_rules(found, name) for name in ("shared", "least")] + details
    asked = f"risk {alone:.3f}"
    return Row(what, asked, f"{area:.3f} ({both:.3f})", "", "; ".join(details))


def _show_rules(records, name):
    """Tell what rules do on new samples, and how often they miss their bounds.

    In brackets, how often by more than two standard errors of the difference between
    the samples that tuned them and the new ones.
    """
    rules = [getattr(record, name) for record in records]
    bound, tpr, fpr, risk = (
        np.array([getattr(rule, field) for rule in rules])
        for field in ("max_fpr", "new_tpr", "new_fpr", "new_risk")
    )
    sizes = np.array([record[5:9] for record in records], dtype=float)
    tpr_missed = _MIN_TPR - tpr, _error(np.full(len(tpr), _MIN_TPR), sizes[:, ::2])
    fpr_missed = fpr - bound, _error(bound, sizes[:, 1::2])
    reverted = np.mean([rule.risk_weight < 0 for rule in rules])
    return (
        f"{name} bound {bound.mean():.3f}: TPR {tpr.mean():.3f} missed "
        f"{_show_misses(*tpr_missed)}, FPR {fpr.mean():.3f} missed "
        f"{_show_misses(*fpr_missed)}, risk {risk.mean():.4f}, reversed {reverted:.2f}"
    )


def _error(share, sizes):
    return np.sqrt(share * (1 - share) * (1 / sizes).sum(axis=1))


def _show_misses(excess, error):
    return f"{np.mean(excess > 0):.2f} ({np.mean(excess > 2 * error):.2f})"


def _set_rows(records):
    """Yield a row for each set and score, over all classifiers."""
    for name in dict.fromkeys(record.set for record in records):
        here = [record for record in records if record.set == name]
        for score in get_score_names("novelty"):
            found = _found(here, score)
            if found:
                area, both = _mean(found, "area"), _mean(found, "both")
                asked = f"risk {_mean(found, 'risk_area'):.3f}"
                yield Row(f"{name}, {score}", asked, f"{area:.3f} ({both:.3f})")


# OOD samples where a TPR alone is asked for

_SIX_SETS = SETS[:5] + SETS[6:7]
_WAYS = {
    "no OOD samples": None,
    "OOD samples, least risk of ID samples": {"max_fpr": 1.0},
    "OOD samples, least risk of all accepted": {},
}


def rows_of_tpr_alone(n_draws):
    """Yield the FPR of each way to use OOD samples, at one TPR on new samples.

    Half of a class tunes the rules. The FPR is that of the other half and, in brackets,
    that of another class, which nothing has seen.
    """
    found = {}
    for name in _SIX_SETS if set(_SIX_SETS) <= set(available_sets()) else ():
        here = {}
        for seed in range(n_draws):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for classifier in ("logistic regression", "forest"):
                    for way, rates in _rates(name, classifier, seed):
                        here.setdefault(way, []).append(rates)
            forget()
        for way, rates in here.items():
            found.setdefault(way, []).extend(rates)
            yield Row(f"{name}, {way}", "", _show_rates(rates))
    for way, rates in found.items():
        yield Row(f"six sets, {way}", "", _show_rates(rates))


def _rates(name, classifier, seed):
    """Yield FPR of either class, and risk, of each way."""
    split, *novel = draw_unseen(name, seed)
    is_id = split.y != NOVEL
    news = split.X_new, *novel
    options = {"min_tpr": _MIN_TPR, "random_state": seed}
    model = DoubleScoreOODClassifier(CLASSIFIERS[classifier](), **options)
    alone = model.fit(split.X[is_id], split.y[is_id])
    model = DoubleScoreOODClassifier(CLASSIFIERS[classifier](), **options)
    model.fit(split.X, split.y)
    wrong = model.predict_label(split.X_new) != split.y_new
    for way, bounds in _WAYS.items():
        rule = alone if bounds is None else model.retarget(min_tpr=_MIN_TPR, **bounds)
        yield way, _at_tpr(*map(rule.uncertainty, news), wrong)
    one_more = CLASSIFIERS[classifier]().fit(split.X, split.y)
    is_known = one_more.classes_ != NOVEL
    probabilities = [one_more.predict_proba(X)[:, is_known] for X in news]
    labels = one_more.classes_[is_known][probabilities[0].argmax(axis=1)]
    scores = [1 - each.max(axis=1) for each in probabilities]
    way = "a classifier with OOD as one more class"
    yield way, _at_tpr(*scores, labels != split.y_new)


def _at_tpr(known, novel, unseen, wrong):
    threshold = np.quantile(known, _MIN_TPR, method="inverted_cdf")
    accepted = known <= threshold
    fprs = [np.mean(scores <= threshold) for scores in (novel, unseen)]
    return *fprs, wrong[accepted].mean()


def _show_rates(rates):
    held_back, unseen, risk = np.mean(rates, axis=0)
    return f"{held_back:.3f} ({unseen:.3f}), risk {risk:.4f}"
