"""The uncertainty scores that the tables compare."""

from collections import namedtuple

from sklearn_reject import scores


class ThresholdMargin(scores.PlugInScore):
    """Minus the distance to the closest threshold of ordinal regression."""

    def compute(self, response):
        *_, svor = (step for _, step in response.estimator.steps)
        return -svor.margin(response.estimator[:-1].transform(response.X))


# What a score may need to know about its experiment.
Context = namedtuple("Context", "loss validation_fraction seed")


def _linear(context):
    """Return the options of the paper's scores, FPV23, eq. 37.

    The parameters come from one part of the samples, the regularization from another.
    """
    return {
        "features": "per_label_linear",
        "validation_fraction": context.validation_fraction,
        "refit": False,
        "random_state": context.seed,
    }


# With probabilities or margins of the classifier, nothing is learned.
PLUG_IN = {
    "MCP": lambda context: scores.ConditionalRisk(),
    "SVM margin": lambda context: scores.Margin(kind="max"),
    "SVOR margin": lambda context: ThresholdMargin(),
}

LINEAR = {
    "SELE": lambda context: scores.SELE(loss=context.loss, **_linear(context)),
    "REG": lambda context: scores.LossRegression(loss=context.loss, **_linear(context)),
    "TCP": lambda context: scores.TrueClassProbability(**_linear(context)),
}

# As they come, only seeded.
NON_LINEAR = {
    "LossRegression": lambda context: scores.LossRegression(random_state=context.seed),
    "ErrorProbability": lambda context: scores.ErrorProbability(
        random_state=context.seed
    ),
}

MAKERS = PLUG_IN | LINEAR | NON_LINEAR
