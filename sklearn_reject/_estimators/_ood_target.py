"""What is asked of a rule for ID and OOD samples, and the rule that meets it."""

from dataclasses import dataclass

import numpy as np

from sklearn_reject._estimators._calibration import brief
from sklearn_reject._estimators._problem import bound_of_losses
from sklearn_reject._fitting._routing import refuse_weights
from sklearn_reject._fitting._splits import cv_of, is_share
from sklearn_reject._response._keys import row_keys
from sklearn_reject._validation import check_number, take_weight
from sklearn_reject.exceptions import InfeasibleTargetError, warn_user
from sklearn_reject.selection import (
    MODEL_PARAMETERS,
    Levels,
    certify_double_score,
    check_confidence_level,
    check_model,
    find_double_score_rule,
    keyed_draws,
    tune_tail_score,
)


@dataclass(frozen=True, eq=False)
class OODCalibration:
    """Samples that a rule is tuned on or, as `held_out` of these, certified on."""

    #: Risk and novelty, shape (n_samples, 2).
    scores: np.ndarray
    #: Shape (n_samples,), as all that follows; zero for OOD samples.
    losses: np.ndarray
    is_ood: np.ndarray
    #: Positions among the samples that `fit` was given.
    rows: np.ndarray
    #: None where all samples weigh one.
    sample_weight: np.ndarray | None = None
    #: What breaks ties of samples that certify; None of those that tune.
    draws: np.ndarray | None = None
    held_out: "OODCalibration | None" = None

    @property
    def samples(self):
        """What every solver takes first: risk, novelty, losses and origins."""
        return *self.scores.T, self.losses, self.is_ood


def keep_calibration(evaluated, samples, held_out, seed):
    """Return what calibrates a rule, and what certifies it where rows are held out."""
    score, certifying = evaluated.score, None
    if held_out is not None:
        given = evaluated.estimator, samples, held_out, evaluated.plan.final
        found = *score.evaluate(*given), score.is_ood[held_out], held_out
        draws = keyed_draws(seed, row_keys(samples.X, held_out))
        certifying = OODCalibration(*found, draws=draws)
    rows = np.arange(len(samples.y))[evaluated.rows]
    found = evaluated.scores, evaluated.losses, score.is_ood[rows], rows
    weight = take_weight(samples.sample_weight, rows)
    return OODCalibration(*found, weight, held_out=certifying)


def _count(flags, weight):
    """Return how many samples of positive weight have a flag."""
    return np.count_nonzero(flags if weight is None else flags & (weight > 0))


# Of a parameter: what a report calls it, its sense, and what a rule calls it.
_BOUNDS = {
    "min_tpr": ("TPR", ">=", "tpr"),
    "max_fpr": ("FPR", "<=", "fpr"),
    "max_risk": ("risk", "<=", "selective_risk"),
    "min_precision": ("precision", ">=", "precision"),
}

# By how many standard errors a negative FPR is more than the luck of the best rule.
_FAR = 4.0


