"""State in which dictionaries by class or group survive readers that know text keys."""


class KeyedStateMixin:
    """Object whose state holds some dictionaries as pairs.

    Pickle keeps any key. skops writes keys as text, which fails for tuples and makes
    False the same as True, so the state has lists of a key and a value each.
    """

    # Names of attributes that are dictionaries, or None.
    _keyed = ()

    def __getstate__(self):
        state = dict(super().__getstate__())
        for name in self._keyed:
            if isinstance(state.get(name), dict):
                state[name] = list(state[name].items())
        return state

    def __setstate__(self, state):
        state = dict(state)
        for name in self._keyed:
            if isinstance(state.get(name), list):
                state[name] = dict(state[name])
        restore = getattr(super(), "__setstate__", vars(self).update)
        restore(state)
