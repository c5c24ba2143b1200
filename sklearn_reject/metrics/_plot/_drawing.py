"""What the displays have in common."""


def find_axes(ax, display, numbers):
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{display}.plot needs matplotlib. Install it with "
            f"`pip install sklearn-reject[plot]`, or use {numbers} for the numbers."
        ) from error
    return plt.subplots()[1]


def curve_styles(curve_kwargs, n_curves, shared):
    """Return matplotlib's options of each curve; those given for each are complete."""
    if not isinstance(curve_kwargs, list):
        return [{**shared, **(curve_kwargs or {})}] * n_curves
    if len(curve_kwargs) != n_curves:
        raise ValueError(
            f"curve_kwargs has {len(curve_kwargs)} entries for {n_curves} curves. Pass "
            "one dict for all, or one for each."
        )
    return curve_kwargs


def check_names(name, n_curves):
    """Return one name a curve, from a list of so many."""
    if len(name) != n_curves:
        raise ValueError(f"name has {len(name)} entries for {n_curves} curves.")
    return name


def draw_curves(ax, curves, legend, styles):
    """Draw each curve, and return the line or the list of lines."""
    lines = [
        ax.plot(x, y, **{"label": label, **style})[0]
        for (x, y), label, style in zip(curves, legend, styles, strict=True)
    ]
    return lines[0] if len(lines) == 1 else lines
