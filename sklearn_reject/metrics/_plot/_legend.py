"""Legends that hide no data."""

from itertools import product

# Sizes of the text that are tried inside of the axes, where None is that of the user,
# and below them, with the number of columns.
_INSIDE = (None, "small")
_BELOW = (("small", 3), ("small", 2), ("x-small", 2), ("small", 1), ("x-small", 1))

# The references.
_LAST = ("oracle", "random")

# How much larger a legend is taken for until the axes have their final size.
_SPARE = 1.15

# The largest share of a figure that is below the axes.
_MOST_BELOW = 0.6

# In inches: between the label of the axis and a legend below it.
_GAP = 0.06


def add_legend(ax):
    """Add a legend where something has a name, where it hides no data.

    That is inside of the axes, in the usual size or a smaller one, or below them. On
    axes among others without a layout, which have no room below, it stays inside.
    """
    entries = _entries(ax)
    if entries[1] and not _add_inside(ax, entries):
        figure = ax.figure.figure
        if figure.get_layout_engine() is not None:
            _add_below(ax, *entries, _depth_of_labels(ax) + _GAP)
        elif _is_alone(ax):
            _add_below_and_make_room(ax, entries)


def _add_inside(ax, entries):
    """Add a legend to the axes, and tell whether it hides no data there.

    A layout changes the axes when they are drawn. It is done before, but only where
    there is no room to spare.
    """
    figure = ax.figure.figure
    if figure.get_layout_engine() is None:
        return _try_inside(ax, entries, 1.0)
    if _try_inside(ax, entries, _SPARE):
        return True
    ax.get_legend().remove()
    figure.draw_without_rendering()
    return _try_inside(ax, entries, 1.0)


def _try_inside(ax, entries, spare):
    for spans, size in product((True, False), _INSIDE):
        legend = ax.legend(*entries, loc="best", fontsize=size)
        box = legend.get_window_extent().expanded(spare, spare)
        if _fits(box, ax.bbox) and not _hides_data(box, ax, spans):
            return True
    return False


def _add_below_and_make_room(ax, entries):
    """Add a legend below axes without a layout, and move their lower end up."""
    figure = ax.figure.figure
    n_inches = _depth_of_labels(ax) + _GAP
    legend = _add_below(ax, *entries, n_inches)
    height = legend.get_window_extent().height / figure.dpi
    bottom = (n_inches + height + _GAP) / figure.get_figheight()
    figure.subplots_adjust(bottom=min(bottom, _MOST_BELOW))


def _fits(box, within):
    return box.width <= within.width and box.height <= within.height


def _hides_data(box, ax, spans):
    """Tell whether something that is drawn in the units of the axes is in a box.

    Lines that span the axes, such as targets, are no data, unless `spans`.
    """
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
    is_in_figure = ax.figure is ax.figure.figure  # and not in a part of it
    return is_in_figure and place is not None and place.get_gridspec().nrows == 1


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
