"""What can go wrong, as exceptions whose text is one line for a person to read."""

from __future__ import annotations

# As typing.TYPE_CHECKING, without the import: every command imports this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Error(Exception):
    """A run, a file or a setting is of no use; the message says why."""


class InputError(Error, ValueError):
    """What was asked for is wrong, or there is no such thing; the command exits with 2."""


class ScenarioError(InputError):
    """A scenario is wrong; the message names the field, its value and what would be right."""


class MissingExtraError(Error, ImportError):
    """What was asked for needs a package that is not installed; the message says how to get it."""


class Stopped(Error):  # noqa: N818
    """A run was given up because its caller asked for it."""


class DamagedRunWarning(UserWarning):
    """A run in a store is not what was written there; it counts as missing, so it is made again."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended the work early; ``result`` has what was finished by then.

    A run's is a :class:`sojourn.RunResult` over the time that was simulated, a sweep's are its
    finished runs, a comparison's is the comparison of those.
    """

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.result,)
