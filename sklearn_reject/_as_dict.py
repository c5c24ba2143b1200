"""Dataclasses as dictionaries that strict JSON can hold, and back."""

from __future__ import annotations

import math
from dataclasses import fields
from functools import cache
from inspect import signature
from numbers import Integral, Real
from typing import Annotated, Any, Self, get_args, get_origin, get_type_hints

import numpy as np

from sklearn_reject._short_repr import short_repr
from sklearn_reject._typing import Options

# What a dictionary says is its type.
_TYPES = {}

# By how much sums of shares may be above one.
_ROUNDING = 1e-9

# How numbers are written that JSON has no sign for.
_NAMES = {math.inf: "Infinity", -math.inf: "-Infinity"}
_NUMBERS = {name: number for number, name in _NAMES.items()} | {"NaN": math.nan}


# What a number of a record may be, said where its field is; None is left out.
Number = Annotated[float, "a number", lambda x: not math.isnan(x)]
Size = Annotated[float, "at least 0", lambda x: x >= 0]
Amount = Annotated[float, "at least 0, or NaN", lambda x: not x < 0]
Probability = Annotated[float, "in [0, 1]", lambda x: 0 <= x <= 1]
Share = Annotated[
    float, "in [0, 1], or NaN", lambda x: not (x < 0 or x > 1 + _ROUNDING)
]
Count = Annotated[int, "a count", lambda x: isinstance(x, Integral) and x >= 0]


