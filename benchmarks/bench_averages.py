"""Macro-F1 loss on many rare labels, for each way to decide them."""

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier

from benchmarks._report import Row, at_most
from sklearn_reject import ExpectedLossDecoder
from sklearn_reject.metrics import set_loss

TITLE = "macro-F1 loss, many rare labels"

_DRAWS = 1
_N_SAMPLES, _N_LABELS, _N_WORDS, _N_TOPICS = 4000, 150, 1000, 30
_FEWEST_POSITIVES = 5

# Of one draw.
_NOISE = 0.01

# Strategy and average of the decoders.
_DECODERS = {
    "0.5": (0.5, "macro"),
    '"dta", a sample a set': ("dta", "samples"),
    '"eum", one threshold for all entries': ("eum", "micro"),
    '"dta", macro': ("dta", "macro"),
    '"auto", macro: a threshold a label': ("auto", "macro"),
}


def draw_tagged_texts(rng):
    """Return words of texts, as zeros and ones, and tags of which most are rare.

    Texts are of a topic, where its tags are likely; a tag brings words of its own.
    """
    rate = 0.004 + 0.08 * rng.random(_N_LABELS) ** 6
    topics = rng.integers(0, _N_TOPICS, _N_LABELS)
    topic = rng.integers(0, _N_TOPICS, _N_SAMPLES)
    is_near = topic[:, None] == topics
    tags = rng.random(is_near.shape) < rate * np.where(is_near, 12, 0.6)
    base = 0.03 * rng.random(_N_WORDS) ** 2 + 0.002
    chance = np.tile(base, (_N_SAMPLES, 1))
    for tag in tags.T:
        words = rng.choice(_N_WORDS, 12, replace=False)
        cells = np.ix_(tag, words)
        chance[cells] = np.maximum(chance[cells], 0.28)
    X = csr_matrix((rng.random(chance.shape) < chance).astype(float))
    return X, tags.astype(int)


def run():
    """Return the rows of the table."""
    losses = [_losses(np.random.default_rng(seed)) for seed in range(_DRAWS)]
    means = {name: np.mean([draw[name] for draw in losses]) for name in losses[0]}
    reference = means.pop("a tuned threshold a label, of scikit-learn")
    yield Row("a tuned threshold a label, of scikit-learn", measured=f"{reference:.3f}")
    for name, loss in means.items():
        if name.startswith('"auto"'):
            yield at_most(name, round(reference + _NOISE, 3), loss)
        else:
            yield Row(name, measured=f"{loss:.3f}")


def _losses(rng):
    X, tags = draw_tagged_texts(rng)
    order = rng.permutation(len(tags))
    train, test = np.split(order, [2 * len(order) // 3])
    tags = tags[:, tags[train].sum(axis=0) >= _FEWEST_POSITIVES]
    one = LogisticRegression(max_iter=300)
    tuned = OneVsRestClassifier(TunedThresholdClassifierCV(one, scoring="f1"))
    labels = tuned.fit(X[train], tags[train]).predict(X[test])
    losses = {
        "a tuned threshold a label, of scikit-learn": set_loss(
            tags[test], labels, average="macro"
        )
    }
    for name, (strategy, average) in _DECODERS.items():
        decoder = ExpectedLossDecoder(
            OneVsRestClassifier(one), strategy=strategy, average=average
        )
        labels = decoder.fit(X[train], tags[train]).predict(X[test])
        losses[name] = set_loss(tags[test], labels, average="macro")
    return losses
