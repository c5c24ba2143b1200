"""Configuration of sphinx."""

import sklearn_reject

project = "sklearn-reject"
author = "The sklearn-reject developers"
copyright = author
release = version = sklearn_reject.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates"]
default_role = "literal"

# A cross-reference that leads nowhere fails the build, unless it points outside.
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(sklearn|numpy|matplotlib)\..*"),
    # A score gets it; users neither make nor import one.
    ("py:class", r"sklearn_reject\._response\.(_response\.)?Response"),
]

autosummary_generate = True
# What is documented of sklearn_reject.dask does without it.
autodoc_mock_imports = ["dask"]
autodoc_typehints = "none"
# numpydoc would list the methods of a class a second time.
numpydoc_show_class_members = False

# Copied from an example without its prompts and its output.
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"demo\.py",
    "doc_module": ("sklearn_reject",),
    "reference_url": {"sklearn_reject": None},
    "backreferences_dir": "generated/backreferences",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "sklearn-reject"
html_copy_source = False
html_show_sourcelink = False
# Pages that need no list of their neighbours leave its room to the text.
html_sidebars = {
    name: [] for name in ("install", "coming_from", "whats_new", "user_guide/**")
}
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "show_toc_level": 2,
}
