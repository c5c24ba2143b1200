"""Uncertainty scores that are learned from the errors of an estimator."""
