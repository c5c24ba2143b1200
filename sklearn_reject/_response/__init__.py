"""What a fitted estimator says about X."""

from sklearn_reject._response._response import Response

__all__ = ["Response"]
