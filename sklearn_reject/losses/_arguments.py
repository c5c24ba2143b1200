"""How a function of the user takes the counts of a confusion matrix."""

from functools import partial
from inspect import Parameter, isfunction, signature
from itertools import product, takewhile

COUNTS = ("tp", "fp", "fn", "tn")

# What else functions call them, of which the order may be any, too.
_ALIASES = {
    alias: first[0] + last[0]
    for first, last in product(("true", "false"), ("positives", "negatives"))
    for alias in (f"{first}_{last}", f"{first}_{last[:-1]}", f"{first}_{last[:3]}")
}

_MANY = Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD
_IN_ORDER = Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD

# Metrics of scikit-learn, and the losses that are one minus them, or the same.
_LOSSES_OF_METRICS = {
    "balanced_accuracy_score": "balanced_accuracy",
    "f1_score": "f1",
    "fbeta_score": "f_beta",
    "hamming_loss": "hamming",
    "jaccard_score": "jaccard",
    "precision_score": "precision",
    "recall_score": "recall",
}


def call_with_counts(function, names, counts):
    """Call a function with the counts, by position where `names` is None."""
    if names is None:
        return function(*counts)
    in_order, by_name = names
    values = dict(zip(COUNTS, counts, strict=True))
    keywords = {name: values[count] for name, count in by_name.items()}
    return function(*(values[count] for count in in_order), **keywords)


def names_of_counts(function):
    """Return the counts that are passed in order, and those that are by which name.

    None where parameters have names of their own: then all are passed in the order of
    `COUNTS`.
    """
    _refuse_fixed_counts(function)
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):  # such as those written in C
        return None
    _refuse_metrics(function, {parameter.name for parameter in parameters})
    single = [part for part in parameters if part.kind not in _MANY]
    if not _are_counts(single, {parameter.kind for parameter in parameters}):
        _check_order(function, single)
        return None
    # By position as far as that goes, as decorated functions may take no names.
    in_order = list(
        takewhile(lambda part: part.kind in _IN_ORDER and _count_of(part), single)
    )
    known = {part.name: _count_of(part) for part in single if part not in in_order}
    known = {name: count for name, count in known.items() if count}
    in_order = [_count_of(part) for part in in_order]
    if any(part.kind is Parameter.VAR_KEYWORD for part in parameters):
        rest = set(COUNTS) - set(known.values()) - set(in_order)
        known.update({count: count for count in rest})
    return in_order, known


def _count_of(part):
    """Return the count that a parameter is called after, or None."""
    name = part.name.lower().removeprefix("n_").removeprefix("num_")
    name = _ALIASES.get(name, name)
    return name if name in COUNTS else None


def _are_counts(single, kinds):
    """Return whether the names say which counts a function wants."""
    known = [_count_of(part) for part in single if _count_of(part)]
    if Parameter.VAR_POSITIONAL in kinds and len(known) < len(COUNTS):
        return False
    if not known and Parameter.VAR_KEYWORD not in kinds:
        return False
    others = [part for part in single if not _count_of(part)]
    is_free = all(
        part.default is not Parameter.empty and part.kind is not _IN_ORDER[0]
        for part in others
    )
    return is_free and len(set(known)) == len(known)


def _check_order(function, single):
    """Raise unless the four counts can be passed in order, without a wrong name."""
    in_order = [part for part in single if part.kind in _IN_ORDER]
    for part, count in zip(in_order, COUNTS, strict=False):
        if _count_of(part) not in (None, count):
            names = ", ".join(each.name for each in in_order)
            raise ValueError(
                f"loss={function!r} has the parameters ({names}), of which "
                f"{part.name!r} would get {count}. Name them tp, fp, fn and tn, in any "
                "order, or use other names for all four, in this order."
            )
    try:
        signature(function).bind(*COUNTS)
    except TypeError as error:
        raise ValueError(
            f"loss={function!r} must take the four counts (tp, fp, fn, tn), or those "
            f"of them that it names, but: {error}."
        ) from error


def check_order_of_losses(cls):
    """Raise where a class defines `_losses` of the counts in another order."""
    method = vars(cls).get("_losses")
    if not isfunction(method):
        return
    parameters = [*signature(method).parameters.values()][1:]
    known = [_count_of(part) for part in parameters[: len(COUNTS)]]
    if any(got not in (None, count) for got, count in zip(known, COUNTS, strict=False)):
        names = ", ".join(part.name for part in parameters)
        raise TypeError(
            f"{cls.__name__}._losses receives tp, fp, fn and tn in this order, but has "
            f"the parameters ({names}). Define them in this order (a function passed "
            "as `loss` can use any order)."
        )


def _refuse_fixed_counts(function):
    fixed = function.keywords.keys() & COUNTS if isinstance(function, partial) else ()
    if fixed:
        raise ValueError(
            f"loss={function!r} fixes {', '.join(sorted(fixed))}, which differs "
            "between sets. Remove it from the partial function."
        )


def _refuse_metrics(function, names):
    """Raise for what takes labels instead of counts."""
    if "X" in names:
        what = "is a scorer of estimators"
        function = getattr(function, "_score_func", function)
    elif "y_true" in names:
        what = "is a metric of y_true and y_pred"
    else:
        return
    inner = function.func if isinstance(function, partial) else function
    name = _LOSSES_OF_METRICS.get(getattr(inner, "__name__", None))
    way_out = (
        f"the name {name!r}, or " if name else "one of the names, such as 'f1', or "
    )
    raise ValueError(
        f"loss={function!r} {what}, but the loss of a set must be a function of the "
        f"counts (tp, fp, fn, tn), where lower is better. Pass {way_out}such a "
        "function."
    )
