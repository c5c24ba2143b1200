"""The error of a target that no rule can meet."""


class InfeasibleTargetError(ValueError):
    """No rejection rule meets the target on the tuning sample.

    Parameters
    ----------
    message : str
        What was asked, what can be met, and the way out.

    lowest_risk : float, default=nan
        The lowest selective risk that any threshold attains on the sample.

    coverage : float, default=nan
        The largest coverage at that risk.

    Examples
    --------
    >>> from sklearn_reject.selection import InfeasibleTargetError, solve_target_risk
    >>> try:
    ...     solve_target_risk([0.1, 0.2], [1, 0], 0.3)
    ... except InfeasibleTargetError as error:
    ...     print(error.lowest_risk, error.coverage)
    0.5 1.0
    """

    def __init__(self, message, lowest_risk=float("nan"), coverage=float("nan")):
        # All arguments go into `args`, so that the error survives pickling.
        super().__init__(message, lowest_risk, coverage)
        self.lowest_risk = lowest_risk
        self.coverage = coverage

    def __str__(self):
        return self.args[0]
