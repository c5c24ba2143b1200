"""What the scorers have in common."""

from copy import copy

from sklearn.utils.metadata_routing import MetadataRequest

from sklearn_reject.curves._sort import make_finite
from sklearn_reject.metrics._evaluate import predict_with_uncertainty


class SelectiveScorer:
    """Base of the scorers: a callable ``(estimator, X, y, sample_weight=None)``."""

    _requests_weight = None

    #: Whether the metric knows what infinite uncertainty means.
    _takes_infinity = False

    def __init__(self, metric, sign, options=None):
        self._metric = metric
        self._sign = sign
        self._options = options or {}

    def __call__(self, estimator, X, y, sample_weight=None):
        """Return the score of a fitted classifier, a float, higher is better."""
        labels, uncertainty = predict_with_uncertainty(estimator, X)
        if not self._takes_infinity:
            uncertainty = make_finite(uncertainty)
        value = self._evaluate(estimator, X, y, labels, uncertainty, sample_weight)
        return float(self._sign * value)

    def _evaluate(self, estimator, X, y, labels, uncertainty, sample_weight):
        return self._metric(
            y, labels, uncertainty, sample_weight=sample_weight, **self._options
        )

    def set_score_request(self, *, sample_weight=None):
        """Say whether metadata routing is to pass `sample_weight` to the scorer.

        Parameters
        ----------
        sample_weight : bool, str or None, default=None
            As scikit-learn's metadata requests define it.

        Returns
        -------
        scorer : object
            A scorer with that request.
        """
        scorer = copy(self)
        scorer._requests_weight = sample_weight
        return scorer

    def get_metadata_routing(self):
        """Return what the scorer requests from metadata routing."""
        requests = MetadataRequest(owner=type(self).__name__)
        requests.score.add_request(param="sample_weight", alias=self._requests_weight)
        return requests

    def __repr__(self):
        sign = "-" if self._sign < 0 else ""
        options = "".join(f", {key}={value!r}" for key, value in self._options.items())
        name = getattr(self._metric, "__name__", repr(self._metric))
        return f"<selective scorer {sign}{name}{options}>"
