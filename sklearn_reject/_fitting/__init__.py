"""Fitting estimators and scores, and evaluating them on samples they have not seen."""
