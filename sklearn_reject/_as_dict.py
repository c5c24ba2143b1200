"""Dataclasses as dictionaries that strict JSON can hold, and back."""

import math
from dataclasses import MISSING, fields

import numpy as np

# What a dictionary says is its type.
_TYPES = {}

# How numbers are written that JSON has no sign for.
_NAMES = {math.inf: "Infinity", -math.inf: "-Infinity"}
_NUMBERS = {name: number for number, name in _NAMES.items()} | {"NaN": math.nan}


class DictMixin:
    """Dataclass whose fields are plain values, arrays, tuples or others of its kind."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        _TYPES[cls.__name__] = cls

    def to_dict(self):
        """Return a dictionary for strict JSON, from which `from_dict` restores this.

        Returns
        -------
        state : dict
            The fields by name, and the "type": numbers, strings, lists and
            dictionaries. Numbers that are not finite are the strings "Infinity",
            "-Infinity" and "NaN", which `float` of Python and `Number` of JavaScript
            read.
        """
        state = {
            each.name: _to_plain(getattr(self, each.name)) for each in fields(self)
        }
        return {"type": type(self).__name__, **state}

    @classmethod
    def from_dict(cls, state):
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
            If the dictionary is of another type, or a field is unknown or missing.
        """
        name = state.get("type") if isinstance(state, dict) else None
        found = _TYPES.get(name)
        if found is None or not issubclass(found, cls):
            raise ValueError(
                f'state must be a dictionary of `to_dict` whose "type" is '
                f"{cls.__name__!r}, got {name!r}. Restore it by the class of that name."
            )
        known = {each.name: each for each in fields(found)}
        unknown = sorted(state.keys() - known.keys() - {"type"})
        missing = sorted(
            name
            for name, each in known.items()
            if name not in state
            and each.default is MISSING
            and each.default_factory is MISSING
        )
        if unknown or missing:
            raise ValueError(
                f"state of a {name} has the unknown fields {unknown} and lacks "
                f"{missing}. Write it with the version of the package that reads it."
            )
        given = known.keys() & state.keys()
        return found(**{key: _restore(state[key], known[key].type) for key in given})


def _to_plain(value):
    """Return a value as strict JSON has it."""
    if isinstance(value, DictMixin):
        return value.to_dict()
    if isinstance(value, (np.ndarray, list, tuple)):
        return [_to_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return _NAMES.get(value, "NaN")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{value!r} is nothing that JSON can hold.")


def _restore(value, annotation):
    """Return a value of a field from what JSON has."""
    if isinstance(value, dict):
        return DictMixin.from_dict(value)
    if annotation is np.ndarray:
        return np.array(_read(value))
    if isinstance(value, list):
        return tuple(_restore(each, None) for each in value)
    is_number = annotation is float or annotation is None
    return _read(value) if is_number else value


def _read(value):
    """Return numbers for the names of those that are not finite."""
    if isinstance(value, list):
        return [_read(each) for each in value]
    return _NUMBERS.get(value, value) if isinstance(value, str) else value
