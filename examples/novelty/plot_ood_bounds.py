"""
=======================================
Which bounds on TPR and FPR can be met?
=======================================

We want to accept most known samples (a high true positive rate, TPR) and few
out-of-distribution samples (a low false positive rate, FPR), with few errors among
accepted samples. Which bounds can be met at the same time, and what do they cost? Here
the distribution is known, so every rule can be compared with the best possible one. You
will see the frontier of TPR and FPR, how the risk grows with stricter bounds, and a
rule that uses costs instead of bounds.
"""

# %%
# Three classes and OOD samples
# -----------------------------
#
# We use the synthetic example of Franc, Prusa and Paplham (2023). Three normal classes
# on a line overlap. One sample in four is out-of-distribution (OOD), around 2. The
# conditional risk r is high between the classes. The likelihood ratio g is high where
# OOD samples are. Each knows nothing about the other.

import matplotlib.pyplot as plt
import numpy as np

from sklearn_reject.datasets import make_fpp23_mixture

sample = make_fpp23_mixture(4000, return_X_y=False, random_state=0)
is_ood = sample.target == -1
wrong = (sample.prediction != sample.target) & ~is_ood
print(f"{(~is_ood).sum()} ID samples with error {wrong[~is_ood].mean():.3f}")
print(f"{is_ood.sum()} OOD samples")

x = sample.data.ravel()
order = np.argsort(x)
fig, (top, bottom) = plt.subplots(
    2, 1, figsize=(6, 5), sharex=True, layout="constrained"
)
bins = np.linspace(-4, 6, 81)
top.hist([x[~is_ood], x[is_ood]], bins, stacked=True, label=["ID", "OOD"])
top.set(ylabel="Samples")
top.legend()
bottom.plot(x[order], sample.risk[order], label="conditional risk r")
bottom.plot(
    x[order], sample.likelihood_ratio[order] / 10, label="likelihood ratio g / 10"
)
bottom.set(xlabel="x", xlim=(-4, 6), ylim=(None, 0.68), ylabel="Score")
bottom.legend(loc="upper center", ncols=2)
plt.show()

# %%
# Which bounds can be met
# -----------------------
#
# The frontier shows the largest TPR that a rule of both scores can reach for each FPR.
# The TPR is the share of accepted in-distribution (ID) samples, the FPR the share of
# accepted OOD samples. Both bounds can be met together if the curve passes through the
# marked corner. With the risk alone, a TPR of 0.7 cannot be reached at an FPR of 0.2.

from sklearn_reject.metrics import OODFrontierDisplay

# sphinx_gallery_thumbnail_number = 2
scores = sample.target, sample.prediction, sample.risk
OODFrontierDisplay.from_predictions(
    *scores, novelty=sample.likelihood_ratio, parts=True, bounds=(0.2, 0.7)
)
plt.show()

# %%
# Precision and recall. Recall is another name for the TPR.

OODFrontierDisplay.from_predictions(
    *scores,
    novelty=sample.likelihood_ratio,
    kind="precision_recall",
    ood_prior=0.25,
    parts=True,
    bounds=(0.7, 0.9),
)
plt.show()

# %%
# To tell ID from OOD samples, the novelty alone is as good as both scores: its curve
# covers the one of both. The risk score helps when errors count.
#
# What a bound costs
# ------------------
#
# The next figure shows the smallest error rate (selective risk) for each TPR, under
# several bounds on the FPR. Each curve ends at the largest TPR that its bound allows.
# On the left, where few samples have to be accepted, the bounds cost nothing. Further
# right, a stricter bound on the FPR means more errors: a rule that must keep out OOD
# samples cannot reject as many errors.

fig, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
for max_fpr in (1, 0.4, 0.2, 0.1):
    OODFrontierDisplay.from_predictions(
        *scores,
        novelty=sample.likelihood_ratio,
        kind="risk_coverage",
        max_fpr=max_fpr,
        name=f"FPR at most {max_fpr}",
        ax=ax,
    )
plt.show()

# %%
# Bounds that cannot be met
# -------------------------
#
# If the bounds cannot be met, :class:`~sklearn_reject.InfeasibleTargetError` is raised.
# The message says how far each bound can go while the other one holds. The numbers are
# also in its attribute `attainable`.

from sklearn_reject import InfeasibleTargetError
from sklearn_reject.selection import tune_double_score

tuning = sample.risk, sample.likelihood_ratio, wrong, is_ood
try:
    tune_double_score(*tuning, min_tpr=0.9, max_fpr=0.2)
except InfeasibleTargetError as error:
    print(error)
    largest = error.attainable["min_tpr"]

