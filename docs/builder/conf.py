"""Sphinx's settings: Markdown by MyST, the look of Furo."""

project = "Sojourn"
copyright = "the authors of Sojourn, Apache License 2.0"
html_title = "Sojourn"
extensions = ["myst_parser"]
# Anchors of headings as GitHub makes them.
myst_heading_anchors = 4
# Formulas and errors in blocks of code are not always of the block's language.
suppress_warnings = ["misc.highlighting_failure"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["tables.css", "figure.css"]
html_js_files = ["tables.js", "figure.js"]
html_use_index = False
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
exclude_patterns = ["_static"]
