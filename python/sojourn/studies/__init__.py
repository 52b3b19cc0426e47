"""Studies: published experiments made again, their numbers beside the published ones.

Each is a class in a file or folder of its own and one line in :mod:`sojourn.studies.registry`;
``sojourn reproduce NAME`` runs it.
"""
