"""What the axes of a frontier are, and what scores and rules attain on them."""

from dataclasses import dataclass

import numpy as np

from sklearn_reject import _curves as curves
from sklearn_reject._validation import take_weight
from sklearn_reject.metrics._plot._targets import share_and_mean

# What the axes of a kind show; the bounds on x and on y; the corner where both hold;
# and what is said of a rule.
KINDS = {
    "roc": (
        ("FPR (OOD samples accepted)", "TPR (ID samples accepted)"),
        ("max_fpr", "min_tpr"),
        (0.0, 1.0),
        "FPR {}, TPR {}",
    ),
    "precision_recall": (
        ("Recall (ID samples accepted)", "Precision (ID of accepted)"),
        ("min_tpr", "min_precision"),
        (1.0, 1.0),
        "recall {}, precision {}",
    ),
    "risk_coverage": (
        ("TPR (ID samples accepted)", "Selective risk"),
        ("min_tpr", "max_risk"),
        (1.0, 0.0),
        "TPR {}, risk {}",
    ),
}
BOUNDS = ("max_fpr", "min_tpr", "min_precision", "max_risk")


@dataclass(frozen=True, eq=False)
class OODSample:
    """ID and OOD samples with scores, and with losses for the kind that shows risk."""

    kind: str
    scores: np.ndarray  # (n_samples,), or (n_samples, 2): risk and novelty
    is_ood: np.ndarray
    losses: np.ndarray | None
    weight: np.ndarray | None
    max_fpr: float | None
    ood_prior: float | None

    def curve(self, scores):
        """Return the points of the curve of one score."""
        options = self._options()
        if self.kind == "roc":
            return curves.ood_roc_curve(scores, **options)[:2]
        if self.kind == "risk_coverage":
            return curves.risk_coverage_curve(scores, **options)[:2]
        precision, recall, _ = curves.ood_precision_recall_curve(scores, **options)
        return recall, precision

    def frontier(self):
        """Return the corners of the frontier of two scores."""
        options = self._options()
        if self.kind == "roc":
            fpr, tpr = curves.roc_frontier(self.scores, **options)
            fpr, tpr = np.append(fpr, 1.0), np.append(tpr, tpr[-1:])
            return np.repeat(fpr, 2)[1:], np.repeat(tpr, 2)[:-1]
        if self.kind == "risk_coverage":
            options["max_fpr"] = 1.0 if self.max_fpr is None else self.max_fpr
            x, y = curves.risk_coverage_frontier(self.scores, **options)
        else:
            y, x = curves.precision_recall_frontier(self.scores, **options)
        # The value of each point holds down to the one before, the first to zero.
        x, y = np.append(0.0 * x[:1], x), np.append(y[:1], y)
        return np.repeat(x, 2)[:-1], np.repeat(y, 2)[1:]

    def _options(self):
        """Return what functions of the kind take beside scores."""
        options = {"is_ood": self.is_ood, "sample_weight": self.weight}
        if self.kind == "risk_coverage":
            options |= {"losses": self.losses, "max_fpr": self.max_fpr}
        if self.kind == "precision_recall":
            options["ood_prior"] = self.ood_prior
        return options

    def chance(self):
        """Return what a random score has on the left and on the right of the axes."""
        if self.kind == "roc":
            return 0.0, 1.0
        if self.kind == "precision_recall":
            mean = 1 - self._ood_share()
        else:
            inside = ~self.is_ood
            weight = take_weight(self.weight, inside)
            mean = float(np.average(self.losses[inside], weights=weight))
        return mean, mean

    def point(self, probability):
        """Return x and y of a rule that accepts samples with these probabilities."""
        tpr, risk = self._accepted(~self.is_ood, probability)
        if self.kind == "risk_coverage":
            return tpr, risk
        fpr, _ = self._accepted(self.is_ood, probability)
        if self.kind == "roc":
            return fpr, tpr
        share = self._ood_share()
        accepted = (1 - share) * tpr + share * fpr
        return tpr, (1 - share) * tpr / accepted if accepted > 0 else float("nan")

    def _accepted(self, rows, probability):
        """Return the share of some samples that is accepted, and its mean loss."""
        losses = np.zeros(len(rows)) if self.losses is None else self.losses
        weight = take_weight(self.weight, rows)
        return share_and_mean(probability[rows], losses[rows], weight)

    def _ood_share(self):
        """Return the share of OOD samples in use, or in the sample."""
        if self.ood_prior is not None:
            return float(self.ood_prior)
        return float(np.average(self.is_ood, weights=self.weight))
