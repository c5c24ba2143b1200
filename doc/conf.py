"""Configuration of sphinx."""

import sys
from pathlib import Path

import sklearn_reject

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from source_links import linkcode_resolve  # noqa: F401
from type_links import ALIASES

project = "sklearn-reject"
author = "The sklearn-reject developers"
copyright = author
release = version = sklearn_reject.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.linkcode",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    # MathJax as files, so that formulas are drawn without a network.
    "sphinx-mathjax-offline",
    # In doc/_ext.
    "changelog",
    "method_table",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "_templates",
    "**/GALLERY_HEADER.rst",
    "comparison_tables",
    # Written by sphinx-gallery in any case; it loads scripts from the network.
    "sg_execution_times.rst",
]
default_role = "literal"
# Names in quotes can be copied as they are.
smartquotes = False

# A cross-reference that leads nowhere fails the build. Names of other packages are
# looked up in doc/inventories. To refer to another one, add it there; for scikit-learn,
# run make.py.
nitpicky = True
nitpick_ignore_regex = [
    # A score gets it; users neither make nor import one.
    ("py:class", r"sklearn_reject\._response\.(_response\.)?Response"),
]
intersphinx_mapping = {
    name: (url, f"inventories/{name}.txt")
    for name, url in {
        "joblib": "https://joblib.readthedocs.io/en/stable/",
        "matplotlib": "https://matplotlib.org/stable/",
        "numpy": "https://numpy.org/doc/stable/",
        "pandas": "https://pandas.pydata.org/docs/",
        "python": "https://docs.python.org/3/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
        "sklearn": "https://scikit-learn.org/stable/",
    }.items()
}

autosummary_generate = True
# What is documented of sklearn_reject.dask does without it.
autodoc_mock_imports = ["dask"]
autodoc_typehints = "none"
# numpydoc would list the methods of a class after its examples: method_table lists
# them before its parameters.
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_aliases = ALIASES
numpydoc_xref_ignore = "all"
# A signature that is longer than this is shown with one parameter a line.
python_maximum_signature_line_length = 72
toc_object_entries_show_parents = "hide"

# Copied from an example without its prompts and its output.
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

# Sections of the gallery, the basics first.
SECTIONS = [
    "basics",
    "scores",
    "guarantees",
    "novelty",
    "second_opinion",
    "sets_and_rare_events",
    "production",
]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "subsection_order": [f"../examples/{name}" for name in SECTIONS],
    "within_subsection_order": "FileNameSortKey",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"demo\.py",
    "doc_module": ("sklearn_reject",),
    "reference_url": {"sklearn_reject": None},
    "backreferences_dir": "generated/backreferences",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    # Drawings in doc/_static/drawings stand for the examples.
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_baseurl = "https://sklearn-reject.readthedocs.io/en/stable/"
html_title = f"sklearn-reject {version}"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["sklearn_reject.css"]
html_copy_source = False
html_show_sourcelink = False
html_context = {
    "github_user": "sklearn-reject",
    "github_repo": "sklearn-reject",
    "github_version": "main",
    "doc_path": "doc",
}
# Pages without neighbors leave the room of the list to the text.
html_sidebars = {name: [] for name in ("index", "install", "whats_new", "comparison")}
# The build makes the pages of the API and of the gallery: they cannot be edited there.
MADE = ["api", "api/**", "auto_examples/**", "generated/**", "whats_new"]
WRITTEN = ["comparison", "install", "user_guide/**"]
html_theme_options = {
    "logo": {
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "text": "sklearn-reject",
    },
    "github_url": "https://github.com/sklearn-reject/sklearn-reject",
    "use_edit_page_button": True,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": {
        **{page: ["page-toc"] for page in MADE},
        **{page: ["page-toc", "edit-this-page"] for page in WRITTEN},
    },
    "show_prev_next": True,
    "show_toc_level": 2,
    "navbar_start": ["navbar-logo", "version"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