@dataclass(frozen=True, eq=False)
class OODTarget:
    """Bounds or costs, by parameter, and how sure of them one is to be.

    A `wild_share` of what is flagged as OOD is so.
    """

    asked: dict
    model: object
    wild_share: float
    confidence_level: float | None

    @classmethod
    def of(cls, estimator):
        """Return the target of parameters that are valid and go together, or raise."""
        asked = {name: getattr(estimator, name) for name in MODEL_PARAMETERS}
        model, level = check_model(**asked), estimator.confidence_level
        share, label = estimator.wild_share, estimator.wild_label
        if (share is None) != (label is None):
            raise ValueError(
                f"wild_label={label!r} and wild_share={share!r} mark unlabeled samples "
                "and tell the share of them that is OOD. Pass both, or neither."
            )
        share = 1.0 if share is None else share
        check_number(share, "wild_share", high=1.0, open_low=True)
        if level is not None:
            check_confidence_level(level)
            if estimator.costs is not None:
                raise ValueError(
                    f"confidence_level={level!r} needs bounds, and costs are no "
                    "bounds. Pass min_tpr with max_fpr, max_risk or min_precision."
                )
            if not is_share(cv_of(estimator)):
                raise ValueError(
                    f"confidence_level={level!r} needs samples used neither to fit nor "
                    f"to tune, and cv={brief(estimator.cv)} leaves none. Set "
                    "cv=None, which holds half out, or a share such as cv=0.3."
                )
        return cls(asked, model, share, level)

    def check_samples(self, origins, novelty, loss, weight):
        """Raise for samples, weights and a loss that nothing can be solved with."""
        n_ood, needy = _count(origins.is_outside, weight), self.model.needs_ood
        if needy is not None and not n_ood:
            raise ValueError(
                f"y has no row with {origins.names}, and {needy}={self.asked[needy]!r} "
                "needs OOD rows (of positive weight). Add some, pass their label as "
                "ood_label, or wild samples by wild_label, or use min_tpr alone."
            )
        if novelty.needs_ood and n_ood < 2:
            raise ValueError(
                f"novelty_score={novelty!r} learns from some and is judged on others: "
                f"it needs two or more OOD rows, got {n_ood} of positive weight. Add "
                "some, pass their label as ood_label, or use another novelty_score."
            )
        if self.confidence_level is not None:
            refuse_weights(weight)
            if loss.max_loss is None:
                raise ValueError(
                    f"loss={loss!r} does not say how large it can be, which "
                    "confidence_level needs. Pass a cost matrix, or a TaskLoss with "
                    "`max_loss`."
                )

    def rates_to_tune(self, is_ood, loss):
        """Return bounds to tune with, the first of which that can be met are taken.

        A rule that will be certified has to do better than asked for. Raises where
        samples held out are too few to certify anything.
        """
        levels = Levels(self.model, self.wild_share, self.confidence_level)
        n_ood = np.count_nonzero(is_ood)
        return levels.rates_to_certify(len(is_ood) - n_ood, n_ood, **_bound_of(loss))

    def solve(self, calibration, loss):
        """Return the best rule and, where samples are held out for that, certify it.

        That sets the threshold anew, on rows that nothing has seen.
        """
        held_out = calibration.held_out
        if held_out is None:
            rule = self._tune(self.asked, calibration)
        else:
            rates = self.rates_to_tune(held_out.is_ood, loss)
            options = {name: x for name, x in self.asked.items() if name != "costs"}
            rule = certify_double_score(
                self._tune_to(rates, calibration),
                *held_out.samples,
                **options,
                **_bound_of(loss),
                wild_share=self.wild_share,
                draws=held_out.draws,
                confidence_level=self.confidence_level,
            )
        if rule.fpr < 0:
            self._warn_of_share(rule, held_out or calibration)
        return rule

    def achieved(self, rule):
        """Yield quantities, their sense and bound, and what a rule achieves of them.

        That is the precision, too, wherever there is a prior.
        """
        if self.asked["costs"] is not None:
            of_id = (1 - rule.tpr) * self.asked["costs"][0]
            of_id += rule.tpr * rule.selective_risk if rule.tpr else 0.0
            yield "cost", "", None, float(self.cost(of_id, rule.fpr))
        has_prior = self.model.ood_prior is not None
        for name, (quantity, sense, attribute) in _BOUNDS.items():
            if self.asked[name] is not None or (has_prior and quantity == "precision"):
                yield quantity, sense, self.asked[name], getattr(rule, attribute)

    def cost(self, of_id, fpr):
        """Return the mean cost at the prior, where ID samples cost so much."""
        prior, (_, accept_ood, reject_ood) = self.model.ood_prior, self.asked["costs"]
        of_ood = reject_ood + (accept_ood - reject_ood) * fpr if prior else 0.0
        return (1 - prior) * of_id + prior * of_ood

    def _tune(self, bounds, calibration):
        """Return the best rule for some bounds."""
        model, weight = check_model(**bounds), calibration.sample_weight
        options = {"sample_weight": weight, "wild_share": self.wild_share}
        # Without OOD samples nothing tells how much the novelty should weigh.
        is_free = model.needs_ood is None and model.name in (None, "max_fpr")
        if is_free and not _count(calibration.is_ood, weight):
            options |= {"min_tpr": model.min_tpr, "ood_prior": model.ood_prior}
            return tune_tail_score(*calibration.samples, **options)
        options["spares_ood"] = True
        return find_double_score_rule(model, *calibration.samples, **options)

    def _tune_to(self, rates, calibration):
        """Return the rule of the first rates that can be met, or of what comes closest.

        Whether that is good enough, the samples held out tell.
        """
        for rate in rates:
            try:
                return self._tune(rate, calibration)
            except InfeasibleTargetError as error:
                attainable = error.attainable
        others = attainable.keys() - {"min_tpr"}
        closest = {name: attainable[name] for name in others or attainable}
        return self._tune(rate | closest, calibration)

    def _warn_of_share(self, rule, measured):
        """Warn of an FPR that is negative by more than chance: a share that is wrong.

        Standard errors are those of shares estimated a little inside [0, 1].
        """
        share, variance, weight = self.wild_share, 0.0, measured.sample_weight
        weight = np.ones(len(measured.rows)) if weight is None else weight
        mixed = share * rule.fpr + (1 - share) * rule.tpr
        for rate, part, factor in (
            (mixed, weight[measured.is_ood], 1),
            (rule.tpr, weight[~measured.is_ood], 1 - share),
        ):
            size = part.sum() ** 2 / (part @ part)
            rate = (rate * size + 1) / (size + 2)
            variance += factor**2 * rate * (1 - rate) / size
        distance = -share * rule.fpr / np.sqrt(variance)
        if distance > _FAR:
            warn_user(
                f"wild_share={share:g} gives an FPR of {rule.fpr:.2g}, {distance:.1f} "
                "standard errors below zero: bounds on it mean nothing. Pass a larger "
                "one, or ID samples that are like those among the wild."
            )


def _bound_of(loss):
    return bound_of_losses(loss, loss.max_loss, "hoeffding_bentkus")
