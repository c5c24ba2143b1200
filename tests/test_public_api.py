"""Public names are there, documented, and documented as they are."""

import inspect
import re
from collections import defaultdict
from importlib import import_module
from itertools import chain

import pytest

import sklearn_reject
from sklearn_reject import _curves

PACKAGE = sklearn_reject.__name__
MODULES = ["datasets", "decoding", "losses", "metrics"]
MODULES += ["scores", "selection", "thresholds"]

# What functions and methods return: nobody makes one, but each has a page.
RESULTS = {
    "decoding": ["TunedThreshold"],
    "selection": [
        *("BoundedRisk", "Certificate", "GroupedDeferralRule"),
        *("OODCertificate", "RiskBoundsCertificate"),
        *("SingleScoreRule", "Tail", "TailScoreRule"),
    ],
    "thresholds": ["CrossValidatedPoint", "OperatingPoint", "ThresholdPath"],
}


def public_objects():
    for module_name in MODULES:
        module = import_module(f"sklearn_reject.{module_name}")
        for name in [*module.__all__, *RESULTS.get(module_name, [])]:
            yield f"{module_name}.{name}", getattr(module, name)
    for name in [*sklearn_reject.__all__, *sklearn_reject._RESULTS]:
        if name[0] != "_" and name not in MODULES:
            yield name, getattr(sklearn_reject, name)


OBJECTS = dict(public_objects())
CALLABLES = {
    name: value
    for name, value in OBJECTS.items()
    if inspect.isfunction(value) or inspect.isclass(value)
}


def methods(cls):
    for name, value in inspect.getmembers(cls, inspect.isroutine):
        is_ours = (getattr(value, "__module__", None) or "").startswith(PACKAGE)
        if not name.startswith("_") and is_ours:
            yield name, value


WITH_METHODS = dict(CALLABLES)
for _name, _value in CALLABLES.items():
    if inspect.isclass(_value):
        WITH_METHODS |= {f"{_name}.{key}": method for key, method in methods(_value)}


def section(doc, title):
    """Return the body of a numpydoc section, empty where it is missing."""
    start = rf"(?:^|\n){title}\n-{{{len(title)}}}\n"
    match = re.search(start + r"(.*?)(?=\n\n[^\n]+\n---|\Z)", doc, re.DOTALL)
    return match.group(1) if match else ""


def entries(doc, title):
    """Return {name: (type line, description)} of a section, continued lines joined."""
    body = section(doc, title).replace("\\\n", " ")
    found = re.findall(r"^(\*{0,2}\w[\w, *]*?) ?: (.+)((?:\n(?: .*)?)*)", body, re.M)
    return {
        name.strip().lstrip("*"): (kind, " ".join(text.split()))
        for names, kind, text in found
        for name in names.split(",")
    }


def documented(doc, title):
    """Return {name: type line} of a section."""
    return {name: kind for name, (kind, _) in entries(doc, title).items()}


def parameters(function):
    signature = inspect.signature(function)
    return {n: p for n, p in signature.parameters.items() if n not in ("self", "cls")}


def test_exports_exist_once():
    for module_name in MODULES:
        module = import_module(f"sklearn_reject.{module_name}")
        assert len(set(module.__all__)) == len(module.__all__), module_name
        assert all(hasattr(module, name) for name in module.__all__), module_name


def test_public_names_are_few_and_unique():
    names = [name.rpartition(".")[2] for name in OBJECTS]
    results = {*sklearn_reject._RESULTS, *chain(*RESULTS.values())}
    public = set(names) - results
    assert len(public) == len(names) - len(results)
    assert len(public) <= 91, sorted(public)


def test_top_level_names():
    assert set(MODULES) < set(dir(sklearn_reject))
    assert sklearn_reject.metrics is import_module("sklearn_reject.metrics")
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", sklearn_reject.__version__)
    with pytest.raises(AttributeError, match="no attribute 'selektive'"):
        sklearn_reject.selektive  # noqa: B018
    with pytest.raises(ImportError, match="selektive"):
        from sklearn_reject import selektive  # noqa: F401


def check_parameters(name, function):
    """Check that all parameters are documented, each with its default."""
    doc = inspect.getdoc(function)
    assert doc, name
    described = documented(doc, "Parameters") | documented(doc, "Attributes")
    if "optional" in "".join(described.values()):
        described |= {n: "optional" for n in ("loss", "labels", "sample_weight")}
    for parameter, spec in parameters(function).items():
        if inspect.isclass(function) and function.__init__ is object.__init__:
            continue
        assert parameter in described, (name, parameter)
        stated = re.search(r"default=(.+)$", described[parameter])
        if stated:
            default = spec.default
            assert stated.group(1).replace('"', "'") == repr(default), (name, parameter)
        elif spec.default is not inspect.Parameter.empty:
            assert "optional" in described[parameter], (name, parameter)


def test_parameters_are_documented_with_their_defaults():
    for name, function in WITH_METHODS.items():
        check_parameters(name, function)


def test_an_example_runs_and_functions_state_what_they_return():
    is_score = r"metrics\.(a\w+|coverage_at_risk|sele|def\w+|selective_cost)_score"
    for name, function in CALLABLES.items():
        doc = inspect.getdoc(function)
        assert ">>>" in section(doc, "Examples"), name
        if inspect.isfunction(function):
            assert section(doc, "Returns"), name
            takes_input = bool(set(parameters(function)) - {"params"})
            assert section(doc, "Raises") or not takes_input, name
        if re.match(is_score, name):
            assert re.search(r"(Lower|Higher) is better", doc), name


