"""Sphinx's settings for the site. scripts/site gives the folders and builds it."""

import os
import sys

project = "Stoker"
author = "The Stoker authors"
copyright = author
version = release = os.environ["STOKER_VERSION"]

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["requirements.txt"]
toc_object_entries = False  # every page would carry the names of the whole reference in its sidebar

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["duplicate_declaration.cpp"]  # each header's page has the namespace again

# Doxygen's XML; without it (scripts/site --without-api) there are no pages that ask for it.
breathe_projects = {"stoker": os.environ.get("STOKER_DOXYGEN_XML", "")}
breathe_default_project = "stoker"
breathe_default_members = ("members",)
cpp_id_attributes = ["STOKER_API"]

sys.path.insert(0, os.environ.get("STOKER_PYTHON", "."))
autodoc_member_order = "bysource"
autodoc_typehints = "description"
default_role = "literal"  # docstrings write names in single backquotes

html_theme = "furo"
html_title = f"Stoker {release}"
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
pygments_style = "a11y-light"
pygments_dark_style = "a11y-dark"
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
