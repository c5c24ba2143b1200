"""
====================
Abstain in ten lines
====================

A classifier predicts a label for every input, even when it is guessing. How do we make
it abstain instead? We wrap it in a :class:`~sklearn_reject.SelectiveClassifier` and
state the error rate that we tolerate. You will see predictions in which -1 means "I
abstain", and how the error falls as the classifier abstains more often.
"""

# %%
# The ten lines
# -------------
#
# ``target_risk=0.01`` asks for an error rate of at most 1 % among the accepted samples,
# the ones that get a label. `fit` trains the classifier and chooses the threshold by
# cross-validation.

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import SelectiveClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
classifier = make_pipeline(StandardScaler(), LogisticRegression())
selective = SelectiveClassifier(classifier, target_risk=0.01, random_state=0)
selective.fit(X_train, y_train)
print(selective.predict(X_test)[14:24])

# %%
# What did it cost, and what did it bring?
# ----------------------------------------
#
# `accept` says which samples get a label. `predict_label` always returns a label, also
# for rejected samples. So we can compare the error rate with and without abstaining.
# (``print(selective.report(X_test, y_test))`` prints these numbers for each class, with
# confidence intervals.)

accepted = selective.accept(X_test)
wrong = selective.predict_label(X_test) != y_test
print(f"share of accepted samples: {accepted.mean():.3f}")
print(f"error rate, all samples:   {wrong.mean():.3f}")
print(f"error rate, accepted:      {wrong[accepted].mean():.3f}")

# %%
# The risk-coverage curve shows this trade-off for every threshold. On the right all
# samples are accepted. Further left the classifier abstains more often, and the error
# rate on the accepted samples falls.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import RiskCoverageDisplay

RiskCoverageDisplay.from_estimator(selective, X_test, y_test, name="digits")
plt.show()

# %%
# The target was met by cross-validation on the training data. On new data the error
# rate can be a little above 1 %. The example
# :ref:`sphx_glr_auto_examples_basics_plot_keep_a_target.py` shows how to make the
# target hold on new data.
