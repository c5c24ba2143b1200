"""Real samples as a user has them, with columns of text, and pipelines for them.

They are read from the folder that SKLEARN_REJECT_DATA names; sets that are not there
are left out.
"""

import gzip
import json
import os
from collections import Counter, namedtuple
from pathlib import Path

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

# `X` is a frame or a list of texts, and `steps` go before a classifier.
Samples = namedtuple("Samples", "X y steps")

TABLES = (
    "letter",
    "avila",
    "sattelite",
    "spambase",
    "phishing",
    "marketing",
    "bank_additional",
)
TEXTS = "reuters21578"

_N_TOPICS = 20


def available():
    """Return the names of the sets that are there."""
    files = {name: f"{name}.csv.gz" for name in TABLES}
    files[TEXTS] = f"{TEXTS}.jsonl.gz"
    folder = os.environ.get("SKLEARN_REJECT_DATA")
    if not folder:
        return []
    return [name for name, file in files.items() if Path(folder, file).exists()]


def load(name):
    """Return the :class:`Samples` of a set."""
    folder = Path(os.environ["SKLEARN_REJECT_DATA"])
    if name == TEXTS:
        return _load_texts(folder / f"{name}.jsonl.gz")
    import pandas

    # Codes of phishing sites are names and not numbers.
    dtype = str if name == "phishing" else None
    frame = pandas.read_csv(folder / f"{name}.csv.gz", dtype=dtype)
    y = np.unique(frame.pop("target"), return_inverse=True)[1]
    is_number = [frame[column].dtype.kind in "if" for column in frame]
    is_number = np.array(is_number)
    steps = make_column_transformer(
        (StandardScaler(), list(frame.columns[is_number])),
        (OneHotEncoder(handle_unknown="ignore"), list(frame.columns[~is_number])),
    )
    return Samples(frame, y, steps)


def _load_texts(path):
    """Return documents of one topic each, among the most frequent topics."""
    with gzip.open(path, "rt") as file:
        documents = [json.loads(line) for line in file]
    documents = [d for d in documents if len(d["topics"]) == 1]
    counts = Counter(d["topics"][0] for d in documents).most_common(_N_TOPICS)
    topics = {topic for topic, _ in counts}
    documents = [d for d in documents if d["topics"][0] in topics]
    texts = np.array([f"{d['title']} {d['body']}" for d in documents], dtype=object)
    y = np.unique([d["topics"][0] for d in documents], return_inverse=True)[1]
    return Samples(texts, y, TfidfVectorizer(min_df=2, sublinear_tf=True))


def make_model(steps, classifier=None):
    """Return a pipeline of the steps and a classifier, logistic by default."""
    classifier = LogisticRegression(max_iter=300) if classifier is None else classifier
    return make_pipeline(steps, classifier)
