"""Types that many signatures name, for editors and type checkers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

#: What a decorator takes and returns, so that its signature stays.
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class SparseMatrix(Protocol):
    """Matrix or array of scipy.sparse."""

    def tocsr(self, *args: Any, **kwargs: Any) -> Any:
        """Return the same values by row."""


class Estimator(Protocol):
    """Estimator of scikit-learn, or anything with its methods."""

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """Fit to data."""


class Splitter(Protocol):
    """Splitter of scikit-learn."""

    def split(self, *args: Any, **kwargs: Any) -> Any:
        """Yield the rows of each training and test set."""


#: Samples as an estimator takes them: arrays, data frames, sparse matrices, texts.
MatrixLike: TypeAlias = ArrayLike | SparseMatrix | Sequence[Any]

if TYPE_CHECKING:
    # Nothing loads matplotlib before it draws.
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    #: What a value is in rarer cases. No attribute is an error then, and editors
    #: complete those of the other types of the union. In quotes, as jedi completes
    #: nothing where the union has Any itself.
    Other: TypeAlias = "Any"
else:
    Axes = Figure = Line2D = Other = Any

#: A class label, or a word such as "auto".
Label: TypeAlias = Hashable

#: One bound, or one for each group or class.
Target: TypeAlias = float | Mapping[Any, float]

#: A loss of labels by its name, as a cost matrix, as a function or as a loss object.
TaskLossLike: TypeAlias = (
    Literal["zero_one", "absolute", "squared"] | ArrayLike | Callable[..., ArrayLike]
)

#: A loss of sets by its name or as a function.
SetLossLike: TypeAlias = (
    Literal[
        "f1",
        "f_beta",
        "jaccard",
        "am",
        "balanced_accuracy",
        "g_tp_pr",
        "g_mean",
        "hamming",
    ]
    | Callable[..., ArrayLike]
)

#: A score by its name, as a score object or as a function.
ScoreLike: TypeAlias = str | Estimator | Callable[[Any, Any], ArrayLike]

UncertaintyScoreLike: TypeAlias = (
    Literal[
        "auto",
        "conditional_risk",
        "margin",
        "error_probability",
        "loss_regression",
        "sele",
        "true_class_probability",
    ]
    | ScoreLike
)

NoveltyScoreLike: TypeAlias = (
    Literal[
        "energy",
        "gen",
        "knn",
        "likelihood_ratio",
        "mahalanobis",
        "max_logit",
        "msp",
        "odin",
        "outlier_detector",
        "react",
        "relative_mahalanobis",
        "sirc",
        "vim",
    ]
    | ScoreLike
)

#: What learned scores see of a sample: a name or a transformer.
FeaturesLike: TypeAlias = (
    Literal[
        "auto",
        "input",
        "model_input",
        "response",
        "input+response",
        "model_input+response",
    ]
    | Estimator
)

#: Options that are passed on, such as those of matplotlib.
Options: TypeAlias = Mapping[str, Any]

CV: TypeAlias = int | float | Splitter | Iterable[Any]
GroupBy: TypeAlias = str | int | Callable[[Any], ArrayLike]
RandomState: TypeAlias = int | np.random.RandomState
Draws: TypeAlias = ArrayLike | Callable[..., ArrayLike]

RiskBound: TypeAlias = Literal["auto", "binomial", "hoeffding_bentkus", "betting"]
