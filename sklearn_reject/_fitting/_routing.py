"""How `fit` of a meta-estimator treats parameters, weights and seeds."""

from inspect import signature
from numbers import Integral

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)

from sklearn_reject._fitting._folds import fit_on_all, fit_on_part
from sklearn_reject._fitting._splits import is_share, make_splits
from sklearn_reject._response import Response
from sklearn_reject._sklearn import _routing_enabled
from sklearn_reject._validation import check_option, check_sample_weight


class RoutedFit:
    """Mixin of meta-estimators whose `fit` takes `**params` and judges on splits.

    A subclass has the parameters `estimator`, `cv`, `n_jobs` and `random_state`, and
    `randomize` and `confidence` where it draws and certifies.
    """

    #: Methods that the estimator inside has to have.
    _methods = ("fit", "predict")

    #: What the estimator inside has to be.
    _kind = "classifier"

    #: Whether folds get their share of each class.
    _stratifies = True

    #: Probability that a guarantee holds with, None without one.
    confidence = None

    # `fit` takes it through **params, where no request would be found.
    __metadata_request__fit = {"sample_weight": None}  # noqa: RUF012

    def get_metadata_routing(self):
        """Return where metadata go: to this `fit`, the estimator and the splitter.

        Returns
        -------
        routing : MetadataRouter
            The routing.
        """
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=to_fit)
        if hasattr(self.cv, "get_metadata_routing"):
            router.add(splitter=self.cv, method_mapping=to_split)
        return router

    def _check_inner(self):
        """Raise for an estimator that cannot be used."""
        for method in self._methods:
            if not hasattr(self.estimator, method) and not self._may_get(method):
                raise ValueError(
                    f"estimator must be a {self._kind} with `fit` and `predict`, got "
                    f"{self.estimator!r} without `{method}`."
                )
        check_random_state(self.random_state)

    def _check_drawing(self):
        """Raise for options of drawing that cannot be used."""
        check_option(self.randomize, "randomize", (True, False))

    def _may_get(self, method):
        """Tell whether the estimator may have a method once it is fitted."""
        if method == "fit" or not hasattr(self.estimator, "__sklearn_tags__"):
            return False
        return is_classifier(self.estimator) or is_regressor(self.estimator)

    def _route(self, n_samples, params):
        """Return the parameters of the inner calls, and the weights of the rule."""
        params = {name: value for name, value in params.items() if value is not None}
        weight, request = self._own("sample_weight", params)
        weight = check_sample_weight(weight, n_samples)
        if _routing_enabled():
            routed = process_routing(self, "fit", **params)
            return routed, None if request is False else weight
        if isinstance(self.estimator, FrozenEstimator):
            params = {}
        elif weight is not None:
            check_takes_weights(self.estimator)
        return Bunch(estimator=Bunch(fit=params)), weight

    def _own(self, name, params):
        """Return what `fit` is given for itself, and what it has requested.

        A router outside translates an alias into the name; called directly, `fit` may
        get it by the alias, which then is that of an estimator inside, too.
        """
        request = self._get_metadata_request().fit.requests.get(name)
        given = params.get(name)
        if given is None and isinstance(request, str):
            given = params.get(request)
        return given, request

    def _seed(self):
        """Return a seed for parts that have none of their own, None without one."""
        seed = self.random_state
        if seed is not None and not isinstance(seed, Integral):
            seed = seed.randint(np.iinfo(np.int32).max)
        return seed

    def _keeps_shares(self, y):
        """Tell whether all splits get their share of each class."""
        # A certificate is about samples that are drawn independently.
        return self._stratifies and self.confidence is None

    def _splits(self, X, y, routed):
        """Return the splits that judge the estimator."""
        # Not every router has a splitter, and an empty one answers `get` only.
        splitter = routed.get("splitter", Bunch(split={}))
        return make_splits(
            self.cv,
            X,
            y,
            stratify=self._keeps_shares(y),
            random_state=self.random_state,
            split_params=splitter.split,
        )

    def _fit_and_summarize(self, X, y, routed, summarize, *, needs_data=True):
        """Fit the estimator, and summarize what it says about samples it has not seen.

        Parameters
        ----------
        X, y : array-like
            Samples and labels.

        routed : Bunch
            Parameters of the inner calls.

        summarize : callable
            ``(response, y) -> tuple of arrays``, each with one entry a sample.

        needs_data : bool, default=True
            Whether there is a summary to be made.

        Returns
        -------
        summary, rows : tuple of ndarray, ndarray or slice
            What `summarize` returned, and the rows it is about. The summary is empty
            where none is needed.
        """
        params = routed.estimator.fit
        if is_share(self.cv) and needs_data:
            [split] = self._splits(X, y, routed)
            fitted = fit_on_part(self, X, y, split, summarize, params)
            self.estimator_, summary, rows = fitted
            return summary, rows
        is_frozen = isinstance(self.estimator, FrozenEstimator)
        splits = [] if is_frozen or not needs_data else self._splits(X, y, routed)
        fitted = fit_on_all(self, X, y, splits, summarize, params)
        self.estimator_, summary, rows = fitted
        if is_frozen and needs_data:
            summary, rows = summarize(Response(self.estimator_, X), y), slice(None)
        return summary, rows


def refuse_weights(weight):
    """Raise where a guarantee is asked for and samples have weights."""
    if weight is not None:
        raise ValueError(
            "confidence cannot be had with sample_weight: a guarantee is about "
            "samples drawn alike. Leave the weights out or, to give them to the "
            "estimator inside only, enable metadata routing and call "
            "`set_fit_request(sample_weight=False)`."
        )


def check_takes_weights(estimator):
    """Raise unless `fit` of an estimator takes weights."""
    parameters = signature(estimator.fit).parameters.values()
    if not any(
        p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters
    ):
        raise ValueError(
            f"sample_weight was given, but {type(estimator).__name__}.fit does not "
            "take it. To weigh the samples for the rule only, enable metadata routing "
            "and call `set_fit_request(sample_weight=True)` on the meta-estimator."
        )
