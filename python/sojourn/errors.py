"""What can go wrong, as exceptions whose text is one line for a person to read."""


class Error(Exception):
    """A run, a file or a setting is of no use; the message says why."""


class ScenarioError(Error, ValueError):
    """A scenario is wrong; the message names the field, its value and what would be right."""
