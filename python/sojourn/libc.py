"""Calls of the C library for which Python has no name."""

from __future__ import annotations

import errno


def call(name: str, *arguments: object) -> int:
    """Calls a function that returns 0 if all is well.

    Returns:
        0, or the error's number; ``ENOSYS`` if the library has no such function.
    """
    # Start-up: few commands call one.
    import ctypes  # noqa: PLC0415

    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, name):
        return errno.ENOSYS
    return 0 if getattr(libc, name)(*arguments) == 0 else ctypes.get_errno()
