"""Fitting estimators and scores, and predicting samples that they have not seen."""
