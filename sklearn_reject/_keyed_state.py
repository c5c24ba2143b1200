"""State in which dictionaries by class or group survive readers that know text keys.

Pickle keeps any key. skops writes keys as text, which fails for tuples and makes False
the same as True, so the state of an object has lists of a key and a value each.
"""


def pack_keys(state, name):
    """Return a state in which a dictionary is a list of pairs."""
    return _replace(state, name, dict, lambda found: list(found.items()))


def unpack_keys(state, name):
    """Return what :func:`pack_keys` was given."""
    return _replace(state, name, list, dict)


def _replace(state, name, kind, convert):
    found = state.get(name)
    return state | {name: convert(found)} if isinstance(found, kind) else state
