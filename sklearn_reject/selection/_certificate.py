"""What is guaranteed about a rule, and on what grounds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Certificate:
    """A bound that holds for the population with high probability.

    The probability is over the draw of the calibration sample, which must be
    independent of the classifier and of the score, and of the noise that breaks ties.

    Attributes
    ----------
    quantity : str
        "risk" if the selective risk is at most `target`, "coverage" if the coverage is
        at least `target`.

    target : float
        The certified bound.

    confidence : float
        Least probability, in ]0, 1[, that the bound holds.

    bound : str
        Where the p-values come from: "binomial", "hoeffding_bentkus" or "betting" for
        a risk, "order_statistic" for a coverage.

    search : str or None
        How the threshold was found among those tested: "fixed_sequence", "bonferroni"
        or "sgr". None for a coverage, where a single threshold is tested.

    n_samples : int
        Number of calibration samples.

    n_accepted : int
        Number of calibration samples, by increasing score and noise, that the test
        accepted. The rule accepts these and, of ties without noise, maybe more.

    p_value : float
        Chance, at most, of a calibration sample as favourable as this one at a rule
        that breaks the bound, for this rule on its own.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_reject.selection import solve_target_risk
    >>> scores = np.arange(100)
    >>> rule = solve_target_risk(scores, scores >= 80, 0.1, confidence=0.9)
    >>> rule.certificate.bound, rule.certificate.search, rule.certificate.n_accepted
    ('binomial', 'fixed_sequence', 84)
    """

    quantity: str
    target: float
    confidence: float
    bound: str
    search: str | None
    n_samples: int
    n_accepted: int
    p_value: float
