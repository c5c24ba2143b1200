"""scikit-learn's own checks, on a table of constructor arguments.

The fast suite has all checks of one configuration, and of one of each other estimator
those in which they can differ. The slow suite has all checks of all.
"""

import re
from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.fixes import parse_version

from sklearn_reject import (
    DeferringClassifier,
    DoubleScoreOODClassifier,
    EnsembleThresholdTuner,
    ExpectedLossDecoder,
    SelectiveClassifier,
    SelectiveRegressor,
)
from sklearn_reject.scores import SELE, ErrorProbability, LossRegression


def distance_to_neighbors(knn, X):
    return knn.kneighbors(X)[0].mean(axis=1)


class Resubstitution:
    """Splits into all rows and all rows again."""

    def split(self, X, y=None, groups=None):
        yield np.arange(len(y)), np.arange(len(y))

    def get_n_splits(self, X=None, y=None, groups=None):
        return 1


logistic = partial(SelectiveClassifier, LogisticRegression())
decoder = partial(ExpectedLossDecoder, LogisticRegression())
# Without learned gains, which take long.
deferring = partial(
    DeferringClassifier, LogisticRegression(), GaussianNB(), gain_score="confidence"
)
tree, knn = DecisionTreeClassifier(random_state=0), KNeighborsClassifier(1)
# The checks have labels -1, which are a class there, and random labels, for which no
# target is sure to be attained but by classifiers that have learned them by heart.
tuner = partial(
    EnsembleThresholdTuner,
    [("tree", tree), ("knn", knn)],
    max_fp_per_tp=1.0,
    unrated_label=None,
    cv=Resubstitution(),
)
regressor = partial(SelectiveRegressor, Ridge(), cv=3)
forest = RandomForestClassifier(3, random_state=0)
errors = ErrorProbability(LogisticRegression())
losses = LossRegression(HistGradientBoostingRegressor(max_iter=3, random_state=0))

# Name: estimator. Rows that are rejected show in few checks only, because the checks
# have tiny or widely separated classes. A target risk has to be one that classifiers of
# random labels attain, which several of the checks use.
CONFIGURATIONS = {
    "default": logistic(),
    "reject_cost high": logistic(reject_cost=0.9, cv="plug_in"),
    "target_risk": logistic(target_risk=0.8),
    "target_coverage": logistic(target_coverage=0.97),
    "learned ErrorProbability": logistic(
        uncertainty_score=errors, reject_cost=1.0, cv=3
    ),
    "score callable": SelectiveClassifier(
        KNeighborsClassifier(), uncertainty_score=distance_to_neighbors, reject_cost=1.0
    ),
    "cv float": logistic(cv=0.25),
    "double": DoubleScoreOODClassifier(
        LogisticRegression(), min_tpr=0.8, novelty_score="msp", reject_label=None
    ),
    "decoder": decoder(),
    "decoder, G-mean": decoder(loss="g_mean", zero_division=1.0),
    "decoder, bounds": decoder(loss="am", min_positive=1),
    "decoder, tuned": decoder(loss="f_beta", strategy="eum", beta=2.0),
    "decoder, threshold": decoder(strategy=0.5),
    "decoder, trees": ExpectedLossDecoder(forest, loss="hamming"),
    "decoder, neighbors": ExpectedLossDecoder(
        KNeighborsClassifier(3), strategy="eum", cv=2, zero_division=1.0
    ),
    "tuner": tuner(),
    "tuner, direct": tuner(method="direct"),
    "deferring": deferring(),
    "deferring, budget": deferring(max_deferral=0.2),
    "regressor": regressor(target_coverage=0.8, uncertainty_score=SELE(alphas=0.1)),
    "regressor, target_risk": regressor(
        target_risk=1e6, uncertainty_score=losses, loss="absolute"
    ),
}

# Why configurations fail check_classifiers_train, all variants of it, and no other
# check: they reject rows, or decide by sets or a tuned threshold, which need not give
# the more likely label. With these parameters instead they pass it.
PLAIN = {
    name: {"strategy": 0.5} if name.startswith("decoder") else {"reject_label": None}
    for name in CONFIGURATIONS
    if re.match("default|target_coverage|cv float|decoder(?!, (thr|nei))", name)
}

