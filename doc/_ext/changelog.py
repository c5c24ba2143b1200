"""Show CHANGELOG.md as a page of the documentation.

The changelog is Markdown of the simplest kind. With ``default_role = "literal"`` its
lists and its code are reStructuredText already: only titles have to be converted.
"""

import re
from pathlib import Path

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
UNDERLINES = {2: "-", 3: "^"}


def _title(match):
    hashes, text = match.groups()
    return f"{text}\n{UNDERLINES[len(hashes)] * len(text)}"


def to_rst(markdown):
    """Return the releases of a changelog as reStructuredText."""
    _, _, releases = markdown.partition("\n## ")
    return re.sub(r"^(#{2,3}) (.+)$", _title, f"## {releases}", flags=re.M)


def _append(app, docname, source):
    if docname == "whats_new":
        app.env.note_dependency(str(CHANGELOG))
        source[0] += "\n" + to_rst(CHANGELOG.read_text(encoding="utf-8"))


def setup(app):
    """Append the changelog to the source of the page."""
    app.connect("source-read", _append)
    return {"parallel_read_safe": True}
