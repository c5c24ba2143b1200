"""
================================================
Which bounds can be met, and what they are worth
================================================

How many novel samples may slip through, and how many known ones have to be accepted? A
pair of bounds that is asked for blindly is often out of reach, or leaves risk on the
table. Here the distribution is known, so that every rule can be compared with the best
one there is.
"""

# %%
# Three classes and something else
# --------------------------------
#
# The synthetic example of Franc, Prusa and Paplham (2023): three normal classes on a
# line, which overlap, and out-of-distribution (OOD) samples around 2, where one in four
# samples is OOD. The conditional risk r is high between the classes, the likelihood
# ratio g where OOD samples are. Neither knows what the other one does.

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
    2, 1, figsize=(7, 5), sharex=True, layout="constrained"
)
bins = np.linspace(-4, 6, 81)
top.hist([x[~is_ood], x[is_ood]], bins, stacked=True, label=["ID", "OOD"])
top.set(ylabel="Samples")
top.legend()
bottom.plot(x[order], sample.risk[order], label="conditional risk r")
bottom.plot(
    x[order], sample.likelihood_ratio[order] / 10, label="likelihood ratio g / 10"
)
bottom.set(xlabel="x", xlim=(-4, 6), ylabel="Score")
bottom.legend()
plt.show()

# %%
# What can be met
# ---------------
#
# The frontier shows, for each FPR, the share of OOD samples accepted, the largest TPR
# that a rule of both scores reaches, the share of ID samples accepted. Bounds can be
# met together where the curve passes through their corner. At an FPR of 0.2 the risk
# alone falls short of a TPR of 0.7.

from sklearn_reject.metrics import OODFrontierDisplay

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
scores = sample.target, sample.prediction, sample.risk
OODFrontierDisplay.from_predictions(
    *scores,
    novelty=sample.likelihood_ratio,
    parts=True,
    ax=axes[0],
    bounds=(0.2, 0.7),
)
OODFrontierDisplay.from_predictions(
    *scores,
    novelty=sample.likelihood_ratio,
    kind="precision_recall",
    ood_prior=0.25,
    parts=True,
    ax=axes[1],
    bounds=(0.7, 0.9),
)
axes[1].set(ylim=(0.7, 1.01))
plt.show()

# %%
# For separating ID from OOD the novelty is as good as both: the best weight of the risk
# is zero there. The risk score enters when errors count.
#
# What a bound is worth
# ---------------------
#
# The least risk for each TPR, under several bounds on the FPR. Each curve ends at the
# largest TPR that its bound leaves. Where few samples have to be accepted the bounds
# cost nothing. Farther to the right a stricter bound means a higher risk: a rule that
# has to keep out OOD samples cannot afford to reject as many errors.

fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
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
# Out of reach
# ------------
#
# Bounds that cannot be met raise an :class:`~sklearn_reject.InfeasibleTargetError`,
# which says how far each can go while the other one holds. The numbers are in its
# `attainable`, too.

from sklearn_reject import InfeasibleTargetError
from sklearn_reject.selection import tune_double_score

tuning = sample.risk, sample.likelihood_ratio, wrong, is_ood
try:
    tune_double_score(*tuning, min_tpr=0.9, max_fpr=0.2)
except InfeasibleTargetError as error:
    print(error)
    largest = error.attainable["max_tpr"]

rule = tune_double_score(*tuning, min_tpr=0.7, max_fpr=0.2)
print(f"\nmin_tpr=0.7 instead of {largest:.3f}, the largest:")
print(f"accepted where r + {rule.mu:.3f} g < {rule.threshold:.3f}")
print(f"TPR {rule.tpr:.3f}, FPR {rule.fpr:.3f}, risk {rule.selective_risk:.3f}")

# %%
# How good is that? The line is cut into short pieces, and a linear program finds the
# best of all rules on them, not just of those that sum up two scores. The risk of the
# tuned rule is below the least possible one because it was tuned on the same sample;
# what it is in truth is looked up on 200,000 others.

from scipy.stats import norm

from sklearn_reject.selection import solve_finite_lp

edges = np.linspace(-6, 8, 2001)
centers = (edges[1:] + edges[:-1]) / 2
joint = np.array([0.3, 0.3, 0.4]) * norm.pdf(centers[:, np.newaxis], [-1, 1, 3])
id_density, ood_density = joint.sum(axis=1), norm.pdf(centers, 2, np.sqrt(0.2))
best = solve_finite_lp(
    id_density / id_density.sum(),
    ood_density / ood_density.sum(),
    1 - joint.max(axis=1) / id_density,
    min_tpr=0.7,
    max_fpr=0.2,
)
truth = make_fpp23_mixture(200_000, return_X_y=False, random_state=1)
whole = (
    truth.risk,
    truth.likelihood_ratio,
    truth.prediction != truth.target,
    truth.target == -1,
)
true_rule = rule.measure(*whole)
print(f"least risk of all rules {best.selective_risk:.3f}")
print(f"risk of the tuned rule {true_rule.selective_risk:.3f}, ", end="")
print(f"at TPR {true_rule.tpr:.3f} and FPR {true_rule.fpr:.3f}")

# %%
# How many samples
# ----------------
#
# The same bounds, tuned on samples of several sizes: means over 12 draws of each, and
# the truth as before. The tuned risk is too good to be true, and the true one comes
# close to the least possible. The best of many rules owes something to luck, and so a
# bound that is active is missed in truth more often than not, by less and less. Whoever
# needs bounds to hold asks for a `confidence`.


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
# Where mistakes have prices there is nothing to choose. With the true r and g even the
# rule is a formula. A cost of 1 for a wrong label and 0.3 for rejecting an ID sample is
# kept, and that of accepting an OOD sample rises: the rules walk along the frontier,
# each of them the best for its own FPR and TPR.

from sklearn_reject.selection import likelihood_ratio_rule

print(f"{'accepting OOD':16}{'mu':>8}{'TPR':>8}{'FPR':>8}{'risk':>8}{'cost':>8}")
for cost in (0.1, 0.3, 1, 3, 10):
    rule = likelihood_ratio_rule((0.3, cost, 0), ood_prior=0.25).measure(*whole)
    of_id = rule.tpr * rule.selective_risk + 0.3 * (1 - rule.tpr)
    total = 0.75 * of_id + 0.25 * cost * rule.fpr
    values = rule.mu, rule.tpr, rule.fpr, rule.selective_risk, total
    print(f"{cost:<16}" + "".join(f"{value:8.3f}" for value in values))

# %%
# A classifier has neither r nor g. It estimates r, and an estimate of g comes from a
# second classifier that tells OOD from ID samples: "likelihood_ratio". Weight and
# threshold are then tuned for the costs, so that estimates off by a factor do no harm.

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
