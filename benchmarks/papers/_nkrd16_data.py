"""The sets of NKRD16, tables 2 and 3, split into as many samples as in the paper.

They are read from the folder that SKLEARN_REJECT_DATA names. Two of them are parts of
what is there, by which the paper's sizes come out exactly: of Reuters the articles of
the ModApte split that have one topic and a body, of scene the images of one type. The
sets that come with a split keep it; the others are split at random.
"""

import gzip
import json
import os
from collections import namedtuple
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler

from benchmarks.papers._datasets import MissingDatasetError
from benchmarks.papers._nkrd16_published import SIZES

# Features, and a column of labels for each problem, one of `names`.
Split = namedtuple("Split", "X_train Y_train X_test Y_test names")

# All articles of the ModApte split, also with several topics or none: not the paper's.
ALL_ARTICLES = "reuters_all"

# Those that take long come first, so that no process is left alone with them.
SETS = (ALL_ARTICLES, *SIZES)

_FILES = {name: f"{name}.csv.gz" for name in SIZES}
_FILES["reuters"] = _FILES[ALL_ARTICLES] = "reuters21578.jsonl.gz"

# With more than one seed they would be measured more than once.
FIXED = ("reuters", ALL_ARTICLES, "letter", "scene")

_POSITIVE = {"webpage": "1", "spambase": "1", "image": "1", "breast_cancer": "4"}
_LABEL = "label:"
_UNKNOWN = "?"


def missing_file(name):
    """Return the name of the file of a set if it is not there, else None."""
    return None if _path(name).exists() else _FILES[name]


def load(name, seed):
    """Return the `Split` of a set; scaled to unit variance or, of texts, TF-IDF.

    The seed matters to sets that are split at random.
    """
    if missing_file(name):
        raise MissingDatasetError(
            f"{_FILES[name]} is not in the folder that SKLEARN_REJECT_DATA names "
            f"({os.environ.get('SKLEARN_REJECT_DATA') or 'which is not set'})."
        )
    if name in ("reuters", ALL_ARTICLES):
        return _load_reuters(_path(name), has_one_topic=name == "reuters")
    return _load_table(name, seed)


def _path(name):
    # Without a folder, a path that does not exist.
    folder = os.environ.get("SKLEARN_REJECT_DATA") or "no-such-folder"
    return Path(folder, _FILES[name])


# Tables


def _load_table(name, seed):
    X, Y, names = _READERS.get(name, _read_binary)(name)
    n_train, n_test, _ = SIZES[name]
    if len(X) != n_train + n_test:
        raise ValueError(
            f"{name} has {len(X)} samples, but {n_train + n_test} in the paper: this "
            "is another set, or another version of it."
        )
    rows = np.arange(len(X))
    if name not in FIXED:
        rows = np.random.default_rng(seed).permutation(rows)
    train, test = rows[:n_train], rows[n_train:]
    scaler = StandardScaler().fit(X[train])
    X_train, X_test = scaler.transform(X[train]), scaler.transform(X[test])
    return Split(X_train, Y[train], X_test, Y[test], names)


def _read_binary(name):
    """Return the samples whose features are all known."""
    _, rows = _read(name)
    rows = rows[~(rows == _UNKNOWN).any(axis=1)]
    return rows[:, :-1].astype(np.float64), rows[:, -1:] == _POSITIVE[name], [name]


def _read_letter(name):
    _, rows = _read(name)
    names = np.unique(rows[:, -1])
    return rows[:, :-1].astype(np.float64), rows[:, -1:] == names, names.tolist()


def _read_scene(name):
    """Return the images of one type, the training part first."""
    header, rows = _read(name)
    is_label = np.char.startswith(header, _LABEL)
    rows = rows[(rows[:, is_label] == "1").sum(axis=1) == 1]
    X = rows[:, ~is_label].astype(np.float64)
    names = [column.removeprefix(_LABEL) for column in header[is_label].tolist()]
    return X, rows[:, is_label] == "1", names


def _read(name):
    table = np.loadtxt(_path(name), dtype=str, delimiter=",", comments=None)
    return table[0], table[1:]


_READERS = {"letter": _read_letter, "scene": _read_scene}


# Texts


def _load_reuters(path, has_one_topic):
    """Return the ModApte split, with the topics that occur in both of its parts."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        articles = [json.loads(line) for line in lines]
    if has_one_topic:
        articles = [article for article in articles if _is_in_the_paper(article)]
    parts = [
        [article for article in articles if article["split"] == part]
        for part in ("train", "test")
    ]
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english")
    X_train = vectorizer.fit_transform(map(_text, parts[0]))
    X_test = vectorizer.transform(map(_text, parts[1]))
    topics = sorted(set.intersection(*map(_topics, parts)))
    Y_train, Y_test = (_indicators(part, topics) for part in parts)
    return Split(X_train, Y_train, X_test, Y_test, topics)


def _is_in_the_paper(article):
    return len(article["topics"]) == 1 and bool(article["body"].strip())


def _text(article):
    return f"{article['title']}\n{article['body']}"


def _topics(articles):
    return {topic for article in articles for topic in article["topics"]}


def _indicators(articles, topics):
    return np.array([[topic in of["topics"] for topic in topics] for of in articles])
