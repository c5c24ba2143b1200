"""
=================================================
Route questions between a small and a large model
=================================================

Two language models answer the same questions: a small one that is nearly free, and a
large one that costs money for each question. We have a log with the answers of both,
the confidence of the small model, and the true answers. Which questions should go to
the large model? You will see a rule with a guaranteed error rate, what it costs, and a
monitor that raises an alarm when the guarantee no longer holds.
"""

# %%
# A data set that every computer has
# ----------------------------------
#
# We use no language model here, but real text: the documentation of installed packages.
# The question is which package a passage is about. A passage is the part of the
# docstring of a public function, class or method before the first heading.

import importlib
import inspect
import re
import warnings

SUBJECTS = {
    "numpy": ". linalg random fft ma polynomial",
    "scipy": "stats special signal ndimage optimize linalg sparse spatial integrate",
    "sklearn": "metrics linear_model ensemble model_selection preprocessing cluster "
    "decomposition svm datasets neighbors pipeline feature_selection",
    "pandas": ". api.types",
    "matplotlib": "pyplot axes figure colors patches lines ticker text collections",
}


def find_objects(module):
    """Yield what is public in a module, and the methods of its classes."""
    for name in filter(lambda name: not name.startswith("_"), dir(module)):
        item = getattr(module, name, None)
        yield item
        if inspect.isclass(item):
            methods = (name for name in vars(item) if not name.startswith("_"))
            yield from (getattr(item, name, None) for name in methods)


def read_passages(package, modules):
    """Return the openings of docstrings that have at least eight words."""
    found = []
    for module in modules.split():
        name = package if module == "." else f"{package}.{module}"
        for item in filter(callable, find_objects(importlib.import_module(name))):
            doc = inspect.getdoc(item) or ""
            opening = re.split(r"\n.+\n[-=]{3,}\n|\n\.\. |>>>", doc)[0].split()
            if len(opening) >= 8:
                found.append(" ".join(opening))
    return found


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what is deprecated
    passages = {
        text: subject
        for subject, modules in SUBJECTS.items()
        for text in read_passages(subject, modules)
    }

# %%
# The log
# -------
#
# The small model is naive Bayes on 3,000 hashed words, fitted on 400 passages. The
# large one is a logistic regression on all words and pairs of words. Neither has seen
# the questions in the log. From here on, we only use this table.

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

rng = np.random.default_rng(0)
order = rng.permutation(len(passages))
texts = np.array(list(passages), dtype=object)[order]
truth = np.array(list(passages.values()))[order]
hashed = HashingVectorizer(n_features=3000, alternate_sign=False, norm=None)
small = make_pipeline(hashed, MultinomialNB()).fit(texts[:400], truth[:400])


def fit_large(n_texts):
    """Return a large model that has seen some of the texts."""
    words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))
    model = make_pipeline(words, LogisticRegression(C=30))
    return model.fit(texts[:n_texts], truth[:n_texts])


def log_answers(large, questions, truth):
    """Return a table of what both models say, and who is wrong."""
    proba = small.predict_proba(questions)
    log = pd.DataFrame({"small": small.classes_[proba.argmax(axis=1)]})
    log["confidence"] = proba.max(axis=1).round(4)
    log["large"] = large.predict(questions)
    log["truth"] = truth
    for model in ("small", "large"):
        log[f"{model}_wrong"] = (log[model] != truth).astype(float)
    return log


log = log_answers(fit_large(1200), texts[1200:], truth[1200:])
print(log.head(8).to_string(index=False))
print(f"\n{len(log)} questions, wrong:")
print(log[["small_wrong", "large_wrong"]].mean().round(3).to_string())

# %%
# Where does the large model help?
# --------------------------------
#
# We could send the questions on which the small model is least confident. But a model
# can be more confident about some answers without being right more often. So two
# logistic regressions estimate how likely each model is to be wrong, from the small
# model's answer and its confidence. The difference is the *gain* of asking the large
# model. We use the oldest 800 rows for this. In cross-validation the gain orders the
# questions better: the area under its deferral curve is smaller.

from sklearn_reject.metrics import deferral_area_score

past, held, new = log[:800], log[800:1800], log[1800:]


def describe(log):
    """Return which answer the small model gives, and the log odds that it claims."""
    confidence = log["confidence"].to_numpy()
    odds = np.log((confidence + 1e-4) / (1 - confidence + 1e-4))[:, np.newaxis]
    is_answer = log["small"].to_numpy()[:, np.newaxis] == small.classes_
    return np.hstack([is_answer, is_answer * odds])


def losses_of(log):
    """Return the losses of the small and of the large model."""
    return log["small_wrong"].to_numpy(), log["large_wrong"].to_numpy()


risks = [LogisticRegression().fit(describe(past), wrong) for wrong in losses_of(past)]


def gain_of(log):
    """Return how much less likely the large model is to be wrong."""
    of_small, of_large = (risk.predict_proba(describe(log))[:, 1] for risk in risks)
    return of_small - of_large


out_of_fold = [
    cross_val_predict(risk, describe(past), wrong, cv=5, method="predict_proba")[:, 1]
    for risk, wrong in zip(risks, losses_of(past), strict=True)
]
past_gain = out_of_fold[0] - out_of_fold[1]
answers = past["truth"], past["small"], past["large"]
for name, score in {"unsure": 1 - past["confidence"], "gain": past_gain}.items():
    print(f"{name:7} area {deferral_area_score(*answers, score):.4f}")