class DictMixin:
    """Dataclass whose fields are plain values, arrays, tuples or others of its kind.

    Numbers in arrays and in tuples are floats. A field may be a dict of plain values to
    others of its kind, too. Its text is short, with numbers rounded.
    """

    def __post_init__(self):
        """Refuse numbers that the annotation of their field excludes."""
        for name, what, is_valid in _limits(type(self)):
            value = getattr(self, name)
            is_number = isinstance(value, Real)
            if value is not None and not (is_number and is_valid(value)):
                raise ValueError(
                    f"{name} of a {type(self).__name__} must be {what}, got {value!r}."
                )

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        _TYPES[cls.__name__] = cls
        # The decorator of dataclasses keeps what stands in the class itself.
        cls.__eq__, cls.__hash__ = DictMixin.__eq__, DictMixin.__hash__
        if cls.__repr__ in (object.__repr__, short_repr):
            cls.__repr__ = short_repr

    def __eq__(self, other):
        """Compare the fields, of which NaN equals NaN: nothing is known of either."""
        if type(other) is not type(self):
            return NotImplemented
        return self._comparable() == other._comparable()

    def __hash__(self):
        return hash(self._comparable())

    def _comparable(self):
        """Return the fields, with text for NaN and bytes for arrays."""
        return tuple(_comparable(getattr(self, each.name)) for each in fields(self))

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary for strict JSON, from which `from_dict` restores this.

        Returns
        -------
        state : dict
            The fields by name, and the "type": numbers, strings, lists and
            dictionaries. Numbers that are not finite are the strings "Infinity",
            "-Infinity" and "NaN", which `float` of Python and `Number` of JavaScript
            read. What is kept by group is a list of pairs, as keys are text in JSON.
        """
        state = {
            each.name: _to_plain(getattr(self, each.name)) for each in fields(self)
        }
        return {"type": type(self).__name__, **state}

    @classmethod
    def from_dict(cls, state: Options) -> Self:
        """Return what `to_dict` has written.

        Parameters
        ----------
        state : dict
            What `to_dict` returned, maybe after a way through JSON.

        Returns
        -------
        restored : object
            Equal to what was written, bit for bit.

        Raises
        ------
        ValueError
            If the dictionary is of another type, or a field is unknown, missing or no
            such value as it has to be.
        """
        found = _type_of(state, cls)
        known = [each.name for each in fields(found)]
        # Those of no default and no factory, which both are MISSING.
        required = {f.name for f in fields(found) if f.default is f.default_factory}
        _check_fields(state, {*known}, required)
        kinds, given = get_type_hints(found), [name for name in known if name in state]
        return found(**{name: _restore(state, name, kinds[name]) for name in given})


@cache
def _limits(cls):
    """Return name, text and test of each field whose annotation limits a number."""
    limits = []
    for name, kind in get_type_hints(cls, include_extras=True).items():
        for each in (kind, *get_args(kind)):
            if get_origin(each) is Annotated:
                limits.append((name, *each.__metadata__))
    return limits


class Accumulator:
    """What is updated and merged: parameters of its constructor, and a `_state`.

    The state is a dataclass of `DictMixin` that tells whether it `continues` another.
    The attributes `_known` are in its text.
    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        _TYPES[cls.__name__] = cls

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary for strict JSON, from which `from_dict` restores this.

        Returns
        -------
        state : dict
            The parameters and the sums: as large after a million samples as after a
            thousand.
        """
        state = {"type": type(self).__name__, **self._settings()}
        return state | {"state": self._state.to_dict()}

    @classmethod
    def from_dict(cls, state: Options) -> Self:
        """Return what `to_dict` has written.

        Parameters
        ----------
        state : dict
            What `to_dict` returned, maybe after a way through JSON.

        Returns
        -------
        restored : object
            Equal to what was written, bit for bit.

        Raises
        ------
        ValueError
            If the dictionary is of another type, or a field is unknown, missing or no
            such value as it has to be.
        """
        found = _type_of(state, cls)
        names = _parameters(found)
        _check_fields(state, {*names, "state"}, {*names, "state"})
        restored = found(**{name: state[name] for name in names})
        known = type(restored._state).from_dict(state["state"])
        if not known.continues(restored._state):
            raise ValueError(
                f"state of a {found.__name__} does not go with its parameters, or its "
                "arrays not with each other. Restore it as `to_dict` has written it."
            )
        restored._state = known
        return restored

    def __repr__(self):
        """Return the parameters and what is known so far."""
        settings = ", ".join(f"{k}={v!r}" for k, v in self._settings().items())
        known = [(name, getattr(self, name)) for name in self._known]
        known = (f"{k}={v:.4g}" if type(v) is float else f"{k}={v}" for k, v in known)
        return f"<{type(self).__name__}({settings}): {', '.join(known)}>"

    def _settings(self):
        """Return the parameters of the constructor by name."""
        return {name: getattr(self, name) for name in _parameters(type(self))}

    def _check_other(self, other):
        """Raise unless `other` has the class and parameters of this, and is not it."""
        name = type(self).__name__
        if type(other) is not type(self):
            raise ValueError(f"other must be a {name}, got {type(other).__name__}.")
        if other is self:
            raise ValueError(f"other is this {name} itself: samples would count twice.")
        if other._settings() != self._settings():
            raise ValueError(
                f"other has {other._settings()}, but this {name} has "
                f"{self._settings()}. Merge those with the same parameters."
            )


@cache
def _parameters(cls):
    return tuple(signature(cls).parameters)


def _type_of(state, cls):
    """Return the class that a dictionary names, which is one or derives from it."""
    name = state.get("type") if isinstance(state, dict) else None
    found = _TYPES.get(name) if isinstance(name, str) else None
    if found is None or not issubclass(found, cls):
        raise ValueError(
            f'state must be a dictionary of `to_dict` whose "type" is {cls.__name__!r},'
            f" got {name!r}. Restore it with the class of that name."
        )
    return found


def _check_fields(state, known, required):
    """Raise for fields of a dictionary that are unknown, or that are missing."""
    given = state.keys() - {"type"}
    unknown, missing = sorted(given - known), sorted(required - given)
    if unknown or missing:
        raise ValueError(
            f"state of a {state['type']} has the unknown fields {unknown} and lacks "
            f"{missing}. Write it with the version of the package that reads it."
        )


def _comparable(value):
    if isinstance(value, np.ndarray):
        return value.shape, np.asarray(value, dtype=np.float64).tobytes()
    if isinstance(value, dict):
        return frozenset(value.items())
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def _to_plain(value):
    """Return a value as strict JSON has it."""
    if isinstance(value, DictMixin):
        return value.to_dict()
    if isinstance(value, dict):
        return [[_check_key(key), _to_plain(each)] for key, each in value.items()]
    if isinstance(value, np.ndarray) and np.isfinite(value).all():
        return value.tolist()
    if isinstance(value, (np.ndarray, list, tuple)):
        return [_to_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return _NAMES.get(value, "NaN")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{value!r} cannot be written to JSON.")


def _check_key(key):
    """Return a key that comes back as it is: numbers, booleans and text."""
    is_infinite = isinstance(key, float) and not math.isfinite(key)
    if isinstance(key, (bool, int, float, str)) and not is_infinite:
        return key
    raise TypeError(
        f"The group {key!r} cannot be written to JSON. Name groups by numbers or text."
    )


def _restore(state, field, kind):
    """Return the value of a field from what JSON has."""
    value = state[field]
    kinds = get_args(kind) or (kind,)
    try:
        if get_origin(kind) is dict:
            return _read_pairs(value, kinds[1:])
        return _read(value, kinds)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"state of a {state['type']} has {field}={value!r}, which is invalid: "
            f"{error}"
        ) from error


def _read(value, kinds):
    """Return a value that is of one of some types, or raise."""
    if value is None and type(None) in kinds:
        return None
    if any(isinstance(kind, type) and issubclass(kind, DictMixin) for kind in kinds):
        value = DictMixin.from_dict(value)
    if np.ndarray in kinds and isinstance(value, (list, tuple, np.ndarray)):
        return np.array(value, dtype=np.float64)  # reads text such as "NaN", too
    if tuple in kinds and isinstance(value, (list, tuple)):
        return tuple(
            x if isinstance(x, str) and x not in _NUMBERS else _read_number(x)
            for x in value
        )
    if float in kinds:
        return _read_number(value)
    if int in kinds and isinstance(value, float) and value.is_integer():
        return int(value)  # other languages may write 1 as 1.0
    if isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool)):
        return value
    raise ValueError(f"it is of type {' or '.join(kind.__name__ for kind in kinds)}.")


def _read_pairs(value, kinds):
    """Return a dict from pairs of a key and a value."""
    if not isinstance(value, (list, tuple)):
        raise ValueError("it is a list of pairs.")
    found = {}
    for key, each in value:
        if _check_key(key) in found:
            raise ValueError(f"{key!r} is there twice.")
        found[key] = _read(each, kinds)
    return found


def _read_number(value):
    """Return a float for a number, or for the name of one that is not finite."""
    if isinstance(value, str) and value in _NUMBERS:
        return _NUMBERS[value]
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ValueError('it is a number, "Infinity", "-Infinity" or "NaN".')
    return float(value)
