"""What methods that say something about each row check, and read of it."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from sklearn_reject._validation import refuse_unmapped


def require_fit(estimator, X=None):
    """Raise unless a meta-estimator is fitted, and for rows X of a Dask collection.

    Asking for its tags, as `check_is_fitted` does, would resolve its score anew.
    """
    refuse_unmapped(X)
    if not estimator.__sklearn_is_fitted__():
        check_is_fitted(estimator)


def features_of(estimator, X):
    """Return the columns of a data frame that were fitted, in their order.

    A transformer that picks columns by their names takes them in any order, and with
    others beside them. Draws are made by the values of a row, which are then the same.
    """
    names = list(getattr(estimator, "feature_names_in_", ()))
    if not names or not hasattr(X, "columns"):
        return X
    given = list(getattr(X, "column_names", X.columns))
    is_complete = len(set(given)) == len(given) and set(names) <= set(given)
    if given == names or not is_complete:
        return X
    # Arrow has its own way.
    return X.select(names) if hasattr(X, "column_names") else X[names]
