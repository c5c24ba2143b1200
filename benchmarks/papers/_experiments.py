"""What is measured for each table: a classifier, and several scores on top of it."""

from collections import namedtuple

from benchmarks.papers._fpv23_published import TABLES
from benchmarks.papers._methods import NON_LINEAR

# `methods` are {name in the table: name among the scores}, the baseline first; `unit`
# is what areas are multiplied by before they are shown.
Experiment = namedtuple("Experiment", "title classifier loss methods sets unit")

_PERCENT, _CLASSES = 100, 1
_LEARNED = {"SELE": "SELE", "REG": "REG"}
_CLASSIFICATION, _ORDINAL = tuple(TABLES["3a"]), tuple(TABLES["4"])

EXPERIMENTS = {
    "3a": Experiment(
        "scores on top of logistic regression, test AuRC in %",
        "LR",
        "zero_one",
        {"MCP": "MCP", **_LEARNED, "TCP": "TCP"},
        _CLASSIFICATION,
        _PERCENT,
    ),
    "3b": Experiment(
        "scores on top of a linear SVM, test AuRC in %",
        "SVM",
        "zero_one",
        {"Margin": "SVM margin", **_LEARNED},
        _CLASSIFICATION,
        _PERCENT,
    ),
    "4": Experiment(
        "scores on top of ordinal regression (SVOR), test AuRC of the absolute error",
        "SVOR",
        "absolute",
        {"Margin": "SVOR margin", **_LEARNED},
        _ORDINAL,
        _CLASSES,
    ),
    "beyond": Experiment(
        "non-linear scores as they come, on top of logistic regression",
        "LR",
        "zero_one",
        {name: name for name in NON_LINEAR},
        _CLASSIFICATION,
        _PERCENT,
    ),
}
