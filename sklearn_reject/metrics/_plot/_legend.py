"""Legends that hide no data."""

from itertools import product

# Sizes of the text that are tried inside of the axes, where None is that of the user,
# and below them, with the number of columns.
_INSIDE = (None, "small")
_BELOW = (("small", 3), ("small", 2), ("x-small", 2), ("small", 1), ("x-small", 1))

# The references.
_LAST = ("oracle", "random")

# In inches: between the label of the axis and a legend below it.
_GAP = 0.06


def add_legend(ax):
    """Add a legend where something has a name, where it hides no data.

    That is inside of the axes, in the usual size or a smaller one, or below them. On
    axes among others without a layout, which have no room below, it stays inside.
    """
    handles, labels = _entries(ax)
    if not labels:
        return
    for spans, size in product((True, False), _INSIDE):
        legend = ax.legend(handles, labels, loc="best", fontsize=size)
        if _fits(legend, ax.bbox) and not hides_data(legend, ax, spans=spans):
            return
    figure = ax.figure.figure
    n_inches = _depth_of_labels(ax) + _GAP
    if figure.get_layout_engine() is None and not _is_alone(ax):
        return
    legend = _add_below(ax, handles, labels, n_inches)
    if figure.get_layout_engine() is None:
        height = legend.get_window_extent().height / figure.dpi
        bottom = (n_inches + height + _GAP) / figure.get_figheight()
        figure.subplots_adjust(bottom=min(bottom, 0.6))


def _fits(legend, box):
    extent = legend.get_window_extent()
    return extent.width <= box.width and extent.height <= box.height


def hides_data(legend, ax, *, spans=False):
    """Tell whether something that is drawn in the units of the axes is below a legend.

    Lines that span the axes, such as targets, are no data, unless `spans`.
    """
    box = legend.get_window_extent()
    lines = [line for line in ax.lines if spans or line.get_transform() == ax.transData]
    return any(_meets_line(line, box) for line in lines) or any(
        _meets_collection(collection, box) for collection in ax.collections
    )


def _meets_line(line, box):
    path = line.get_transform().transform_path(line.get_path())
    return _meets(path, box) if line.get_linestyle() != "None" else _holds(path, box)


def _meets(path, box, *, filled=False):
    return len(path.vertices) > 0 and bool(path.intersects_bbox(box, filled))


def _holds(path, box):
    return len(path.vertices) > 0 and box.count_contains(path.vertices) > 0


def _meets_collection(collection, box):
    from matplotlib.collections import PathCollection

    transform = collection.get_transform()
    if isinstance(collection, PathCollection):
        offsets = collection.get_offset_transform().transform(collection.get_offsets())
        return box.count_contains(offsets) > 0
    filled = len(collection.get_facecolor()) > 0
    paths = map(transform.transform_path, collection.get_paths())
    return any(_meets(path, box, filled=filled) for path in paths)


def _entries(ax):
    """Return handles and labels: references last, and what looks the same once."""
    seen = {}
    for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
        seen.setdefault((label, _look(handle)), (handle, label))
    entries = sorted(seen.values(), key=lambda entry: entry[1] in _LAST)
    return [handle for handle, _ in entries], [label for _, label in entries]


def _look(handle):
    names = "get_color", "get_linestyle", "get_marker"
    return tuple(
        str(getattr(handle, name)()) for name in names if hasattr(handle, name)
    )


def _depth_of_labels(ax):
    """Return how far, in inches, the labels of the axis reach below the axes."""
    box = ax.xaxis.get_tightbbox()
    return 0.0 if box is None else max(ax.bbox.y0 - box.y0, 0.0) / ax.figure.figure.dpi


def _is_alone(ax):
    """Tell whether axes are in the only row of a grid, so that there is room below."""
    place = ax.get_subplotspec()
    return place is not None and place.get_gridspec().nrows == 1


def _add_below(ax, handles, labels, n_inches):
    """Add a legend below the labels of the axis, in as many columns as fit."""
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    figure = ax.figure.figure
    is_single = len(figure.axes) == 1
    across, room = (
        (figure.transFigure, figure.bbox) if is_single else (ax.transAxes, ax.bbox)
    )
    down = ScaledTranslation(0, -n_inches, figure.dpi_scale_trans)
    options = {
        "loc": "upper center",
        "bbox_to_anchor": (0.5, 0.0),
        "bbox_transform": blended_transform_factory(across, ax.transAxes + down),
        "frameon": False,
        "borderaxespad": 0.0,
        "borderpad": 0.2,
        "columnspacing": 1.2,
        "handlelength": 1.6,
    }
    for size, n_columns in _BELOW:
        if n_columns <= len(labels):
            style = {"fontsize": size, "ncols": n_columns, **options}
            legend = ax.legend(handles, labels, **style)
            if legend.get_window_extent().width <= room.width:
                break
    return legend
