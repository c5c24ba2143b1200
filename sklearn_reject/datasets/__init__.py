"""Synthetic samples whose true risk and novelty are known."""

from sklearn_reject.datasets._fpp23 import make_fpp23_mixture

__all__ = ["make_fpp23_mixture"]