# Constructors ask for what is wrapped, what it is to attain, how that is measured, how
# sure it has to be, what evaluates it, and what labels mean, in this order.
GROUPS_OF_PARAMETERS = (
    ("estimator", "estimators", "expert"),
    (
        *("reject_cost", "deferral_cost", "max_deferral", "costs", "ood_prior"),
        *("target_risk", "target_coverage", "target_failure_rate", "group_by"),
        *("min_tpr", "max_fpr", "max_risk", "min_precision", "min_recall"),
        *("max_fp_per_tp", "max_alerts", "objective"),
    ),
    (
        *("uncertainty_score", "novelty_score", "gain_score", "loss", "beta"),
        *("zero_division", "average", "strategy", "min_positive", "max_positive"),
        *("rule", "response_method"),
    ),
    ("confidence_level", "max_loss", "max_weight"),
    ("randomize", "method", "n_thresholds"),
    ("cv", "n_jobs", "random_state"),
    (
        *("reject_label", "defer_label", "pos_label", "unrated_label"),
        *("ood_label", "wild_label", "wild_share"),
    ),
)


@pytest.mark.parametrize(
    "name",
    [
        *("SelectiveClassifier", "SelectiveRegressor", "DeferringClassifier"),
        *("DoubleScoreOODClassifier", "EnsembleThresholdTuner"),
    ],
)
def test_parameters_of_constructors_are_few_and_in_order(name):
    parameters = [*inspect.signature(getattr(sklearn_reject, name)).parameters]
    assert len(parameters) <= 18
    groups = [
        number
        for parameter in parameters
        for number, group in enumerate(GROUPS_OF_PARAMETERS)
        if parameter in group
    ]
    assert len(groups) == len(parameters)
    assert groups == sorted(groups)


ESTIMATORS = r"Selective\w+|DoubleScoreOODClassifier|ExpectedLossDecoder"

# Patterns of names that share parameters, and which of these have one text: None for
# all but those that mean something else for some of the functions.
SHARED_PARAMETERS = {
    "risk and coverage": (
        r"metrics\.(risk_coverage_curve|(aurc|augrc|sele)_score"
        r"|selective_risk_at_coverage_score|coverage_at_risk_score)",
        None,
    ),
    "deferral to a second opinion": (r"metrics\.deferral_\w+", None),
    "costs of rejections": (
        r"metrics\.(risk_coverage_curve|aurc_score|selective_cost_score)",
        ("labels", "sample_weight"),
    ),
    "samples of which some are OOD": (
        r"metrics\.(ood_\w+|fpr_at_tpr_score|selective_risk_at_(tpr|precision)\w+)",
        None,
    ),
    "rules for OOD samples": (
        r"selection\.(tune_(single|double)_score|(Single|Double)ScoreRule\.measure)",
        None,
    ),
    "partial ratings": (r"metrics\.pn_\w+", None),
    "sets": (r"ExpectedLossDecoder|metrics\.set_loss", ("beta",)),
    "plots": (r"metrics\.\w+Display\.plot", None),
    "monitors": (
        r"selection\.(\w+Monitor|RejectionRule\.monitor)",
        ("confidence_level", "max_loss", "max_weight"),
    ),
    "displays": (r"metrics\.\w+Display\.(from_\w+|plot)", ("ax", "plot_options")),
    "predictions": (
        rf"({ESTIMATORS})\.(predict\w*|decision_function|accept\w*|uncertainty)",
        ("X", "groups"),
    ),
    "weights": (rf"({ESTIMATORS}|EnsembleThresholdTuner)\.fit", ("sample_weight",)),
    "targets": (
        r"Selective\w+",
        ("target_risk", "target_coverage", "target_failure_rate", "randomize"),
    ),
    "groups": (
        r"selection\.(solve_(reject|target)_\w+|GroupedRule\.\w+)",
        ("all_groups",),
    ),
}
# With or without predictions, intervals, bounds or infinite values, and what is said
# of an oracle or of all that is random.
DIFFERENT = {
    *("uncertainty", "randomize", "y_true", "ood_label", "positive", "novelty"),
    *("ood_prior", "scores", "novelty_scores", "is_ood", "wild_share"),
    *("plot_point", "plot_oracle", "plot_random"),
}


@pytest.mark.parametrize("group", SHARED_PARAMETERS)
def test_parameters_of_one_name_have_one_text(group):
    pattern, compared = SHARED_PARAMETERS[group]
    texts = defaultdict(lambda: defaultdict(list))
    for name, function in WITH_METHODS.items():
        if re.fullmatch(pattern, name):
            described = entries(inspect.getdoc(function), "Parameters")
            for parameter, text in described.items():
                texts[parameter][text].append(name)
    assert max(sum(map(len, of_one.values())) for of_one in texts.values()) > 1
    for parameter in compared or texts.keys() - DIFFERENT:
        assert len(texts[parameter]) == 1, (parameter, dict(texts[parameter]))


# What curves take instead of labels and predictions.
OF_SAMPLES = {
    *("scores", "losses", "is_ood", "is_positive"),
    *("loss_first", "loss_second"),
}


def test_metrics_take_the_options_of_their_curves():
    for name in set(vars(_curves)) & set(sklearn_reject.metrics.__all__):
        of_curve = parameters(getattr(_curves, name))
        of_metric = parameters(OBJECTS[f"metrics.{name}"])
        for option, spec in of_curve.items():
            if option not in OF_SAMPLES:
                assert of_metric[option].default == spec.default, (name, option)


def test_parameters_are_few_and_share_no_name_with_a_method():
    for cls in filter(inspect.isclass, CALLABLES.values()):
        if hasattr(cls, "get_params"):
            names = parameters(cls)
            assert len(names) <= 18
            assert not [name for name in names if callable(getattr(cls, name, None))]