rule = tune_double_score(*tuning, min_tpr=0.7, max_fpr=0.2)
print(f"\nThe largest TPR is {largest:.3f}. With min_tpr=0.7:")
print(f"accepted where r + {rule.mu:.3f} g < {rule.threshold:.3f}")
print(f"TPR {rule.tpr:.3f}, FPR {rule.fpr:.3f}, risk {rule.selective_risk:.3f}")

# %%
# How good is this rule? The distribution is known, so we look up its true rates on
# 100,000 further samples. The paper shows that the best possible rule has the same
# form, so we can also tune the best one on these samples. The error rate on the 4,000
# samples that tuned our rule was a little too good, and it misses its bounds by a
# little.

truth = make_fpp23_mixture(100_000, return_X_y=False, random_state=1)
whole = (
    truth.risk,
    truth.likelihood_ratio,
    truth.prediction != truth.target,
    truth.target == -1,
)
best = tune_double_score(*whole, min_tpr=0.7, max_fpr=0.2)
for name, found in {"our rule": rule.measure(*whole), "best rule": best}.items():
    rates = f"TPR {found.tpr:.3f}, FPR {found.fpr:.3f}"
    print(f"{name:10} {rates}, risk {found.selective_risk:.3f}")

# %%
# How many samples are needed?
# ----------------------------
#
# We tune the same bounds on samples of several sizes, and look up the true rates. The
# table shows means over 12 draws of each size. The tuned rule is the best of many on
# its samples. So its true risk is higher than the tuned one, and a bound that is just
# met there is missed on new samples more often than not, by less and less as the
# samples grow. If bounds must hold, set a `confidence_level`.


def tune_and_look_up(n_samples, seed):
    """Return the tuned risk, and true risk, TPR and FPR, of a rule of new samples."""
    part = make_fpp23_mixture(n_samples, return_X_y=False, random_state=seed)
    rule = tune_double_score(
        part.risk,
        part.likelihood_ratio,
        part.prediction != part.target,
        part.target == -1,
        min_tpr=0.7,
        max_fpr=0.2,
    )
    true_rule = rule.measure(*whole)
    return rule.selective_risk, true_rule.selective_risk, true_rule.tpr, true_rule.fpr


print(f"{'':10}tuned   true values")
print("samples    risk    risk     TPR     FPR  TPR < 0.7  FPR > 0.2")
for n_samples in (200, 800, 3200):
    found = np.array([tune_and_look_up(n_samples, seed) for seed in range(12)])
    line = "".join(f"{mean:8.3f}" for mean in found.mean(axis=0))
    missed = np.mean(found[:, 2] < 0.7), np.mean(found[:, 3] > 0.2)
    print(f"{n_samples:<7}{line}{missed[0]:11.2f}{missed[1]:11.2f}")

# %%
# Costs instead of bounds
# -----------------------
#
# If errors have known costs, there is no need to choose bounds. Here rejecting an ID
# sample costs 0.3 of a wrong label, and the cost of accepting an OOD sample grows. The
# best rule moves along the frontier: it accepts fewer OOD samples and, as a price,
# fewer ID samples.

print(f"{'accepting OOD':16}{'mu':>8}{'TPR':>8}{'FPR':>8}{'risk':>8}{'cost':>8}")
for cost in (0.1, 0.3, 1, 3, 10):
    rule = tune_double_score(*whole, costs=(0.3, cost, 0), ood_prior=0.25)
    of_id = rule.tpr * rule.selective_risk + 0.3 * (1 - rule.tpr)
    total = 0.75 * of_id + 0.25 * cost * rule.fpr
    values = rule.mu, rule.tpr, rule.fpr, rule.selective_risk, total
    print(f"{cost:<16}" + "".join(f"{value:8.3f}" for value in values))

# %%
# In practice r and g are unknown and have to be estimated. A
# :class:`~sklearn_reject.DoubleScoreOODClassifier` takes the risk from its classifier.
# With ``novelty_score="likelihood_ratio"`` a second classifier learns to tell OOD from
# ID samples. Weight and threshold are tuned for the costs, so estimates that are off by
# a factor do no harm.

from sklearn.naive_bayes import GaussianNB

from sklearn_reject import DoubleScoreOODClassifier

X, y = make_fpp23_mixture(3000, random_state=2)
model = DoubleScoreOODClassifier(
    GaussianNB(),
    novelty_score="likelihood_ratio",
    costs=(0.3, 1, 0),
    ood_prior=0.25,
    random_state=0,
).fit(X, y)
accepted = model.accept(truth.data)
errors = model.predict_label(truth.data) != truth.target
of_ood = truth.target == -1
tpr, fpr = accepted[~of_ood].mean(), accepted[of_ood].mean()
risk = errors[accepted & ~of_ood].mean()
total = 0.75 * (tpr * risk + 0.3 * (1 - tpr)) + 0.25 * fpr
print(f"TPR {tpr:.3f}, FPR {fpr:.3f}, risk {risk:.3f}, cost {total:.3f}")
