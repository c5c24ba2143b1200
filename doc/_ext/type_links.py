"""Which types of parameters are links: classes of the reference, and a few others."""

import re
from pathlib import Path

from numpydoc.xref import DEFAULT_LINKS

PAGES = (Path(__file__).parents[1] / "api").glob("*.rst")
OTHERS = {
    "Axes": "matplotlib.axes.Axes",
    "Figure": "matplotlib.figure.Figure",
    "Line2D": "matplotlib.lines.Line2D",
    "RandomState": "numpy.random.RandomState",
    "ndarray": "numpy.ndarray",
}


def listed_classes():
    """Return {name: full name} of the classes that the reference lists."""
    found = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        module = re.search(r"^\.\. (?:current)?module:: (\S+)$", text, re.M).group(1)
        names = re.findall(r"^   ([A-Z]\w+)$", text, re.M)
        found |= {name: f"{module}.{name}" for name in names}
    return found


# Words such as None, float and callable stay words.
ALIASES = {name: name for name in DEFAULT_LINKS} | OTHERS | listed_classes()
