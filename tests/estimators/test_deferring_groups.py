"""DeferringClassifier with a rule for each group."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from sklearn_reject import DeferringClassifier, InfeasibleTargetError
from sklearn_reject.selection import GroupedDeferralRule, solve_deferral

X, y = make_classification(
    600, n_features=6, n_informative=4, n_classes=3, flip_y=0.05, random_state=0
)
FIT, NEW = slice(0, 400), slice(400, 600)
REGION = np.where(np.arange(600) % 3 == 0, "north", "south")
FRAME = pd.DataFrame(X, columns=list("abcdef")).assign(region=REGION)


def numbers(classifier):
    columns = make_column_transformer(("passthrough", list("abcdef")))
    return make_pipeline(columns, classifier)


TREE = DecisionTreeClassifier(max_depth=6, random_state=0)


def by_region(**options):
    options = {"group_by": "region", "gain_score": "confidence", **options}
    return DeferringClassifier(
        numbers(GaussianNB()), numbers(TREE), random_state=0, **options
    )


def test_a_budget_for_each_group():
    budgets = {"north": 0.4, "south": 0.1}
    model = by_region(max_deferral=budgets).fit(FRAME[FIT], y[FIT])
    assert isinstance(model.rule_, GroupedDeferralRule)
    found = model.calibration_
    for group, budget in budgets.items():
        rows = found.groups == group
        rule = solve_deferral(
            found.gain[rows],
            found.loss_first[rows],
            found.loss_second[rows],
            max_deferral=budget,
        )
        own = model.rule_.rules[group]
        assert (own.threshold, own.proba_at_threshold) == (
            rule.threshold,
            rule.proba_at_threshold,
        )
        assert own.deferral_rate == pytest.approx(rule.deferral_rate)
        deferred = model.defer(FRAME[NEW])[REGION[NEW] == group]
        assert deferred.mean() < budget + 0.1


def test_costs_of_groups():
    costs = {"north": 0.0, "south": 0.3}
    model = by_region(deferral_cost=costs).fit(FRAME[FIT], y[FIT])
    report = model.report(FRAME[NEW], y[NEW])
    of_row = np.where(REGION[NEW] == "north", 0.0, 0.3) * model.defer(FRAME[NEW])
    assert report.parts[0].cost == pytest.approx(of_row.mean())


def test_certified_in_every_group():
    model = by_region(target_risk=0.45, confidence_level=0.8, cv=0.5)
    model.fit(FRAME[FIT], y[FIT])
    certificates = model.rule_.certificate
    assert set(certificates) == {"north", "south"}
    assert all(
        each.confidence_level == pytest.approx(0.9) for each in certificates.values()
    )


def test_retarget_is_another_fit():
    model = by_region(max_deferral=0.2).fit(FRAME[FIT], y[FIT])
    for changes in (
        {"max_deferral": {"north": 0.1, "south": 0.3}},
        {"max_deferral": None, "deferral_cost": 0.1},
        {"max_deferral": 0.2, "group_by": None},
    ):
        given = {name: value for name, value in changes.items() if value is not None}
        other = model.retarget(**given, group_by=changes.get("group_by", "region"))
        again = clone(model).set_params(**changes).fit(FRAME[FIT], y[FIT])
        assert other.rule_ == again.rule_


def test_no_group_has_a_rule():
    model = by_region(target_risk=0.01)
    with pytest.raises(InfeasibleTargetError, match=r"No group has a rule") as caught:
        model.fit(FRAME[FIT], y[FIT])
    attainable = caught.value.attainable["target_risk"]
    model.set_params(target_risk=attainable).fit(FRAME[FIT], y[FIT])
    risks = {label: rule.system_risk for label, rule in model.rule_.rules.items()}
    assert risks == pytest.approx(attainable)


def test_true_classes_are_not_known():
    with pytest.raises(ValueError, match=r"group_by='class' is for true classes"):
        by_region(max_deferral=0.1, group_by="class").fit(FRAME[FIT], y[FIT])
