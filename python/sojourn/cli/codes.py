"""Exit codes of the command besides 0."""

FAILURE = 1
BAD_INPUT = 2
INTERRUPTED = 130
"""By Ctrl-C; the process makes 143 of it for SIGTERM and 129 for SIGHUP."""
