"""What can go wrong."""

from sojourn.errors import InputError


class DeployError(InputError):
    """Linux cannot do what the scenario says; the message names the field and what it can do."""
