"""Keep a number and its percent sign on one line."""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform

NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"


class NoBreakBeforePercent(SphinxTransform):
    """Replace the space of "8 %" in the text, but not in code."""

    default_priority = 750

    def apply(self):
        for text in list(self.document.findall(nodes.Text)):
            if isinstance(text.parent, (nodes.FixedTextElement, nodes.literal)):
                continue
            joined = re.sub(r"(?<=\d) (?=%)", NO_BREAK_SPACE, text)
            if joined != text:
                text.parent.replace(text, nodes.Text(joined))


def setup(app):
    """Register the transform."""
    app.add_transform(NoBreakBeforePercent)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
