"""Links from diagrams of estimators, and of scores, to their pages."""

DOC_LINK_MODULE = "sklearn_reject"
DOC_LINK_TEMPLATE = (
    "https://sklearn-reject.readthedocs.io/en/stable/generated/{public_name}.html"
)


def doc_link_params(estimator):
    """Return the name by which the class of an estimator is imported.

    scikit-learn asks for it of classes of this package only: those of users that derive
    from them are elsewhere, and get no link.
    """
    package, room, *_ = type(estimator).__module__.split(".")
    home = package if room.startswith("_") else f"{package}.{room}"
    return {"public_name": f"{home}.{type(estimator).__name__}"}