# %%
# A rule with a guarantee
# -----------------------
#
# At most 15 % of the answers may be wrong, with a confidence of 95 %, and the large
# model should be asked as rarely as possible. The oldest rows (`pilot`) show which
# thresholds are worth testing. The next thousand rows certify one of them.

from sklearn_reject.selection import solve_deferral

TARGET = 0.15
rule = solve_deferral(
    gain_of(held),
    *losses_of(held),
    target_risk=TARGET,
    confidence_level=0.95,
    pilot=(past_gain, *losses_of(past)),
    random_state=0,
)
print(f"gain above {rule.threshold:.3f}, asked {rule.deferral_rate:.3f}, ", end="")
print(f"wrong {rule.system_risk:.3f}")
print(rule.certificate)

# %%
# New questions
# -------------
#
# New questions are routed by their gain. The small model costs 0.02 cents a question,
# the large one 2 cents. Correcting a wrong answer costs 10 cents. (The prices are made
# up.) If you know the price of an error, you need no target: with `deferral_cost` the
# rule has the lowest total cost.

SMALL, LARGE, WRONG = 0.02, 2.0, 10.0
cheapest = solve_deferral(gain_of(held), *losses_of(held), deferral_cost=LARGE / WRONG)
ways = {
    "small alone": np.zeros(len(new), dtype=bool),
    "guaranteed": rule.defer(gain_of(new), random_state=0),
    "cheapest": cheapest.defer(gain_of(new), random_state=0),
    "large alone": np.ones(len(new), dtype=bool),
}
print("cents a question     asked  wrong  models  corrections  together")
for name, is_asked in ways.items():
    wrong = np.where(is_asked, new["large_wrong"], new["small_wrong"]).mean()
    models = SMALL * (name != "large alone") + LARGE * is_asked.mean()
    print(
        f"{name:20} {is_asked.mean():.3f}  {wrong:.3f}  {models:6.2f}  "
        f"{WRONG * wrong:11.2f}  {models + WRONG * wrong:8.2f}"
    )

# %%
# Both rules are cheaper than either model alone. The dashed line is the target. The
# guaranteed rule stays below it, by enough to be sure after a thousand rows.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import DeferralCurveDisplay

fig, ax = plt.subplots(figsize=(6, 4.4), layout="constrained")
answers = new["truth"], new["small"], new["large"]
DeferralCurveDisplay.from_predictions(
    *answers, gain_of(new), name="gain", ax=ax, plot_oracle=True, plot_random=True
)
ax.axhline(TARGET, color="0.2", linestyle="--", linewidth=1, label="target")
for name in ("guaranteed", "cheapest"):
    wrong = np.where(ways[name], new["large_wrong"], new["small_wrong"]).mean()
    ax.plot(ways[name].mean(), wrong, "o", label=name)
ax.set(xlabel="Share of questions to the large model", ylabel="Wrong answers")
ax.set_ylim(bottom=0)
ax.legend()
plt.show()

# %%
# What if the large model changes?
# --------------------------------
#
# 200 questions arrive each day, drawn again and again from the new rows. On day 40 the
# provider silently replaces the large model by a weaker one. The inputs do not show it:
# the small model is as confident as before, and as many questions are passed on. But
# one answer in four is checked, and a monitor of the rule gets the results.

N_DAYS, A_DAY, CHANGE, LOOKED_UP = 80, 200, 40, 0.25
lean = log_answers(fit_large(60), texts[1200:], truth[1200:])[1800:]
for name, of_name in {"large": new, "lean": lean}.items():
    print(f"wrong, {name}: {of_name['large_wrong'].mean():.3f}")

updates, asked = [], []
for day in range(N_DAYS):
    rows = rng.choice(len(new), A_DAY)
    today = (new if day < CHANGE else lean).iloc[rows]
    is_asked = rule.defer(gain_of(today), random_state=day)
    loss = np.where(is_asked, today["large_wrong"], today["small_wrong"])
    loss[rng.random(A_DAY) >= LOOKED_UP] = np.nan
    updates.append({"losses": loss, "inclusion_proba": LOOKED_UP})
    asked.append(is_asked.mean())
print(
    f"asked before {np.mean(asked[:CHANGE]):.3f}, after {np.mean(asked[CHANGE:]):.3f}"
)

monitor = rule.monitor(
    confidence_level=0.99, min_inclusion_proba=LOOKED_UP, since="any"
)
intervals, alarms = [], []
for update in updates:
    monitor.update(**update)
    intervals.append(monitor.interval())
    alarms.append(monitor.alarm)

mean, low, high, _ = np.transpose(intervals)
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(mean, label="mean so far")
ax.fill_between(range(N_DAYS), low, high, alpha=0.2, label="interval")
ax.axhline(TARGET, color="0.2", linestyle="--", linewidth=1, label="target")
ax.axvline(CHANGE, color="0.5", linestyle=":", label="model replaced")
if any(alarms):
    print("alarm on day", np.argmax(alarms))
    ax.axvline(np.argmax(alarms), color="C3", linestyle=":", label="alarm")
ax.set(xlabel="Day", ylabel="Wrong answers", ylim=(0, 0.4))
ax.legend(loc="upper right")
plt.show()

# %%
# The alarm comes within days, while the mean since the start is still below the target.
# The guarantee only held for the old model. A new rule needs questions that both models
# have answered, for instance a small random share of questions that always goes to the
# large model.
