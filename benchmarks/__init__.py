"""Measurements of the package against plain NumPy, scikit-learn and other packages."""
