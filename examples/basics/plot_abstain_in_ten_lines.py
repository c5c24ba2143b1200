"""
====================
Abstain in ten lines
====================

A classifier answers even when it is guessing. Wrap it in a
:class:`~sklearn_reject.SelectiveClassifier` and say how many errors you tolerate. Then
it abstains on the samples that it is least sure of.
"""

# %%
# The ten lines
# -------------
#
# ``target_risk=0.02`` asks for at most 2% errors among the samples that get a label.
# With ``confidence_level=0.95`` this holds for new samples as well, with a probability
# of 95%. For this, `fit` keeps half of the training data apart to choose the threshold.

# sphinx_gallery_thumbnail_path = "_static/drawings/abstain.svg"
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_reject import SelectiveClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
classifier = make_pipeline(StandardScaler(), LogisticRegression())
selective = SelectiveClassifier(
    classifier, target_risk=0.02, confidence_level=0.95, random_state=0
)
selective.fit(X_train, y_train)
print(selective.predict(X_test)[30:38])

# %%
# A label of -1 means "I abstain".
#
# What does it cost, and what does it bring?
# ------------------------------------------
#
# `accept` says which samples get a label. `predict_label` returns a label for all of
# them, so that we can compare.

accepted = selective.accept(X_test)
wrong = selective.predict_label(X_test) != y_test
print(f"accepted            {accepted.mean():.1%}")
print(f"errors, all samples {wrong.mean():.1%}")
print(f"errors, accepted    {wrong[accepted].mean():.1%}")

# %%
# The risk-coverage curve shows the same for every threshold. On the right all samples
# are accepted. Further left the classifier abstains more often, and makes fewer errors.

import matplotlib.pyplot as plt

from sklearn_reject.metrics import RiskCoverageDisplay

display = RiskCoverageDisplay.from_estimator(selective, X_test, y_test, name="digits")
display.ax_.set_xlim(0.5, 1.01)
plt.show()

# %%
# The rule stays below the target by enough to be sure of it.
# :ref:`sphx_glr_auto_examples_basics_plot_three_targets.py` shows other ways to say how
# often to abstain, and what happens without a `confidence_level`.
