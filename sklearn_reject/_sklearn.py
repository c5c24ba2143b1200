"""The one place for underscored names of scikit-learn, and for its versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.neural_network._base import ACTIVATIONS, DERIVATIVES
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils._optional_dependencies import check_matplotlib_support
from sklearn.utils.metadata_routing import _routing_enabled
from sklearn.utils.metaestimators import _BaseComposition, _safe_split
from sklearn.utils.parallel import _threadpool_controller_decorator
from sklearn.utils.validation import _check_method_params, _num_samples

if TYPE_CHECKING:
    from sklearn.callback import CallbackSupportMixin

    from sklearn_reject._typing import Decorated

    # scikit-learn states no signatures: what these decorate keeps its own.
    def available_if(
        check: Callable[[Any], Any],
    ) -> Callable[[Decorated], Decorated]: ...

    def with_callbacks(method: Decorated) -> Decorated: ...

else:
    from sklearn.utils.metaestimators import available_if

    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # scikit-learn < 1.9 has no callbacks

        class CallbackSupportMixin:
            """Stands in for the callbacks that this scikit-learn does not have."""

            def _init_callback_context(self, **_):
                return _SilentContext()

        def with_callbacks(method):
            """Return the method as it is."""
            return method


class _SilentContext:
    """A callback context that tells nobody."""

    def subcontext(self, **_):
        return self

    def call_on_fit_task_begin(self, **_):
        return self

    def call_on_fit_task_end(self, **_):
        return False

    def propagate_callback_context(self, _):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


#: For loops that may run outside any estimator with callbacks.
SILENT_CONTEXT = _SilentContext()


def has_callbacks(context):
    """Tell whether anyone listens to a callback context."""
    return bool(getattr(context, "_callbacks", ()))


def visual_block(kind, named):
    """Return the block of a diagram that shows pairs of name and estimator."""
    # Its own module has another name in each version.
    from sklearn.ensemble._voting import _VisualBlock

    names, estimators = zip(*named, strict=True)
    return _VisualBlock(kind, estimators, names=names)


def take_rows(X, rows):
    """Return some rows of samples at the positions in an array, in their container."""
    if hasattr(X, "num_rows") and hasattr(X, "take"):
        return X.take(rows)  # scikit-learn makes structs of the rows of Arrow's batches
    [X] = indexable(X)  # for sparse matrices that cannot be indexed
    return _safe_indexing(X, rows)