# Their classifiers take no weights, so that weights are refused.
NO_WEIGHTS = re.compile("score callable|decoder, neighbors|tuner")
OF_WEIGHTS = {
    name
    for name in dir(estimator_checks)
    if re.match("check_.*sample_weight", name) and "all_zero" not in name
}
# To scikit-learn, a weight of two is a row given twice. Random learners, and folds,
# make a difference: an estimator may fail these where the one inside fails them alone,
# or has folds that the check, which sets those of the outer one, does not know of.
OF_REPEATED_ROWS = {name for name in OF_WEIGHTS if "equivalence" in name}

# Of these the fast suite has all checks, and those of OF_EACH.
IN_FULL = {"default"}
IN_PART = {"double", "decoder", "tuner", "deferring", "regressor"}
# Those that compare results, those whose data are so small that folds, thresholds and
# scores come to their limits, and those of what depends on the parameters (scoring,
# sparse samples, several labels).
OF_EACH = {
    "check_classifiers_multilabel_output_format_decision_function",
    "check_classifiers_multilabel_output_format_predict",
    "check_classifiers_multilabel_output_format_predict_proba",
    "check_classifiers_multilabel_representation_invariance",
    *("check_classifiers_one_label", "check_classifiers_one_label_sample_weights"),
    *("check_classifiers_train", "check_regressors_train"),
    *("check_fit1d", "check_fit2d_1feature", "check_fit2d_1sample"),
    *("check_fit_idempotent", "check_methods_subset_invariance"),
    *("check_no_attributes_set_in_init", "check_parameters_default_constructible"),
    "check_estimators_empty_data_messages",
}
# The same as another check but for the kind of container, which is looked at once.
TWINS = {"check_estimator_sparse_matrix"}


def name_of(check):
    return check.func.__name__ if isinstance(check, partial) else check.__name__


def all_checks():
    """Yield each check, slow unless the fast suite has it, at most once of a name."""
    for name, estimator in CONFIGURATIONS.items():
        seen = set()
        for number, (instance, check) in enumerate(
            estimator_checks_generator(estimator)
        ):
            kind = name_of(check)
            of_part = kind in OF_EACH - seen and name in IN_PART
            fast = kind not in TWINS if name in IN_FULL else of_part
            seen.add(kind)
            marks = [] if fast else [pytest.mark.slow]
            label = f"{name}-{kind}-{number}"
            yield pytest.param(name, instance, check, id=label, marks=marks)


# A naive Bayes classifier says that a class of no weight has no prior, the splitter
# that a class has fewer members than there are folds, and neither are targets, scores
# and rules sensible on the data of these checks.
@pytest.mark.filterwarnings(
    "ignore:divide by zero encountered in log:RuntimeWarning",
    "ignore:The least populated class in y:UserWarning",
    "ignore::sklearn_reject.exceptions.RejectionWarning",
)
@pytest.mark.parametrize(("name", "estimator", "check"), list(all_checks()))
def test_scikit_learn_check(name, estimator, check):
    kind, refused = name_of(check), OF_WEIGHTS if NO_WEIGHTS.match(name) else set()
    if name.startswith("tuner"):
        # The tuner refuses a single class before it looks at weights.
        refused = refused - {"check_classifiers_one_label_sample_weights"}
    if name in PLAIN and kind == "check_classifiers_train":
        with pytest.raises(AssertionError):
            check(estimator)
    elif kind in refused:
        # One of the checks wraps errors in words of its own.
        with pytest.raises((AssertionError, ValueError), match=r"weight"):
            check(estimator)
    elif kind in OF_REPEATED_ROWS:
        try:
            check(estimator)
        except AssertionError:
            with pytest.raises(AssertionError):
                check(estimator.estimator)
    else:
        check(estimator)


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"),
    reason="an old scikit-learn lacks some of the checks",
)
def test_names_of_checks_are_those_of_scikit_learn():
    # A name that is wrong would quietly leave a check to the slow suite.
    assert all(hasattr(estimator_checks, name) for name in OF_EACH | TWINS)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in IN_FULL else [pytest.mark.slow])
        for name in sorted(PLAIN)
    ],
)
def test_reason_for_expected_failures_is_true(name):
    """Without a reject label, or decided one by one, it passes what it fails here."""
    params = CONFIGURATIONS[name].get_params(deep=False) | PLAIN[name]
    plain = type(CONFIGURATIONS[name])(**params)
    checks = [check for _, check in estimator_checks_generator(plain)]
    checks = [check for check in checks if name_of(check) == "check_classifiers_train"]
    assert len(checks) == 3
    for check in checks:
        check(plain)
