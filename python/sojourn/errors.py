"""What can go wrong, as exceptions whose text is one line for a person to read."""


class Error(Exception):
    """A run, a file or a setting is of no use; the message says why."""


class InputError(Error, ValueError):
    """What was asked for is wrong, or there is no such thing; the command exits with 2."""


class ScenarioError(InputError):
    """A scenario is wrong; the message names the field, its value and what would be right."""
