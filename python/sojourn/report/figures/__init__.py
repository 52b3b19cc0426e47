"""The figures: tables in, Altair charts out. Nothing is computed here and nothing is written.

A chart carries no theme: `style.theme` is added for a file, and the page adds its own for a
light or a dark screen. Each has a parameter ``hidden``, the list of series not to draw.
"""
