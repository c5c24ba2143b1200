"""Novelty scores: how far samples are from those that a classifier knows."""
