"""What can go wrong."""

from sojourn.errors import Error


class DeployError(Error, ValueError):
    """Linux cannot do what the scenario says; the message names the field and what it can do."""

    code = 2
    """Exit code of the command: the input is to blame."""
