"""A network for digits, and what it says about digits and other images.

The paper has a convolutional network. Here it is one of fully connected layers, trained
for a fixed number of passes. The penalty is, of 1e-4, .01, .1 and .3, the one of the
least error on the last 10,000 training images; no test image has a say.
"""

import warnings
from collections import namedtuple
from functools import partial
from time import perf_counter

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from benchmarks.papers._fpp23_images import load_digits, load_ood
from benchmarks.papers._fpp23_measures import Sample
from sklearn_reject import scores

HIDDEN_LAYERS = (256, 128)
N_EPOCHS = 20
PENALTY = 0.1

# The scores as they come, by their names in the table, and KNN as the paper has it.
SINGLE_SCORES = {
    "MSP": scores.MSP,
    "MLS": scores.MaxLogit,
    "ODIN": scores.ODIN,
    "ReAct": scores.ReAct,
    "KNN": partial(scores.KNN, n_neighbors=50, max_samples=None),
    "ViM": scores.ViM,
}

# Novelty and risk score of each double score.
DOUBLE_SCORES = {"KNN+MSP": ("KNN", "MSP"), "ViM+MSP": ("ViM", "MSP")}

# {set: {method: Sample}} of digits and one set of OOD images, the accuracy on the
# digits, and seconds for the network and the scores.
Scored = namedtuple("Scored", "sets accuracy seconds")


def score_images(seed, n_train=None, n_epochs=N_EPOCHS):
    """Train a network, fit the scores on its training images, and score the tests."""
    start = perf_counter()
    X, y = (array[:n_train] for array in load_digits("train"))
    network = train(X, y, seed, n_epochs)
    X_test, y_test = load_digits("test")
    losses = (network.predict(X_test) != y_test).astype(np.float64)
    inputs = {"digits": X_test, **load_ood()}
    novelty = {
        name: _score(make().fit(X, y, estimator=network), inputs)
        for name, make in SINGLE_SCORES.items()
    }
    sets = {
        name: _samples(novelty, losses, name) for name in inputs if name != "digits"
    }
    return Scored(sets, 1 - losses.mean(), perf_counter() - start)


def train(X, y, seed, n_epochs):
    """Return a network after a number of passes over the training images."""
    network = MLPClassifier(
        HIDDEN_LAYERS, alpha=PENALTY, max_iter=n_epochs, random_state=seed
    )
    with warnings.catch_warnings():
        # The number of passes is meant to be the limit.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return network.fit(X, y)


def _score(score, inputs):
    return {name: score.novelty(X) for name, X in inputs.items()}


def _samples(novelty, losses, ood):
    """Return {method: Sample} of the digits followed by one set of other images."""
    columns = {
        method: np.concatenate([of["digits"], of[ood]])
        for method, of in novelty.items()
    }
    is_ood = np.arange(len(columns["MSP"])) >= len(losses)
    losses = np.append(losses, np.zeros(is_ood.sum()))
    for method, (first, second) in DOUBLE_SCORES.items():
        columns[method] = np.column_stack([columns[second], columns[first]])
    return {name: Sample(array, losses, is_ood) for name, array in columns.items()}
